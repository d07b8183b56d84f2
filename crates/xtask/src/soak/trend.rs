//! Whether a series of figures is flat.

/// A figure at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct At {
    pub(super) seconds: f64,
    pub(super) figure: f64,
}

/// A line through figures: what they were at the first of them, and at the last.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Trend {
    pub(super) first: f64,
    pub(super) last: f64,
    pub(super) median: f64,
}

impl Trend {
    /// The line of Theil and Sen: its slope is the median of the slopes of all pairs, so that neither a peak nor where
    /// the figures happen to begin or end bends it. Nothing for fewer than two times.
    pub(super) fn of(series: &[At]) -> Option<Self> {
        let series = thinned(series);
        let mut slopes = Vec::with_capacity(series.len() * series.len() / 2);
        for (index, a) in series.iter().enumerate() {
            let later = series[index + 1..].iter().filter(|b| b.seconds > a.seconds);
            slopes.extend(later.map(|b| (b.figure - a.figure) / (b.seconds - a.seconds)));
        }
        let slope = median(slopes)?;
        let begin = median(series.iter().map(|at| at.figure - slope * at.seconds).collect())?;
        let line = |at: &At| begin + slope * at.seconds;
        Some(Self {
            first: line(series.first()?),
            last: line(series.last()?),
            median: median(series.iter().map(|at| at.figure).collect())?,
        })
    }

    pub(super) fn rise(self) -> f64 {
        self.last - self.first
    }
}

/// Few enough to compare all pairs.
fn thinned(series: &[At]) -> Vec<At> {
    let step = series.len().div_ceil(POINTS_MAX).max(1);
    series.iter().copied().step_by(step).collect()
}

fn median(mut figures: Vec<f64>) -> Option<f64> {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied()
}

const POINTS_MAX: usize = 1_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn series(figure: impl Fn(f64) -> f64) -> Vec<At> {
        (0..900)
            .map(|index| f64::from(index) * 2.0)
            .map(|seconds| At { seconds, figure: figure(seconds) })
            .collect()
    }

    #[test]
    fn a_slow_leak_rises_below_waves_and_peaks() {
        let waves = |seconds: f64| {
            40.0 + 3.0 * (seconds / 7.0).sin() + if seconds % 100.0 < 3.0 { 30.0 } else { 0.0 }
        };
        let flat = Trend::of(&series(waves)).unwrap();
        assert!(flat.rise().abs() < 0.2, "{flat:?}");
        let leaking = Trend::of(&series(|seconds| waves(seconds) + seconds / 600.0)).unwrap();
        assert!((leaking.rise() - 3.0).abs() < 0.3, "{leaking:?}");
    }

    #[test]
    fn one_time_is_no_trend() {
        assert_eq!(Trend::of(&[At { seconds: 1.0, figure: 2.0 }]), None);
    }
}
