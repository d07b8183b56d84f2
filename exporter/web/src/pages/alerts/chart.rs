//! The value of an alert against its threshold, as SVG without scripts or styles of its own.

use std::time::Duration;

use plugin_abi::Comparison;

use super::series::Limit;
use crate::pages::html::Html;

const WIDTH: f64 = 150.0;
const HEIGHT: f64 = 36.0;
/// Space at the edges, so that lines are not cut off.
const MARGIN: f64 = 2.0;
/// Space beyond the highest and lowest of what is drawn, as a share of their distance.
const SPACE: f64 = 0.15;

/// A line through `points`, each with its age, the newest last; the threshold; and the side on which it fires.
///
/// The axis shows the threshold and all values. It begins at zero unless that makes all differences small.
pub(super) fn against(
    html: &mut Html,
    points: &[(Duration, f64)],
    window: Duration,
    limit: Limit,
    label: &str,
) {
    let values = || points.iter().map(|&(_, value)| value).filter(|value| value.is_finite());
    if values().next().is_none() {
        return;
    }
    let axis = Axis::of(values().chain([limit.threshold]));
    html.ours("<svg class=\"chart against\" role=\"img\" width=\"150\" height=\"36\" viewBox=\"0 0 150 36\"");
    html.attr("aria-label", label).ours("><title>").text(label).ours("</title>");
    let line = axis.y(limit.threshold);
    let fires = match limit.side {
        Some(Comparison::Above) => Some((0.0, line)),
        Some(Comparison::Below) => Some((line, HEIGHT - line)),
        None => None,
    };
    if let Some((top, height)) = fires {
        html.ours("<rect class=\"fires\" x=\"0\" width=\"150\"").attr("y", format_args!("{top:.1}"));
        html.attr("height", format_args!("{height:.1}")).ours("/>");
    }
    html.ours("<line class=\"threshold\" x1=\"0\" x2=\"150\"").attr("y1", format_args!("{line:.1}"));
    html.attr("y2", format_args!("{line:.1}")).ours("/><polyline points=\"");
    let mut end = (0.0, 0.0);
    for &(age, value) in points.iter().filter(|(_, value)| value.is_finite()) {
        let past = (age.as_secs_f64() / window.as_secs_f64()).clamp(0.0, 1.0);
        let past = if past.is_nan() { 0.0 } else { past };
        end = (WIDTH - MARGIN - past * (WIDTH - 2.0 * MARGIN), axis.y(value));
        html.text(format_args!("{:.1},{:.1} ", end.0, end.1));
    }
    html.ours("\"/><circle r=\"2.5\"").attr("cx", format_args!("{:.1}", end.0));
    html.attr("cy", format_args!("{:.1}", end.1)).ours("/></svg>");
}

struct Axis {
    floor: f64,
    ceiling: f64,
}

impl Axis {
    fn of(values: impl Iterator<Item = f64>) -> Self {
        let (lowest, highest) = values
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        let space = (highest - lowest) * SPACE;
        let is_far_from_zero = lowest > highest / 2.0;
        let floor = if lowest >= 0.0 && !is_far_from_zero { 0.0 } else { lowest - space };
        Self { floor, ceiling: highest + space }
    }

    fn y(&self, value: f64) -> f64 {
        let share = ((value - self.floor) / (self.ceiling - self.floor)).clamp(0.0, 1.0);
        // All are the same: the line is in the middle.
        let share = if share.is_nan() { 0.5 } else { share };
        HEIGHT - MARGIN - share * (HEIGHT - 2.0 * MARGIN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ABOVE: Option<Comparison> = Some(Comparison::Above);

    /// The chart of values that were collected ten seconds after one another, with this threshold.
    fn drawn(values: &[f64], threshold: f64, side: Option<Comparison>) -> String {
        let mut html = Html::new("");
        let ages = (0..u64::MAX).map(|number| Duration::from_secs(10 * number));
        let mut points: Vec<_> = ages.zip(values.iter().copied().rev()).collect();
        points.reverse();
        against(&mut html, &points, Duration::from_secs(100), Limit { threshold, side }, "now <1>");
        html.finish()
    }

    #[test]
    fn the_side_on_which_it_fires_is_tinted_as_far_as_the_threshold() {
        // The axis goes from 0 to 115: 100 and 15 % of the distance from 0 to 100.
        let html = drawn(&[0.0, 100.0], 50.0, ABOVE);
        assert!(
            html.contains("<rect class=\"fires\" x=\"0\" width=\"150\" y=\"0.0\" height=\"20.1\"/>"),
            "{html}"
        );
        assert!(
            html.contains("y1=\"20.1\" y2=\"20.1\"/><polyline points=\"133.4,34.0 148.0,6.2 \"/>"),
            "{html}"
        );
        let html = drawn(&[0.0, 100.0], 50.0, Some(Comparison::Below));
        assert!(html.contains("y=\"20.1\" height=\"15.9\"/>"), "{html}");
        let html = drawn(&[0.0, 100.0], 50.0, None);
        assert!(!html.contains("<rect") && html.contains("<line class=\"threshold\""), "{html}");
        assert!(html.contains("aria-label=\"now &lt;1&gt;\""), "{html}");
    }

    #[test]
    fn a_small_distance_from_the_threshold_far_from_zero_is_seen() {
        let html = drawn(&[1_010.0], 1_000.0, ABOVE);
        assert!(html.contains("cy=\"5.7\"") && html.contains("y1=\"30.3\""), "{html}");
    }

    #[test]
    fn what_cannot_be_drawn_is_left_out() {
        assert_eq!(drawn(&[], 1.0, ABOVE), "");
        assert_eq!(drawn(&[f64::NAN, f64::INFINITY], 1.0, ABOVE), "");
        assert!(drawn(&[f64::NAN, 5.0], 1.0, ABOVE).matches(',').count() == 1);
        // The distance is no number: all is in the middle.
        assert!(drawn(&[f64::MIN, f64::MAX], 0.0, ABOVE).contains("y1=\"18.0\""));
        assert!(drawn(&[7.0], 7.0, ABOVE).contains("cy=\"18.0\""));
    }
}
