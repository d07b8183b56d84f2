//! What of a set outlives the process.

use std::io::ErrorKind;
use std::sync::Arc;

use pla_engine::{Moment, SetRun};
use safe_text::component;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout_at};

use super::super::active_collector::ActiveCollector;
use super::super::folder::{SegmentState, SetFolder, SetState};
use super::super::state::StateStore;
use super::super::work;
use super::Run;
use crate::threads::{LOADS, STORES};

/// What was found in the folder of a set.
#[derive(Debug)]
pub(super) enum Loaded {
    /// Another instance has the set.
    Taken,
    /// There is no folder.
    Away,
    /// A disk is away or denies it.
    Unreadable(String),
    /// It is ours, as long as the folder lives, if that could be taken.
    Own(Option<SetFolder>, Result<Option<Box<SetState>>, String>),
}

/// Reads what is kept of a set, and brings logs to an end that a process left behind if it may have such. `first` is the serial
/// number that the set itself begins with.
fn load(
    (target, set): (String, Arc<str>),
    folder: SetFolder,
    has_journals: bool,
    first: u32,
) -> JoinHandle<Loaded> {
    let places = folder.places();
    let load = move || {
        let (target, set) = (&*target, &*set);
        match folder.open().map_err(|error| (error.kind(), error)) {
            Ok(_) => {}
            // A folder that is not there has no state, and what is no folder does not become one by itself. It is tried again with
            // the first record.
            Err((ErrorKind::NotFound | ErrorKind::InvalidData, error)) => {
                tracing::debug!(target, set, %error, "The folder of a set cannot be opened");
                return Loaded::Away;
            }
            Err((_, error)) => return Loaded::Unreadable(error.to_string()),
        }
        let claimed = match folder.claim() {
            Ok(None) => return Loaded::Taken,
            Ok(claimed) => claimed,
            Err(error) => {
                tracing::warn!(target, set, %error, "A set cannot be locked: no other module of the target may have one of this name");
                None
            }
        };
        let loaded = match folder.load(first) {
            Ok(loaded) => Ok(loaded),
            Err(error) if error.kind() == ErrorKind::InvalidData => Err(error.to_string()),
            Err(error) => return Loaded::Unreadable(error.to_string()),
        };
        // A run that has ended may have left journals, too.
        let journals =
            if has_journals && !matches!(loaded, Ok(None)) { folder.recover(target) } else { Ok(()) };
        let segment = loaded.as_ref().ok().and_then(|kept| kept.as_ref()?.segment.as_ref());
        let rows = match segment.filter(|segment| is_name_of_ours(segment)) {
            Some(segment) => folder.cut_unfinished_rows(target, &segment.folder),
            None => Ok(()),
        };
        if let Err(error) = journals.and(rows) {
            tracing::warn!(target, set, %error, "Logs of an earlier process cannot be looked for");
        }
        Loaded::Own(claimed, loaded.map(|kept| kept.map(Box::new)))
    };
    tokio::spawn(async move { LOADS.run(places, load).await.unwrap_or_else(Loaded::Unreadable) })
}

/// Whether its folder has a name that a segment can have: what is kept may have been changed.
fn is_name_of_ours(segment: &SegmentState) -> bool {
    component(&segment.folder) == segment.folder
}

impl Run {
    /// Begins to read what was kept of it, if that is not known.
    pub(in crate::runs) fn begin_loading(&mut self) {
        if self.state_machine.is_none() && self.loading.is_none() {
            let (set, logs) = (Arc::clone(&self.name), &self.logs);
            let (has_journals, first) = (logs.has_parquet(), logs.serial_number);
            self.loading = self
                .folder
                .clone()
                .map(|folder| load((self.log_factory.machine.clone(), set), folder, has_journals, first));
        }
    }

    /// Waits until it is known what was kept of it, but not longer than until `patience`.
    pub(in crate::runs) async fn load(&mut self, moment: Moment, patience: Instant) {
        if self.state_machine.is_some() {
            return;
        }
        let loaded = match &mut self.loading {
            None => Ok(None),
            Some(loading) => match timeout_at(patience, loading).await {
                Err(_) => return,
                Ok(Err(error)) => Err(error.to_string()),
                Ok(Ok(Loaded::Own(claimed, loaded))) => {
                    self.folder = claimed.or(self.folder.take());
                    loaded
                }
                Ok(Ok(Loaded::Away)) => {
                    self.is_blind = true;
                    Ok(None)
                }
                Ok(Ok(Loaded::Taken)) => return self.report_waiting(
                    "A set waits for the end of an earlier instance, or of another module's set of this name",
                    "",
                ),
                Ok(Ok(Loaded::Unreadable(reason))) => {
                    return self.report_waiting("A set waits for its folder, which cannot be read", &reason);
                }
            },
        };
        self.loading = None;
        let earlier = match &loaded {
            _ if self.is_blind => None,
            Ok(Some(kept)) => Some(kept.serial_number_max()),
            Ok(None) | Err(_) => Some(0),
        };
        let names = (&*self.log_factory.machine, &*self.name);
        self.state = self.folder.clone().map(|folder| Arc::new(StateStore::new(folder, names, earlier)));
        let definition = self.definition();
        self.state_machine = Some(match loaded {
            Ok(Some(kept)) => {
                let SetState { run, segment } = *kept;
                let running = run.running.map(|running| running.serial_number);
                let is_ours = |segment: &SegmentState| {
                    Some(segment.serial_number) == running && is_name_of_ours(segment)
                };
                self.cut_off = segment.filter(is_ours);
                SetRun::resume(definition, &run, moment)
            }
            Ok(None) => SetRun::new(definition, moment),
            Err(reason) => {
                let set = &*self.name;
                tracing::warn!(set, reason, "What was kept of a set cannot be read; it begins again");
                SetRun::new(definition, moment)
            }
        });
    }

