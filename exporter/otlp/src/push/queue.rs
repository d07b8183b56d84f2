use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use crate::encode::{Resource, Scope};
use series::model::Snapshot;

/// Where rounds come from.
pub trait Supply: Send + Sync + 'static {
    /// What every plugin instance knows now, those of one target side by side. `now_unix_nanos` is the time for
    /// those whose last collection has none.
    fn items(&self, now_unix_nanos: u64) -> Vec<Item>;
}

/// What one plugin instance knows of one target.
#[derive(Clone, Debug)]
pub struct Item {
    /// The instance: the same in each round, and never another's.
    pub key: u64,
    pub resource: Arc<Resource>,
    pub scope: Arc<Scope>,
    pub snapshot: Arc<Snapshot>,
    /// When the collection ended.
    pub time_unix_nanos: u64,
    /// The instance is no longer there; set by the queue.
    pub ends: bool,
}

/// Rounds that wait for a collector, the oldest first.
#[derive(Debug)]
pub struct Queue {
    rounds: VecDeque<Round>,
    points: u64,
    points_max: u64,
    /// What each instance knew in the round that came last.
    last: HashMap<u64, Item>,
}

#[derive(Debug)]
struct Round {
    items: Vec<Item>,
    since_unix_nanos: u64,
}

/// Where so many rounds wait the oldest goes, however few points they have.
const ROUNDS_MAX: usize = 10_000;

impl Queue {
    /// A queue for about so many points.
    #[must_use]
    pub fn new(points_max: u64) -> Self {
        Self { rounds: VecDeque::new(), points: 0, points_max, last: HashMap::new() }
    }

    /// Puts in what is new since the last time. An instance that is no longer among `items` is new, too: it has no
    /// series any more. Answers how many points had to go to make room.
    pub fn push(&mut self, items: Vec<Item>, now_unix_nanos: u64) -> u64 {
        let keys: HashSet<u64> = items.iter().map(|item| item.key).collect();
        let ended = self.last.extract_if(|key, _| !keys.contains(key)).map(|(_, item)| item);
        let mut round: Vec<Item> = ended.filter_map(|item| emptied(item, now_unix_nanos)).collect();
        for item in items {
            let last = self.last.get(&item.key);
            let is_new = match last {
                Some(last) => last.snapshot.id() != item.snapshot.id(),
                None => item.snapshot.points() > 0,
            };
            if is_new {
                self.last.insert(item.key, item.clone());
                round.push(item);
            }
        }
        if !round.is_empty() {
            self.points += points(&round);
            self.rounds.push_back(Round { items: round, since_unix_nanos: now_unix_nanos });
        }
        self.make_room()
    }

    pub fn pop(&mut self) -> Option<Vec<Item>> {
        self.pop_since().map(|(items, _)| items)
    }

    /// The oldest round, and since when it waits in Unix nanoseconds.
    pub fn pop_since(&mut self) -> Option<(Vec<Item>, u64)> {
        let Round { items, since_unix_nanos } = self.rounds.pop_front()?;
        self.points -= points(&items);
        Some((items, since_unix_nanos))
    }

    /// How many rounds wait.
    #[must_use]
    pub fn rounds(&self) -> usize {
        self.rounds.len()
    }

    /// How many points wait.
    #[must_use]
    pub fn points(&self) -> u64 {
        self.points
    }

    /// Drops the oldest rounds. What a later round does not replace goes into the next one.
    fn make_room(&mut self) -> u64 {
        let mut dropped = 0;
        while self.rounds.len() > 1 && (self.points > self.points_max || self.rounds.len() > ROUNDS_MAX) {
            let Some(oldest) = self.pop() else { break };
            let Some(next) = self.rounds.front_mut() else { break };
            let replaced: HashSet<u64> = next.items.iter().map(|item| item.key).collect();
            let (gone, mut kept): (Vec<Item>, Vec<Item>) =
                oldest.into_iter().partition(|item| replaced.contains(&item.key));
            dropped += points(&gone);
            self.points += points(&kept);
            // Parts of one target stand side by side as well as they can; readers do not rely on it.
            kept.append(&mut next.items);
            next.items = kept;
        }
        dropped
    }
}

/// The instance without its series, unless it had none.
fn emptied(item: Item, now_unix_nanos: u64) -> Option<Item> {
    if item.snapshot.points() == 0 {
        return None;
    }
    let snapshot = Arc::new(Snapshot::empty(Arc::clone(item.snapshot.target())));
    Some(Item { snapshot, time_unix_nanos: now_unix_nanos, ends: true, ..item })
}

fn points(items: &[Item]) -> u64 {
    items.iter().map(|item| item.snapshot.points() as u64).sum()
}
