//! What of a set outlives the process.

use std::fs::File;
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
    /// It is ours.
    Own(Option<File>, Result<Option<RunSnapshot>, String>),
}

/// Reads what is kept of a set, and brings logs to an end that a process left behind if it may have such.
pub(super) fn load(folder: SetFolder, has_journals: bool) -> JoinHandle<Loaded> {
    tokio::task::spawn_blocking(move || {
        let claim = match folder.claim() {
            Ok(None) => return Loaded::Taken,
            Ok(claim) => claim,
            // A folder that is not there has no state; it is tried again with the first record.
            Err(error) => {
                tracing::debug!(%error, "The folder of a set cannot be opened");
                return Loaded::Own(None, Ok(None));
            }
        };
        let loaded = folder.load();
        let was_running = matches!(&loaded, Ok(Some(before)) if before.running.is_some());
        if was_running
            && has_journals
            && let Err(error) = folder.recover()
        {
            tracing::warn!(%error, "Logs of an earlier process cannot be looked for");
        }
        Loaded::Own(claim, loaded)
    })
}

impl Run {
    /// Waits until it is known what was kept of it, but not longer than until `patience`.
    pub(in crate::runs) async fn load(&mut self, moment: Moment, patience: Instant) {
        if self.life.is_some() {
            return;
        }
        let loaded = match &mut self.loading {
            None => Ok(None),
            Some(loading) => match tokio::time::timeout_at(patience, loading).await {
                Err(_) => return,
                Ok(Err(error)) => Err(error.to_string()),
                Ok(Ok(Loaded::Own(claim, loaded))) => {
                    self.claim = claim;
                    loaded
                }
                Ok(Ok(Loaded::Taken)) => {
                    if !std::mem::replace(&mut self.is_taken, true) {
                        let set = &*self.name;
                        tracing::warn!(
                            set,
                            "Another module of the target has a set of this name: it does not run here"
                        );
                    }
                    // The other one may be at its end.
                    self.loading = self.folder.clone().map(|folder| load(folder, self.logs.has_parquet()));
                    return;
                }
            },
        };
        self.loading = None;
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
        self.close(serial_number, deadline.saturating_duration_since(Instant::now()));
        for (_, closing) in std::mem::take(&mut self.closing) {
            // Each log ends by the deadline; what panicked has nothing to wait for.
            let _ = closing.logs.await;
        }
        self.stored = self.stored.wrapping_sub(1);
        self.store(moment, deadline).await;
    }
}
