//! The services of a simulated host: the RPC interfaces that it offers, each with the endpoints where clients reach it.
//!
//! A new service is a folder here with an implementation of [`Service`] and of [`Handler`], and a line in [`standard`].
//! Nothing in [`crate::server`] knows any of them.

mod endpoint;
pub mod endpoint_mapper;
pub mod event_system;
pub mod management;
pub mod objects;
pub mod pcq;
pub mod performance_logs;
pub mod process_dump;
mod refused;
pub mod resolver;
pub mod tracker;
pub mod winreg;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use com::dcom::types::{AuthenticationService, ProtocolSequence};
use com::dcom::wire::{DualStringArray, SecurityBinding, StringBinding};
use dcerpc::pdu::BindNakReason;
use dcerpc::{AuthLevel, FaultStatus, SyntaxId};
use rpc::CallInfo;
use rpc::endpoints::mgmt::types::Statistics;
use wire::Guid;

use self::objects::{ComClass, ObjectTable};
use crate::behaviour::{Behaviour, ObjectBindings, RpcSecurity};
use crate::host_state::HostState;
use crate::registry::netbios_name;
use crate::rule::{Action, CallKind};

pub use self::endpoint::{Endpoint, TcpPort};
pub(crate) use self::endpoint::{Group, ServedEndpoint, registered};

/// The services of a Windows host that counts: one line each.
#[must_use]
pub fn standard() -> Vec<Arc<dyn Service>> {
    let mut services: Vec<Arc<dyn Service>> = vec![Arc::new(pcq::Pcq), Arc::new(winreg::Winreg)];
    let mut classes: Vec<Arc<dyn ComClass>> =
        vec![Arc::new(tracker::Tracker), Arc::new(process_dump::ProcessDumpService)];
    classes.extend(event_system::classes());
    classes.extend(performance_logs::classes());
    services.push(Arc::new(endpoint_mapper::EndpointMapper));
    services.extend(dcom(classes));
    services
}

/// The object resolver of a host, and the interfaces of the objects that it makes of these classes.
#[must_use]
pub fn dcom(classes: Vec<Arc<dyn ComClass>>) -> Vec<Arc<dyn Service>> {
    let objects = Arc::new(ObjectTable::new(classes));
    let mut services = resolver::services(&objects);
    services.extend(objects::services(&objects));
    services
}

/// The endpoints of a host with these services: each with those that are reached there, and with its management.
pub(crate) fn endpoints(services: &[Arc<dyn Service>]) -> Vec<Arc<ServedEndpoint>> {
    let mut all = ServedEndpoint::of(services);
    for served in &mut all {
        let interfaces = served.services().iter().map(|service| service.syntax_id());
        let (endpoint, counts) = (served.endpoint().clone(), Arc::clone(served.counts()));
        let management = management::Management::new(endpoint, interfaces, counts);
        served.add(Arc::new(management));
    }
    all.into_iter().map(Arc::new).collect()
}

/// One RPC interface of a host.
///
/// Each host has its own instance: state that all clients of a host share is kept in it.
pub trait Service: Send + Sync {
    /// The name in rules, counts and recordings: unique within the host, without `/` and `=`.
    fn name(&self) -> &'static str;

    fn syntax_id(&self) -> SyntaxId;

    /// Where clients reach the interface. Services may share an endpoint; an association can bind each of them.
    fn endpoints(&self) -> &[Endpoint];

    /// What the host's endpoint mapper says of the interface. By default it does not list it.
    fn annotation(&self) -> Option<&'static str> {
        None
    }

    /// Starts to serve an association group. A handler that also works outside of calls, for example to call clients
    /// back, keeps a clone of `host`.
    fn handler(&self, host: &Arc<HostState>) -> Box<dyn Handler>;

    /// The answer to a client that asks for this interface, where it is not that of a healthy host. Never by default.
    fn refuse_bind(&self, behaviour: &Behaviour, request: BindRequest) -> Option<BindRefusal> {
        let _ = (behaviour, request);
        None
    }
}

/// One service's part of an association group: executes its calls and holds its context handles. It is dropped with the
/// last association of the group.
pub trait Handler: Send {
    /// Executes a call and returns the stub of the response.
    ///
    /// # Errors
    /// The status of the fault to answer.
    fn call(&mut self, call: &Call<'_>) -> Result<Vec<u8>, FaultStatus>;

    /// What [rules](crate::Rule) look at in a call: the opnum alone by default.
    fn kind(&self, call: &Call<'_>) -> CallKind {
        CallKind::new(call.opnum)
    }

    /// Whether the call, and every later one on the same association, gets no answer. Never by default.
    fn hangs(&mut self, call: &Call<'_>) -> bool {
        let _ = call;
        false
    }

    /// Closes all context handles, as a service that was restarted: [`Action::LoseHandles`].
    fn lose_handles(&mut self) {}

    /// Changes the response by an action whose meaning depends on the interface: [`Action::Status`], [`Action::Grow`]
    /// or [`Action::Corrupt`]. Does nothing by default.
    fn apply(&mut self, action: &Action, call: &Call<'_>, response: &mut Vec<u8>) {
        let _ = (action, call, response);
    }
}

/// A call for a [`Handler`].
#[derive(Clone, Copy)]
pub struct Call<'a> {
    /// The host that was called.
    pub host: &'a Arc<HostState>,
    pub opnum: u16,
    /// The object that the call is for, if it names one.
    pub object: Option<Guid>,
    /// The stub of the request.
    pub stub: &'a [u8],
    /// How the call was protected.
    pub auth_level: AuthLevel,
    /// The caller, if it was authenticated.
    pub caller: Option<&'a ssp::Account>,
}

