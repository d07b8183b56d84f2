use std::sync::{Arc, Mutex};
use std::time::Duration;

use dcerpc::server::{IncomingCall, ServerAssociation, ServerConfig, ServerEvent};
use dcerpc::{AuthLevel, AuthService, FaultStatus};
use ms_pcq::Method;
use ms_pcq::perflibv2::CallInfo;
use ms_pcq::perflibv2::ops::{QueryCounterSetRegistrationInfoRequest, Request};
use ssp::{Mechanism, SecurityContext, ServerOptions, Usage};
use tracing::debug;

use super::registry;
use crate::behaviour::{Action, CallKind};
use crate::host::{Run, WindowsHost};
use crate::service::pcq::{lie, small_buffer};
use crate::service::{GroupServices, lock};

/// One open of `\PIPE\winreg`: an RPC association, and the queries and keys that belong to its group.
///
/// The calling order: [`Pipe::input`] for each message, then send its [`Reply`].
pub(super) struct Pipe {
    host: Arc<WindowsHost>,
    run: Run,
    association: ServerAssociation,
    /// Those of its group, once it is bound.
    services: Option<Arc<Mutex<GroupServices>>>,
    /// An answer stopped half-way, and nothing comes behind it.
    is_stalled: bool,
}

/// What to send for one message.
#[derive(Debug, Default)]
pub(super) struct Reply {
    /// How long to wait first.
    pub(super) delay: Duration,
    /// PDUs, one message each.
    pub(super) messages: Vec<Vec<u8>>,
    /// What comes after them.
    pub(super) then: Then,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) enum Then {
    /// Nothing in particular.
    #[default]
    GoOn,
    /// The pipe breaks.
    HangUp,
    /// The whole connection ends.
    Drop,
}

impl Pipe {
    /// A pipe that was just opened, in this run of the service.
    pub(super) fn new(host: Arc<WindowsHost>, run: Run) -> Self {
        let mut config = ServerConfig::new(vec![ms_pcq::SYNTAX_ID, ms_rrp::SYNTAX_ID]);
        config.sec_addr = ms_pcq::ENDPOINT.to_owned();
        config.groups = host.groups().associations.clone();
        let accounts = Arc::clone(host.accounts());
        let acceptor = move |service| accept(service, accounts.clone());
        let association = ServerAssociation::new(config, acceptor);
        Self { run, association, services: None, host, is_stalled: false }
    }

    /// Takes one message, or any part of a stream of PDUs.
    pub(super) fn input(&mut self, data: &[u8]) -> Reply {
        let mut reply = Reply::default();
        if self.host.use_service() != self.run {
            reply.then = Then::HangUp;
            return reply;
        }
        if self.is_stalled {
            return reply;
        }
        if let Some(refusal) = registry::refuse(self.host.behaviour().registry, data) {
            return refusal;
        }
        if let Err(error) = self.association.handle_bytes(data) {
            debug!(host = self.host.name(), %error, "Association failed");
            reply.then = Then::HangUp;
        }
        while let Some(event) = self.association.poll_event() {
            match event {
                ServerEvent::Request(call) if call.interface.uuid == ms_rrp::SYNTAX_ID.uuid => {
                    self.registry_call(&call);
                }
                ServerEvent::Request(call) => self.call(&call, &mut reply),
                ServerEvent::AuthenticationFailed(error) => {
                    debug!(host = self.host.name(), %error, "Authentication failed");
                }
                _ => {}
            }
        }
        while let Some(message) = self.association.poll_transmit() {
            reply.messages.push(message);
        }
        reply
    }

    fn call(&mut self, call: &IncomingCall, reply: &mut Reply) {
        let action = self.host.begin_call(kind(call));
        if self.hangs(call) {
            self.is_stalled = true;
            return;
        }
        if action == Some(Action::LoseHandles) {
            lock(&self.services()).perflib.lose_queries();
        }
        let mut result = match action {
            Some(Action::Fault(status)) => Err(status),
            _ => self.execute(call),
        };
        if let Ok(stub) = &mut result {
            match action {
                Some(Action::Lie(what)) => lie::tell(what, &call.stub, stub),
                Some(Action::Oversize(bytes)) => stub.resize(bytes, 0),
                Some(Action::Status(status)) => lie::refuse(call.opnum, status, &call.stub, stub),
                Some(Action::Grow(percent)) => {
                    lie::outgrow(call.opnum, percent, &call.stub, stub);
                    let choice = self.host.behaviour().choices.small_buffer;
                    small_buffer::answer(choice, call.opnum, stub);
                }
                _ => {}
            }
            self.host.recordings().add(call.opnum, &call.stub, stub);
        }
        self.answer(call, result);
        while let Some(message) = self.association.poll_transmit() {
            reply.messages.push(message);
        }
        self.spoil(action.as_ref(), reply);
    }

