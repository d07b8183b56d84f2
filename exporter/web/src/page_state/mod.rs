//! What pages remember between two looks.

mod files;
mod watched;

use std::collections::VecDeque;
use std::slice;
use std::sync::Arc;
use std::time::{Duration, Instant};

use alerts::Registry;
use otlp::push::AllCounts;
use parking_lot::Mutex;
use targets::Plugins;
use tokio::sync::Semaphore;
use tokio::time::timeout;

pub(super) use self::files::{Kept, NoFiles};
pub(super) use self::watched::{Collected, Moment, POINTS_MAX, Seen, TRACKS_MAX, unit_of};

use self::files::Files;
use self::watched::Watched;
use super::rpc_state::{NotKept, State};
use crate::rpc_state::Keeping;

/// What the pages for people show besides the targets, and what they remember between two looks.
#[derive(Default)]
pub struct PageState {
    pub(super) plugins: Arc<Plugins>,
    pub(super) plugin_limits: plugin_host::Limits,
    pub(super) pushes: Arc<AllCounts>,
    pub(super) watched: Watched,
    pub(super) pulse: Pulse,
    pub(super) rpc_state: StateReader,
    pub(super) files: Files,
    pub(super) alerts: Arc<Registry>,
    pub(super) receivers: Arc<alerts::AllCounts>,
    pub(super) identities: Option<Arc<dyn Identities>>,
}

impl PageState {
    /// What is loaded, what a plugin may ask for, what became of data that was pushed, for each endpoint, and where the
    /// state of RPC calls is.
    #[must_use]
    pub fn new(
        plugins: Arc<Plugins>,
        plugin_limits: plugin_host::Limits,
        pushes: Arc<AllCounts>,
        keeping: Keeping,
    ) -> Self {
        let rpc_state = StateReader::new(keeping);
        Self { plugins, plugin_limits, pushes, rpc_state, ..Self::default() }
    }

    /// The same, with the alerts of targets, and what became of them for each receiver.
    #[must_use]
    pub fn with_alerts(self, alerts: Arc<Registry>, receivers: Arc<alerts::AllCounts>) -> Self {
        Self { alerts, receivers, ..self }
    }

    /// The same, with what is known of identities.
    #[must_use]
    pub fn with_identities(self, identities: Arc<dyn Identities>) -> Self {
        Self { identities: Some(identities), ..self }
    }
}

/// What is known of the logons of one identity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdentityRow {
    pub name: String,
    /// As the configuration has it.
    pub kind: &'static str,
    pub account: String,
    /// Its accounts by what hosts or a KDC said of them: a word, and how many.
    pub accounts: Vec<(&'static str, u64)>,
    pub ticket: Option<TicketRow>,
    /// Why there is no new ticket: the reason, its next step, and what was said.
    pub failure: Option<(&'static str, &'static str, String)>,
}

/// A ticket-granting ticket, as it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TicketRow {
    pub principal: String,
    pub obtained_unix_s: u64,
    pub expires_unix_s: u64,
    /// How far the KDC's clock is ahead of ours, where it told.
    pub skew_seconds: Option<i32>,
}

/// Tells pages of the identities.
pub trait Identities: Send + Sync {
    fn rows(&self) -> Vec<IdentityRow>;
}

/// The approximate window of the rate.
const WINDOW: Duration = Duration::from_secs(60);
/// Looks closer together than this count as one.
const APART: Duration = Duration::from_secs(2);

/// Remembers how many collections there were at the last looks.
#[derive(Debug, Default)]
pub(crate) struct Pulse(Mutex<VecDeque<(Instant, u64)>>);

impl Pulse {
    /// Adds a sample; returns the collections per second since an earlier one, if there was one.
    pub(crate) fn look(&self, now: Instant, collections: u64) -> Option<f64> {
        let mut looks = self.0.lock();
        // Targets that went took their collections with them.
        if looks.back().is_some_and(|&(_, last)| last > collections) {
            looks.clear();
        }
        while looks.len() > 1 && looks.get(1).is_some_and(|&(at, _)| now.duration_since(at) >= WINDOW) {
            looks.pop_front();
        }
        let first = looks.front().copied();
        if looks.back().is_none_or(|&(at, _)| now.duration_since(at) >= APART) {
            looks.push_back((now, collections));
        }
        let (at, then) = first?;
        let seconds = now.duration_since(at).as_secs_f64();
        #[expect(clippy::cast_precision_loss, reason = "a minute has fewer collections than 2⁵³")]
        let gained = (collections - then) as f64;
        (seconds >= APART.as_secs_f64()).then(|| gained / seconds)
    }
}

