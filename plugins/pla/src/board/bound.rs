use counter_poll::paths::{Columns, CountersetFrame};
use pla_engine::{Judge, Slot};

/// Where the values of an alert are in the replies, found once for all replies with the same instances.
#[derive(Debug, Default)]
pub(super) struct Bound {
    /// Of the counterset, and of the judge.
    versions: Option<(u64, u64)>,
    /// Whether an instance found no room or had no number, so that it is looked for again.
    pub(super) lacks_some: bool,
    /// Whether an instance with a number found no room.
    pub(super) leaves_out_some: bool,
    /// Whether the host has an instance that is meant.
    pub(super) is_there: bool,
    pub(super) columns: Option<Columns>,
    /// The places of the instances in the replies, with what is known of them.
    pub(super) samples: Vec<(usize, Slot)>,
}

impl Bound {
    /// Whether it is still right.
    pub(super) fn holds(&self, frame: &CountersetFrame, judge: &Judge) -> bool {
        !self.lacks_some && self.versions == Some((frame.version(), judge.generation()))
    }

    /// Begins anew. It is not right before it [ends](Self::end): a collection may be cut off meanwhile.
    pub(super) fn begin(&mut self, columns: Option<Columns>) {
        self.samples.clear();
        (self.lacks_some, self.leaves_out_some, self.is_there) = (false, false, false);
        (self.versions, self.columns) = (None, columns);
    }

    /// All places were found for these versions of the counterset and of the judge.
    pub(super) const fn end(&mut self, versions: (u64, u64)) {
        self.versions = Some(versions);
    }
}
