use std::sync::Arc;
use std::time::Duration;

use dcerpc::client::{CallRequest, ClientAssociation, ClientConfig, Event, PresentationContext};
use dcerpc::{Auth, AuthLevel, AuthService, Channel, ContextId, FaultStatus, Observer, SyntaxId};
use ssp::{ClientOptions, Credentials, ImpersonationLevel, Mechanism, Usage};
use tokio::time::{Instant, timeout_at};
use tracing::debug;
use wire::Guid;

use super::Usability;
use crate::rpc_client::{Error, Operation, Transport, logon};

/// How to authenticate to an RPC server, and how calls are protected.
#[derive(Clone, Debug)]
pub struct Security {
    pub credentials: Credentials,
    /// What a password goes by: NTLM alone, or within SPNEGO. Tickets go by Kerberos alone.
    pub mechanism: Mechanism,
    /// The service, as `cifs/host`.
    pub target_name: String,
    /// How calls are protected.
    pub level: AuthLevel,
    /// What the server may do in the name of the account.
    pub impersonation: ImpersonationLevel,
}

impl Security {
    /// SPNEGO, and every call sealed.
    #[must_use]
    pub fn sealed(credentials: Credentials, target_name: impl Into<String>) -> Self {
        Self {
            credentials,
            mechanism: Mechanism::Negotiate,
            target_name: target_name.into(),
            level: AuthLevel::PKT_PRIVACY,
            impersonation: ImpersonationLevel::default(),
        }
    }
}

/// An RPC association over a [`Transport`], driven by its caller.
///
/// One call at a time. A call that is dropped, reaches its deadline, or violates the protocol leaves an unread
/// answer: the association then refuses all calls; drop it with its transport. A fault is an answer, and the
/// association stays usable.
pub struct Association<T> {
    transport: T,
    rpc: ClientAssociation,
    usability: Usability,
    contexts: Vec<PresentationContext>,
    calls: u64,
    slowest_answer: Duration,
}

impl<T: Transport> Association<T> {
    /// Binds `interfaces`; the first is context 0, the second context 1, and so on. If there are several,
    /// [`contexts`](Self::contexts) says which of them the server has.
    ///
    /// # Errors If the server has none of the interfaces or refuses our authentication, or the transport fails.
    pub async fn bind(
        transport: T,
        interfaces: &[SyntaxId],
        security: Option<&Security>,
        config: ClientConfig,
        deadline: Instant,
    ) -> Result<Self, Error> {
        Self::bind_observed(transport, interfaces, security, config, Arc::new(()), deadline).await
    }

    /// The same with an observer, which is dropped with the association, or before when nobody waits for an answer any
    /// longer.
    ///
    /// # Errors As those of [`bind`](Self::bind).
    pub async fn bind_observed(
        transport: T,
        interfaces: &[SyntaxId],
        security: Option<&Security>,
        config: ClientConfig,
        observer: Arc<dyn Observer>,
        deadline: Instant,
    ) -> Result<Self, Error> {
        let machine = timeout_at(deadline, new_machine(security, config)).await;
        let mut rpc = machine.unwrap_or(Err(Error::Timeout { operation: Operation::Bind }))?;
        rpc.set_observer(observer);
        let mut association = Self {
            transport,
            rpc,
            usability: Usability::Free,
            contexts: Vec::new(),
            calls: 0,
            slowest_answer: Duration::ZERO,
        };
        association
            .rpc
            .bind(interfaces)
            .map_err(|source| Error::Rpc { operation: Operation::Bind, source })?;
        match association.event(Operation::Bind, deadline).await? {
            Event::Bound { contexts } => {
                debug!(?contexts, "Bound");
                association.contexts = contexts;
                Ok(association)
            }
            _ => Err(unexpected(Operation::Bind)),
        }
    }

    /// Adds another interface to the association.
    ///
    /// # Errors If the server refuses it, or the transport fails.
    pub async fn alter_context(
        &mut self,
        interface: SyntaxId,
        deadline: Instant,
    ) -> Result<ContextId, Error> {
        let operation = Operation::AlterContext;
        self.usability.begin(operation, WHAT)?;
        let altered = self.alter(interface, deadline).await;
        let (context_id, context) = self.usability.end(altered)?;
        self.contexts.push(context);
        match context.outcome {
            Ok(()) => Ok(context_id),
            Err((result, reason)) => {
                let source = dcerpc::Error::ContextRefused { interface, result, reason };
                Err(Error::Rpc { operation, source })
            }
        }
    }

    async fn alter(
        &mut self,
        interface: SyntaxId,
        deadline: Instant,
    ) -> Result<(ContextId, PresentationContext), Error> {
        let operation = Operation::AlterContext;
        let context_id =
            self.rpc.alter_context(interface).map_err(|source| Error::Rpc { operation, source })?;
        match self.event(operation, deadline).await? {
            Event::Altered { context } => Ok((context_id, context)),
            _ => Err(unexpected(operation)),
        }
    }

    /// Makes one call and returns the stub data of its response.
    ///
    /// # Errors [`Error::Fault`] if the server returns a fault; otherwise the error that ended the association.
    pub async fn call(&mut self, request: CallRequest<'_>, deadline: Instant) -> Result<Vec<u8>, Error> {
        let opnum = request.opnum;
        self.usability.begin(Operation::Call, WHAT)?;
        let waiting = Waiting(self);
        let answered = waiting.0.answer(request, deadline).await;
        let answer = waiting.0.usability.end(answered)?;
        answer.map_err(|status| Error::Fault { opnum, status })
    }

