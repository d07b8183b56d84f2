use crate::ndr::{EnumForm, Reader, Writer};
use dcerpc::{FaultStatus, SyntaxId};
use wire::{EncodeResult, Guid, HResult};

use super::{ComVersion, OrpcThat, OrpcThis};
use crate::{
    CallInfo, Direction, Failure, FromStub, Interface, Message, Method, Request, ServerResult, StatusOf,
};

/// A declared interface of objects.
pub trait ObjectInterface: Interface {
    /// The number after the last one that this interface, or one that it inherits, declares.
    const OPNUMS_END: u16;
    /// What names the interface: an IID.
    const IID: Guid = Self::SYNTAX_ID.uuid;
}

/// An interface that has the methods of `Base`, perhaps as its own: they may be called where `Self` is bound.
#[diagnostic::on_unimplemented(message = "`{Self}` does not inherit from `{Base}`")]
pub trait Inherits<Base>: ObjectInterface {}

/// [MS-DCOM] 3.1.1.5.8: the root of all interfaces of objects, whose three methods never go over a wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IUnknown;

impl Interface for IUnknown {
    type Status = HResult;
    const NAME: &'static str = "IUnknown";
    const SYNTAX_ID: SyntaxId =
        SyntaxId::new(Guid::from_u128(0x0000_0000_0000_0000_c000_0000_0000_0046), 0, 0);
    const METHODS: &'static [Method] = &[];

    fn recode(_: Direction, _: u16, _: &[u8]) -> Option<crate::ndr::Result<EncodeResult<Vec<u8>>>> {
        None
    }
}

impl ObjectInterface for IUnknown {
    const OPNUMS_END: u16 = 3;
}

impl Inherits<Self> for IUnknown {}

impl IUnknown {
    /// Where the dispatch of inherited methods ends.
    ///
    /// # Errors
    /// Always: `nca_s_op_rng_error`.
    pub const fn dispatch<S: IUnknownServer + ?Sized>(
        _server: &mut S,
        _call: &CallInfo,
        _opnum: u16,
        _stub: &[u8],
    ) -> Result<Vec<u8>, FaultStatus> {
        Err(FaultStatus::NCA_S_OP_RNG_ERROR)
    }
}

/// What all objects that a server has are asked.
pub trait IUnknownServer {
    /// The version of DCOM that the server speaks. Calls of later ones are refused.
    fn version(&self) -> ComVersion {
        ComVersion::V5_7
    }

    /// How enums are in the requests that the server reads, and in its replies.
    fn enums(&self) -> EnumForm {
        EnumForm::Either
    }

    /// Whether a call whose parameters are read may be executed. [`CallInfo::object`] is the IPID.
    ///
    /// # Errors
    /// What the method returns if it may not, or the fault.
    fn authorize(
        &mut self,
        call: &CallInfo,
        this: &OrpcThis<'_>,
        method: &Method,
    ) -> ServerResult<(), HResult> {
        let _ = (call, this, method);
        Ok(())
    }
}

/// The stub of a request to an object.
///
/// # Errors
/// Those of the request.
pub fn request_stub<R: Request>(this: &OrpcThis<'_>, request: &R) -> EncodeResult<Vec<u8>> {
    stub(this, request, EnumForm::Either)
}

/// The stub of an object's response.
///
/// # Errors
/// Those of the reply.
pub fn reply_stub<M: Message>(that: &OrpcThat<'_>, reply: &M) -> EncodeResult<Vec<u8>> {
    stub(that, reply, EnumForm::Either)
}

/// The stub of a message after its header.
pub(super) fn stub(
    header: &impl crate::ndr::NdrEncode,
    message: &impl Message,
    enums: EnumForm,
) -> EncodeResult<Vec<u8>> {
    let mut dst = Writer::with_capacity(128).with_enums(enums);
    dst.write(header)?;
    message.encode(&mut dst)?;
    Ok(dst.into_stub())
}

/// Reads a request to an object.
///
/// # Errors
/// When the stub is not the method's.
pub fn read_request<'stub, R: Request + FromStub<'stub>>(
    stub: &'stub [u8],
) -> crate::ndr::Result<(OrpcThis<'stub>, R)> {
    let src = &mut Reader::new(stub, R::METHOD.name);
    Ok((src.read("ORPCTHIS")?, R::decode(src)?))
}

/// Reads an object's response.
///
/// # Errors
/// When the stub is not the method's.
pub fn read_reply<'stub, M: FromStub<'stub>>(stub: &'stub [u8]) -> crate::ndr::Result<(OrpcThat<'stub>, M)> {
    let src = &mut Reader::new(stub, M::METHOD.name);
    Ok((src.read("ORPCTHAT")?, M::decode(src)?))
}

/// Reads a request to an object and writes it again.
///
/// # Errors
/// When the stub is not the method's.
pub fn recode_request<'stub, R: Request + FromStub<'stub>>(
    stub: &'stub [u8],
) -> crate::ndr::Result<EncodeResult<Vec<u8>>> {
    read_request::<R>(stub).map(|(this, request)| request_stub(&this, &request))
}

/// Reads an object's response and writes it again.
///
/// # Errors
/// When the stub is not the method's.
pub fn recode_reply<'stub, M: FromStub<'stub>>(
    stub: &'stub [u8],
) -> crate::ndr::Result<EncodeResult<Vec<u8>>> {
    read_reply::<M>(stub).map(|(that, reply)| reply_stub(&that, &reply))
}

/// Reads a request to an object, executes it, writes its reply: in the version of the server, and with its form of enums.
///
/// # Errors
/// The fault to answer.
pub fn answer<'stub, R: Request + FromStub<'stub>, M: Message>(
    (version, enums): (ComVersion, EnumForm),
    stub: &'stub [u8],
    execute: impl FnOnce(&OrpcThis<'_>, &R) -> ServerResult<M, StatusOf<R>>,
) -> Result<Vec<u8>, FaultStatus> {
    let src = &mut Reader::new(stub, R::METHOD.name).with_enums(enums);
    // The parameters of a later version need not be those that are declared here.
    let this: OrpcThis<'_> = src.read("ORPCTHIS").map_err(|error| crate::server::refuse(&error))?;
    if !version.accepts(this.version) {
        return Err(FaultStatus::RPC_E_VERSION_MISMATCH);
    }
    if this.flags != 0 {
        return Err(FaultStatus::RPC_E_INVALID_HEADER);
    }
    let request = R::decode(src).map_err(|error| crate::server::refuse(&error))?;
    let that = OrpcThat::default();
    let stub = match execute(&this, &request) {
        Ok(reply) => self::stub(&that, &reply, enums),
        Err(Failure::Status(status)) => self::stub(&that, &request.refused(status), enums),
        Err(Failure::Fault(fault)) => return Err(fault),
    };
    stub.map_err(|_error| FaultStatus::NCA_S_FAULT_UNSPEC)
}
