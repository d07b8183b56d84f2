//! What of a set outlives the process.

use std::sync::Arc;

use pla_engine::{Moment, SetRun, component};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::super::folder::{Kept, KeptSegment, SetFolder};
use super::super::work;
use super::Run;

/// What was found in the folder of a set.
#[derive(Debug)]
pub(super) enum Loaded {
    /// Another instance has the set.
    Taken,
    /// It is ours, as long as the folder lives, if that could be taken.
    Own(Option<SetFolder>, Result<Option<Box<Kept>>, String>),
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
        let was_running = !matches!(&loaded, Ok(None))
            && !matches!(&loaded, Ok(Some(before)) if before.run.running.is_none());
        if was_running
            && has_journals
            && let Err(error) = folder.recover()
        {
            tracing::warn!(set, %error, "Logs of an earlier process cannot be looked for");
        }
        Loaded::Own(claimed, loaded.map(|kept| kept.map(Box::new)))
    })
}

impl Run {
    /// Begins to read what was kept of it, if that is not known.
    pub(in crate::runs) fn begin_loading(&mut self) {
        if self.life.is_none() && self.loading.is_none() {
            let (set, logs) = (Arc::clone(&self.name), &self.logs);
            let (has_journals, first) = (logs.has_parquet(), logs.serial_number);
            self.loading = self.folder.clone().map(|folder| load(set, folder, has_journals, first));
        }
    }

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
                Ok(Ok(Loaded::Own(claimed, loaded))) => {
                    self.folder = claimed.or(self.folder.take());
                    loaded
                }
                Ok(Ok(Loaded::Taken)) => return self.report_taken(),
            },
        };
        self.loading = None;
        let definition = self.definition();
        self.life = Some(match loaded {
            Ok(Some(kept)) => {
                let Kept { run, segment } = *kept;
                let running = run.running.map(|running| running.serial_number);
                // It was a name of ours.
                let is_ours = |segment: &KeptSegment| {
                    Some(segment.serial_number) == running && component(&segment.folder) == segment.folder
                };
                self.cut_off = segment.filter(is_ours);
                SetRun::resume(definition, &run, moment)
            }
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
        self.loading = None;
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
        let segment = self.segment.as_ref().map(|segment| KeptSegment {
            serial_number: segment.serial_number,
            folder: segment.folder.clone(),
            began: segment.began.wall,
        });
        let (kept, set) = (Kept { run: life.snapshot(moment), segment }, Arc::clone(&self.name));
        let mut storing = tokio::task::spawn_blocking(move || {
            if let Err(error) = folder.save(&kept) {
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
        for (serial_number, closing) in std::mem::take(&mut self.closing) {
            // What panicked has nothing to wait for. Logs of earlier segments may go on after the deadline; until then, the set
            // is theirs.
            let closed = tokio::time::timeout_at(deadline, closing.logs).await;
            let last = self.segment.clone().filter(|segment| segment.serial_number == serial_number);
            if let (Ok(Ok(logs)), Some(segment)) = (closed, last)
                && self.logs.manager.is_enabled == Some(true)
            {
                let job = self.job(serial_number, Some(segment), moment);
                let _ = tokio::time::timeout_at(deadline, work::report(job, logs)).await;
            }
        }
        // A report that is being written gets done. What a data manager was stopped at, the next instance does again.
        while self.at_work > 0 {
            let Ok(Some(_)) = tokio::time::timeout_at(deadline, self.events.1.recv()).await else { break };
            self.at_work -= 1;
        }
        self.stored = self.stored.wrapping_sub(1);
        self.store(moment, deadline).await;
    }
}
