//! The server at one TCP port of a host: its management interface, asked over a connection that is kept.

use core::fmt;

use host_session::{SessionError, Stage, StageReport, TcpSession};
use plugin_sdk::{Collection, Failure, GeneralReason, Reason};
use plugin_session::{DECLARED_REASONS, Pause, PortError, ReachedHost, failure_of};
use rpc::endpoints::mgmt::management::Management;
use rpc::endpoints::mgmt::types::Statistics;
use tokio::time::Instant;

use super::MANAGEMENT;

/// The server at a port.
#[derive(Debug, Default)]
pub(super) struct Server {
    session: Option<TcpSession>,
    counters: Counters,
    /// The last answer, which is shown again while the server is left alone.
    answer: Answer,
    pause: Pause,
    /// Whether it answered before.
    was_up: bool,
    /// Whether there was no time for it in the last collection.
    is_late: bool,
}

/// What is asked of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Step {
    Connect,
    IsServerListening,
    InqIfIds,
    InqStats,
}

/// What a server answered.
#[derive(Clone, Debug, Default)]
pub(super) struct Answer {
    pub(super) is_listening: Option<bool>,
    pub(super) interfaces: Option<u64>,
    /// Calls in and out, packets in and out.
    pub(super) statistics: Option<[u64; 4]>,
    /// It answered that it does not know how this side logs on.
    pub(super) is_security_unknown: bool,
    /// What it did not answer.
    pub(super) refusals: Vec<Refusal>,
    /// The one of them that makes the collection incomplete.
    pub(super) failure: Option<Failure>,
}

/// A step without a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Refusal {
    pub(super) step: Step,
    /// From the closed lists.
    pub(super) reason: &'static str,
}

/// What asking a server took.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cost {
    pub(super) calls: u64,
    pub(super) received_bytes: u64,
    pub(super) sent_bytes: u64,
    /// The port refused the logon.
    pub(super) is_logon_refused: bool,
}

/// How a host is asked in one collection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Round<'a> {
    pub(super) host: &'a ReachedHost,
    pub(super) collection: &'a Collection,
    /// How long each server may take.
    pub(super) time: core::time::Duration,
    pub(super) deadline: Instant,
}

impl Answer {
    /// Whether the server answered anything.
    pub(super) const fn is_up(&self) -> bool {
        self.is_listening.is_some()
            || self.interfaces.is_some()
            || self.statistics.is_some()
            || self.is_security_unknown
    }

    fn fail(&mut self, step: Step, failure: Failure) {
        self.refusals.push(Refusal { step, reason: word(failure.reason) });
        self.failure.get_or_insert(failure);
    }
}

impl Server {
    /// Whether a connection is kept: such servers answer soon.
    pub(super) fn is_connected(&self) -> bool {
        self.session.as_ref().is_some_and(TcpSession::is_usable)
    }

    /// Its turn: the servers that are late, then those that are connected, then the others.
    pub(super) fn turn(&self) -> impl Ord + use<> {
        (!self.is_late, !self.is_connected())
    }

    /// Whether it is left alone in this collection, because it did not answer in earlier ones.
    pub(super) fn is_left_alone(&self, collection: &Collection) -> bool {
        !self.pause.is_over(collection.began())
    }

    /// Asks it with the next collection: somebody may have removed the cause.
    pub(super) const fn cut_pause_short(&mut self) {
        self.pause.cut_short();
    }

    pub(super) const fn answer(&self) -> &Answer {
        &self.answer
    }

    /// Asks the server within its time.
    pub(super) async fn ask(&mut self, port: u16, round: Round<'_>) -> Cost {
        self.is_late = false;
        let deadline = round.deadline.min(Instant::now() + round.time);
        let mut cost = Cost::default();
        let was_connected = self.is_connected();
        // It may have closed the connection since the last collection: then there is another attempt.
        for is_last in [!was_connected, true] {
            self.answer = Answer::default();
            self.attempt(port, round, deadline, &mut cost).await;
            let is_time_left = Instant::now() < deadline;
            if is_last || !is_time_left || self.answer.failure.is_none() || self.is_connected() {
                break;
            }
        }
        self.settle(round.collection);
        cost
    }

