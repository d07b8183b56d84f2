use std::fmt;

use crate::{Cell, CellId, ObjectCall, Snapshot};

use safe_text::OneLine;

/// The name of a method, as its process knows it. Prints as `IRemoteSCMActivator.RemoteCreateInstance`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OperationName<'a> {
    /// The name of the interface.
    pub interface: &'a str,
    /// The name of the method.
    pub method: &'a str,
}

impl fmt::Display for OperationName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", OneLine(self.interface), OneLine(self.method))
    }
}

/// The name of the method that a call refers to by its field `operation`.
#[must_use]
pub fn operation_name(snapshot: &Snapshot, operation: CellId) -> Option<OperationName<'_>> {
    let Some(Cell::Operation(operation)) = snapshot.get(operation) else { return None };
    let Some(Cell::Interface(interface)) = snapshot.get(operation.interface) else { return None };
    Some(OperationName { interface: interface.name.as_str(), method: operation.name.as_str() })
}

/// What a call refers to by its field `object`.
pub(crate) fn object_of(snapshot: &Snapshot, object: CellId) -> Option<&ObjectCall> {
    match snapshot.get(object)? {
        Cell::ObjectCall(object) => Some(object),
        _ => None,
    }
}

/// What the rows of calls have of these two.
#[derive(Clone, Debug, PartialEq, Eq, Default, serde::Serialize)]
pub struct CallNames {
    /// The name of the interface, if it is known.
    pub interface: Option<String>,
    /// The name of the method, if it is known.
    pub method: Option<String>,
    /// The interface of the object that is called, if it is one of DCOM.
    pub ipid: Option<String>,
    /// The causality id of the call, if it is one of DCOM.
    pub causality_id: Option<String>,
}

impl CallNames {
    pub(crate) fn new(snapshot: &Snapshot, operation: CellId, object: CellId) -> Self {
        let name = operation_name(snapshot, operation);
        let object = object_of(snapshot, object);
        Self {
            interface: name.map(|name| name.interface.to_owned()),
            method: name.map(|name| name.method.to_owned()),
            ipid: object.map(|object| object.ipid.to_string()),
            causality_id: object.map(|object| object.causality_id.to_string()),
        }
    }
}

/// What follows the columns of a row: nothing without a name.
impl fmt::Display for CallNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.interface, &self.method) {
            (Some(interface), Some(method)) => write!(f, " {}", OperationName { interface, method }),
            _ => Ok(()),
        }
    }
}
