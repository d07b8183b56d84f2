//! The servers at the ports of a host.

use std::collections::BTreeMap;
use std::future::{Future, poll_fn};
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;

use plugin_sdk::Failure;
use tokio::time::Instant;

use super::map::{HostMap, names};
use super::server::{Answer, Cost, Round, Server};

/// Servers that are asked at a time. Each new connection is a logon: this many, and one, is what a password costs that was
/// changed while connections were kept.
const WIDTH: usize = 4;

/// The servers of one host, by port.
#[derive(Debug, Default)]
pub(super) struct Servers {
    by_port: BTreeMap<u16, Server>,
    /// Where the kept connections lead.
    address: Option<IpAddr>,
}

/// What became of a round.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) failure: Option<Failure>,
    /// The port of the mapper has to be logged on to again first.
    pub(super) is_logon_refused: bool,
}

impl Servers {
    /// Closes all connections, and forgets what did not answer.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Asks all with the next collection: somebody may have removed the cause of failures.
    pub(super) fn cut_pauses_short(&mut self) {
        self.by_port.values_mut().for_each(Server::cut_pause_short);
    }

    /// Asks the servers of these ports. None of them costs another one more than its time.
    pub(super) async fn ask(&mut self, map: &HostMap, round: Round<'_>) -> Asked {
        let address = round.host.address();
        if self.address.replace(address).is_some_and(|before| before != address) {
            // The name leads to another host, or to another address of it.
            self.by_port.clear();
        }
        self.by_port.retain(|port, _| map.ports.contains(port));
        for port in &map.ports {
            self.by_port.entry(*port).or_default();
        }
        let due = self.by_port.iter_mut().filter(|(_, server)| !server.is_left_alone(round.collection));
        let mut due: Vec<(u16, &mut Server)> = due.map(|(port, server)| (*port, server)).collect();
        due.sort_by_key(|(_, server)| server.turn());
        let is_logon_refused = AtomicBool::new(false);
        let mut asking = Vec::with_capacity(due.len());
        for (port, server) in due {
            asking.push(ask_one(port, server, round, &is_logon_refused));
        }
        let costs = run_all(asking, WIDTH).await;
        let stages = round.collection.stages();
        for cost in &costs {
            stages.add(cost.calls, cost.received_bytes, cost.sent_bytes);
        }
        Asked { failure: self.failure(map), is_logon_refused: is_logon_refused.into_inner() }
    }

    /// What is known of each port.
    pub(super) fn answers(&self) -> impl Iterator<Item = (u16, &Answer)> {
        self.by_port.iter().map(|(port, server)| (*port, server.answer()))
    }

    /// One failure for all: the first one, and how many there are.
    fn failure(&self, map: &HostMap) -> Option<Failure> {
        let failed = || self.answers().filter_map(|(port, answer)| Some((port, answer.failure.as_ref()?)));
        let (_, first) = failed().next()?;
        let names = names(map);
        let shown: Vec<String> = failed()
            .map(|(port, _)| match names.get(&port) {
                Some(name) => format!("{port} ({name})"),
                None => port.to_string(),
            })
            .take(SHOWN_MAX)
            .collect();
        let mut failure = first.clone();
        failure.message = format!(
            "{} of {} endpoints without an answer: {}; {}",
            failed().count(),
            self.by_port.len(),
            shown.join(", "),
            first.message
        );
        // It is no failure of the host as a whole, which is asked again as usual.
        failure.retry_after = None;
        Some(failure)
    }
}

/// Ports that a message names.
const SHOWN_MAX: usize = 8;

async fn ask_one(port: u16, server: &mut Server, round: Round<'_>, is_logon_refused: &AtomicBool) -> Cost {
    // The password may have been changed: no other port is shown it.
    let is_refused = is_logon_refused.load(Ordering::Relaxed) && !server.is_connected();
    if is_refused || round.deadline <= Instant::now() {
        server.pass(port, is_refused);
        return Cost::default();
    }
    let cost = server.ask(port, round).await;
    is_logon_refused.fetch_or(cost.is_logon_refused, Ordering::Relaxed);
    cost
}

/// Runs all futures, at most `width` at a time, and begins them in their order. All are dropped with this one.
async fn run_all<F: Future>(futures: impl IntoIterator<Item = F>, width: usize) -> Vec<F::Output> {
    let mut waiting = futures.into_iter();
    let mut running: Vec<Pin<Box<F>>> = Vec::new();
    let mut done = Vec::new();
    loop {
        // Each of them is polled before the first wait, also those that take the place of others.
        let free = width.max(1).saturating_sub(running.len());
        running.extend(waiting.by_ref().take(free).map(Box::pin));
        if running.is_empty() {
            return done;
        }
        poll_fn(|context| {
            let before = done.len();
            running.retain_mut(|future| match future.as_mut().poll(context) {
                Poll::Ready(output) => {
                    done.push(output);
                    false
                }
                Poll::Pending => true,
            });
            if done.len() > before { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use tokio::sync::Semaphore;

    use super::*;

    #[tokio::test]
    async fn no_more_than_so_many_run_and_one_that_waits_holds_up_no_other() {
        let (gate, now, most) = (Semaphore::new(0), Cell::new(0), Cell::new(0));
        let (gate, now, most) = (&gate, &now, &most);
        let one = |number: u32| async move {
            now.set(now.get() + 1);
            most.set(most.get().max(now.get()));
            if number == 0 {
                let _opened = gate.acquire().await;
            } else {
                tokio::task::yield_now().await;
            }
            if number == 9 {
                gate.add_permits(1);
            }
            now.set(now.get() - 1);
            number
        };
        let mut done = run_all((0..10).map(one), 3).await;
        assert_eq!((done.last(), most.get()), (Some(&0), 3));
        done.sort_unstable();
        assert_eq!(done, (0..10).collect::<Vec<_>>());
    }
}
