use std::convert::Infallible;
use std::future::Future;
use std::net::IpAddr;
use std::pin::{Pin, pin};

use dcerpc::Error;
use dcerpc::server::{IncomingCall, ServerAssociation, ServerEvent};
use tokio::io::AsyncWriteExt;
use tokio::time::{Instant, timeout, timeout_at};
use tracing::debug;
use transport::{BoxStream, read_once};
use wire::DecodeErrorKind;

use crate::rpc_server::admission::Permit;
use crate::rpc_server::counters::Refusal;
use crate::rpc_server::{Call, Deadlines, Incoming, Shared};

/// Why a connection ended.
#[derive(Debug)]
pub(crate) enum End {
    Closed,
    /// The connection was ended for this reason; the error says more, if there is one.
    Refused(Refusal, Option<Error>),
}

impl From<std::io::Error> for End {
    fn from(_: std::io::Error) -> Self {
        Self::Closed
    }
}

/// One connection, with its association.
pub(crate) struct Connection<'a> {
    shared: &'a Shared,
    peer: IpAddr,
    stream: BoxStream,
    rpc: ServerAssociation,
    clock: Clock,
    permit: Permit,
}

impl<'a> Connection<'a> {
    pub(crate) fn new(shared: &'a Shared, incoming: Incoming, permit: Permit) -> Self {
        let Incoming { stream, peer, port } = incoming;
        let clock = Clock::new(shared.options.deadlines, Instant::now());
        let rpc = shared.association(peer, port);
        Self { shared, peer, stream, rpc, clock, permit }
    }

    /// Serves the connection until it ends, or until `stop` between two calls.
    pub(crate) async fn serve(mut self, stop: impl Future<Output = ()>) -> End {
        let Err(end) = self.answer_calls(pin!(stop)).await;
        if let End::Refused(reason, error) = &end {
            debug!(peer = %self.peer, %reason, error = error.as_ref().map(tracing::field::display), "Connection refused");
            // A fault or a bind_nak says more than a reset.
            if *reason != Refusal::SlowReader {
                let _ = self.send_answers().await;
            }
        }
        let _ = timeout(self.shared.options.deadlines.answer_max, self.stream.shutdown()).await;
        end
    }

    async fn answer_calls(
        &mut self,
        mut stop: Pin<&mut impl Future<Output = ()>>,
    ) -> Result<Infallible, End> {
        loop {
            let (deadline, reason) = self.clock.next();
            let received = tokio::select! {
                () = &mut stop => return Err(End::Closed),
                reason = self.permit.evicted() => return Err(End::Refused(reason, None)),
                received = timeout_at(deadline, read_once(&mut self.stream, <[u8]>::to_vec)) => received,
            };
            let received = received.map_err(|_| End::Refused(reason, None))??;
            if received.is_empty() {
                return Err(End::Closed);
            }
            self.take(&received).await?;
        }
    }

    /// Takes bytes, and answers all calls that end with them.
    async fn take(&mut self, received: &[u8]) -> Result<(), End> {
        let taken = self.rpc.handle_bytes(received);
        let mut has_call = false;
        let mut failed = None;
        while let Some(event) = self.rpc.poll_event() {
            match event {
                // A broken association takes no answers.
                ServerEvent::Request(call) if taken.is_ok() => {
                    has_call = true;
                    self.answer(&call);
                    self.send_answers().await?;
                }
                ServerEvent::AuthenticationFailed(source) => {
                    failed = Some(Error::Security { doing: "authenticate the peer", source });
                }
                _ => {}
            }
        }
        taken.map_err(|error| End::Refused(refusal_of(&error), Some(error)))?;
        if let Some(error) = failed {
            return Err(End::Refused(Refusal::Authentication, Some(error)));
        }
        self.send_answers().await?;
        self.clock.received(&self.rpc, has_call, Instant::now());
        let kept = self.permit.set_pending_bytes(self.rpc.pending_bytes(), &self.shared.options.limits);
        kept.map_err(|reason| End::Refused(reason, None))
    }

    fn answer(&mut self, incoming: &IncomingCall) {
        let call = Call::new(incoming, self.peer);
        let dispatch = || self.shared.dispatch(&incoming.interface, &call);
        let result = self.rpc.execute(incoming.call_id, dispatch);
        self.shared.counters.count_call(result.is_err());
        let answered = match result {
            Ok(stub) => self.rpc.respond(incoming.call_id, &stub),
            Err(status) => self.rpc.fault(incoming.call_id, status),
        };
        if let Err(error) = answered {
            debug!(peer = %self.peer, %error, "Answer not sent");
        }
    }

    async fn send_answers(&mut self) -> Result<(), End> {
        let answer_max = self.shared.options.deadlines.answer_max;
        while let Some(pdu) = self.rpc.poll_transmit() {
            let written = timeout(answer_max, self.stream.write_all(&pdu)).await;
            written.map_err(|_| End::Refused(Refusal::SlowReader, None))??;
        }
        let flushed = timeout(answer_max, self.stream.flush()).await;
        Ok(flushed.map_err(|_| End::Refused(Refusal::SlowReader, None))??)
    }
}

fn refusal_of(error: &Error) -> Refusal {
    match error {
        Error::LimitExceeded { .. } => Refusal::TooLarge,
        Error::Decode(error) if matches!(error.kind, DecodeErrorKind::LimitExceeded { .. }) => {
            Refusal::TooLarge
        }
        Error::Security { .. } | Error::AuthenticationIncomplete { .. } | Error::SecurityNotTaken { .. } => {
            Refusal::Authentication
        }
        _ => Refusal::Protocol,
    }
}

/// The deadlines of one connection.
#[derive(Debug)]
pub(crate) struct Clock {
    limits: Deadlines,
    /// Until calls can be made.
    bind: Option<Instant>,
    /// The end of the fragment that began to arrive.
    fragment: Option<Instant>,
    /// The end of the call that began to arrive.
    request: Option<Instant>,
    idle: Instant,
    received_pdus: u64,
}

impl Clock {
    /// A connection that begins now.
    pub(crate) fn new(limits: Deadlines, now: Instant) -> Self {
        Self {
            limits,
            bind: Some(now + limits.bind_max),
            fragment: None,
            request: None,
            idle: now + limits.idle_max,
            received_pdus: 0,
        }
    }

    /// Bytes came in, and perhaps the end of a call.
    pub(crate) fn received(&mut self, rpc: &ServerAssociation, has_call: bool, now: Instant) {
        if self.bind.is_some() && rpc.accepts_calls() {
            self.bind = None;
            self.idle = now + self.limits.idle_max;
        }
        if has_call {
            self.idle = now + self.limits.idle_max;
            self.request = None;
        }
        if !rpc.is_within_pdu() {
            self.fragment = None;
            self.request = None;
            return;
        }
        self.request.get_or_insert(now + self.limits.request_max);
        let pdus = rpc.received_pdus();
        if std::mem::replace(&mut self.received_pdus, pdus) != pdus {
            self.fragment = None;
        }
        self.fragment.get_or_insert(now + self.limits.fragment_max);
    }

    /// The next deadline, and what it means to reach it.
    pub(crate) fn next(&self) -> (Instant, Refusal) {
        let reasons = [
            (self.bind, Refusal::SlowBind),
            (self.fragment, Refusal::SlowRequest),
            (self.request, Refusal::SlowRequest),
            (Some(self.idle), Refusal::Idle),
        ];
        let set = reasons.into_iter().filter_map(|(instant, reason)| Some((instant?, reason)));
        set.min_by_key(|(instant, _)| *instant).unwrap_or((self.idle, Refusal::Idle))
    }
}
