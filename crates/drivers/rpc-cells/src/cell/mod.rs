//! The objects that have cells, each as a structure and as the words of a copy.

mod client_call;
mod connection;
mod endpoint;
mod fields;
mod server_call;
mod thread;

use std::fmt;

use wire::{Guid, open_enum};

pub use self::client_call::{CallTarget, ClientCall};
pub use self::connection::{
    AuthenticationLevel, AuthenticationService, Connection, ConnectionFlags, ConnectionTotals,
};
pub use self::endpoint::{Endpoint, EndpointStatus, ProtocolSequence};
pub use self::server_call::{CallFlags, CallStatus, ServerCall};
pub use self::thread::{Thread, ThreadStatus};

use self::fields::Fields;
use self::sealed::Stored;
use super::layout::CellId;
use crate::layout::COPY_WORDS;

open_enum! {
    /// What a cell is a cell of.
    pub struct Kind(u8) {
        /// Nothing: the cell is free.
        FREE = 0,
        ENDPOINT = 1,
        THREAD = 2,
        CONNECTION = 3,
        SERVER_CALL = 4,
        CLIENT_CALL = 5,
        CALL_TARGET = 6,
        INTERFACE = 7,
        OPERATION = 8,
        OBJECT_CALL = 9,
        CONNECTION_TOTALS = 10,
    }
}

/// An object that has a cell. Implemented by the structures of this crate only.
pub trait Object: sealed::Stored + Copy {
    /// What its cell is a cell of.
    const KIND: Kind;
}

pub(crate) mod sealed {
    use super::{Fields, Malformed};

    /// How an object is stored in the copies of its cell. The kind of the cell is stored elsewhere.
    pub trait Stored: Sized {
        fn write(&self, fields: &mut Fields);
        fn read(fields: &Fields) -> Result<Self, Malformed>;
    }
}

/// A value that no writer writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// The kind of the cell.
    #[error("kind {0} is not known")]
    Kind(Kind),
    #[error("field `{field}` has a length above its limit, or is not UTF-8")]
    Name { field: &'static str },
}

/// The words of one copy of an object.
pub(crate) type CopyWords = [u64; COPY_WORDS];

/// A copy with the object.
pub(crate) fn encode<O: Object>(object: &O) -> CopyWords {
    let mut fields = Fields::default();
    fields.put(KIND_AT, [O::KIND.0]);
    object.write(&mut fields);
    fields.to_words()
}

/// A copy with no object.
pub(crate) const FREE: CopyWords = [0; COPY_WORDS];

const KIND_AT: usize = 0;

macro_rules! cell {
    ($($(#[$meta:meta])* $object:ident = $kind:ident,)*) => {
        /// An object as it was found in its cell.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Cell {
            $($(#[$meta])* $object($object),)*
        }

        impl Cell {
            /// What it is a cell of.
            #[must_use]
            pub fn kind(&self) -> Kind {
                match self {
                    $(Self::$object(_) => Kind::$kind,)*
                }
            }

            /// Reads a copy; a free cell has no object.
            pub(crate) fn decode(words: &CopyWords) -> Result<Option<Self>, Malformed> {
                let fields = Fields::from_words(words);
                let [kind] = fields.get(KIND_AT);
                match Kind(kind) {
                    Kind::FREE => Ok(None),
                    $(Kind::$kind => Ok(Some(Self::$object(sealed::Stored::read(&fields)?))),)*
                    other => Err(Malformed::Kind(other)),
                }
            }
        }

        $(
            impl Object for $object {
                const KIND: Kind = Kind::$kind;
            }

            impl From<$object> for Cell {
                fn from(object: $object) -> Self {
                    Self::$object(object)
                }
            }
        )*
    };
}

cell! {
    Endpoint = ENDPOINT,
    /// A worker thread of a server.
    Thread = THREAD,
    Connection = CONNECTION,
    ServerCall = SERVER_CALL,
    ClientCall = CLIENT_CALL,
    /// Where a client call goes.
    CallTarget = CALL_TARGET,
    /// The name of an interface.
    Interface = INTERFACE,
    /// The name of a method.
    Operation = OPERATION,
    /// What the call of a DCOM object has besides.
    ObjectCall = OBJECT_CALL,
    /// What a connection has carried.
    ConnectionTotals = CONNECTION_TOTALS,
}

/// A name of at most `N` bytes, or the front of a longer one and `…`. A character that does not fit as a whole is left out.
///
/// It may contain control characters; escape them before a terminal gets them.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Name<const N: usize> {
    /// INVARIANT: at most `N`, which is at most 255; as many bytes are UTF-8, and the others are zero.
    len: u8,
    bytes: [u8; N],
}

impl<const N: usize> Name<N> {
    /// `name`, as far as it fits.
    #[must_use]
    pub fn new(name: &str) -> Self {
        const { assert!(N >= CUT.len() && N <= 255) };
        let (end, cut) =
            if name.len() <= N { (name.len(), "") } else { (name.floor_char_boundary(N - CUT.len()), CUT) };
        let len = end + cut.len();
        let mut bytes = [0; N];
        bytes[..end].copy_from_slice(&name.as_bytes()[..end]);
        bytes[end..len].copy_from_slice(cut.as_bytes());
        Self { len: u8::try_from(len).expect("at most N, which is at most 255"), bytes }
    }

    /// The name, as far as it was kept.
    #[must_use]
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.bytes[..usize::from(self.len)]).expect("per the invariant of `len`")
    }

    /// Whether this may be the front of `name`, or all of it.
    #[must_use]
    pub fn is_front_of(&self, name: &str) -> bool {
        *self == Self::new(name)
    }

    pub(crate) fn len(&self) -> u8 {
        self.len
    }

    /// All bytes, with zeros after the name.
    pub(crate) fn padded(&self) -> &[u8; N] {
        &self.bytes
    }

    /// A name of `len` bytes; what is after it is not believed.
    pub(crate) fn from_padded(len: u8, padded: &[u8]) -> Option<Self> {
        if usize::from(len) > N {
            return None;
        }
        Some(Self::new(std::str::from_utf8(padded.get(..usize::from(len))?).ok()?))
    }
}

