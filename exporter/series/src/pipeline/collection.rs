//! How a collection becomes a snapshot.

use std::collections::HashSet;
use std::sync::Arc;

use super::limits::{Refusal, Refusals};
use super::registry::Registry;
use crate::model::{Kind, Layout, Size, Snapshot, Target, Values};

/// The values that come in, and room for those that go out.
///
/// Batches always go into the same values, which so stay in the processor's cache. When a collection ends they
/// are copied for the readers, into what the snapshot before the last one held: two sets of values take turns
/// there. A reader who still holds the older one keeps it; then room is made again, and the old set goes with its
/// last reader.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    values: Values,
    /// A collection is in progress, and `values` belong to it.
    begun: bool,
    spare: Option<Arc<Values>>,
}

impl Buffers {
    /// The values of the collection in progress.
    pub(super) fn building(&mut self, registry: &Registry) -> &mut Values {
        if !self.begun {
            self.values.begin(registry.roster());
            self.begun = true;
        }
        &mut self.values
    }

    /// The same, if any value came already.
    pub(super) fn begun(&mut self) -> Option<&mut Values> {
        self.begun.then_some(&mut self.values)
    }

    /// Nothing of this collection may be believed, but for the start times: whoever gave one does not give it again.
    pub(super) fn discard(&mut self, registry: &mut Registry) {
        if std::mem::take(&mut self.begun) {
            registry.keep_start_times(&self.values);
        }
    }

    /// A snapshot was replaced: its values may be reused when no reader holds them.
    pub(super) fn recycle(&mut self, snapshot: &Snapshot) {
        if !snapshot.values().is_empty() {
            self.spare = Some(Arc::clone(snapshot.values()));
        }
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.values.heap_bytes() + self.spare.as_ref().map_or(0, |spare| spare.heap_bytes())
    }

    /// Ends the collection. `inherit` names the families whose last values still hold.
    pub(super) fn commit(
        &mut self,
        registry: &mut Registry,
        target: &Arc<Target>,
        last: &Snapshot,
        inherit: Inherit<'_>,
        refusals: &Refusals,
    ) -> Snapshot {
        let building = self.building(registry);
        registry.keep_start_times(building);
        registry.multiply(building);
        if let Inherit::AllBut(covered) = inherit {
            inherit_values(building, registry, last, covered);
        }
        registry.settle();
        let layout = Arc::clone(registry.layout());
        let size = settle_counts(building, &layout, refusals);
        self.begun = false;
        let mut values = self.spare.take().and_then(|spare| Arc::try_unwrap(spare).ok()).unwrap_or_default();
        values.copy_from(&self.values);
        Snapshot::new(Arc::clone(target), layout, Arc::new(values), size)
    }
}

/// Which families keep values that the collection did not bring.
#[derive(Clone, Copy, Debug)]
pub(super) enum Inherit<'a> {
    Nothing,
    AllBut(&'a [u32]),
}

fn inherit_values(values: &mut Values, registry: &Registry, last: &Snapshot, covered: &[u32]) {
    let covered: HashSet<u32> = covered.iter().copied().collect();
    let reused: HashSet<u32> = registry.reused().iter().copied().collect();
    for (index, block) in registry.layout().blocks().iter().enumerate() {
        if !covered.contains(&registry.family_of_block(index)) {
            for id in block.ids().filter(|id| !reused.contains(id)) {
                values.inherit(id, last.values());
            }
        }
    }
}

/// The snapshot with the series of these blocks of its layout alone.
pub(super) fn only(last: &Snapshot, blocks: &[u32]) -> Snapshot {
    let blocks: HashSet<usize> = blocks.iter().map(|&block| block as usize).collect();
    if blocks.is_empty() {
        return Snapshot::empty(Arc::clone(last.target()));
    }
    let mut values = Values::default();
    values.copy_from(last.values());
    let mut size = Size::default();
    for (index, block) in last.layout().blocks().iter().enumerate() {
        let ids = block.ids().filter(|&id| last.values().has_value(id));
        if blocks.contains(&index) {
            size.add(block.family(), ids.count());
        } else {
            ids.for_each(|id| values.clear(id));
        }
    }
    Snapshot::new(Arc::clone(last.target()), Arc::clone(last.layout()), Arc::new(values), size)
}

/// Removes impossible values of counters, and counts the remaining ones.
fn settle_counts(values: &mut Values, layout: &Layout, refusals: &Refusals) -> Size {
    let (mut size, mut invalid) = (Size::default(), 0);
    for block in layout.blocks() {
        let family = block.family();
        let mut points = 0;
        for chunk in block.chunks() {
            let (kept, removed) = match family.kind {
                Kind::Counter => values.keep_counts(chunk.ids()),
                _ => (chunk.ids().iter().filter(|&&id| values.has_value(id)).count(), 0),
            };
            points += kept;
            invalid += removed;
        }
        size.add(family, points);
    }
    refusals.add(Refusal::InvalidCount, invalid);
    size
}