    fn answer(&mut self, call: &IncomingCall, result: Result<Vec<u8>, FaultStatus>) {
        let answered = match result {
            Ok(stub) => self.association.respond(call.call_id, &stub),
            Err(status) => self.association.fault(call.call_id, status),
        };
        if let Err(error) = answered {
            debug!(host = self.host.name(), %error, "Answer not sent");
        }
    }

    /// The registry is open to whom the counters are open to. No rule spoils its answers.
    fn registry_call(&mut self, call: &IncomingCall) {
        let services = self.services();
        let mut services = lock(&services);
        services.registry.set_granted(self.auth_level(call) >= AuthLevel::PKT_PRIVACY);
        let result = ms_rrp::winreg::dispatch(&mut services.registry, call.opnum, &call.stub);
        drop(services);
        self.answer(call, result);
    }

    //= [MS-PCQ] <1>
    //# Windows only allows system administrators, members of the Performance Log Users Group, and members of the
    //# Performance Monitor Users Group
    fn execute(&mut self, call: &IncomingCall) -> Result<Vec<u8>, FaultStatus> {
        let info = CallInfo { auth_level: self.auth_level(call) };
        let choices = self.host.behaviour().choices.clone();
        let services = self.services();
        let mut services = lock(&services);
        services.perflib.choose(choices);
        services.perflib.execute(info, call.opnum, &call.stub)
    }

    /// Whether the call has no answer, and the pipe gives none any more.
    fn hangs(&mut self, call: &IncomingCall) -> bool {
        let choices = self.host.behaviour().choices.clone();
        if choices.hanging_counterset.is_none() {
            return false;
        }
        let services = self.services();
        let mut services = lock(&services);
        services.perflib.choose(choices);
        services.perflib.hangs(call.opnum, &call.stub)
    }

    fn services(&mut self) -> Arc<Mutex<GroupServices>> {
        // A call comes from a bound association, which has a group.
        let group = self.association.assoc_group_id().unwrap_or_default();
        let services = || self.host.groups().services(group, &self.host.source());
        Arc::clone(self.services.get_or_insert_with(services))
    }

    /// A caller without the right gets the status that one without encryption gets.
    fn auth_level(&self, call: &IncomingCall) -> AuthLevel {
        let accounts = self.host.accounts();
        let may = |account: &ssp::Account| accounts.may_read_counters(&account.domain, &account.user);
        if call.peer.as_deref().is_some_and(may) { call.auth_level } else { AuthLevel::NONE }
    }

    /// Does to the answer what cannot be done to its stub.
    fn spoil(&mut self, action: Option<&Action>, reply: &mut Reply) {
        match action {
            Some(&Action::Delay(delay)) => reply.delay = delay,
            Some(Action::Drop) => *reply = Reply { then: Then::Drop, ..Reply::default() },
            Some(Action::Garbage) => reply.messages = vec![vec![0x47; 64]],
            Some(Action::Stall) => {
                halve(reply.messages.last_mut());
                self.is_stalled = true;
            }
            Some(Action::Truncate) => {
                halve(reply.messages.last_mut());
                reply.then = Then::HangUp;
            }
            _ => {}
        }
    }
}

/// What rules look at in a call.
fn kind(call: &IncomingCall) -> CallKind {
    let code = (call.opnum == Method::QueryCounterSetRegistrationInfo.opnum())
        .then(|| QueryCounterSetRegistrationInfoRequest::from_stub(&call.stub).ok())
        .flatten()
        .map(|request| request.request_code.0);
    CallKind { opnum: call.opnum, code, is_probe: lie::in_size(&call.stub) == 0 }
}

fn halve(message: Option<&mut Vec<u8>>) {
    if let Some(message) = message {
        message.truncate(message.len() / 2);
    }
}

fn accept(service: AuthService, accounts: Arc<crate::Accounts>) -> Option<Box<dyn SecurityContext>> {
    let mechanism = match service {
        AuthService::WINNT => Mechanism::Ntlm,
        AuthService::GSS_NEGOTIATE => Mechanism::Negotiate,
        _ => return None,
    };
    ssp::server(accounts, ServerOptions::new(mechanism, Usage::Rpc)).ok()
}
