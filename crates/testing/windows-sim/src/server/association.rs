//! An association of the simulated host: when calls are answered, and faults of whole answers.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use dcerpc::pdu::{BindNak, Body, Fault, PacketType, Pdu, PfcFlags, encode_pdu};
use dcerpc::server::{IncomingCall, ServerAssociation, ServerConfig, ServerEvent};
use dcerpc::{AssociationInfo, AuthService, CallId, FaultStatus, Role};
use ssp::{Mechanism, SecurityContext, Usage};
use tracing::debug;
use wire::NtStatus;

use super::{LateAnswer, Reply, Then, accept};
use crate::behaviour::{Behaviour, RpcSecurity};
use crate::host::WindowsHost;
use crate::remote_registry::Run;
use crate::rule::Action;
use crate::service::{BindRefusal, BindRequest, Call, Group, ServedEndpoint, Service};

/// One RPC association of a client with an endpoint, such as an open of `\PIPE\winreg`.
///
/// The calling order: [`Association::input`] for each message, wait for as long as its [`Reply`] says, and send what
/// [`Association::finish`] makes of it.
pub(super) struct Association {
    host: Arc<WindowsHost>,
    endpoint: Arc<ServedEndpoint>,
    run: Run,
    rpc: ServerAssociation,
    /// The association group, once it is bound.
    group: Option<Arc<Group>>,
    /// An answer stopped half-way, and nothing comes after it.
    is_stalled: bool,
}

impl Association {
    /// An association that is not bound yet, on an endpoint that was just opened in this run of its service by a client at
    /// `peer`, if that is known.
    pub(super) fn new(
        host: Arc<WindowsHost>,
        endpoint: Arc<ServedEndpoint>,
        run: Run,
        peer: Option<IpAddr>,
    ) -> Self {
        let config = endpoint.server_config();
        Self::with_config(host, endpoint, run, config, peer)
    }

    /// The same on a TCP port, whose number the client gets.
    pub(super) fn on_port(
        host: Arc<WindowsHost>,
        endpoint: Arc<ServedEndpoint>,
        number: u16,
        peer: Option<IpAddr>,
    ) -> Self {
        let config = ServerConfig { sec_addr: number.to_string(), ..endpoint.server_config() };
        Self::with_config(host, endpoint, Run::ENDLESS, config, peer)
    }

    fn with_config(
        host: Arc<WindowsHost>,
        endpoint: Arc<ServedEndpoint>,
        run: Run,
        config: ServerConfig,
        peer: Option<IpAddr>,
    ) -> Self {
        let observer = host.observers().association(&AssociationInfo {
            role: Role::Server,
            transport: endpoint.endpoint().transport(),
            server: "",
            endpoint: &config.sec_addr,
            peer,
        });
        let is_pipe = endpoint.is_pipe_endpoint();
        let security = if is_pipe { RpcSecurity::Both } else { host.behaviour().rpc_security };
        let of = Arc::clone(&host);
        let acceptor = move |service| accept_service(&of, service, security);
        let mut rpc = ServerAssociation::new(config, acceptor);
        rpc.set_observer(observer);
        Self { host, endpoint, run, rpc, group: None, is_stalled: false }
    }

    /// Takes one message, or any part of a stream of PDUs.
    pub(super) fn input(&mut self, data: &[u8]) -> Reply {
        let mut reply = Reply::default();
        if !self.host.is_running(&self.endpoint, self.run) {
            reply.then = Then::HangUp;
            return reply;
        }
        if self.is_stalled {
            return reply;
        }
        let counts = Arc::clone(self.endpoint.counts());
        if let Some(refusal) = refuse_bind(self.endpoint.services(), &self.host.behaviour(), data) {
            counts.packets_received(1);
            return refusal;
        }
        let received_before = self.rpc.received_pdus();
        if let Err(error) = self.rpc.handle_bytes(data) {
            debug!(host = self.host.name(), %error, "Association failed");
            reply.then = Then::HangUp;
        }
        counts.packets_received(self.rpc.received_pdus() - received_before);
        while let Some(event) = self.rpc.poll_event() {
            match event {
                ServerEvent::Request(call) => self.call(&call, &mut reply),
                ServerEvent::AuthenticationFailed(error) => {
                    debug!(host = self.host.name(), %error, "Authentication failed");
                }
                _ => {}
            }
        }
        self.take_messages(&mut reply);
        reply
    }

    /// What to send for a message now that its time has come.
    pub(super) fn finish(&mut self, mut reply: Reply) -> Reply {
        reply.delay = Duration::ZERO;
        for LateAnswer { call_id, result } in std::mem::take(&mut reply.late) {
            self.answer(call_id, result);
        }
        self.take_messages(&mut reply);
        self.endpoint.counts().packets_sent(packets(&reply));
        reply
    }

