//! Logs that have one name in a database are written one after another: each writer counts what is stored of its log.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::OwnedMutexGuard;

/// Who may write to the logs of databases, by the set, the database and the log.
#[derive(Debug, Default)]
pub(crate) struct Turns(Mutex<HashMap<[String; 3], Arc<tokio::sync::Mutex<()>>>>);

/// The turn of one writer, until it is dropped.
#[derive(Debug)]
pub(super) struct Turn {
    log: Arc<tokio::sync::Mutex<()>>,
    held: Option<OwnedMutexGuard<()>>,
}

impl Turns {
    /// The turn of the next writer of a log.
    pub(super) fn next(&self, set: &str, database: &str, log: &str) -> Turn {
        let mut turns = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        turns.retain(|_, turn| Arc::strong_count(turn) > 1);
        let key = [set, database, log].map(str::to_owned);
        Turn { log: Arc::clone(turns.entry(key).or_default()), held: None }
    }
}

impl Turn {
    /// Waits until earlier writers of the log are gone.
    pub(super) async fn wait(&mut self) {
        if self.held.is_none() {
            self.held = Some(Arc::clone(&self.log).lock_owned().await);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_writer_waits_until_the_one_before_it_is_gone() {
        let turns = Turns::default();
        let (mut first, mut second) =
            (turns.next("Nightly", "archive", "log"), turns.next("Nightly", "archive", "log"));
        first.wait().await;
        turns.next("Other", "archive", "log").wait().await;
        first.wait().await;
        let mut waiting = Box::pin(second.wait());
        let is_free =
            tokio::select! { biased; () = &mut waiting => true, () = std::future::ready(()) => false };
        assert!(!is_free, "the first one writes");
        drop(first);
        waiting.await;
    }
}
