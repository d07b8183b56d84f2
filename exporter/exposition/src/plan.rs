//! The order of the blocks of many snapshots on one page.

use std::collections::HashMap;
use std::sync::Arc;

use series::model::{Escaping, Family, Snapshot};

/// One block of one snapshot. The order of the fields is the order on the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Step {
    /// The family's place among all names.
    pub(super) family: u32,
    pub(super) snapshot: u32,
    pub(super) block: u32,
}

/// All blocks that have series: by the family's name, then in the order of the snapshots.
///
/// Two families of one name but of different kinds, or that only differ until names are escaped, cannot stand on
/// one page; the catalog lets no such pair live. If there are snapshots of different catalogs, the first family is
/// kept and the other is dropped.
pub(super) fn plan(snapshots: &[Arc<Snapshot>], escaping: Escaping) -> Vec<Step> {
    let mut places: HashMap<*const Family, u32> = HashMap::new();
    let mut families: Vec<&Family> = Vec::new();
    let mut steps = Vec::new();
    for (snapshot, index) in snapshots.iter().zip(0..) {
        for (block, at) in snapshot.layout().blocks().iter().zip(0..) {
            if !block.chunks().is_empty() {
                let family = *places.entry(Arc::as_ptr(block.family())).or_insert_with(|| {
                    families.push(block.family());
                    u32::try_from(families.len() - 1).unwrap_or(u32::MAX)
                });
                steps.push(Step { family, snapshot: index, block: at });
            }
        }
    }
    let ranks = ranks(&families, escaping);
    steps.retain_mut(|step| match ranks[step.family as usize] {
        Some(rank) => {
            step.family = rank;
            true
        }
        None => false,
    });
    steps.sort_unstable();
    steps
}

/// The rank of each family by name; `None` for one that would make the page invalid.
fn ranks(families: &[&Family], escaping: Escaping) -> Vec<Option<u32>> {
    let shown: Vec<_> = families.iter().map(|family| escaping.metric_name(&family.name)).collect();
    let mut order: Vec<usize> = (0..families.len()).collect();
    order.sort_by(|&left, &right| shown[left].cmp(&shown[right]));
    let mut ranks = vec![None; families.len()];
    for (group, rank) in order.chunk_by(|&left, &right| shown[left] == shown[right]).zip(0..) {
        let first = families[group[0]];
        let same = |family: &Family| family.kind == first.kind && family.name == first.name;
        for &index in group.iter().filter(|&&index| same(families[index])) {
            ranks[index] = Some(rank);
        }
    }
    ranks
}
