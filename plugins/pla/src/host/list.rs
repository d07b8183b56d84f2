//! All sets of a category: two calls for their list, and two for each set, or three where not all are wanted. What cannot be
//! read of one set costs nothing of the others.

use std::fmt;

use com::dcom::wire::Objref;
use com::oaut::Bstr;
use dcom::client::{Object, Returned};
use host_session::rpc_client::{Interface as BoundInterface, TcpTransport};
use host_session::{Reason, Recovery, SessionError, Stage};
use ms_pla::collection::{Collection, item, item_unsigned};
use ms_pla::data_collector_set::{GetNameRequest, GetStatusRequest, GetXmlRequest};
use ms_pla::data_collector_set_collection::GetDataCollectorSetsRequest;
use ms_pla::xml::DataCollectorSet;
use ms_pla::{DataCollectorSetStatus, IDataCollectorSet, IDataCollectorSetCollection};
use rpc::orpc::Proxy;
use tokio::time::Instant;
use wire::HResult;

use super::progress::Progress;
use crate::model::LIMITS;

/// Why a call failed.
pub(super) type CallError = rpc::Error<host_session::rpc_client::Error, HResult>;

/// A set of a host.
#[derive(Debug)]
pub(crate) struct Listed {
    pub(crate) name: String,
    /// What the host says about it, or why that cannot be read.
    pub(crate) read: Result<HostXml, String>,
}

/// What a host says about a set.
#[derive(Debug)]
pub(crate) struct HostXml {
    /// As the host sent it.
    pub(crate) text: String,
    pub(crate) document: DataCollectorSet,
    pub(crate) status: DataCollectorSetStatus,
}

/// Which sets are read.
#[derive(Clone, Copy)]
pub(crate) enum Which<'a> {
    All,
    /// Those with such names.
    Named(&'a (dyn Fn(&str) -> bool + Sync)),
}

/// Lists the sets of a collection, an object of the class of a category, from where `progress` is on. Of sets whose names are not
/// wanted only the name is read. It ends early if the time is too short for another set.
///
/// # Errors
/// If the host does not list them, or another call would fail, too. What was taken until then was read.
pub(crate) async fn list(
    collection: &mut Object,
    which: Which<'_>,
    progress: &mut Progress,
    mut take: impl FnMut(Listed),
    deadline: Instant,
) -> Result<(), SessionError> {
    if !progress.is_filled() {
        progress.fill(fill(collection, deadline).await?);
    }
    progress.begin();
    let mut reader = Reader { collection, deadline, takes_unsigned: false, done: Vec::new() };
    while let Some(index) = progress.next(Instant::now(), deadline) {
        match reader.set(index, which).await? {
            Ok(Some(listed)) => {
                progress.add_bytes(listed.read.as_ref().map_or(0, |read| read.text.len()));
                take(listed);
            }
            Ok(None) => {}
            Err(why) => progress.miss(index, &why),
        }
        if reader.done.len() >= RELEASED_TOGETHER {
            reader.release().await?;
        }
    }
    reader.release().await
}

/// Has the collection filled with the sets of now. Returns how many there are.
async fn fill(collection: &mut Object, deadline: Instant) -> Result<u32, SessionError> {
    let mut proxy = collection.proxy::<IDataCollectorSetCollection>(deadline).await?;
    let request = GetDataCollectorSetsRequest { server: Bstr(None), filter: Bstr(None) };
    let filled = proxy.call(&request).await.map(drop);
    let counted = match filled {
        Ok(()) => proxy.call(&IDataCollectorSetCollection::count()).await,
        Err(error) => Err(error),
    };
    let counted = counted.map_err(|error| collection.error_of(&error))?;
    match IDataCollectorSetCollection::count_of(&counted) {
        Some(count) if count <= SETS_MAX => Ok(count),
        _ => {
            let target = collection.program().target();
            let error = AbsurdCount(counted.count);
            Err(SessionError::of_answer(target, Stage::Query, Reason::LimitExceeded, &error))
        }
    }
}

struct Reader<'a> {
    collection: &'a mut Object,
    deadline: Instant,
    /// The host takes an index as VT_UI4 only.
    takes_unsigned: bool,
    /// Sets that are read, and are given back together.
    done: Vec<Returned<IDataCollectorSet>>,
}

/// Why one call failed after which others may succeed, or why they will not.
pub(super) type OfOne<T> = Result<Result<T, String>, SessionError>;

