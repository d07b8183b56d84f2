use rpc::ndr::{Conformant, InterfacePointer, Reserved, WideString, to_pickle};
use rpc::orpc::ComVersion;
use wire::{EncodeError, EncodeResult, Guid};

use super::properties::WholeSpecialProperties;
use super::{
    ActivationContextInfo, ActivationProperties, CoServerInfo, InstantiationInfo, LocationInfo, Property,
    ScmRequest, ScmRequestInfo, SecurityInfo, SpecialProperties,
};
use crate::dcom::types::{
    CLSID_ACTIVATION_PROPERTIES_IN, IID_ACTIVATION_PROPERTIES_IN, ProtocolSequence, property,
};
use crate::dcom::wire::Context;

/// Any session of the host will do.
pub const ANY_SESSION: u32 = u32::MAX;

/// `CLSCTX_LOCAL_SERVER | CLSCTX_REMOTE_SERVER`: what a client of another host wants.
const SERVERS: u32 = 0x4 | 0x10;
/// `RPC_C_IMP_LEVEL_IDENTIFY`, which Windows sends.
const IDENTIFY: u32 = 2;
/// What Windows sets in the flags of SpecialSystemProperties.
const SPECIAL_FLAGS: u32 = 2;

/// What a client wants activated: written as Windows writes it, read from all that clients write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActivationRequest {
    pub class: Guid,
    /// The interfaces that are wanted. INVARIANT: one to 32768.
    pub interfaces: Vec<Guid>,
    /// Where objects may be, `CLSCTX`.
    pub class_context: u32,
    /// How the program is started, `ACTVFLAGS`.
    pub flags: u32,
    /// The version of the client.
    pub version: ComVersion,
    /// The client's authentication level, for information.
    pub authn_level: u32,
    /// The session that the program is to run in, or [`ANY_SESSION`].
    pub session: u32,
    /// The COM+ partition of the class.
    pub partition: Option<Guid>,
    /// The protocols of the client.
    pub protocols: Vec<ProtocolSequence>,
    /// The server's name as the client knows it, for information.
    pub server_name: Option<String>,
    /// The client's context, whose name should be random. Windows refuses a request without it; other clients send none.
    pub context: Option<Guid>,
}

impl ActivationRequest {
    /// Asks for these interfaces of a new object of this class, by TCP.
    #[must_use]
    pub fn new(class: Guid, interfaces: Vec<Guid>) -> Self {
        Self {
            class,
            interfaces,
            class_context: SERVERS,
            flags: 0,
            version: ComVersion::V5_7,
            authn_level: 6, /* RPC_C_AUTHN_LEVEL_PKT_PRIVACY */
            session: ANY_SESSION,
            partition: None,
            protocols: vec![ProtocolSequence::TCP],
            server_name: None,
            context: None,
        }
    }

