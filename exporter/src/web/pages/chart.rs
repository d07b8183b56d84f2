//! Small pictures of figures, as SVG without scripts or styles of their own.

use super::html::Html;

const WIDTH: f32 = 120.0;
const HEIGHT: f32 = 28.0;
/// Lines are not cut in half at the edges.
const MARGIN: f32 = 2.0;

/// A young line has the room of so many points.
const POINTS_MIN: usize = 20;

/// A line through `points`, the newest on the right; `show` makes figures for those who cannot see it.
pub(super) fn line(html: &mut Html, points: &[f32], show: impl Fn(f32) -> String) {
    let (Some(&last), true) = (points.last(), points.len() > 1) else {
        html.ours("<span class=\"when\">soon</span>");
        return;
    };
    let low = points.iter().copied().fold(f32::INFINITY, f32::min);
    let high = points.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let label = if low < high {
        format!("between {} and {}, now {}", show(low), show(high), show(last))
    } else {
        format!("steady at {}", show(last))
    };
    html.ours("<svg class=\"chart\" role=\"img\" width=\"120\" height=\"28\" viewBox=\"0 0 120 28\"");
    html.attr("aria-label", &label).ours("><title>").text(&label).ours("</title><polyline points=\"");
    #[expect(clippy::cast_precision_loss, reason = "there are few points")]
    let step = (WIDTH - 2.0 * MARGIN) / (points.len().max(POINTS_MIN) - 1) as f32;
    let mut end = (0.0, 0.0);
    for (index, &point) in points.iter().rev().enumerate() {
        // What never changes is a line in the middle.
        let share = if low < high { (point - low) / (high - low) } else { 0.5 };
        #[expect(clippy::cast_precision_loss, reason = "there are few points")]
        let x = WIDTH - MARGIN - step * index as f32;
        let y = HEIGHT - MARGIN - share * (HEIGHT - 2.0 * MARGIN);
        if index == 0 {
            end = (x, y);
        }
        html.text(format_args!("{x:.1},{y:.1} "));
    }
    html.ours("\"/><circle r=\"2\"")
        .attr("cx", end.0)
        .attr("cy", format_args!("{:.1}", end.1))
        .ours("/></svg>");
}

/// A bar from `begin` to `begin + length`, both shares of the whole.
pub(super) fn bar(html: &mut Html, begin: f64, length: f64) {
    html.ours(
        "<svg class=\"stage\" aria-hidden=\"true\" viewBox=\"0 0 1000 8\" preserveAspectRatio=\"none\">",
    );
    html.ours("<rect class=\"track\" width=\"1000\" height=\"8\"/><rect class=\"bar\" height=\"8\"");
    // What took any time is seen.
    let width = (length * 1000.0).max(4.0);
    let x = (begin * 1000.0).min(1000.0 - width);
    html.attr("x", format_args!("{x:.0}")).attr("width", format_args!("{width:.0}")).ours("/></svg>");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_in_words_what_it_shows() {
        let mut html = Html::new("");
        line(&mut html, &[1.0, 3.0, 2.0], |value| format!("{value} <B>"));
        let html = html.finish();
        assert!(
            html.contains("aria-label=\"between 1 &lt;B&gt; and 3 &lt;B&gt;, now 2 &lt;B&gt;\""),
            "{html}"
        );
        assert!(html.contains("points=\"118.0,14.0 111.9,2.0 105.8,26.0 \""), "{html}");
    }

    #[test]
    fn one_point_is_no_line() {
        let mut html = Html::new("");
        line(&mut html, &[1.0], |value| value.to_string());
        assert!(!html.finish().contains("<svg"));
    }
}
