//! One counterset of one host, from reply to reply: which value goes to which series.
//!
//! Names, labels and series are made when a counter or an instance is seen first; a reply that holds what the last
//! one held is then a walk over its bytes and a few pushes a value, without allocations.

mod aggregated;
mod instances;
pub(crate) mod labels;
mod top;
mod values;

use std::collections::{HashMap, HashSet};
use std::fmt::{Debug, Display};

use counter_types::aggregate::Share;
use counter_types::{Family, Kind, RawClocks, Value, Widen};
use counters::pcq::types::{CounterId, InstanceId, InstanceType};

pub use self::labels::InstanceLabels;

use self::aggregated::Aggregated;
use self::labels::{Labelling, Split};
use self::top::Top;
use super::reading::InstanceReading;
use super::text::{self, TextBytes};
use crate::{Aggregate, Counterset, Wanted};

/// A counterset that is being polled.
#[derive(Debug)]
pub struct CountersetPoller<I: SeriesIds> {
    columns: Vec<Column<I>>,
    labelling: Labelling,
    /// Not so where only what they come to is wanted.
    shows_instances: bool,
    aggregated: Option<Aggregated<I>>,
    top: Option<Top>,
    /// The counters of the last reply, in its order. The columns' places are for these.
    counters: Vec<CounterId>,
    /// Whether the last reply held counters that the registration lacks.
    has_unregistered_counters: bool,
    /// Whether these counters were compared with those of the registration.
    is_compared: bool,
    instances: Vec<Instance<I>>,
    by_key: HashMap<Box<[u8]>, usize>,
    /// Names of instances that are shown or may be, where labels have nothing else.
    taken_names: HashSet<Box<[u8]>>,
    /// Places in `instances`, in the order of the last reply.
    order: Vec<usize>,
    epoch: u64,
    /// The host's clocks in the last reply.
    clocks: RawClocks,
    /// When the host was started, in Unix nanoseconds: inferred from the first reply since then.
    boot: Option<i64>,
    /// When what this reply shows again began to count; 0 is "not known".
    anew_since: i64,
    /// Whether the values of the last reply were not all sent: its collection was dropped.
    is_interrupted: bool,
    /// Whether the last reply held instances that sum up no others.
    has_parts: bool,
    /// Instances that the limit leaves out, in the last reply.
    over_limit: u64,
    scratch: Scratch,
}

/// One family and where in a reply its values are.
#[derive(Debug)]
struct Column<I: SeriesIds> {
    family: counter_types::Family,
    id: Option<I::Family>,
    /// The same for instances that sum up others, where those are shown apart.
    total: Option<I::Family>,
    source: Option<usize>,
    object_time: Option<usize>,
    object_freq: Option<usize>,
}

/// One instance that is there.
#[derive(Debug)]
struct Instance<I: SeriesIds> {
    id: InstanceId,
    /// The number of what it is a part of.
    owner: InstanceId,
    /// The name as it is on the wire.
    name: Box<[u8]>,
    /// The reply that it was in last.
    seen: u64,
    /// The reply whose values its series have.
    emitted: u64,
    /// The reply that it was added up with last.
    added: u64,
    visibility: Visibility,
    /// Since when it counts.
    start: Option<Start>,
    /// What [`Top`] ranks it by.
    rank: Widen,
    /// By column; empty where it is not shown.
    cells: Box<[Cell<I>]>,
    /// By aggregated family; empty where it is in no aggregate.
    shares: Box<[Share]>,
}

/// Why an instance is shown or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Visibility {
    Shown,
    /// It is, apart from the others.
    Total,
    Unwanted,
    /// Another one has its name.
    Duplicate,
    /// Others have larger values.
    BelowTop,
}

impl<I: SeriesIds> Column<I> {
    const fn family_of(&self, visibility: Visibility) -> Option<I::Family> {
        match visibility {
            Visibility::Total => self.total,
            _ => self.id,
        }
    }
}

impl<I: SeriesIds> Instance<I> {
    fn series(&self) -> impl Iterator<Item = I::Series> {
        self.cells.iter().filter_map(|cell| cell.series)
    }
}

#[derive(Debug)]
struct Cell<I: SeriesIds> {
    series: Option<I::Series>,
    widen: Widen,
    /// For a family of texts: the text of which a series was offered last.
    text: Option<Box<[u8]>>,
}

impl<I: SeriesIds> Default for Cell<I> {
    fn default() -> Self {
        Self { series: None, widen: Widen::default(), text: None }
    }
}

/// Buffers that are used again.
#[derive(Debug, Default)]
struct Scratch {
    key: Vec<u8>,
    raw: Vec<Option<u64>>,
    order: Vec<usize>,
}

