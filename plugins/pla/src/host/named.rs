//! One set by its name: read, started, stopped.

use com::oaut::{Bstr, VariantBool};
use dcom::client::Object;
use host_session::SessionError;
use ms_pla::IDataCollectorSet;
use ms_pla::data_collector_set::{QueryRequest, StartRequest, StopRequest};
use tokio::time::Instant;

use super::list::{CallError, HostXml, read_text, read_xml};

/// The field `audit` of records of who had which set started or stopped.
pub(crate) const AUDIT: &str = "data_collector_set";

/// What a set is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Start,
    Stop,
}

impl Order {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Stop => "stop",
        }
    }
}

/// Why a set was not read, or not controlled.
#[derive(Debug)]
pub(crate) enum NamedError {
    Session(SessionError),
    /// The host's answer cannot be used.
    Answer(String),
}

impl From<SessionError> for NamedError {
    fn from(error: SessionError) -> Self {
        Self::Session(error)
    }
}

/// Has the object, one of the class of a category's sets, read the set of this name from the host's store. The name is not
/// case sensitive.
async fn query(set: &mut Object, name: &str, deadline: Instant) -> Result<(), NamedError> {
    let name = Bstr::new(name).map_err(|error| NamedError::Answer(error.to_string()))?;
    let mut proxy = set.proxy::<IDataCollectorSet>(deadline).await?;
    let queried = proxy.call(&QueryRequest { name, server: Bstr(None) }).await.map(drop);
    queried.map_err(|error| set.error_of(&error).into())
}

/// Reads the set of this name.
///
/// # Errors
/// If the host has none, or does not say what it is.
pub(crate) async fn read_named(
    set: &mut Object,
    name: &str,
    deadline: Instant,
) -> Result<HostXml, NamedError> {
    query(set, name, deadline).await?;
    let mut proxy = set.proxy::<IDataCollectorSet>(deadline).await?;
    let read = read_xml(&mut proxy).await;
    read.map_err(|error| set.error_of(&error))?.map_err(NamedError::Answer)
}

/// The XML of the set of this name as the host sends it, which nobody need be able to read.
///
/// # Errors
/// If the host has none, or sends no text.
pub(crate) async fn export_named(
    set: &mut Object,
    name: &str,
    deadline: Instant,
) -> Result<String, NamedError> {
    query(set, name, deadline).await?;
    let mut proxy = set.proxy::<IDataCollectorSet>(deadline).await?;
    let read = read_text(&mut proxy).await;
    read.map_err(|error| set.error_of(&error))?.map_err(NamedError::Answer)
}

/// Starts or stops the set of this name, and waits until the host has done so.
///
/// # Errors
/// If the host has no such set, or does not do it.
pub(crate) async fn control(
    set: &mut Object,
    name: &str,
    order: Order,
    deadline: Instant,
) -> Result<(), NamedError> {
    query(set, name, deadline).await?;
    let mut proxy = set.proxy::<IDataCollectorSet>(deadline).await?;
    let synchronous = VariantBool::TRUE;
    let done: Result<(), CallError> = match order {
        Order::Start => proxy.call(&StartRequest { synchronous }).await.map(drop),
        Order::Stop => proxy.call(&StopRequest { synchronous }).await.map(drop),
    };
    done.map_err(|error| set.error_of(&error).into())
}