    /// Says once why the set does not run yet. The next collection tries again.
    fn report_waiting(&mut self, message: &'static str, reason: &str) {
        self.loading = None;
        if self.waits_for != Some(message) {
            self.waits_for = Some(message);
            match reason {
                "" => tracing::info!(set = &*self.name, "{message}"),
                _ => tracing::warn!(set = &*self.name, reason, "{message}"),
            }
        }
    }

    /// Its state is what has to be stored from now on, if it is another than before.
    pub(super) fn note_state(&mut self, moment: Moment) {
        let Some((state_machine, state)) = self.state_machine.as_ref().zip(self.state.as_ref()) else {
            return;
        };
        let now =
            Some((state_machine.revision(), self.segment.as_ref().map(|segment| segment.serial_number)));
        if now != self.noted {
            self.noted = now;
            let segment = self.segment.as_ref().map(|segment| SegmentState {
                serial_number: segment.serial_number,
                folder: segment.folder.clone(),
                began: segment.began.wall,
            });
            state.set(SetState { run: state_machine.snapshot(moment), segment });
        }
    }

    /// Its folder may have come, with serial numbers and folders of earlier runs.
    pub(super) fn look_for_earlier(&mut self) {
        if self.is_blind
            && let Some((state_machine, earlier)) =
                self.state_machine.as_mut().zip(self.state.as_ref().and_then(|state| state.earlier()))
        {
            state_machine.handle_earlier_runs(earlier);
            self.is_blind = false;
        }
    }

    /// The same set from the beginning, if another folder is in the place of its own: a disk was mounted over it, for example, on
    /// which there are earlier runs.
    pub(in crate::runs) fn renewed(&self) -> Option<Self> {
        if !self.state.as_ref().is_some_and(|state| state.is_replaced()) {
            return None;
        }
        let (target, set) = (&self.log_factory.machine, &*self.name);
        tracing::warn!(
            target,
            set,
            "Another folder is in the place of that of a set, which begins again with what is there"
        );
        let collectors =
            self.collectors.iter().map(|one| ActiveCollector::new(one.recorder.renewed())).collect();
        Some(Self::new(set, (Arc::clone(&self.logs), self.start), Arc::clone(&self.log_factory), collectors))
    }

    /// Stores what has to outlive the process, beside the collections.
    pub(in crate::runs) fn store(&mut self, moment: Moment) {
        self.note_state(moment);
        let Some(state) = &self.state else { return };
        if !self.is_storing() && !state.is_stored() {
            let state = Arc::clone(state);
            let places = self.folder.iter().flat_map(SetFolder::places).collect();
            self.storing = Some(tokio::spawn(async move {
                // What panicked is tried again with the next collection.
                let _ = STORES.run(places, move || state.save_or_warn()).await;
            }));
        }
    }

    pub(super) fn is_storing(&self) -> bool {
        self.storing.as_ref().is_some_and(|storing| !storing.is_finished())
    }

    /// Ends its logs by `deadline`. What it did is kept, so that it goes on with a new start.
    pub(in crate::runs) async fn end(mut self, moment: Moment, deadline: Instant) {
        let serial_number = self.segment.as_ref().map_or(0, |segment| segment.serial_number);
        self.close(serial_number, deadline.saturating_duration_since(Instant::now()), (true, None));
        self.upkeep.stop();
        if let Some(storing) = self.storing.take() {
            let _ = timeout_at(deadline, storing).await;
        }
        self.noted = None;
        self.store(moment);
        for (serial_number, closing) in std::mem::take(&mut self.closing) {
            // What panicked has nothing to wait for. Logs of earlier segments may go on after the deadline; until then, the set
            // is theirs.
            let closed = timeout_at(deadline, closing.logs).await;
            let last = self.segment.clone().filter(|segment| segment.serial_number == serial_number);
            if let (Ok(Ok(logs)), Some(segment)) = (closed, last)
                && self.logs.manager.is_enabled == Some(true)
            {
                let job = self.job(serial_number, Some(segment), moment);
                let _ = timeout_at(deadline, work::report(job, logs)).await;
            }
        }
        // What was not written until now is lost, which is said.
        let now = Instant::now();
        self.collectors.iter_mut().for_each(|one| one.tidy(&self.name, now));
        // A report that is being written gets done. What a data manager was stopped at, the next instance does again.
        while self.at_work > 0 && matches!(timeout_at(deadline, self.events.1.recv()).await, Ok(Some(_))) {
            self.at_work -= 1;
        }
        if let Some(storing) = self.storing.take() {
            let _ = timeout_at(deadline, storing).await;
        }
    }
}
