//! Small charts, as SVG without scripts or styles of their own.

use std::time::Duration;

use super::html::Html;

const WIDTH: f64 = 120.0;
const HEIGHT: f64 = 28.0;
/// Space at the edges, so that lines are not cut off.
const MARGIN: f64 = 2.0;

/// The axes of a chart.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    /// The age of the left edge.
    pub(super) window: Duration,
    /// The highest possible value, if there is one: 100 for percent.
    pub(super) whole: Option<f64>,
}

/// A line through `points`, each with its age, the newest last and on the right; `show` formats values.
///
/// The axis begins at zero, so that a small change looks small. The highest and lowest values stand beside it.
pub(super) fn line(html: &mut Html, points: &[(Duration, f64)], scale: Scale, show: impl Fn(f64) -> String) {
    let values = || points.iter().map(|&(_, value)| value);
    let (Some(last), true) = (values().next_back(), points.len() > 1) else { return };
    let (lowest, highest) =
        (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
    let label = if lowest < highest {
        format!("between {} and {}, now {}", show(lowest), show(highest), show(last))
    } else {
        format!("steady at {}", show(last))
    };
    let (floor, ceiling) = (lowest.min(0.0), highest.max(scale.whole.unwrap_or(0.0)));
    html.ours("<div class=\"plot\"><svg class=\"chart\" role=\"img\" width=\"120\" height=\"28\" viewBox=\"0 0 120 28\"");
    html.attr("aria-label", &label).ours("><title>").text(&label).ours("</title><polyline points=\"");
    let mut end = (0.0, 0.0);
    for &(age, value) in points {
        let past = (age.as_secs_f64() / scale.window.as_secs_f64()).clamp(0.0, 1.0);
        let share = ((value - floor) / (ceiling - floor)).clamp(0.0, 1.0);
        let share = if share.is_nan() { 0.0 } else { share };
        end = (
            WIDTH - MARGIN - past * (WIDTH - 2.0 * MARGIN),
            HEIGHT - MARGIN - share * (HEIGHT - 2.0 * MARGIN),
        );
        html.text(format_args!("{:.1},{:.1} ", end.0, end.1));
    }
    html.ours("\"/><circle r=\"2\"")
        .attr("cx", format_args!("{:.1}", end.0))
        .attr("cy", format_args!("{:.1}", end.1))
        .ours("/></svg><span class=\"scale\" aria-hidden=\"true\"><span>")
        .text(show(ceiling))
        .ours("</span><span>")
        .text(show(floor))
        .ours("</span></span></div>");
}

/// A bar from `begin` to `begin + length`, both shares of the whole.
pub(super) fn bar(html: &mut Html, begin: f64, length: f64) {
    html.ours(
        "<svg class=\"stage\" aria-hidden=\"true\" viewBox=\"0 0 1000 8\" preserveAspectRatio=\"none\">",
    );
    html.ours("<rect class=\"track\" width=\"1000\" height=\"8\"/><rect class=\"bar\" height=\"8\"");
    // A stage that took any time stays visible.
    let width = (length * 1000.0).max(4.0);
    let x = (begin * 1000.0).min(1000.0 - width);
    html.attr("x", format_args!("{x:.0}")).attr("width", format_args!("{width:.0}")).ours("/></svg>");
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The chart of values that were collected ten seconds after one another.
    fn drawn(values: &[f64], whole: Option<f64>) -> String {
        let mut html = Html::new("");
        let ages = (0..u64::MAX).map(|number| Duration::from_secs(10 * number));
        let mut points: Vec<_> = ages.zip(values.iter().copied().rev()).collect();
        points.reverse();
        let scale = Scale { window: Duration::from_secs(100), whole };
        line(&mut html, &points, scale, |value| format!("{value} <B>"));
        html.finish()
    }

    #[test]
    fn a_line_says_in_words_what_it_shows() {
        let html = drawn(&[1.0, 3.0, 2.0], None);
        assert!(
            html.contains("aria-label=\"between 1 &lt;B&gt; and 3 &lt;B&gt;, now 2 &lt;B&gt;\""),
            "{html}"
        );
        assert!(html.contains("points=\"94.8,18.0 106.4,2.0 118.0,10.0 \""), "{html}");
    }

    #[test]
    fn a_small_change_looks_small_and_the_scale_begins_at_zero() {
        let html = drawn(&[100.0, 101.0], None);
        assert!(html.contains("points=\"106.4,2.2 118.0,2.0 \""), "{html}");
        assert!(html.contains("<span>101 &lt;B&gt;</span><span>0 &lt;B&gt;</span>"), "{html}");
        // The axis of percent reaches from 0 to 100, and further for higher values.
        let html = drawn(&[25.0, 50.0], Some(100.0));
        assert!(html.contains("points=\"106.4,20.0 118.0,14.0 \""), "{html}");
        assert!(html.contains("<span>100 &lt;B&gt;</span><span>0 &lt;B&gt;</span>"), "{html}");
        assert!(drawn(&[25.0, 400.0], Some(100.0)).contains("<span>400 &lt;B&gt;</span>"));
        // The axis extends below zero for negative values.
        assert!(drawn(&[-2.0, 2.0], None).contains("points=\"106.4,26.0 118.0,2.0 \""));
    }

    #[test]
    fn what_is_always_zero_is_a_line_on_the_ground() {
        let html = drawn(&[0.0, 0.0], None);
        assert!(html.contains("points=\"106.4,26.0 118.0,26.0 \"") && html.contains("steady at 0"), "{html}");
    }

    #[test]
    fn one_point_is_no_line() {
        assert_eq!(drawn(&[1.0], None), "");
    }
}