/// How many instances of a counterset are not shown although they are wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Others have their names.
    pub duplicate: u64,
    /// Others have larger values.
    pub top_n: u64,
    /// There are too many.
    pub limit: u64,
}

impl<I: SeriesIds> CountersetPoller<I> {
    /// Registers the families of the counters that are wanted.
    pub fn new<S: SeriesSink<I>>(counterset: &Counterset, wanted: &Wanted, output: &mut S) -> Self {
        let find = |id: CounterId| counterset.counters.iter().find(|counter| counter.info.counter_id == id);
        let name_of = |id: CounterId| find(id).map(|counter| counter.name.as_str());
        let registered: Vec<_> = counterset.counters.iter().map(|counter| counter.info).collect();
        let mut families = counter_types::plan_of(&counterset.name, &registered, name_of);
        let detail_of = |id| find(id).map_or_else(Default::default, |counter| counter.info.detail_level);
        families
            .retain(|family| wanted.selection.wants_counter(name_of(family.item), detail_of(family.item)));
        let aggregated =
            (wanted.aggregate != Aggregate::No).then(|| Aggregated::new(counterset, &families, output));
        let aggregated = aggregated.flatten();
        let shows_instances = aggregated.is_none() || wanted.aggregate != Aggregate::Only;
        let nobody = || vec![None; families.len()];
        let offered: Vec<PolledFamily> = families.iter().copied().map(PolledFamily::of).collect();
        let ids = if shows_instances {
            output.register_families(counterset, FamilyGroup::Instances, &offered)
        } else {
            nobody()
        };
        let totals = if shows_instances && wanted.selection.separates_totals() {
            output.register_families(counterset, FamilyGroup::Totals, &offered)
        } else {
            nobody()
        };
        let has_names = counterset.instance_type != InstanceType::SINGLE;
        let columns = families.into_iter().zip(ids).zip(totals).map(|((family, id), total)| Column {
            family,
            id,
            total,
            source: None,
            object_time: None,
            object_freq: None,
        });
        Self {
            columns: columns.collect(),
            labelling: Labelling {
                by_name: has_names,
                by_number: has_names && wanted.instance_id,
                split: Split::of(counterset),
            },
            shows_instances,
            aggregated,
            top: wanted.top_n.as_ref().and_then(|top| Top::new(counterset, top)),
            counters: Vec::new(),
            has_unregistered_counters: false,
            is_compared: false,
            instances: Vec::new(),
            by_key: HashMap::new(),
            taken_names: HashSet::new(),
            order: Vec::new(),
            epoch: 0,
            clocks: RawClocks::default(),
            boot: None,
            anew_since: 0,
            is_interrupted: false,
            has_parts: false,
            over_limit: 0,
            scratch: Scratch::default(),
        }
    }

    /// The families that the sink took.
    pub fn families(&self) -> impl Iterator<Item = I::Family> {
        let aggregated = self.aggregated.iter().flat_map(Aggregated::families);
        self.columns.iter().flat_map(|column| [column.id, column.total]).flatten().chain(aggregated)
    }

    /// Whether the last reply held counters that the registration lacks: its provider was exchanged.
    pub const fn has_unregistered_counters(&self) -> bool {
        self.has_unregistered_counters
    }

    /// Whether there is something to show, whatever the sink took of it.
    pub fn shows_any(&self) -> bool {
        let is_shown = |one: &Instance<I>| matches!(one.visibility, Visibility::Shown | Visibility::Total);
        self.aggregated.is_some() || self.instances.iter().any(is_shown)
    }

    /// Instances that are wanted, and not shown.
    pub fn left_out(&self) -> LeftOut {
        let mut left_out = LeftOut { limit: self.over_limit, ..LeftOut::default() };
        for instance in &self.instances {
            match instance.visibility {
                Visibility::Duplicate => left_out.duplicate += 1,
                Visibility::BelowTop => left_out.top_n += 1,
                Visibility::Shown | Visibility::Total | Visibility::Unwanted => {}
            }
        }
        left_out
    }

    /// Says which counters the registration has, so that others are noticed.
    pub fn compare(&mut self, counterset: &Counterset) {
        if !std::mem::replace(&mut self.is_compared, true) {
            let known: HashSet<CounterId> =
                counterset.counters.iter().map(|counter| counter.info.counter_id).collect();
            self.has_unregistered_counters = !self.counters.iter().all(|id| known.contains(id));
        }
    }

    /// Ends all series: the counterset has no instance now, or is not wanted any more.
    pub fn clear<S: SeriesSink<I>>(&mut self, output: &mut S) {
        self.epoch += 1;
        if let Some(aggregated) = &mut self.aggregated {
            aggregated.begin();
        }
        self.retire_absent(output);
    }

