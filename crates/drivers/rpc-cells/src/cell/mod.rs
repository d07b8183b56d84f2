//! The objects that have cells, each as a structure and as the words of a copy.

mod call_target;
mod client_call;
mod connection;
mod connection_totals;
mod endpoint;
mod fields;
mod interface;
mod name;
mod object_call;
mod operation;
mod server_call;
mod thread;

use wire::open_enum;

pub use self::call_target::CallTarget;
pub use self::client_call::ClientCall;
pub use self::connection::{AuthenticationLevel, AuthenticationService, Connection, ConnectionFlags};
pub use self::connection_totals::ConnectionTotals;
pub use self::endpoint::{Endpoint, EndpointStatus, ProtocolSequence};
use self::fields::Fields;
pub use self::interface::Interface;
pub use self::name::Name;
pub use self::object_call::ObjectCall;
pub use self::operation::Operation;
pub use self::server_call::{CallFlags, CallStatus, ServerCall};
pub use self::thread::{Thread, ThreadStatus};
use crate::layout::COPY_WORDS;

open_enum! {
    /// What a cell is a cell of.
    pub struct Kind(u8) {
        /// Nothing: the cell is free.
        FREE = 0,
        /// An [`Endpoint`].
        ENDPOINT = 1,
        /// A [`Thread`].
        THREAD = 2,
        /// A [`Connection`].
        CONNECTION = 3,
        /// A [`ServerCall`].
        SERVER_CALL = 4,
        /// A [`ClientCall`].
        CLIENT_CALL = 5,
        /// A [`CallTarget`].
        CALL_TARGET = 6,
        /// An [`Interface`].
        INTERFACE = 7,
        /// An [`Operation`].
        OPERATION = 8,
        /// An [`ObjectCall`].
        OBJECT_CALL = 9,
        /// [`ConnectionTotals`].
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
    /// A name.
    #[error("field `{field}` has a length above its limit, or is not UTF-8")]
    Name {
        /// The field.
        field: &'static str,
    },
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
    /// An endpoint.
    Endpoint = ENDPOINT,
    /// A worker thread of a server.
    Thread = THREAD,
    /// A connection.
    Connection = CONNECTION,
    /// A server call.
    ServerCall = SERVER_CALL,
    /// A client call.
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

#[cfg(test)]
mod tests;