/// At the end of a name that is not all of it.
const CUT: &str = "…";

impl<const N: usize> Default for Name<N> {
    fn default() -> Self {
        Self::new("")
    }
}

impl<const N: usize> fmt::Display for Name<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl<const N: usize> fmt::Debug for Name<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.as_str())
    }
}

/// What a call of a DCOM object has besides: a call refers to this cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ObjectCall {
    /// [MS-DCOM] 2.2.1.7: the interface of the object that is called.
    #[doc(alias = "IPID")]
    pub ipid: Guid,
    /// [MS-DCOM] 2.2.13.3 `ORPCTHIS`: the causality id, which all calls have that are made because of another.
    #[doc(alias = "CID")]
    pub causality_id: Guid,
}

impl Stored for ObjectCall {
    fn write(&self, fields: &mut Fields) {
        fields.put(8, self.ipid.to_bytes());
        fields.put(24, self.causality_id.to_bytes());
    }

    fn read(fields: &Fields) -> Result<Self, Malformed> {
        Ok(Self { ipid: Guid::from_bytes(fields.get(8)), causality_id: Guid::from_bytes(fields.get(24)) })
    }
}

/// A method of an interface. It is written once, when it is first called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Operation {
    pub opnum: u16,
    /// The cell of its [`Interface`].
    pub interface: CellId,
    /// The front of its name in the IDL.
    pub name: Name<47>,
}

impl Stored for Operation {
    fn write(&self, fields: &mut Fields) {
        fields.put(2, self.opnum.to_le_bytes());
        fields.put_cell_id(4, self.interface);
        fields.put_name(8, &self.name);
    }

    fn read(fields: &Fields) -> Result<Self, Malformed> {
        Ok(Self {
            opnum: fields.u16(2),
            interface: fields.cell_id(4),
            name: fields.name(8, "OperationName")?,
        })
    }
}

/// An interface that calls are made on. It is written once, when the first of its operations is seen, so that readers
/// know names without the interfaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Interface {
    pub version: u16,
    /// The whole UUID; calls have its first 32 bits.
    pub uuid: Guid,
    /// The front of its name in the IDL.
    pub name: Name<32>,
}

impl Stored for Interface {
    fn write(&self, fields: &mut Fields) {
        fields.put(2, self.version.to_le_bytes());
        fields.put(4, self.uuid.to_bytes());
        fields.put_name(20, &self.name);
    }

    fn read(fields: &Fields) -> Result<Self, Malformed> {
        Ok(Self {
            version: fields.u16(2),
            uuid: Guid::from_bytes(fields.get(4)),
            name: fields.name(20, "InterfaceName")?,
        })
    }
}

#[cfg(test)]
mod tests;