    /// Ends everything: the counterset is not watched any more.
    pub fn end<S: SeriesSink<I>>(&mut self, output: &mut S) {
        self.clear(output);
        if let Some(aggregated) = self.aggregated.take() {
            aggregated.end(output);
        }
    }
}

// Counters whose value is a text: series whose label it is.

impl<I: SeriesIds> CountersetPoller<I> {
    /// A text is a label, so a new text is a new series.
    fn emit_texts<S: SeriesSink<I>>(&mut self, index: usize, seen: &InstanceReading<'_>, output: &mut S) {
        let Some(instance) = self.instances.get_mut(index) else { return };
        let is_total = instance.visibility == Visibility::Total;
        for (column, cell) in self.columns.iter().zip(&mut instance.cells) {
            let family = if is_total { column.total } else { column.id };
            let (Some(family), Some(source)) = (family, column.source) else { continue };
            if column.family.exposition.kind != Kind::Info {
                continue;
            }
            let Some(value) = seen.values.clone().nth(source) else { continue };
            let bytes = TextBytes::of(&value);
            if cell.text.as_deref() != Some(bytes.as_slice()) {
                output.retire(cell.series.as_slice());
                let (name, number) = (seen.name.to_string(), seen.id.0.to_string());
                let owner = seen.owner.0.to_string();
                let text = text::decode(bytes.as_slice());
                let mut labels = self.labelling.labels(&name, &number, &owner);
                labels.push((TEXT_LABEL, &text));
                let offered = [NewSeries { family, labels: &labels, start: None }];
                cell.series = output.register_series(&offered).into_iter().next().flatten();
                cell.text = Some(bytes.as_slice().into());
            }
            if let Some(series) = cell.series {
                output.push(series, Value::U64(1), 0);
            }
        }
    }
}

const TEXT_LABEL: &str = "text";

// Where series and values go.

/// What a caller calls families, series, and why it may not know all countersets of a host.
pub trait SeriesIds: Debug + 'static {
    /// A family that the sink took.
    type Family: Copy + Debug + Send + Sync;
    /// A series that the sink took.
    type Series: Copy + Debug + Send + Sync;
    /// Why a host may have countersets that it does not list, in a sentence.
    type Unlisted: Clone + Debug + Display + Send + Sync;
}

/// Where values go: families and series are registered once, and values are pushed by the ids that they got.
pub trait SeriesSink<I: SeriesIds> {
    /// Takes families of a counterset, in their order; nothing for those that it does not want. Of those no series are
    /// registered.
    fn register_families(
        &mut self,
        counterset: &Counterset,
        group: FamilyGroup,
        families: &[PolledFamily],
    ) -> Vec<Option<I::Family>>;

    /// Takes series, in their order; nothing for those that it does not want. To these no values are pushed.
    fn register_series(&mut self, series: &[NewSeries<'_, I>]) -> Vec<Option<I::Series>>;

    /// A value of a series, which counts again since `start_unix_nanos` unless that is 0.
    fn push(&mut self, series: I::Series, value: Value, start_unix_nanos: i64);

    /// These series are gone.
    fn retire(&mut self, series: &[I::Series]);
}

/// Which series of a counterset a family holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FamilyGroup {
    /// One for each instance.
    Instances,
    /// Those of the instances that sum up others, which are shown apart.
    Totals,
    /// One that the instances are added up to.
    Aggregate,
}

impl FamilyGroup {
    /// What is written after the counterset's name.
    #[must_use]
    pub const fn suffix(self) -> &'static str {
        match self {
            Self::Instances => "",
            Self::Totals => " Total",
            Self::Aggregate => " Aggregate",
        }
    }
}

/// A family with the type of its values.
#[derive(Clone, Copy, Debug)]
pub struct PolledFamily {
    pub family: Family,
    /// Whether all values are [`Value::U64`]; else all are [`Value::F64`].
    pub is_integer: bool,
}

impl PolledFamily {
    /// A family whose values go out as they are.
    pub(crate) fn of(family: Family) -> Self {
        Self { family, is_integer: family.exposition.is_integer() }
    }
}

/// A series to register.
#[derive(Debug)]
pub struct NewSeries<'a, I: SeriesIds> {
    pub family: I::Family,
    /// Names and values of its labels.
    pub labels: &'a [(&'a str, &'a str)],
    /// When it began to count, where that is known.
    pub start: Option<Start>,
}

/// When a series began to count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Start {
    /// In nanoseconds since 1970.
    pub unix_nanos: i64,
    /// Whether it follows from when the host was started.
    pub is_inferred: bool,
}