impl Call<'_> {
    //= [MS-PCQ] <1>
    //# Windows only allows system administrators, members of the Performance Log Users Group, and members of the
    //# Performance Monitor Users Group
    /// Refuses a call that is not sealed, or whose caller may not read counters. [MS-COMT] leaves to the host who may; here
    /// these are the same.
    ///
    /// # Errors
    /// `nca_s_fault_access_denied`
    fn require_privacy(&self) -> Result<(), FaultStatus> {
        if self.counters_auth_level() >= AuthLevel::PKT_PRIVACY {
            Ok(())
        } else {
            Err(FaultStatus::NCA_S_FAULT_ACCESS_DENIED)
        }
    }

    fn info(&self) -> CallInfo {
        CallInfo { auth_level: self.auth_level, object: self.object }
    }

    /// How the call was protected, or [`AuthLevel::NONE`] for a caller who may not read counters: both get the same
    /// status.
    fn counters_auth_level(&self) -> AuthLevel {
        let accounts = self.host.accounts();
        let may = |account: &ssp::Account| accounts.may_read_counters(&account.domain, &account.user);
        if self.caller.is_some_and(may) { self.auth_level } else { AuthLevel::NONE }
    }
}

/// How a client asks for an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BindRequest {
    /// With the first PDU of an association.
    Bind,
    /// On an association that is bound already.
    AlterContext,
}

/// What a client gets instead of an answer to its [`BindRequest`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BindRefusal {
    Nak(BindNakReason),
    Fault(FaultStatus),
    /// The end of the connection.
    Drop,
    Silence,
}

/// The addresses of the resolver, without a port. Windows writes the host's short name first, and no pipe: see the conversation in
/// `tests/it/dcom/golden.rs` of `com`.
fn resolver_bindings(host: &HostState) -> DualStringArray {
    let address = host.exporter_address().map(|address| address.ip().to_string());
    let name = address.is_some().then(|| netbios_name(host.name()));
    DualStringArray::tcp(name.into_iter().chain(address), security(host))
}

/// The addresses of the program with the host's objects; `None` while it does not listen. Clients cannot use the first one.
fn exporter_bindings(host: &HostState) -> Option<DualStringArray> {
    let address = host.exporter_address()?;
    let (ip, port, name) = (address.ip(), address.port(), netbios_name(host.name()));
    let addresses = match host.behaviour().object_bindings {
        ObjectBindings::Reachable => vec![format!("{name}[{port}]"), format!("{ip}[{port}]")],
        ObjectBindings::Unroutable => vec![format!("192.0.2.1[{port}]")],
        ObjectBindings::Blocked => vec![format!("{ip}[9]")],
        ObjectBindings::NoTcp => Vec::new(),
    };
    let mut bindings = DualStringArray::tcp(addresses, security(host));
    let address = format!(r"\\{name}[\PIPE\objects]");
    bindings.strings.insert(0, StringBinding { protocol: ProtocolSequence::NAMED_PIPE, address });
    Some(bindings)
}

fn security(host: &HostState) -> Vec<SecurityBinding> {
    const KERBEROS: AuthenticationService = AuthenticationService(16);
    let behaviour = host.behaviour();
    let mut services = match behaviour.rpc_security {
        RpcSecurity::Both | RpcSecurity::SecretlyNtlm => {
            vec![AuthenticationService::GSS_NEGOTIATE, AuthenticationService::WINNT]
        }
        RpcSecurity::Ntlm => vec![AuthenticationService::WINNT],
        RpcSecurity::Neither => vec![KERBEROS],
    };
    if behaviour.keytab.is_some() {
        services.push(KERBEROS);
    }
    if !behaviour.takes_ntlm {
        services.retain(|service| *service != AuthenticationService::WINNT);
    }
    services.into_iter().map(|service| SecurityBinding { service, principal: String::new() }).collect()
}

/// What the RPC run time of a program counts over all of its associations, since the host was made. All of them wrap.
#[derive(Debug, Default)]
pub(crate) struct RpcCounts {
    calls_in: AtomicU32,
    calls_out: AtomicU32,
    packets_in: AtomicU32,
    packets_out: AtomicU32,
}

impl RpcCounts {
    pub(crate) fn call_received(&self) {
        self.calls_in.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn call_sent(&self) {
        self.calls_out.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn packets_received(&self, count: u64) {
        self.packets_in.fetch_add(low_half(count), Ordering::Relaxed);
    }

    pub(crate) fn packets_sent(&self, count: u64) {
        self.packets_out.fetch_add(low_half(count), Ordering::Relaxed);
    }

    /// As a client of the program reads them.
    pub(crate) fn statistics(&self) -> Statistics {
        let read = |count: &AtomicU32| count.load(Ordering::Relaxed);
        Statistics {
            calls_in: read(&self.calls_in),
            calls_out: read(&self.calls_out),
            packets_in: read(&self.packets_in),
            packets_out: read(&self.packets_out),
        }
    }
}

/// What is added to a count that wraps.
#[expect(clippy::cast_possible_truncation, reason = "the count has 32 bits and wraps")]
const fn low_half(count: u64) -> u32 {
    count as u32
}