    /// The server was not asked: another port refused the logon, or the time of the collection is over.
    pub(super) fn pass(&mut self, port: u16, is_logon_refused: bool) {
        self.answer = Answer::default();
        self.is_late = !is_logon_refused;
        let failure = if is_logon_refused { withheld(port) } else { no_time(port) };
        self.answer.fail(Step::Connect, failure);
    }

    /// One attempt over the kept connection, or another one.
    async fn attempt(&mut self, port: u16, round: Round<'_>, deadline: Instant, cost: &mut Cost) {
        let is_kept = self.is_connected();
        let session = match self.session.take() {
            Some(session) if is_kept => session,
            _ => match round.host.connect(port, MANAGEMENT, round.collection, deadline).await {
                Ok(session) => session,
                Err(PortError { failure, is_security_unknown: true, .. }) => {
                    self.answer.is_security_unknown = true;
                    let (step, reason) = (Step::Connect, word(failure.reason));
                    self.answer.refusals.push(Refusal { step, reason });
                    tracing::debug!(port, error = %failure.message, "Server takes neither SPNEGO nor NTLM");
                    return;
                }
                Err(PortError { mut failure, is_logon_refused, .. }) => {
                    cost.is_logon_refused |= is_logon_refused;
                    failure.message = format!("port {port}: {}", failure.message);
                    return self.answer.fail(Step::Connect, failure);
                }
            },
        };
        if !is_kept {
            session.stages().iter().for_each(|report| cost.add(report));
        }
        let timer = session.start_stage(Stage::Query);
        let mut asking = Asking { port, session, answer: &mut self.answer, deadline };
        asking.all(&mut self.counters, is_kept).await;
        cost.add(&asking.session.stop_stage(timer));
        if asking.session.is_usable() {
            self.session = Some(asking.session);
        }
    }

    /// Leaves a server alone that did not answer, the longer the longer that is so.
    fn settle(&mut self, collection: &Collection) {
        if self.answer.is_up() && !self.answer.is_security_unknown {
            (self.pause, self.was_up) = (Pause::default(), true);
        } else {
            let shortest = if self.was_up { Pause::AFTER_LOSS } else { Pause::NEVER_THERE };
            self.pause.extend(collection.began(), shortest);
        }
    }
}

impl Cost {
    fn add(&mut self, report: &StageReport) {
        self.calls += report.calls;
        self.received_bytes += report.received_bytes;
        self.sent_bytes += report.sent_bytes;
    }
}

/// A server that is being asked.
struct Asking<'a> {
    port: u16,
    session: TcpSession,
    answer: &'a mut Answer,
    deadline: Instant,
}

impl Asking<'_> {
    /// One call after the other. One that is refused does not keep the server from answering the next.
    async fn all(&mut self, counters: &mut Counters, is_same_connection: bool) {
        let channel = self.session.channel(0, self.deadline);
        let listening = Management::new(channel).is_listening().await;
        self.answer.is_listening = self.check(Step::IsServerListening, listening);
        if self.session.is_usable() {
            let channel = self.session.channel(0, self.deadline);
            let interfaces = Management::new(channel).interfaces().await;
            let interfaces = self.check(Step::InqIfIds, interfaces);
            self.answer.interfaces = interfaces.and_then(|all| u64::try_from(all.len()).ok());
        }
        if self.session.is_usable() {
            let channel = self.session.channel(0, self.deadline);
            let statistics = Management::new(channel).statistics().await;
            let statistics = self.check(Step::InqStats, statistics);
            self.answer.statistics = statistics.map(|now| counters.update(now, is_same_connection));
        }
    }

    /// The result of a step. That a server refuses a call is its answer; that it breaks off or answers what nobody can read is
    /// a failure of the collection.
    fn check<T>(
        &mut self,
        step: Step,
        result: Result<T, rpc::endpoints::mgmt::Error<host_session::rpc_client::Error>>,
    ) -> Option<T> {
        let error = match result {
            Ok(value) => return Some(value),
            Err(error) => error,
        };
        let is_refusal = self.session.is_usable() && !matches!(error, rpc::Error::Stub { .. });
        let error: SessionError = self.session.error_of_method(Stage::Decode, &error);
        let mut failure = failure_of(&error);
        failure.message = format!("port {}: {}", self.port, failure.message);
        tracing::debug!(target = %self.session.target(), %step, %error, "Server did not answer");
        if is_refusal {
            self.answer.refusals.push(Refusal { step, reason: word(failure.reason) });
        } else {
            self.answer.fail(step, failure);
        }
        None
    }
}

