//! The last values of series on open pages.
//!
//! A history of a million series would cost more than the series. So values are kept only of series that are on a
//! page that somebody asks for, from one request to the next: the page's script asks every few seconds, and who
//! has none gets a longer line with every reload. What is not asked for makes room.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use series::model::{DisplayRule, Point, Sample, Shown, ShownUnit, Value, cooked, needs_earlier};

/// Points of one line.
pub(crate) const POINTS_MAX: u32 = 60;
/// Maximum series with history; they take some 6 MB.
pub(crate) const TRACKS_MAX: usize = 4_096;
/// Two samples further apart say nothing about now: after so many intervals without a look everything begins again.
const INTERVALS_MISSED_MAX: u32 = 8;

/// The histories of what is watched.
#[derive(Default)]
pub(crate) struct Watched {
    hasher: RandomState,
    tracks: Mutex<HashMap<u64, Track>>,
}

struct Track {
    collected: Instant,
    sample: Sample,
    shown: Option<Shown>,
    /// Whether there was a sample before this one.
    has_earlier: bool,
    points: VecDeque<(Instant, f64)>,
    looked: Instant,
}

/// When values were collected, and how often they are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    pub(crate) collected: Instant,
    /// The same in seconds since 1970.
    pub(crate) unix_s: f64,
    pub(crate) interval: Duration,
}

impl Moment {
    /// The time window of a chart, which ends now.
    pub(crate) fn window(&self) -> Duration {
        self.interval * POINTS_MAX
    }
}

/// What is known of a series besides its value.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Seen {
    /// What a person is shown, where there is something to show.
    pub(crate) shown: Option<Shown>,
    /// Whether there is nothing because there was only one collection yet.
    pub(crate) needs_second: bool,
    /// How long before the last collection, and what was shown; the newest is the last.
    pub(crate) points: Vec<(Duration, f64)>,
}

/// A series as it was collected.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Collected<'a> {
    pub(crate) point: Point<'a>,
    /// The value of its base, where its rule has one.
    pub(crate) base: Option<Value>,
    pub(crate) rule: DisplayRule,
    pub(crate) moment: Moment,
}

impl Watched {
    /// Enters the value that a series has now.
    pub(crate) fn see(&self, target: &str, series: &Collected<'_>) -> Seen {
        let key = self.hasher.hash_one((target, series.point.prefix));
        let now = Instant::now();
        let mut tracks = self.tracks.lock();
        if tracks.len() >= TRACKS_MAX && !tracks.contains_key(&key) {
            make_room(&mut tracks);
        }
        let track = tracks.entry(key).or_insert_with(|| Track::new(series, now));
        track.enter(series);
        track.looked = now;
        track.seen(series.rule)
    }
}

/// Drops the half that was not requested for the longest time.
fn make_room(tracks: &mut HashMap<u64, Track>) {
    let mut looks: Vec<Instant> = tracks.values().map(|track| track.looked).collect();
    let middle = looks.len() / 2;
    let (_, &mut oldest, _) = looks.select_nth_unstable(middle);
    tracks.retain(|_, track| track.looked > oldest);
}

/// The sample of a series, `at` a moment that is counted from the sample before.
fn sample(series: &Collected<'_>, at: Duration) -> Sample {
    let Point { value, start_time_unix_nanos, .. } = series.point;
    Sample { value, base: series.base, at, unix_s: series.moment.unix_s, start_time_unix_nanos }
}

impl Track {
    fn new(series: &Collected<'_>, now: Instant) -> Self {
        let sample = sample(series, Duration::ZERO);
        let mut track = Self {
            collected: series.moment.collected,
            sample,
            shown: None,
            has_earlier: false,
            points: VecDeque::new(),
            looked: now,
        };
        track.show(cooked(None, &sample, series.rule), &series.moment);
        track
    }

    fn enter(&mut self, series: &Collected<'_>) {
        let moment = &series.moment;
        let passed = moment.collected.saturating_duration_since(self.collected);
        if passed.is_zero() {
            return;
        }
        if passed > moment.interval * INTERVALS_MISSED_MAX {
            *self = Self::new(series, self.looked);
            return;
        }
        let earlier = Sample { at: Duration::ZERO, ..self.sample };
        self.sample = sample(series, passed);
        (self.collected, self.has_earlier) = (moment.collected, true);
        // An average of Windows is 0 then, the mean of a histogram is not.
        let is_without_observations = series.point.histogram.is_some() && earlier.base == self.sample.base;
        let shown = cooked(Some(&earlier), &self.sample, series.rule);
        self.show(shown.filter(|_| !is_without_observations), moment);
    }

    fn show(&mut self, shown: Option<Shown>, moment: &Moment) {
        self.shown = shown;
        let is_old = |at: Instant| moment.collected.saturating_duration_since(at) > moment.window();
        while self.points.front().is_some_and(|&(at, _)| is_old(at))
            || self.points.len() >= POINTS_MAX as usize
        {
            self.points.pop_front();
        }
        if let Some(shown) = shown {
            self.points.push_back((moment.collected, shown.value));
        }
    }

