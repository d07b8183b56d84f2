//! Logs that have one name in a database are written one after another: each writer counts what is stored of its log.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use counter_log::{SinkError, SinkErrorKind};
use safe_files::WeakMap;
use tokio::sync::{Mutex, OwnedMutexGuard};
use tokio::time::timeout;

/// The turn of one writer, until it is dropped.
pub(super) struct Turn {
    /// The name of the log in its database.
    log: String,
    writer: Arc<Mutex<()>>,
    /// The place among those that wait, which stays the same.
    waiting: Option<Pin<Box<dyn Future<Output = OwnedMutexGuard<()>> + Send>>>,
    held: Option<OwnedMutexGuard<()>>,
}

impl Turn {
    /// The turn of the next writer of a log, by the database and the name that the log has in there. That name is what has to be
    /// unique, whichever sets, modules or targets write to the database.
    pub(super) fn next(database: String, log: &str) -> Self {
        let writer = WRITERS.get_or_insert_with((database, log.to_owned()), Mutex::default);
        Self { log: log.to_owned(), writer, waiting: None, held: None }
    }

    /// Waits until earlier writers of the log are gone. Segments follow each other within seconds, unless the database is away.
    ///
    /// # Errors
    /// When that takes long. The next call goes on waiting at the same place.
    pub(super) async fn wait(&mut self) -> Result<(), SinkError> {
        if self.held.is_some() {
            return Ok(());
        }
        let writer = &self.writer;
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(Arc::clone(writer).lock_owned()));
        let Ok(held) = timeout(WAIT_MAX, waiting).await else {
            let log = &self.log;
            let message = format!(
                "the log `{log}` of the database is still written by an earlier segment or by another set: give the other set, or \
                 its log, another name"
            );
            return Err(SinkError { kind: SinkErrorKind::Refused, message });
        };
        (self.waiting, self.held) = (None, Some(held));
        Ok(())
    }
}

impl fmt::Debug for Turn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Turn").field("log", &self.log).finish_non_exhaustive()
    }
}

/// Locks of the logs of databases, by the database and the name of the log.
static WRITERS: WeakMap<(String, String), Mutex<()>> = WeakMap::new();

const WAIT_MAX: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use super::*;

    fn next(log: &str) -> Turn {
        Turn::next("/var/archive.db".to_owned(), log)
    }

    #[tokio::test(start_paused = true)]
    async fn a_writer_waits_until_the_ones_before_it_are_gone() {
        let (mut first, mut second, mut third) =
            (next("web1: Nightly"), next("web1: Nightly"), next("web1: Nightly"));
        first.wait().await.expect("it is free");
        next("web1: Other").wait().await.expect("it is another one");
        Turn::next("db7:5432/archive".to_owned(), "web1: Nightly").wait().await.expect("it is elsewhere");
        first.wait().await.expect("it has it");
        let failure = second.wait().await.expect_err("the first one writes");
        assert_eq!(failure.kind, SinkErrorKind::Refused);
        assert!(
            failure.message.contains("`web1: Nightly`") && failure.message.contains("by another set"),
            "{failure}"
        );
        third.wait().await.expect_err("the first one writes");
        drop(first);
        third.wait().await.expect_err("the second one has waited longer");
        second.wait().await.expect("it is the next one");
        drop(second);
        third.wait().await.expect("it is the last one");
    }
}