    fn call(&mut self, incoming: &IncomingCall, reply: &mut Reply) {
        self.endpoint.counts().call_received();
        if !self.may_log_on(incoming) {
            return self.answer(incoming.call_id, Err(FaultStatus::NCA_S_FAULT_ACCESS_DENIED));
        }
        let endpoint = Arc::clone(&self.endpoint);
        let group = self.group();
        let Some((service, handler)) = endpoint.service(&incoming.interface, &group) else {
            return self.answer(incoming.call_id, Err(FaultStatus::NCA_S_UNK_IF));
        };
        let host = Arc::clone(&self.host);
        let call = Call {
            host: host.state(),
            opnum: incoming.opnum,
            object: incoming.object,
            stub: &incoming.stub,
            auth_level: incoming.auth_level,
            caller: incoming.peer.as_deref(),
        };
        let mut handler = handler.lock();
        let action = host.begin_call(service.name(), handler.kind(&call));
        if handler.hangs(&call) {
            self.is_stalled = true;
            return;
        }
        if action == Some(Action::LoseHandles) {
            handler.lose_handles();
        }
        let mut result = match action {
            Some(Action::Fault(status)) => Err(status),
            _ => self.rpc.execute(incoming.call_id, || handler.call(&call)),
        };
        if let Ok(stub) = &mut result {
            match &action {
                Some(Action::Oversize(bytes)) => stub.resize(*bytes, 0),
                Some(action) => handler.apply(action, &call, stub),
                None => {}
            }
            host.recordings().add(service.name(), call.opnum, call.stub, stub);
        }
        drop(handler);
        if let Some(Action::Delay(delay)) = action {
            reply.delay = delay;
        }
        if !reply.delay.is_zero() {
            // Nor does the answer of a later call overtake this one.
            reply.late.push(LateAnswer { call_id: incoming.call_id, result });
            return;
        }
        self.answer(incoming.call_id, result);
        self.take_messages(reply);
        self.disrupt(action.as_ref(), reply);
    }

    /// Whether the caller's account can be used. Behind a pipe that was decided when the client logged on to SMB.
    fn may_log_on(&self, call: &IncomingCall) -> bool {
        let accounts = self.host.accounts();
        self.endpoint.is_pipe_endpoint()
            || call.peer.as_deref().is_none_or(|account| {
                accounts.verdict(&account.domain, &account.user) == NtStatus::STATUS_SUCCESS
            })
    }

    fn answer(&mut self, call_id: CallId, result: Result<Vec<u8>, FaultStatus>) {
        let answered = match result {
            Ok(stub) => self.rpc.respond(call_id, &stub),
            Err(status) => self.rpc.fault(call_id, status),
        };
        if let Err(error) = answered {
            debug!(host = self.host.name(), %error, "Answer not sent");
        }
    }

    fn take_messages(&mut self, reply: &mut Reply) {
        while let Some(message) = self.rpc.poll_transmit() {
            reply.messages.push(message);
        }
    }

    fn group(&mut self) -> Arc<Group> {
        // A call comes from a bound association, which has a group.
        let id = self.rpc.assoc_group_id().unwrap_or_default();
        let group = || self.endpoint.group(id, self.host.state());
        Arc::clone(self.group.get_or_insert_with(group))
    }

    /// Cuts off or replaces the messages of the answer.
    fn disrupt(&mut self, action: Option<&Action>, reply: &mut Reply) {
        match action {
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

/// Each message is one packet.
fn packets(reply: &Reply) -> u64 {
    u64::try_from(reply.messages.len()).unwrap_or(u64::MAX)
}

fn halve(message: Option<&mut Vec<u8>>) {
    if let Some(message) = message {
        message.truncate(message.len() / 2);
    }
}

fn accept_service(
    host: &WindowsHost,
    service: AuthService,
    security: RpcSecurity,
) -> Option<Box<dyn SecurityContext>> {
    let mechanism = match service {
        AuthService::WINNT if security != RpcSecurity::Neither => Mechanism::Ntlm,
        AuthService::GSS_NEGOTIATE if security == RpcSecurity::Both => Mechanism::Negotiate,
        AuthService::GSS_KERBEROS => Mechanism::Kerberos,
        _ => return None,
    };
    accept(host, mechanism, Usage::Rpc)
}

/// The answer to a message that binds a service which refuses it. `None` for other messages: the association answers
/// those.
fn refuse_bind(services: &[Arc<dyn Service>], behaviour: &Behaviour, message: &[u8]) -> Option<Reply> {
    let pdu = Pdu::decode(message).ok()?;
    let request = match pdu.header.packet_type {
        PacketType::BIND => BindRequest::Bind,
        // One with a verifier is a leg of an authentication, which names the interface of its bind once more.
        PacketType::ALTER_CONTEXT if pdu.verifier.is_none() => BindRequest::AlterContext,
        _ => return None,
    };
    let Body::Bind(bind) = &pdu.body else { return None };
    let is_asked_for = |service: &&Arc<dyn Service>| {
        bind.contexts.0.iter().any(|context| context.abstract_syntax.uuid == service.syntax_id().uuid)
    };
    let mut asked_for = services.iter().filter(is_asked_for);
    let refusal = asked_for.find_map(|service| service.refuse_bind(behaviour, request))?;
    let call_id = pdu.header.call_id;
    // Both messages have a fixed length, so that writing them cannot fail.
    let (message, then) = match refusal {
        BindRefusal::Nak(reason) => {
            let nak = BindNak::new(reason);
            (encode_pdu(PacketType::BIND_NAK, PfcFlags::WHOLE, call_id, Some(&nak), None).ok(), Then::GoOn)
        }
        BindRefusal::Fault(status) => {
            let fault = Fault { alloc_hint: 0, context_id: 0, cancel_count: 0, status };
            (encode_pdu(PacketType::FAULT, PfcFlags::WHOLE, call_id, Some(&fault), None).ok(), Then::GoOn)
        }
        BindRefusal::Drop => (None, Then::Drop),
        BindRefusal::Silence => (None, Then::GoOn),
    };
    Some(Reply { messages: message.into_iter().collect(), then, ..Reply::default() })
}