    /// The stub data of a call's response, or its fault.
    async fn answer(
        &mut self,
        request: CallRequest<'_>,
        deadline: Instant,
    ) -> Result<Result<Vec<u8>, FaultStatus>, Error> {
        let operation = Operation::Call;
        let call = self.rpc.call(request).map_err(|source| Error::Rpc { operation, source })?;
        self.calls += 1;
        let begun = Instant::now();
        let answer = match self.event(operation, deadline).await? {
            Event::Response { call_id, stub } if call_id == call => Ok(stub),
            Event::Fault { call_id, status, .. } if call_id == call => Err(status),
            _ => return Err(unexpected(operation)),
        };
        self.slowest_answer = self.slowest_answer.max(begun.elapsed());
        Ok(answer)
    }

    /// One interface of this association until `deadline`, for typed stubs.
    pub const fn channel(&mut self, context_id: ContextId, deadline: Instant) -> Interface<'_, T> {
        Interface { association: self, context_id, deadline, call_max: None }
    }

    /// The requested interfaces, and the server's answers.
    #[must_use]
    pub fn contexts(&self) -> &[PresentationContext] {
        &self.contexts
    }

    /// Whether another call can succeed.
    #[must_use]
    pub const fn is_usable(&self) -> bool {
        self.usability.is_free()
    }

    /// Calls made so far.
    #[must_use]
    pub const fn calls(&self) -> u64 {
        self.calls
    }

    #[must_use]
    pub const fn transport(&self) -> &T {
        &self.transport
    }

    /// Ends the association and returns its transport.
    #[must_use]
    pub fn into_transport(self) -> T {
        self.transport
    }

    /// Sends and receives PDUs until there is an event and everything is sent.
    async fn event(&mut self, operation: Operation, deadline: Instant) -> Result<Event, Error> {
        loop {
            let received = match self.rpc.poll_transmit() {
                Some(pdu) if pdu.reply => self.transport.exchange(&pdu.bytes, operation, deadline).await?,
                Some(pdu) => {
                    self.transport.send(&pdu.bytes, operation, deadline).await?;
                    continue;
                }
                None => match self.rpc.poll_event() {
                    // The client decides when an association ends, so a server's request to end it is ignored.
                    Some(Event::Shutdown) => continue,
                    Some(event) => return Ok(event),
                    None => self.transport.receive(operation, deadline).await?,
                },
            };
            if let Err(source) = self.rpc.handle_bytes(&received) {
                let error = Error::Rpc { operation, source };
                self.usability = Usability::Ended(error.kind());
                // The fault is more useful than an error about its signature, which most servers omit.
                return match self.rpc.poll_event() {
                    Some(fault @ Event::Fault { .. }) => Ok(fault),
                    _ => Err(error),
                };
            }
        }
    }
}

/// Waits for the answer of a call. If that does not come, or the call is dropped, nothing observes the association any longer.
struct Waiting<'a, T>(&'a mut Association<T>);

impl<T> Drop for Waiting<'_, T> {
    fn drop(&mut self) {
        if !self.0.usability.is_free() {
            self.0.rpc.set_observer(Arc::new(()));
        }
    }
}

impl<T> core::fmt::Debug for Association<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Association")
            .field("usability", &self.usability)
            .field("calls", &self.calls)
            .finish_non_exhaustive()
    }
}

/// One interface of an [`Association`], whose calls end by one deadline.
#[derive(Debug)]
pub struct Interface<'a, T> {
    association: &'a mut Association<T>,
    context_id: ContextId,
    deadline: Instant,
    call_max: Option<Duration>,
}

impl<T> Interface<'_, T> {
    /// The deadline of the calls.
    #[must_use]
    pub const fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Limits the time of each following call. The deadline still holds.
    pub const fn limit_calls(&mut self, call_max: Option<Duration>) {
        self.call_max = call_max;
    }

    /// How long the slowest answer on this association took so far.
    #[must_use]
    pub const fn slowest_answer(&self) -> Duration {
        self.association.slowest_answer
    }
}

impl<T: Transport> Channel for Interface<'_, T> {
    type Error = Error;

    async fn call(&mut self, opnum: u16, object: Option<Guid>, stub: &[u8]) -> Result<Vec<u8>, Error> {
        let request = CallRequest { context_id: self.context_id, opnum, object, stub };
        let own = self.call_max.map(|call_max| Instant::now() + call_max);
        let deadline = own.map_or(self.deadline, |own| own.min(self.deadline));
        self.association.call(request, deadline).await
    }
}

async fn new_machine(
    security: Option<&Security>,
    mut config: ClientConfig,
) -> Result<ClientAssociation, Error> {
    let operation = Operation::Bind;
    let context = match security {
        None => None,
        Some(Security { credentials, mechanism, target_name, level, impersonation }) => {
            let (service, mechanism) = match (credentials, mechanism) {
                // Its third leg has no answer, which SPNEGO would wait for.
                (Credentials::Tickets(_) | Credentials::Principal(_), _) => {
                    (AuthService::GSS_KERBEROS, Mechanism::Kerberos)
                }
                (_, Mechanism::Ntlm) => (AuthService::WINNT, Mechanism::Ntlm),
                (_, Mechanism::Negotiate) => (AuthService::GSS_NEGOTIATE, Mechanism::Negotiate),
                _ => return Err(Error::Protocol { operation, reason: "the mechanism is unknown to RPC" }),
            };
            config.auth = Some(Auth::new(*level, service));
            let mut options = ClientOptions::new(mechanism, target_name.as_str(), Usage::Rpc);
            options.impersonation = *impersonation;
            let begun = logon::begin(credentials, options).await;
            Some(begun.map_err(|source| Error::Security { operation, source })?)
        }
    };
    ClientAssociation::new(config, context).map_err(|source| Error::Rpc { operation, source })
}

const WHAT: &str = "the association";

const fn unexpected(operation: Operation) -> Error {
    Error::Protocol { operation, reason: "the answer belongs to something else" }
}
