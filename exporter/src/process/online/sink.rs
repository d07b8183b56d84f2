use std::sync::mpsc;

use parking_lot::{Mutex, MutexGuard};
use plugin_abi::{
    Batch, BatchOutcome, CollectionId, Completion, DataSink, Event, Failure, FamilyDef, HistogramBatch,
    Level, NoRoom, Notices, Outcome, SeriesDef, Verdict,
};

use targets::TargetHealth;

/// What one collection came to.
#[derive(Debug)]
pub(super) struct Collected {
    /// Series that were offered and not ended.
    pub(super) series: u64,
    /// How the module fares.
    pub(super) state: TargetHealth,
    /// Why it failed, if the plugin reports it.
    pub(super) failure: Option<Failure>,
    /// What the plugin logged meanwhile, of each level.
    pub(super) warnings: Messages,
    pub(super) notes: Messages,
}

/// The first log messages of one level.
#[derive(Debug, Default)]
pub(super) struct Messages {
    pub(super) first: Vec<String>,
    /// How many more there were.
    pub(super) more: u64,
}

impl Messages {
    /// Messages of one collection and level that are kept.
    const MAX: usize = 20;

    fn add(&mut self, message: &str, fields: &[(&str, &str)]) {
        if self.first.len() >= Self::MAX {
            self.more += 1;
            return;
        }
        // The line names the module of the configuration; this is one of the plugin's code.
        let fields = fields.iter().filter(|(name, _)| *name != "module");
        let fields: String = fields.map(|(name, value)| format!(" {name}=`{value}`")).collect();
        self.first.push(format!("{message}{fields}"));
    }
}

impl Collected {
    /// A collection that never began.
    pub(super) fn failed(failure: Failure) -> Self {
        Self {
            series: 0,
            state: TargetHealth::Down,
            failure: Some(failure),
            warnings: Messages::default(),
            notes: Messages::default(),
        }
    }
}

/// Counts the series of one collection, and reports its end.
pub(super) struct OnceSink {
    target: usize,
    ends: mpsc::Sender<(usize, Collected)>,
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    families: u32,
    ids: u32,
    retired: u64,
    warnings: Messages,
    notes: Messages,
}

impl OnceSink {
    pub(super) fn new(target: usize, ends: mpsc::Sender<(usize, Collected)>) -> Self {
        Self { target, ends, seen: Mutex::default() }
    }

    /// A panic elsewhere leaves numbers that are right.
    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock()
    }
}

fn accept(next: &mut u32) -> Verdict {
    let id = *next;
    *next += 1;
    Verdict::Accepted(id)
}

impl DataSink for OnceSink {
    fn register_families(&self, families: &[FamilyDef<'_>], verdicts: &mut Vec<Verdict>) {
        let mut seen = self.seen();
        verdicts.extend(families.iter().map(|_| accept(&mut seen.families)));
    }

    fn register_series(&self, series: &[SeriesDef<'_>], verdicts: &mut Vec<Verdict>) {
        let mut seen = self.seen();
        verdicts.extend(series.iter().map(|_| accept(&mut seen.ids)));
    }

    fn retire(&self, ids: &[u32]) {
        self.seen().retired += ids.len() as u64;
    }

    fn batch(&self, batch: &Batch<'_>) -> BatchOutcome {
        BatchOutcome { stored: batch.ids.len() as u64, ..BatchOutcome::default() }
    }

    fn histograms(&self, batch: &HistogramBatch<'_>) -> BatchOutcome {
        BatchOutcome { stored: batch.ids.len() as u64, ..BatchOutcome::default() }
    }

    fn complete(&self, _collection: CollectionId, completion: Completion<'_>) {
        let mut seen = self.seen();
        let series = u64::from(seen.ids).saturating_sub(seen.retired);
        let (state, failure) = match completion.outcome {
            Outcome::Full if series == 0 => (TargetHealth::Partial, None),
            Outcome::Full => (TargetHealth::Up, None),
            Outcome::Partial { failure, .. } => (TargetHealth::Partial, failure),
            Outcome::Failed(failure) => (TargetHealth::Down, Some(failure)),
        };
        let (warnings, notes) = (std::mem::take(&mut seen.warnings), std::mem::take(&mut seen.notes));
        drop(seen);
        // The caller may have stopped waiting.
        let _ = self.ends.send((self.target, Collected { series, state, failure, warnings, notes }));
    }

    fn reset(&self) {
        *self.seen() = Seen::default();
    }
}

impl Notices for OnceSink {
    fn log_enabled(&self, level: Level) -> bool {
        level <= Level::Info
    }

    fn log(&self, level: Level, message: &str, fields: &[(&str, &str)]) {
        let mut seen = self.seen();
        match level {
            Level::Error | Level::Warn => seen.warnings.add(message, fields),
            Level::Info => seen.notes.add(message, fields),
            Level::Debug | Level::Trace => {}
        }
    }

    fn event(&self, _event: &Event<'_>) -> Result<(), NoRoom> {
        Ok(())
    }
}
