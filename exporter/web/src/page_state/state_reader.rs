//! Reads the state of RPC calls for pages: not on a thread of the async runtime, and for one reader at a time.

use std::slice;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::rpc_state::{Keeping, NotKept, State};

/// How long a reader waits for those before it, and for the files.
const WAIT_MAX: Duration = Duration::from_secs(5);

/// Reads the state of this process' run directory.
pub(crate) struct StateReader {
    keeping: Keeping,
    permits: Arc<Semaphore>,
}

/// Why there is no state to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NoState {
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
    pub(super) fn new(keeping: Keeping) -> Self {
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