impl Reader<'_> {
    /// The set at an index; none if it is not wanted.
    async fn set(&mut self, index: u32, which: Which<'_>) -> OfOne<Option<Listed>> {
        let set = match self.item(index).await? {
            Ok(set) => set,
            Err(why) => return Ok(Err(why)),
        };
        let read = self.read(&set, which).await;
        self.done.push(set);
        read
    }

    async fn read(&mut self, set: &Returned<IDataCollectorSet>, which: Which<'_>) -> OfOne<Option<Listed>> {
        let mut name = None;
        if let Which::Named(is_wanted) = which {
            match self.name(set).await? {
                Ok(found) if is_wanted(&found) => name = Some(found),
                Ok(_) => return Ok(Ok(None)),
                Err(why) => return Ok(Err(why)),
            }
        }
        let mut proxy = self.collection.proxy_of(set, self.deadline).await?;
        let read = read_xml(&mut proxy).await;
        let read = settle(self.collection, read)?;
        let own_name = || read.as_ref().ok().and_then(|read| read.document.name.clone());
        let name = match name.or_else(own_name).filter(|name| !name.is_empty()) {
            Some(name) => Ok(name),
            None => self.name(set).await?,
        };
        Ok(name.map(|name| Some(Listed { name, read })))
    }

    async fn name(&mut self, set: &Returned<IDataCollectorSet>) -> OfOne<String> {
        let mut proxy = self.collection.proxy_of(set, self.deadline).await?;
        let name = proxy.call(&GetNameRequest {}).await;
        settle(self.collection, name.map(|reply| text_of(&reply.value, "name")))
    }

    async fn item(&mut self, index: u32) -> OfOne<Returned<IDataCollectorSet>> {
        let mut proxy = self.collection.proxy::<IDataCollectorSetCollection>(self.deadline).await?;
        let mut read = match self.takes_unsigned {
            false => item(&mut proxy, index).await,
            true => item_unsigned(&mut proxy, index).await,
        };
        if !self.takes_unsigned
            && let Err(CallError::Status { status: HResult::DISP_E_TYPEMISMATCH, .. }) = read
        {
            read = item_unsigned(&mut proxy, index).await;
            self.takes_unsigned = read.is_ok();
        }
        let reference = match settle(self.collection, read.map(Ok))? {
            Ok(reference) => reference,
            Err(why) => return Ok(Err(why)),
        };
        let objref: Objref<'_> = match wire::decode(&reference) {
            Ok(objref) => objref,
            Err(error) => return Ok(Err(error.to_string())),
        };
        match self.collection.take_returned(&objref, self.deadline).await {
            Ok(set) => Ok(Ok(set)),
            Err(error) if error.recovery == Recovery::Nothing => Ok(Err(error.detail().to_owned())),
            Err(error) => Err(error),
        }
    }

    async fn release(&mut self) -> Result<(), SessionError> {
        if self.done.is_empty() {
            return Ok(());
        }
        self.collection.release_all_returned(std::mem::take(&mut self.done), self.deadline).await
    }
}

/// Reads the XML of a set as the host sends it, whatever it says.
pub(super) async fn read_text(
    proxy: &mut Proxy<BoundInterface<'_, TcpTransport>, IDataCollectorSet>,
) -> Result<Result<String, String>, CallError> {
    let xml = proxy.call(&GetXmlRequest {}).await?;
    Ok(text_of(&xml.value, "XML"))
}

/// Reads the XML of a set, and its status where the XML does not say it.
pub(super) async fn read_xml(
    proxy: &mut Proxy<BoundInterface<'_, TcpTransport>, IDataCollectorSet>,
) -> Result<Result<HostXml, String>, CallError> {
    let text = match read_text(proxy).await? {
        Ok(text) => text,
        Err(why) => return Ok(Err(why)),
    };
    let document = match DataCollectorSet::read_each(text.as_bytes(), &LIMITS) {
        Ok(document) => document,
        Err(error) => return Ok(Err(format!("the XML of the set: {error}"))),
    };
    let status = match document.status {
        Some(status) => status,
        None => proxy.call(&GetStatusRequest {}).await?.value,
    };
    Ok(Ok(HostXml { text, document, status }))
}

/// What came of a call, or why it did not if other calls may succeed.
///
/// # Errors
/// If they will not.
pub(super) fn settle<T>(object: &Object, called: Result<Result<T, String>, CallError>) -> OfOne<T> {
    let error = match called {
        Ok(answer) => return Ok(answer),
        Err(error) => error,
    };
    let failure = object.error_of(&error);
    let is_of_one = match &error {
        CallError::Call { source, .. } => host_session::concerns_one_call(source),
        // Each set has a list of who may read it.
        CallError::Status { status, .. } => {
            failure.recovery == Recovery::Nothing || *status == HResult::E_ACCESSDENIED
        }
        CallError::Stub { .. } | CallError::Request { .. } => true,
    };
    if is_of_one { Ok(Err(failure.detail().to_owned())) } else { Err(failure) }
}

/// A text that a host must not leave out.
fn text_of(bstr: &Bstr, what: &str) -> Result<String, String> {
    match bstr.text() {
        Ok(Some(text)) if !text.is_empty() => Ok(text),
        Ok(_) => Err(format!("the host says that the {what} of the set is nothing")),
        Err(error) => Err(format!("the {what} of the set is no text: {error}")),
    }
}

/// A number of sets that no host has.
#[derive(Debug)]
struct AbsurdCount(i32);

impl fmt::Display for AbsurdCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the host says that it has {} data collector sets, and at most {SETS_MAX} are read", self.0)
    }
}

impl std::error::Error for AbsurdCount {}

/// Sets of one category.
const SETS_MAX: u32 = 4_096;
/// References that are given back in one call.
const RELEASED_TOGETHER: usize = 64;
