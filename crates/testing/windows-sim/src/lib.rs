//! A simulated Windows host: its performance counters, served over its own SMB and RPC servers, and its objects, served over
//! TCP.
//!
//! A [`WindowsHost`] has four parts: a [`model::ValueSource`] with the values (the model, or this machine),
//! [`Accounts`] that may log on, a [`Behaviour`] with the faults to inject, and its [services](service). It is served
//! on as many listeners as a test needs:
//!
//! ```no_run
//! # async fn run() -> std::io::Result<()> {
//! use std::sync::Arc;
//! use windows_sim::model::{Clock, Host, HostOptions};
//! use windows_sim::{Account, Accounts, WindowsHost, server};
//!
//! let model = Host::new(HostOptions { seed: 7, clock: Clock::wall(), ..HostOptions::default() });
//! let account = Account::new("CORP", "svc-metrics", ssp::Secret::new("Passw0rd"));
//! let host = Arc::new(WindowsHost::new("web1", Arc::new(model), Arc::new(Accounts::new(vec![account]))));
//! host.change_behaviour(|behaviour| behaviour.refused_opens = 1);
//!
//! let listener = tokio::net::TcpListener::bind("127.0.0.1:4450").await?;
//! server::listen_smb(Arc::clone(&host), listener, server::Limits::default()).await;
//! # Ok(()) }
//! ```
//!
//! In memory, [`server::serve_smb`] takes any stream, such as one end of a duplex. The values of a reply are
//! functions of seed and clock: [`model::counter_types`] tells what a client has to show for each counter type.
//!
//! What changes at run time is a [`model::Change`] of one counterset (it goes, its provider stops, fails or is
//! updated), a [`Rule`] for single calls (a fault, a status, a delay, a size that has grown), or another field of
//! [`Behaviour`] (a service that stops when it is idle, opens that are refused). All of it goes by the host's clock or by
//! counting calls, so that it happens at the same place each time.
//!
//! Where documents leave open what Windows does, or say it in two ways, a host does what its [`choices::Choices`] say:
//! by default what perflib.h says. A client has to show the same values whatever they are.
//!
//! Beside countersets under Windows's own names there are some of ours, each for one thing that clients trip over:
//! `Counter Types`, `Workers Together`, `Workers` and `Workers Ever` ([`model::aggregates`]), `Duplicates`,
//! `Oddities`, `Updates`, and any number of `Synthetic 0000` and on. No GUID of theirs exists elsewhere.
//!
//! A host has the classic objects of version 1, too ([`model::PerfObject`]): from the same model and clock, in the registry's
//! performance data. Its [`registry`] has the keys that monitoring programs read, and a test can change them.
//!
//! [`server::listen_dcom`] serves the host's [endpoint mapper](service::endpoint_mapper) and object resolver, and its [objects](service::objects) on two listeners: a client
//! activates an object of a class, such as the [tracker](service::tracker) of COM+, calls it and pings it; by the host's
//! clock it dies if it is not pinged. The COM+ [event system](service::event_system) keeps subscriptions, and
//! [`server::EventPublisher`] calls subscribers of the tracker with the model's state. [Process dumps](service::process_dump) are
//! entries of a [list](DumpStore) and no files. [Performance logs and alerts](service::performance_logs) have
//! [data collector sets](model::data_collector_sets), which clients read, start and stop; a test stores more of them by
//! [`WindowsHost::store_data_collector_set`]. Nothing is collected.
//!
//! A host that is [observed](WindowsHost::observed_by) by an [`RpcState`] keeps the state of its calls in cells, as a service
//! of Windows does.
//!
//! Each endpoint, pipes as well, offers the [management](service::management) interface beside its own: its figures are what
//! the host counts.
//!
//! Where to look: [`model`] for what is counted, [`live`] for this machine's own figures, [`service`] for the RPC
//! interfaces, [`server`] for SMB, RPC and pipes behind a real smbd. A host with other services than the
//! [standard](service::standard) ones is made by [`WindowsHost::with_services`].

mod accounts;
mod behaviour;
pub mod choices;
mod dumps;
pub mod events;
mod host;
mod host_state;
pub mod live;
pub mod model;
pub mod registry;
mod remote_registry;
mod rpc_state;
mod rule;
pub mod server;
pub mod service;
pub mod smb;

use std::hash::{BuildHasher, RandomState};

use dcerpc::SyntaxId;
use parking_lot::{Mutex, MutexGuard};
use wire::Guid;

pub use self::accounts::{Account, AccountState, Accounts, Attempts};
pub use self::behaviour::{ActivationMode, Behaviour, ObjectBindings, RegistryMode, RpcSecurity};
pub use self::dumps::{DumpStore, ProcessDump};
pub use self::host::{Counts, WindowsHost};
pub use self::host_state::HostState;
pub use self::rpc_state::{RpcState, RpcStateLevel};
pub use self::rule::{Action, CallKind, Corruption, ParseRuleError, Rule};

/// An interface that a program of the host has registered with the endpoint mapper.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Registered {
    pub(crate) interface: SyntaxId,
    pub(crate) place: Place,
    pub(crate) annotation: &'static str,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    /// Behind a pipe, by its name without `\PIPE\`.
    NamedPipe(&'static str),
    /// In the program with the host's objects.
    Objects,
}

/// One call, as its stubs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedCall {
    /// The service that was called, by its name.
    pub service: &'static str,
    pub opnum: u16,
    /// What the client sent.
    pub request: Vec<u8>,
    /// What the host answered.
    pub response: Vec<u8>,
}

/// The calls of a host, recorded from the first [`take`](Self::take) on.
#[derive(Debug, Default)]
pub(crate) struct Recordings(Mutex<Option<Vec<RecordedCall>>>);

impl Recordings {
    /// Returns the calls recorded so far, and records those that follow.
    pub(crate) fn take(&self) -> Vec<RecordedCall> {
        self.calls().replace(Vec::new()).unwrap_or_default()
    }

    /// Records a call that was not answered by a fault.
    pub(crate) fn add(&self, service: &'static str, opnum: u16, request: &[u8], response: &[u8]) {
        if let Some(calls) = self.calls().as_mut().filter(|calls| calls.len() < CALLS_MAX) {
            let (request, response) = (request.to_vec(), response.to_vec());
            calls.push(RecordedCall { service, opnum, request, response });
        }
    }

    fn calls(&self) -> MutexGuard<'_, Option<Vec<RecordedCall>>> {
        self.0.lock()
    }
}

/// Calls that are kept; the first ones.
const CALLS_MAX: usize = 10_000;

/// Bytes that a client cannot guess: SipHash under a key that the standard library takes from the system.
fn random_bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    for (index, chunk) in bytes.chunks_mut(8).enumerate() {
        let word = RandomState::new().hash_one(index).to_le_bytes();
        chunk.copy_from_slice(&word[..chunk.len()]);
    }
    bytes
}

/// A GUID that a client cannot guess.
fn random_guid() -> Guid {
    Guid::from_bytes(random_bytes())
}