// Reads the state of RPC calls for pages: not on a thread of the async runtime, and for one reader at a time.

/// How long a reader waits for those before it, and for the files.
const WAIT_MAX: Duration = Duration::from_secs(5);

/// Reads the state of this process' run directory.
pub(crate) struct StateReader {
    keeping: Keeping,
    permits: Arc<Semaphore>,
}

/// Why there is no state to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NoState {
    /// It is not kept.
    NotKept(NotKept),
    /// Other readers, or the files, took too long.
    TooLong,
    Failed,
}

impl Default for StateReader {
    fn default() -> Self {
        Self::new(Keeping::default())
    }
}

impl StateReader {
    fn new(keeping: Keeping) -> Self {
        Self { keeping, permits: Arc::new(Semaphore::new(1)) }
    }

    /// Whether calls of hosts are kept.
    pub(crate) fn has_client_calls(&self) -> bool {
        matches!(self.keeping, Keeping::Kept { has_client_calls: true, .. })
    }

    /// What `look` makes of the state as it is now.
    pub(crate) async fn look<T: Send + 'static>(
        &self,
        look: impl FnOnce(&State) -> T + Send + 'static,
    ) -> Result<T, NoState> {
        let directory = match &self.keeping {
            Keeping::Kept { directory, .. } => directory.clone(),
            Keeping::Not(why) => return Err(NoState::NotKept(why.clone())),
        };
        let permits = Arc::clone(&self.permits);
        let looked = async {
            let permit = permits.acquire_owned().await.map_err(|_closed| NoState::Failed)?;
            // Who gives up waiting leaves the permit to the thread, so that a directory that hangs takes one thread only.
            let work = move || {
                let found = look(&State::read(slice::from_ref(&directory)));
                drop(permit);
                found
            };
            tokio::task::spawn_blocking(work).await.map_err(|_panicked| NoState::Failed)
        };
        timeout(WAIT_MAX, looked).await.unwrap_or(Err(NoState::TooLong))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn the_rate_is_that_of_the_last_minute() {
        let (pulse, begin) = (Pulse::default(), Instant::now());
        let look = |second: u64, count| pulse.look(begin + Duration::from_secs(second), count);
        assert_eq!(look(0, 1_000), None);
        assert_eq!(look(1, 1_050), None);
        assert_eq!(look(10, 1_500), Some(50.0));
        for second in 11..200 {
            look(second, 1_500);
        }
        assert_eq!(look(200, 1_500), Some(0.0));
        // After a reload there may be fewer.
        assert_eq!(look(210, 7), None);
    }

    fn reader(directory: &std::path::Path) -> StateReader {
        StateReader::new(Keeping::Kept { directory: directory.to_owned(), has_client_calls: true })
    }

    #[tokio::test]
    async fn what_is_not_kept_is_not_read() {
        let reader = StateReader::new(Keeping::Not(NotKept::NoDirectory));
        assert_eq!(reader.look(|_| ()).await, Err(NoState::NotKept(NotKept::NoDirectory)));
        assert!(!reader.has_client_calls());
    }

    #[tokio::test]
    async fn one_reader_reads_at_a_time_and_one_that_gave_up_still_counts() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let reader = reader(folder.path());
        let (begun, has_begun) = mpsc::channel();
        let (end, ended) = mpsc::channel::<()>();
        let hangs = reader.look(move |_| {
            begun.send(()).expect("the test waits for it");
            ended.recv()
        });
        // It is given up when it hangs on its thread.
        let hung = timeout(Duration::from_millis(1), hangs).await;
        assert!(hung.is_err());
        tokio::task::spawn_blocking(move || has_begun.recv()).await.expect("no panic").expect("it began");
        tokio::time::pause();
        let passes = tokio::time::advance(WAIT_MAX + Duration::from_millis(1));
        let (second, ()) = tokio::join!(reader.look(|_| 7), passes);
        assert_eq!(second, Err(NoState::TooLong));
        tokio::time::resume();
        drop(end);
        assert_eq!(reader.look(|_| 7).await, Ok(7));
    }

    #[tokio::test]
    async fn a_panic_is_no_reason_not_to_read_again() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let reader = reader(folder.path());
        let panics = |_: &State| -> u8 { std::panic::resume_unwind(Box::new(())) };
        assert_eq!(reader.look(panics).await, Err(NoState::Failed));
        assert_eq!(reader.look(State::is_empty).await, Ok(true));
    }
}
