//! [MS-DCOM] 2.2.22: what a client wants activated, and what it gets. Both are properties, each pickled by itself, in an
//! object that marshals itself.

mod blob;
mod properties;
mod request;

use rpc::ndr::{Conformant, InterfacePointer, Reserved};
use rpc::orpc::ComVersion;
use wire::{DecodeError, EncodeError, EncodeResult, Guid, HResult};

pub use self::blob::{ActivationProperties, PROPERTIES_MAX, Property};
pub use self::properties::{
    ActivationContextInfo, CoServerInfo, InstantiationInfo, LocationInfo, Pointers, PropsOutInfo, ScmReply,
    ScmReplyInfo, ScmRequest, ScmRequestInfo, SecurityInfo, SpecialProperties,
};
pub use self::request::{ANY_SESSION, ActivationRequest};

use super::types::{CLSID_ACTIVATION_PROPERTIES_OUT, IID_ACTIVATION_PROPERTIES_OUT, Oxid, property};
use super::wire::{DualStringArray, Objref};

/// A program that has objects: what a client needs to call it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectExporter {
    /// What its resolver calls it.
    pub oxid: Oxid,
    /// Where it is, with endpoints, and how callers prove who they are.
    pub bindings: DualStringArray,
    pub ipid_rem_unknown: Guid,
    /// The least authentication level that it takes calls at, `RPC_C_AUTHN_LEVEL`.
    pub authn_hint: u32,
    /// Its version, which calls are to be negotiated with: [`ComVersion::negotiate`].
    pub version: ComVersion,
}

/// What a client gets for an [`ActivationRequest`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Activation {
    /// The program that has the object.
    pub exporter: ObjectExporter,
    /// Each interface that was wanted, and the object's, or why it has none. INVARIANT: one to 32768.
    pub results: Vec<InterfaceResult>,
}

/// An interface that was wanted, and the object's, or why it has none.
pub type InterfaceResult = (Guid, Result<Objref<'static>, HResult>);

impl Activation {
    const RESULTS: &'static str = "PropsOutInfo";

    /// The object's interface.
    ///
    /// # Errors
    /// Why it has none; `E_NOINTERFACE` if the server does not speak of it.
    pub fn interface(&self, iid: Guid) -> Result<&Objref<'static>, HResult> {
        let found = self.results.iter().find(|(found, _)| *found == iid);
        found.map_or(Err(HResult::E_NOINTERFACE), |(_, result)| result.as_ref().map_err(|&status| status))
    }

    /// The parameter of a reply of [`IRemoteSCMActivator`](crate::dcom::activator::IRemoteSCMActivator), in the order that some
    /// clients rely on.
    ///
    /// # Errors
    /// When there are no results, or more than can be counted, or one cannot be written.
    pub fn to_pointer(&self) -> EncodeResult<InterfacePointer<'static>> {
        let properties = vec![
            Property::new(property::PROPS_OUT_INFO, &self.props_out()?)?,
            Property::new(property::SCM_REPLY_INFO, &self.scm_reply())?,
        ];
        let properties = ActivationProperties { properties };
        properties.to_pointer(IID_ACTIVATION_PROPERTIES_OUT, CLSID_ACTIVATION_PROPERTIES_OUT)
    }

    /// Reads a parameter that [`Activation::to_pointer`] or another server wrote. Unknown properties are passed over; of
    /// two the first one counts.
    ///
    /// # Errors
    /// When it holds no properties, or the program or the results are not among them, or one cannot be read.
    pub fn from_pointer(pointer: &InterfacePointer<'_>) -> rpc::ndr::Result<Self> {
        let properties = ActivationProperties::from_pointer(pointer, CLSID_ACTIVATION_PROPERTIES_OUT)?;
        let scm: ScmReplyInfo = properties.require(property::SCM_REPLY_INFO, "ScmReplyInfo")?;
        let results: PropsOutInfo<'_> = properties.require(property::PROPS_OUT_INFO, Self::RESULTS)?;
        let missing = || DecodeError::invalid_field("ScmReplyInfo", "remoteReply", 0, "is NULL");
        let ScmReply { oxid, bindings, ipid_rem_unknown, authn_hint, version } =
            *scm.reply.ok_or_else(missing)?;
        let bindings = *bindings.ok_or_else(missing)?;
        Ok(Self {
            exporter: ObjectExporter { oxid, bindings, ipid_rem_unknown, authn_hint, version },
            results: Self::read_results(results)?,
        })
    }

    fn read_results(info: PropsOutInfo<'_>) -> Result<Vec<InterfaceResult>, DecodeError> {
        let iids = info.interfaces.unwrap_or_default().0;
        let results = info.results.unwrap_or_default().0;
        let pointers = info.pointers.unwrap_or_default().0;
        let answered = iids.into_iter().zip(results).zip(pointers);
        answered
            .map(|((iid, result), pointer)| {
                if !result.is_success() {
                    return Ok((iid, Err(result)));
                }
                let invalid = |reason| DecodeError::invalid_field(Self::RESULTS, "ppIntfData", 0, reason);
                let pointer = pointer.ok_or_else(|| invalid("is NULL where phresults is success"))?;
                let objref = Objref::from_pointer(&pointer)?.into_owned();
                if objref.iid == iid {
                    Ok((iid, Ok(objref)))
                } else {
                    Err(invalid("is of another interface"))
                }
            })
            .collect()
    }

    fn props_out(&self) -> EncodeResult<PropsOutInfo<'static>> {
        let count = u32::try_from(self.results.len()).ok().filter(|count| (1..=0x8000).contains(count));
        let count = count.ok_or_else(|| EncodeError::new(Self::RESULTS, "cIfs", "is not 1 to 32768"))?;
        let (mut iids, mut statuses, mut pointers) = (Vec::new(), Vec::new(), Vec::new());
        for (iid, result) in &self.results {
            iids.push(*iid);
            statuses.push(result.as_ref().err().copied().unwrap_or(HResult::S_OK));
            let pointer = result.as_ref().ok().map(Objref::to_pointer).transpose()?;
            pointers.push(pointer.map(Box::new));
        }
        Ok(PropsOutInfo {
            count,
            interfaces: Some(Box::new(Conformant(iids))),
            results: Some(Box::new(Conformant(statuses))),
            pointers: Some(Box::new(Conformant(pointers))),
        })
    }

    fn scm_reply(&self) -> ScmReplyInfo {
        let ObjectExporter { oxid, bindings, ipid_rem_unknown, authn_hint, version } = self.exporter.clone();
        let bindings = Some(Box::new(bindings));
        let reply = ScmReply { oxid, bindings, ipid_rem_unknown, authn_hint, version };
        ScmReplyInfo { reserved: Reserved::NEW, reply: Some(Box::new(reply)) }
    }
}