    fn seen(&self, rule: DisplayRule) -> Seen {
        let age = |at| self.collected.saturating_duration_since(at);
        Seen {
            shown: self.shown,
            needs_second: !self.has_earlier && needs_earlier(rule),
            points: self.points.iter().map(|&(at, value)| (age(at), value)).collect(),
        }
    }
}

/// What the numbers of a rule are in.
pub(crate) fn unit_of(rule: DisplayRule) -> ShownUnit {
    use DisplayRule as R;
    match rule {
        R::None | R::Value | R::Base | R::Delta | R::Average | R::Elapsed => ShownUnit::Family,
        R::Rate => ShownUnit::FamilyPerSecond,
        R::QueueLength => ShownUnit::None,
        _ => ShownUnit::Percent,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn see(watched: &Watched, begin: Instant, second: u64, rule: DisplayRule, value: Value) -> Seen {
        let point = Point { prefix: "a{b=\"1\"} ", value, histogram: None, start_time_unix_nanos: None };
        let collected = begin + Duration::from_secs(second);
        let moment = Moment { collected, unix_s: 1_700_000_000.0, interval: Duration::from_secs(10) };
        watched.see("web1", &Collected { point, base: None, rule, moment })
    }

    fn values(seen: &Seen) -> Vec<f64> {
        seen.points.iter().map(|&(_, value)| value).collect()
    }

    #[test]
    fn a_counter_needs_a_second_collection_and_the_same_one_again_is_no_new_point() {
        let (watched, begin) = (Watched::default(), Instant::now());
        let look = |second, value| see(&watched, begin, second, DisplayRule::Rate, Value::U64(value));
        assert_eq!(look(0, u64::MAX - 100), Seen { needs_second: true, ..Seen::default() });
        let rate = |value| Some(Shown { value, unit: ShownUnit::FamilyPerSecond });
        for _ in 0..2 {
            let seen = look(10, u64::MAX - 70);
            assert_eq!((seen.shown, values(&seen)), (rate(3.0), vec![3.0]));
        }
        // It began again: there is no rate, and no point below zero; that is no lack of a collection.
        let seen = look(20, 5);
        assert_eq!((seen.shown, seen.needs_second, values(&seen)), (None, false, vec![3.0]));
        assert_eq!(look(30, 25).points, [(Duration::from_secs(20), 3.0), (Duration::ZERO, 2.0)]);
    }

    #[test]
    fn after_a_long_time_without_a_look_everything_begins_anew() {
        let (watched, begin) = (Watched::default(), Instant::now());
        let look = |second, value| see(&watched, begin, second, DisplayRule::Value, Value::F64(value));
        assert_eq!(values(&look(0, 1.0)), [1.0]);
        assert_eq!(values(&look(10, f64::NAN)), [1.0]);
        assert_eq!(values(&look(20, 2.0)), [1.0, 2.0]);
        assert_eq!(values(&look(200, 3.0)), [3.0]);
        let rate = |second, value| see(&watched, begin, second, DisplayRule::Rate, Value::F64(value));
        assert_eq!(rate(210, 13.0).shown.map(|shown| shown.value), Some(1.0));
        assert!(rate(2_000, 99.0).needs_second, "the mean of half an hour is not what is now");
    }

    #[test]
    fn a_line_has_so_many_points_and_none_is_older_than_its_chart() {
        let (watched, begin) = (Watched::default(), Instant::now());
        let look = |second, value| see(&watched, begin, second, DisplayRule::Value, Value::F64(value));
        for second in 0..1_000 {
            assert!(look(second, 4.0).points.len() <= POINTS_MAX as usize);
        }
        for second in (1_000..2_000).step_by(70) {
            let seen = look(second, 4.0);
            assert!(seen.points.iter().all(|&(age, _)| age <= Duration::from_secs(600)), "{seen:?}");
        }
    }

    #[test]
    fn what_nobody_looks_at_makes_room() {
        let (watched, now) = (Watched::default(), Instant::now());
        let moment = Moment { collected: now, unix_s: 0.0, interval: Duration::from_secs(10) };
        for number in 0..3 * TRACKS_MAX {
            let prefix = format!("a{{b=\"{number}\"}} ");
            let point = Point {
                prefix: &prefix,
                value: Value::F64(1.0),
                histogram: None,
                start_time_unix_nanos: None,
            };
            watched.see("web1", &Collected { point, base: None, rule: DisplayRule::Value, moment });
        }
        let kept = watched.tracks.lock().len();
        assert!((TRACKS_MAX / 4..=TRACKS_MAX).contains(&kept), "{kept}");
    }

    #[test]
    fn the_scale_of_a_chart_is_in_the_unit_of_its_values() {
        let sample = |at, value| Sample {
            base: Some(Value::F64(value)),
            at: Duration::from_secs(at),
            ..Sample::of(Value::F64(value))
        };
        for rule in DisplayRule::ALL {
            let shown = cooked(Some(&sample(0, 1.0)), &sample(10, 3.0), rule).expect("all is there");
            assert_eq!(shown.unit, unit_of(rule), "{rule:?}");
        }
    }
}
