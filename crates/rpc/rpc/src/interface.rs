use core::fmt;

use crate::ndr::{NdrDecode, NdrEncode, Reader, Writer};
use dcerpc::SyntaxId;
use wire::{EncodeResult, HResult, Win32Error};

/// A row of an interface's table of methods. Prints as words for the beginning of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Method {
    pub interface: &'static str,
    /// Its number on the wire.
    pub opnum: u16,
    /// Its name in the IDL.
    pub name: &'static str,
    /// Its name in words.
    pub words: &'static str,
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words)
    }
}

pub trait Interface {
    /// What its methods return.
    type Status: Status;
    /// Its name in logs.
    const NAME: &'static str;
    /// What a client binds.
    const SYNTAX_ID: SyntaxId;
    /// Its methods, by opnum; those that it inherits are not among them.
    const METHODS: &'static [Method];

    /// The method with that number, if it is declared, here or in an interface that this one inherits from.
    #[must_use]
    fn method(opnum: u16) -> Option<&'static Method> {
        let index = Self::METHODS.binary_search_by_key(&opnum, |method| method.opnum).ok()?;
        Self::METHODS.get(index)
    }

    /// Reads a stub and writes it again; `None` for an opnum that is not declared. A law of each declared method is
    /// that what this writes, it reads and writes again as it is.
    fn recode(
        direction: Direction,
        opnum: u16,
        stub: &[u8],
    ) -> Option<crate::ndr::Result<EncodeResult<Vec<u8>>>>;
}

/// A declared interface whose stubs hold the parameters and nothing else.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is an interface of objects",
    note = "its client is `rpc::orpc::Proxy`"
)]
pub trait NativeInterface: Interface {}

/// Which of a method's stubs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// That of the request.
    Request,
    /// That of the response.
    Reply,
}

/// What the methods of an interface return.
pub trait Status:
    Copy + fmt::Debug + fmt::Display + Eq + NdrEncode + for<'stub> NdrDecode<'stub> + Send + Sync + 'static
{
    /// Whether the method did what was asked.
    fn is_success(self) -> bool;
}

impl Status for Win32Error {
    fn is_success(self) -> bool {
        self == Self::ERROR_SUCCESS
    }
}

/// Success has the highest bit clear: `S_FALSE` is one.
impl Status for HResult {
    fn is_success(self) -> bool {
        self.0 & 0x8000_0000 == 0
    }
}

/// The parameters of a method in one direction.
pub trait Message {
    const METHOD: &'static Method;

    /// Writes the parameters.
    ///
    /// # Errors
    /// When a parameter cannot be written, or contradicts another.
    fn encode(&self, dst: &mut Writer) -> EncodeResult<()>;

    /// Writes the whole stub.
    ///
    /// # Errors
    /// Those of [`Message::encode`].
    fn to_stub(&self) -> EncodeResult<Vec<u8>> {
        let mut dst = Writer::with_capacity(64);
        self.encode(&mut dst)?;
        Ok(dst.into_stub())
    }
}

/// A message that is read from a stub, from which it may borrow.
pub trait FromStub<'stub>: Message + Sized {
    /// Reads the parameters.
    ///
    /// # Errors
    /// When they are not the method's, or one is out of its range.
    fn decode(src: &mut Reader<'stub>) -> crate::ndr::Result<Self>;

    /// Reads the whole stub.
    ///
    /// # Errors
    /// Those of [`FromStub::decode`].
    fn from_stub(stub: &'stub [u8]) -> crate::ndr::Result<Self> {
        Self::decode(&mut Reader::new(stub, Self::METHOD.name))
    }
}

/// The `[in]` parameters of a method.
pub trait Request: Message {
    /// The interface that declares the method.
    type Interface: Interface;
    /// The `[out]` parameters, and what the method returns.
    type Reply<'reply>: FromStub<'reply> + Reply<Status = StatusOf<Self>>;

    /// The reply of a method that returns `status` alone: `[in, out]` parameters as they came,
    /// empty arrays, NULL.
    fn refused<'reply>(&'reply self, status: StatusOf<Self>) -> Self::Reply<'reply>;

    /// Which parameter of a reply this request does not allow, and why.
    fn broken_rule(&self, reply: &Self::Reply<'_>) -> Option<(&'static str, &'static str)>;
}

/// What the methods of a request's interface return.
pub type StatusOf<R> = <<R as Request>::Interface as Interface>::Status;

/// The `[out]` parameters of a method.
pub trait Reply {
    /// What the method returns.
    type Status: Status;

    /// What the method returned.
    fn status(&self) -> Self::Status;
}

/// Reads a message and writes it again.
///
/// # Errors
/// When the stub is not the method's.
pub fn recode<'stub, M: FromStub<'stub>>(stub: &'stub [u8]) -> crate::ndr::Result<EncodeResult<Vec<u8>>> {
    M::from_stub(stub).map(|message| message.to_stub())
}
