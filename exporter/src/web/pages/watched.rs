//! The last values of what somebody looks at.
//!
//! A history of a million series would cost more than the series. So values are kept only of series that are on a
//! page that somebody asks for, from one request to the next: the page's script asks every few seconds, and who
//! has none gets a longer line with every reload. What is not asked for makes room.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::amount::as_f64;
use crate::model::{Kind, Point, Value};

/// Points of one line.
const POINTS_MAX: usize = 60;
/// Series that are watched at a time; with so many the memory of all of this is some 2 MB.
const TRACKS_MAX: usize = 4_096;
/// A line with a hole begins anew: after so many intervals without a look.
const INTERVALS_MISSED_MAX: u32 = 8;

/// The histories of what is watched.
#[derive(Default)]
pub(super) struct Watched {
    hasher: RandomState,
    tracks: Mutex<HashMap<u64, Track>>,
}

struct Track {
    last: (Instant, Value),
    rate: Option<f64>,
    points: VecDeque<f32>,
    looked: Instant,
}

/// When values were collected, and how often they are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    pub(super) collected: Instant,
    pub(super) interval: Duration,
}

/// What is known of a series besides its value.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Seen {
    /// Of a counter: what it gained in a second between the last two collections that were looked at.
    pub(super) rate: Option<f64>,
    /// Values of a gauge, rates of a counter; the newest is the last.
    pub(super) points: Vec<f32>,
}

impl Watched {
    /// Enters the value that a series has now.
    pub(super) fn see(&self, target: &str, kind: Kind, point: &Point<'_>, moment: Moment) -> Seen {
        if kind == Kind::Info {
            return Seen::default();
        }
        let key = self.hasher.hash_one((target, point.prefix));
        let now = Instant::now();
        let mut tracks = self.tracks.lock().unwrap_or_else(PoisonError::into_inner);
        if tracks.len() >= TRACKS_MAX && !tracks.contains_key(&key) {
            make_room(&mut tracks);
        }
        let track = tracks.entry(key).or_insert_with(|| Track::new(kind, point.value, moment, now));
        track.enter(kind, point.value, moment);
        track.looked = now;
        Seen { rate: track.rate, points: track.points.iter().copied().collect() }
    }
}

/// Forgets the half that nobody looked at for the longest time.
fn make_room(tracks: &mut HashMap<u64, Track>) {
    let mut looks: Vec<Instant> = tracks.values().map(|track| track.looked).collect();
    let middle = looks.len() / 2;
    let (_, &mut oldest, _) = looks.select_nth_unstable(middle);
    tracks.retain(|_, track| track.looked > oldest);
}

impl Track {
    fn new(kind: Kind, value: Value, moment: Moment, now: Instant) -> Self {
        let mut track = Self {
            last: (moment.collected, value),
            rate: None,
            points: VecDeque::with_capacity(POINTS_MAX),
            looked: now,
        };
        if kind != Kind::Counter {
            track.push(as_f64(value));
        }
        track
    }

    fn enter(&mut self, kind: Kind, value: Value, moment: Moment) {
        let (then, before) = self.last;
        let passed = moment.collected.saturating_duration_since(then);
        if passed.is_zero() {
            return;
        }
        if passed > moment.interval * INTERVALS_MISSED_MAX {
            self.points.clear();
        }
        self.last = (moment.collected, value);
        if kind == Kind::Counter {
            self.rate = gained(before, value).map(|gained| gained / passed.as_secs_f64());
            if let Some(rate) = self.rate {
                self.push(rate);
            }
        } else {
            self.push(as_f64(value));
        }
    }

    fn push(&mut self, point: f64) {
        if !point.is_finite() {
            return;
        }
        if self.points.len() == POINTS_MAX {
            self.points.pop_front();
        }
        #[expect(clippy::cast_possible_truncation, reason = "a chart has few pixels")]
        self.points.push_back(point as f32);
    }
}

/// What a counter gained, exactly; nothing where it began anew.
fn gained(before: Value, now: Value) -> Option<f64> {
    let gained = match (before, now) {
        (Value::U64(before), Value::U64(now)) => {
            now.checked_sub(before).map(|gained| as_f64(Value::U64(gained)))
        }
        (before, now) => Some(as_f64(now) - as_f64(before)),
    };
    gained.filter(|gained| *gained >= 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn see(watched: &Watched, begin: Instant, second: u64, kind: Kind, value: Value) -> Seen {
        let point = Point { prefix: "a{b=\"1\"} ", value, start_time_unix_nanos: None };
        let collected = begin + Duration::from_secs(second);
        watched.see("web1", kind, &point, Moment { collected, interval: Duration::from_secs(10) })
    }

    #[test]
    fn the_rate_of_a_counter_is_exact_beyond_what_a_double_holds() {
        let (watched, begin) = (Watched::default(), Instant::now());
        let look = |second, value| see(&watched, begin, second, Kind::Counter, Value::U64(value));
        assert_eq!(look(0, u64::MAX - 100), Seen::default());
        assert_eq!(look(10, u64::MAX - 70), Seen { rate: Some(3.0), points: vec![3.0] });
        // The same collection again is no new point.
        assert_eq!(look(10, u64::MAX - 70), Seen { rate: Some(3.0), points: vec![3.0] });
        // It began anew: there is no rate, and no point below zero.
        assert_eq!(look(20, 5), Seen { rate: None, points: vec![3.0] });
        assert_eq!(look(30, 25), Seen { rate: Some(2.0), points: vec![3.0, 2.0] });
    }

    #[test]
    fn a_line_with_a_hole_begins_anew() {
        let (watched, begin) = (Watched::default(), Instant::now());
        let look = |second, value| see(&watched, begin, second, Kind::Gauge, Value::F64(value)).points;
        assert_eq!(look(0, 1.0), [1.0]);
        assert_eq!(look(10, f64::NAN), [1.0]);
        assert_eq!(look(20, 2.0), [1.0, 2.0]);
        assert_eq!(look(200, 3.0), [3.0]);
        for second in 0..1_000 {
            look(210 + second, 4.0);
        }
        assert_eq!(look(2_000, 5.0).len(), 1);
    }

    #[test]
    fn what_nobody_looks_at_makes_room() {
        let (watched, now) = (Watched::default(), Instant::now());
        let moment = Moment { collected: now, interval: Duration::from_secs(10) };
        for number in 0..3 * TRACKS_MAX {
            let prefix = format!("a{{b=\"{number}\"}} ");
            let point = Point { prefix: &prefix, value: Value::F64(1.0), start_time_unix_nanos: None };
            watched.see("web1", Kind::Gauge, &point, moment);
        }
        let kept = watched.tracks.lock().expect("nobody panicked").len();
        assert!((TRACKS_MAX / 4..=TRACKS_MAX).contains(&kept), "{kept}");
    }
}
