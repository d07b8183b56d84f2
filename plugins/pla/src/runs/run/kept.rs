//! What of a set outlives the process.

use std::sync::Arc;

use pla_engine::{Moment, RunSnapshot, SetRun};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::super::folder::SetFolder;
use super::Run;

/// What was found in the folder of a set.
#[derive(Debug)]
pub(super) enum Loaded {
    /// Another instance has the set.
    Taken,
    /// It is ours, as long as the folder lives, if that could be taken.
    Own(Option<SetFolder>, Result<Option<RunSnapshot>, String>),
}

/// Reads what is kept of a set, and brings logs to an end that a process left behind if it may have such. `first` is the serial
/// number that the set itself begins with.
fn load(set: Arc<str>, folder: SetFolder, has_journals: bool, first: u32) -> JoinHandle<Loaded> {
    tokio::task::spawn_blocking(move || {
        let set = &*set;
        if let Err(error) = folder.open() {
            // A folder that is not there has no state; it is tried again with the first record.
            tracing::debug!(set, %error, "The folder of a set cannot be opened");
            return Loaded::Own(None, Ok(None));
        }
        let claimed = match folder.claim() {
            Ok(None) => return Loaded::Taken,
            Ok(claimed) => claimed,
            Err(error) => {
                tracing::warn!(set, %error, "A set cannot be locked: no other module of the target may have one of this name");
                None
            }
        };
        let loaded = folder.load(first);
        // After a state that cannot be read there may be anything.
        let was_running =
            !matches!(&loaded, Ok(None)) && !matches!(&loaded, Ok(Some(before)) if before.running.is_none());
        if was_running
            && has_journals
            && let Err(error) = folder.recover()
        {
            tracing::warn!(set, %error, "Logs of an earlier process cannot be looked for");
        }
        Loaded::Own(claimed, loaded)
    })
}

impl Run {
    /// Waits until it is known what was kept of it, but not longer than until `patience`.
    pub(in crate::runs) async fn load(&mut self, moment: Moment, patience: Instant) {
        if self.life.is_some() {
            return;
        }
        let loaded = match self.folder.clone() {
            None => Ok(None),
            Some(folder) => {
                let set = Arc::clone(&self.name);
                let mut loading = self
                    .loading
                    .take()
                    .unwrap_or_else(|| load(set, folder, self.logs.has_parquet(), self.logs.serial_number));
                match tokio::time::timeout_at(patience, &mut loading).await {
                    Err(_) => {
                        self.loading = Some(loading);
                        return;
                    }
                    Ok(Err(error)) => Err(error.to_string()),
                    Ok(Ok(Loaded::Own(claimed, loaded))) => {
                        self.folder = claimed.or(self.folder.take());
                        loaded
                    }
                    Ok(Ok(Loaded::Taken)) => return self.report_taken(),
                }
            }
        };
        let definition = self.definition();
        self.life = Some(match loaded {
            Ok(Some(snapshot)) => SetRun::resume(definition, &snapshot, moment),
            Ok(None) => SetRun::new(definition, moment),
            Err(reason) => {
                let set = &*self.name;
                tracing::warn!(set, reason, "What was kept of a set cannot be read; it begins anew");
                SetRun::new(definition, moment)
            }
        });
    }

    /// Another instance has the set. That may be at its end: the next collection tries again.
    fn report_taken(&mut self) {
        if !std::mem::replace(&mut self.is_taken, true) {
            let set = &*self.name;
            tracing::info!(
                set,
                "A set waits for the end of an earlier instance, or of another module's set of this name"
            );
        }
    }

    /// Stores what has to outlive the process, and waits for that until `patience`.
    pub(in crate::runs) async fn store(&mut self, moment: Moment, patience: Instant) {
        let Some((life, folder)) = self.life.as_ref().zip(self.folder.clone()) else { return };
        if let Some(storing) = &mut self.storing {
            if tokio::time::timeout_at(patience, storing).await.is_err() {
                return;
            }
            self.storing = None;
        }
        if life.revision() == self.stored {
            return;
        }
        self.stored = life.revision();
        let (snapshot, set) = (life.snapshot(moment), Arc::clone(&self.name));
        let mut storing = tokio::task::spawn_blocking(move || {
            if let Err(error) = folder.save(&snapshot) {
                tracing::warn!(set = &*set, %error, "The state of a set cannot be kept; after a new start, it begins anew");
            }
        });
        if tokio::time::timeout_at(patience, &mut storing).await.is_err() {
            self.storing = Some(storing);
        }
    }

    /// Ends its logs by `deadline`. What it did is kept, so that it goes on with a new start.
    pub(in crate::runs) async fn end(mut self, moment: Moment, deadline: Instant) {
        let serial_number = self.segment.as_ref().map_or(0, |segment| segment.serial_number);
        self.close(serial_number, deadline.saturating_duration_since(Instant::now()), true);
        self.upkeep.stop();
        for (_, closing) in std::mem::take(&mut self.closing) {
            // What panicked has nothing to wait for. Logs of earlier segments may go on after the deadline; until then, the set
            // is theirs.
            let _ = tokio::time::timeout_at(deadline, closing.logs).await;
        }
        self.stored = self.stored.wrapping_sub(1);
        self.store(moment, deadline).await;
    }
}
