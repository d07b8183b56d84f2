//! The host's sets that a module wants: read again and again, category by category.

mod reader;

use std::collections::HashSet;
use std::time::Duration;

use counter_types::NamePattern;
use host_session::Target;
use plugin_sdk::{Collection, Failure};
use plugin_session::{ObjectConnection, Pause, TransportSettings};
use tokio::time::Instant;

use self::reader::Reader;
use super::category::CategoryWord;
use super::host_set::HostSet;
use crate::model::{ALERTS_MAX, Set};

/// Sets that the settings want.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    /// Their names.
    pub(crate) names: Vec<NamePattern>,
    /// Their category.
    pub(crate) category: CategoryWord,
    /// How often they are read.
    pub(crate) refresh: Duration,
}

/// The sets of one host.
#[derive(Debug)]
pub(crate) struct LiveSets {
    target: Target,
    transport: TransportSettings,
    readers: Vec<Reader>,
    /// What the settings do not want any more.
    removed: Vec<ObjectConnection>,
}

impl LiveSets {
    pub(crate) fn new(target: Target, wanted: Vec<Wanted>, transport: TransportSettings) -> Self {
        let mut sets = Self { target, transport, readers: Vec::new(), removed: Vec::new() };
        sets.want(wanted);
        sets
    }

    /// Takes other settings. The sets that are known stay where they are still wanted.
    pub(crate) fn reconfigure(&mut self, wanted: Vec<Wanted>, transport: TransportSettings) {
        self.transport = transport;
        self.want(wanted);
    }

    fn want(&mut self, wanted: Vec<Wanted>) {
        let mut before = std::mem::take(&mut self.readers);
        for Wanted { names, category, refresh } in wanted {
            if let Some(reader) = self.readers.iter_mut().find(|reader| reader.category == category) {
                reader.names.extend(names);
                reader.refresh = reader.refresh.min(refresh);
                continue;
            }
            let known = before.iter().position(|reader| reader.category == category);
            let known = known.map(|index| before.swap_remove(index));
            let mut reader = known.unwrap_or_else(|| Reader::new(category, &self.target, &self.transport));
            (reader.names, reader.refresh) = (names, refresh);
            reader.connection.reconfigure(self.transport.clone());
            (reader.refreshed, reader.pause) = (None, Pause::default());
            self.readers.push(reader);
        }
        for Reader { names, sets, .. } in &mut self.readers {
            sets.retain(|set| names.iter().any(|pattern| pattern.matches(&set.set.name)));
        }
        self.removed.extend(before.into_iter().map(|reader| reader.connection));
    }

    /// Whether the settings want any.
    pub(crate) fn is_used(&self) -> bool {
        !self.readers.is_empty()
    }

    /// The sets.
    pub(crate) fn sets(&self) -> impl Iterator<Item = &HostSet> {
        self.readers.iter().flat_map(|reader| &reader.sets)
    }

    /// Why something is missing of them.
    pub(crate) fn failure(&self) -> Option<&Failure> {
        self.readers.iter().find_map(|reader| reader.failure.as_ref())
    }

    /// Reads what is due, by `deadline` at the latest. Returns whether a set became another one.
    pub(crate) async fn step(&mut self, collection: &Collection, deadline: Instant) -> bool {
        for mut connection in self.removed.drain(..) {
            connection.release(deadline.min(Instant::now() + RELEASE_MAX)).await;
        }
        let mut has_changed = false;
        let mut left = u32::try_from(self.readers.len()).unwrap_or(u32::MAX);
        for reader in &mut self.readers {
            let now = Instant::now();
            let deadline = now + deadline.saturating_duration_since(now) / left.max(1);
            has_changed |= reader.step(collection, deadline).await;
            left -= 1;
        }
        has_changed
    }

    /// Whether the host is there, though its counters are not: it was read just now, or answers a call. Nobody logs on for
    /// that.
    pub(crate) async fn answers(&mut self, collection: &Collection, deadline: Instant) -> bool {
        for reader in &mut self.readers {
            if reader.has_answered || reader.ask(collection, deadline).await {
                return true;
            }
        }
        false
    }

    /// Lets those sets count whose names nobody else has, and as many alerts as there is room for.
    pub(crate) fn admit<'a>(&mut self, taken: impl Iterator<Item = &'a Set>) {
        let mut names: HashSet<String> = HashSet::new();
        let mut room = ALERTS_MAX;
        for set in taken {
            names.insert(set.name.clone());
            room = room.saturating_sub(set.alerts.len());
        }
        for set in self.readers.iter_mut().flat_map(|reader| &mut reader.sets) {
            let was_admitted = std::mem::replace(&mut set.is_admitted, names.insert(set.set.name.clone()));
            if set.is_admitted {
                set.cut(room);
                room -= set.set.alerts.len();
            } else if was_admitted {
                let set = &set.set.name;
                tracing::warn!(set, "A set of the host is left out: another set of the module has its name");
            }
        }
    }

    /// Gives the objects back to the host.
    pub(crate) async fn release(&mut self, deadline: Instant) {
        let kept = self.readers.iter_mut().map(|reader| &mut reader.connection);
        for connection in self.removed.iter_mut().chain(kept) {
            connection.release(deadline).await;
        }
    }
}

const RELEASE_MAX: Duration = Duration::from_secs(2);
