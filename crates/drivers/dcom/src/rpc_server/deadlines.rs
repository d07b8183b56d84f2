//! What a connection waits for, and until when.

use dcerpc::server::ServerAssociation;
use tokio::time::Instant;

use crate::rpc_server::counters::Refusal;
use crate::rpc_server::limits::Deadlines;

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
