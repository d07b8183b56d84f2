//! Only the instances with the largest values of one counter.
//!
//! Of a counter that goes up what counts is how much it went up since the last reply, in the first reply all of it;
//! of others it is their value. So that two that are nearly alike do not take turns, one that is in counts a tenth
//! more than it has.

use counter_types::{Kind, Width, properties};
use counters::pcq::types::CounterId;
use counters::pcq::wire::RawValue;

use super::{CountersetPoller, SeriesIds, SeriesSink, Visibility};
use crate::reading::{InstanceReading, Reading};
use crate::{Counterset, Pace, TopN};

/// By what instances are ranked.
#[derive(Debug)]
pub(super) struct Top {
    counter: CounterId,
    n: usize,
    /// For one that goes up.
    width: Option<Width>,
    /// Where it is in a reply.
    pub(super) place: Option<usize>,
    /// Value, number and place of each candidate; used again.
    ranking: Vec<(f64, u32, usize)>,
}

impl Top {
    /// Nothing where the counterset has no such counter; that is reported elsewhere.
    pub(super) fn new(counterset: &Counterset, settings: &TopN) -> Option<Self> {
        let counter = counterset
            .counters
            .iter()
            .find(|counter| counter_types::same_name(&counter.name, &settings.counter))?
            .info;
        let family = counter_types::plan(&[counter], |_| None).into_iter().next();
        let goes_up = family.is_some_and(|family| family.exposition.kind == Kind::Counter);
        let width = properties(counter.counter_type).map_or(Width::Bits64, counter_types::Properties::width);
        let n = usize::try_from(settings.n).unwrap_or(usize::MAX);
        let width = goes_up.then_some(width);
        Some(Self { counter: counter.counter_id, n, width, place: None, ranking: Vec::new() })
    }

    pub(super) const fn counter(&self) -> CounterId {
        self.counter
    }
}

impl<I: SeriesIds> CountersetPoller<I> {
    /// Ranks the instances of a reply: those that fall out end their series, those that come in begin theirs.
    pub(super) async fn rank<S: SeriesSink<I>>(
        &mut self,
        block: &Reading<'_>,
        output: &mut S,
        pace: &mut Pace,
    ) {
        if self.top.is_none() {
            return;
        }
        if let Some(top) = &mut self.top {
            top.ranking.clear();
        }
        for (position, seen) in block.instances().enumerate() {
            self.rank_one(position, &seen);
            pace.step(1).await;
        }
        self.show_top(output);
    }

    fn rank_one(&mut self, position: usize, seen: &InstanceReading<'_>) {
        let Some(index) = self.find(position, seen) else { return };
        let (Some(top), Some(instance)) = (&mut self.top, self.instances.get_mut(index)) else { return };
        let bonus = match instance.visibility {
            Visibility::Shown => BONUS,
            Visibility::BelowTop => 1.0,
            Visibility::Total | Visibility::Unwanted | Visibility::Duplicate => return,
        };
        let raw = top.place.and_then(|place| seen.values.clone().nth(place)).and_then(RawValue::to_u64);
        let raw = raw.unwrap_or(0);
        let value = top.width.map_or(raw, |width| instance.rank.update(raw, width).delta);
        #[expect(clippy::cast_precision_loss, reason = "a ranking needs no more digits")]
        top.ranking.push((value as f64 * bonus, instance.id.0, index));
    }

    /// Nothing waits in here: what is hidden and what is shown change together.
    fn show_top<S: SeriesSink<I>>(&mut self, output: &mut S) {
        let Some(mut top) = self.top.take() else { return };
        top.ranking.sort_unstable_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
        top.ranking.dedup_by_key(|&mut (.., index)| index);
        // Those that leave make room first.
        let mut hidden = Vec::new();
        for &(.., index) in top.ranking.iter().skip(top.n) {
            self.hide(index, &mut hidden);
        }
        output.retire(&hidden);
        let is_hidden = |index: &usize| {
            self.instances.get(*index).is_some_and(|one| one.visibility == Visibility::BelowTop)
        };
        let ranked = top.ranking.iter().take(top.n).map(|&(.., index)| index);
        let shown: Vec<usize> = ranked.filter(is_hidden).collect();
        self.show(&shown, output);
        self.top = Some(top);
    }

    fn hide(&mut self, index: usize, hidden: &mut Vec<I::Series>) {
        let Some(instance) = self.instances.get_mut(index) else { return };
        if instance.visibility == Visibility::Shown {
            hidden.extend(instance.series());
            instance.visibility = Visibility::BelowTop;
            instance.cells = Box::default();
        }
    }
}

/// What the value of one that is in counts for.
const BONUS: f64 = 1.1;