impl Step {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Connect => "connect",
            Self::IsServerListening => "is_server_listening",
            Self::InqIfIds => "inq_if_ids",
            Self::InqStats => "inq_stats",
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

fn no_time(port: u16) -> Failure {
    let message = format!(
        "port {port}: not asked in the time that there was; the next collection begins there: lengthen `deadline` of the target, \
         or name fewer ports in `ports`"
    );
    Failure::new(plugin_sdk::Stage::Query, GeneralReason::Timeout, message)
}

fn withheld(port: u16) -> Failure {
    let message = format!("port {port}: not asked, because another port of the host refused the logon");
    Failure::new(plugin_sdk::Stage::Auth, GeneralReason::CredentialsWithheld, message)
}

/// The word of a reason, for a label.
fn word(reason: Reason) -> &'static str {
    match reason {
        Reason::General(reason) => reason.as_str(),
        Reason::Declared(index) => {
            let declared = usize::try_from(index).ok().and_then(|index| DECLARED_REASONS.get(index));
            declared.map_or("other", |declared| declared.word)
        }
    }
}

/// What the server at one port has counted, over all of its wraps that were seen.
#[derive(Debug, Default)]
pub(super) struct Counters {
    last: [u32; 4],
    /// What the wraps so far amount to.
    wrapped: [u64; 4],
}

impl Counters {
    /// Adds what the server answers now. A figure below the one before has wrapped if the connection is the same, because
    /// the server's process is the same then; else the server may have been restarted, and all of them begin again.
    pub(super) fn update(&mut self, now: Statistics, is_same_connection: bool) -> [u64; 4] {
        let now = now.to_array();
        if !is_same_connection && now.iter().zip(&self.last).any(|(now, last)| now < last) {
            *self = Self::default();
        }
        let Self { last, wrapped } = self;
        for ((last, wrapped), now) in last.iter_mut().zip(wrapped.iter_mut()).zip(now) {
            if now < *last {
                *wrapped += 1 << u32::BITS;
            }
            *last = now;
        }
        std::array::from_fn(|index| wrapped[index] + u64::from(last[index]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statistics(calls_in: u32, packets_in: u32) -> Statistics {
        Statistics { calls_in, calls_out: 0, packets_in, packets_out: 7 }
    }

    #[test]
    fn a_counter_goes_on_when_it_wraps_over_one_connection() {
        let mut counters = Counters::default();
        assert_eq!(counters.update(statistics(u32::MAX, 5), false), [0xffff_ffff, 0, 5, 7]);
        assert_eq!(counters.update(statistics(2, 6), true), [0x1_0000_0002, 0, 6, 7]);
        assert_eq!(counters.update(statistics(1, 6), true), [0x2_0000_0001, 0, 6, 7]);
    }

    #[test]
    fn another_connection_goes_on_too_unless_the_server_began_to_count_again() {
        let mut counters = Counters::default();
        counters.update(statistics(10, u32::MAX), false);
        counters.update(statistics(11, 1), true);
        assert_eq!(counters.update(statistics(12, 2), false), [12, 0, 0x1_0000_0002, 7]);
        assert_eq!(counters.update(statistics(3, 4), false), [3, 0, 4, 7]);
    }
}