    /// The parameter of a request to [`IRemoteSCMActivator`](crate::dcom::activator::IRemoteSCMActivator).
    ///
    /// # Errors
    /// When there are no interfaces, or more than can be counted, or the name holds a NUL.
    pub fn to_pointer(&self) -> EncodeResult<InterfacePointer<'static>> {
        let properties = vec![
            Property::new(property::SPECIAL_SYSTEM_PROPERTIES, &self.special_properties())?,
            Property::new(property::INSTANTIATION_INFO, &self.instantiation_info()?)?,
            Property::new(property::ACTIVATION_CONTEXT_INFO, &self.context_info()?)?,
            Property::new(property::SECURITY_INFO, &self.security_info())?,
            Property::new(property::LOCATION_INFO, &LocationInfo::default())?,
            Property::new(property::SCM_REQUEST_INFO, &self.scm_request()?)?,
        ];
        let properties = ActivationProperties { properties };
        properties.to_pointer(IID_ACTIVATION_PROPERTIES_IN, CLSID_ACTIVATION_PROPERTIES_IN)
    }

    /// Reads a parameter that [`ActivationRequest::to_pointer`] or another client wrote. Properties without which the
    /// request makes sense may be missing, and unknown ones are passed over; of two the first one counts.
    ///
    /// # Errors
    /// When it holds no properties, or class, interfaces or protocols are not among them, or one cannot be read.
    pub fn from_pointer(pointer: &InterfacePointer<'_>) -> rpc::ndr::Result<Self> {
        let properties = ActivationProperties::from_pointer(pointer, CLSID_ACTIVATION_PROPERTIES_IN)?;
        let instance: InstantiationInfo =
            properties.require(property::INSTANTIATION_INFO, "InstantiationInfo")?;
        let scm: ScmRequestInfo = properties.require(property::SCM_REQUEST_INFO, "ScmRequestInfo")?;
        let special: Option<SpecialProperties> =
            properties.find(property::SPECIAL_SYSTEM_PROPERTIES, "SpecialSystemProperties")?;
        let context: Option<ActivationContextInfo<'_>> =
            properties.find(property::ACTIVATION_CONTEXT_INFO, "ActivationContextInfo")?;
        let security: Option<SecurityInfo> = properties.find(property::SECURITY_INFO, "SecurityInfo")?;
        let server = security.and_then(|security| security.server).and_then(|server| server.name);
        let protocols = scm.request.and_then(|request| request.protocols);
        Ok(Self {
            class: instance.class,
            interfaces: instance.interfaces.unwrap_or_default().0,
            class_context: instance.class_context,
            flags: instance.flags,
            version: instance.version,
            authn_level: special.as_ref().map_or(0, |special| special.authn_level),
            session: special.as_ref().map_or(ANY_SESSION, |special| special.session),
            partition: special.and_then(|special| (special.has_partition != 0).then_some(special.partition)),
            protocols: protocols.unwrap_or_default().0,
            server_name: server.map(|name| name.0),
            context: context
                .and_then(|context| context.client)
                .map(|client| read_context(&client))
                .transpose()?,
        })
    }

    fn special_properties(&self) -> WholeSpecialProperties {
        let properties = SpecialProperties {
            session: self.session,
            is_this_session: i32::from(self.session != ANY_SESSION),
            is_impersonating: 0,
            has_partition: i32::from(self.partition.is_some()),
            authn_level: self.authn_level,
            partition: self.partition.unwrap_or(Guid::NULL),
            prt_flags: Reserved::NEW,
            original_class_context: self.class_context,
            flags: SPECIAL_FLAGS,
        };
        let (reserved1, reserved2, reserved3) = (Reserved::NEW, Reserved::NEW, Reserved::NEW);
        WholeSpecialProperties { properties, reserved1, reserved2, reserved3 }
    }

    fn instantiation_info(&self) -> EncodeResult<InstantiationInfo> {
        let too_many = |_| EncodeError::new("InstantiationInfoData", "cIID", "is above 32 bits");
        let mut info = InstantiationInfo {
            class: self.class,
            class_context: self.class_context,
            flags: self.flags,
            is_surrogate: Reserved::NEW,
            count: u32::try_from(self.interfaces.len()).map_err(too_many)?,
            instance_flag: Reserved::NEW,
            interfaces: Some(Box::new(Conformant(self.interfaces.clone()))),
            size: 0,
            version: self.version,
        };
        if !(1..=0x8000).contains(&info.count) {
            return Err(EncodeError::new("InstantiationInfoData", "cIID", "is not 1 to 32768"));
        }
        info.size = u32::try_from(to_pickle(&info)?.len()).map_err(too_many)?;
        Ok(info)
    }

    fn context_info(&self) -> EncodeResult<ActivationContextInfo<'static>> {
        let context = self.context.map(|id| Context::new(id).to_objref()?.to_pointer()).transpose()?;
        Ok(ActivationContextInfo {
            client_ok: Reserved::NEW,
            reserved: Reserved::NEW,
            reserved1: Reserved::NEW,
            reserved2: Reserved::NEW,
            client: context.map(Box::new),
            prototype: None,
        })
    }

    fn security_info(&self) -> SecurityInfo {
        let name = self.server_name.clone().map(|name| Box::new(WideString(name)));
        let server = CoServerInfo {
            reserved1: Reserved::NEW,
            name,
            reserved: Reserved::NEW,
            reserved2: Reserved::NEW,
        };
        SecurityInfo { flags: Reserved::NEW, server: Some(Box::new(server)), reserved: Reserved::NEW }
    }

    fn scm_request(&self) -> EncodeResult<ScmRequestInfo> {
        let too_many = |_| EncodeError::new("ScmRequestInfoData", "cRequestedProtseqs", "is above 16 bits");
        let request = ScmRequest {
            impersonation_level: IDENTIFY,
            count: u16::try_from(self.protocols.len()).map_err(too_many)?,
            protocols: Some(Box::new(Conformant(self.protocols.clone()))),
        };
        Ok(ScmRequestInfo { reserved: Reserved::NEW, request: Some(Box::new(request)) })
    }
}

/// The name of a client's context.
fn read_context(pointer: &InterfacePointer<'_>) -> rpc::ndr::Result<Guid> {
    use crate::dcom::types::CLSID_CONTEXT_MARSHALER;
    use crate::dcom::wire::Objref;

    let objref = Objref::from_pointer(pointer)?;
    let Some(data) = objref.custom_data(CLSID_CONTEXT_MARSHALER) else {
        let reason = "is no context";
        return Err(
            wire::DecodeError::invalid_field("ActivationContextInfo", "pIFDClientCtx", 0, reason).into()
        );
    };
    Ok(wire::decode::<Context<'_>>(data)?.id)
}
