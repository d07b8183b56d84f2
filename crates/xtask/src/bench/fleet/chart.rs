//! The course of both runs as a picture: durations, memory, hosts that are up.

use std::fmt::Write;

use super::watch::{Measured, Point};

/// A panel: its title, its unit, and what it shows of a look.
struct Panel {
    title: &'static str,
    curves: &'static [Curve],
}

struct Curve {
    name: &'static str,
    colour: &'static str,
    value: fn(&Point, f64) -> f64,
}

const PANELS: [Panel; 3] = [
    Panel {
        title: "duration of the healthy hosts' collections, ms",
        curves: &[
            Curve { name: "p50", colour: "#2a7f62", value: |point, _| point.p50_s * 1e3 },
            Curve { name: "p99", colour: "#b3413a", value: |point, _| point.p99_s * 1e3 },
        ],
    },
    Panel {
        title: "resident memory of the exporter by target, kB",
        curves: &[Curve {
            name: "resident",
            colour: "#3a5fb3",
            value: |point, targets| point.resident_bytes / targets / 1e3,
        }],
    },
    Panel {
        title: "hosts that are up",
        curves: &[Curve { name: "up", colour: "#6b4a9c", value: |point, _| point.up }],
    },
];

const WIDTH: f64 = 900.0;
const PANEL_HEIGHT: f64 = 190.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 26.0;

/// Draws an SVG. Solid lines are the run without faults, dashed ones that with them.
pub(super) fn draw(clean: &Measured, faulty: Option<&Measured>, targets: u32) -> String {
    let runs: Vec<(&[Point], &str)> = std::iter::once((&clean.points[..], ""))
        .chain(faulty.map(|faulty| (&faulty.points[..], " stroke-dasharray=\"6 4\"")))
        .collect();
    let end_s =
        runs.iter().flat_map(|(points, _)| points.iter()).fold(1.0, |end: f64, point| end.max(point.at_s));
    #[expect(clippy::cast_precision_loss, reason = "three")]
    let height = PANEL_HEIGHT * PANELS.len() as f64 + 30.0;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" \
         font-family=\"sans-serif\" font-size=\"12\" fill=\"#222\">\n\
         <rect width=\"{WIDTH}\" height=\"{height}\" fill=\"#fff\"/>\n"
    );
    let mut top = 0.0;
    for panel in &PANELS {
        draw_panel(&mut svg, panel, &runs, &Frame { top, end_s, targets: f64::from(targets) });
        top += PANEL_HEIGHT;
    }
    let legend =
        "seconds since the exporter's start; solid: healthy hosts only; dashed: 1 % black-holed, 5 % slow";
    let _ = writeln!(svg, "<text x=\"{LEFT}\" y=\"{}\">{targets} hosts; {legend}</text>\n</svg>", top + 16.0);
    svg
}

struct Frame {
    top: f64,
    end_s: f64,
    targets: f64,
}

fn draw_panel(svg: &mut String, panel: &Panel, runs: &[(&[Point], &str)], frame: &Frame) {
    let values = |curve: &Curve, points: &[Point]| -> Vec<(f64, f64)> {
        let values = points.iter().map(|point| (point.at_s, (curve.value)(point, frame.targets)));
        values.filter(|(_, value)| value.is_finite()).collect()
    };
    let all =
        panel.curves.iter().flat_map(|curve| runs.iter().flat_map(move |(points, _)| values(curve, points)));
    let most = nice(all.fold(0.0, |most: f64, (_, value)| most.max(value)));
    let (bottom, span) = (frame.top + PANEL_HEIGHT - BOTTOM, PANEL_HEIGHT - TOP - BOTTOM);
    let x = |at_s: f64| LEFT + at_s / frame.end_s * (WIDTH - LEFT - RIGHT);
    let y = |value: f64| bottom - value / most * span;
    let _ = writeln!(
        svg,
        "<text x=\"{LEFT}\" y=\"{}\" font-weight=\"bold\">{}</text>",
        frame.top + 18.0,
        panel.title
    );
    for quarter in 0..=4 {
        let (value, at_s) = (most * f64::from(quarter) / 4.0, frame.end_s * f64::from(quarter) / 4.0);
        let _ = writeln!(
            svg,
            "<path d=\"M{LEFT} {0:.1}H{1}\" stroke=\"#ddd\"/><text x=\"{2}\" y=\"{3:.1}\" text-anchor=\"end\">{value}</text>\
             <text x=\"{4:.1}\" y=\"{5:.1}\" text-anchor=\"middle\" fill=\"#777\">{at_s:.0}</text>",
            y(value),
            WIDTH - RIGHT,
            LEFT - 6.0,
            y(value) + 4.0,
            x(at_s),
            bottom + 16.0,
        );
    }
    let mut label_x = WIDTH - RIGHT;
    for curve in panel.curves.iter().rev() {
        for (points, dashes) in runs {
            let mut path = String::new();
            for (index, (at_s, value)) in values(curve, points).into_iter().enumerate() {
                let _ = write!(path, "{}{:.1} {:.1}", if index == 0 { 'M' } else { 'L' }, x(at_s), y(value));
            }
            let _ = writeln!(
                svg,
                "<path d=\"{path}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.6\"{dashes}/>",
                curve.colour
            );
        }
        let (colour, name) = (curve.colour, curve.name);
        let _ = writeln!(
            svg,
            "<text x=\"{label_x}\" y=\"{}\" text-anchor=\"end\" fill=\"{colour}\">{name}</text>",
            frame.top + 18.0
        );
        label_x -= 70.0;
    }
}

/// The next number at or above `most` that is 1, 2, 4 or 8 times a power of ten.
fn nice(most: f64) -> f64 {
    let power = 10_f64.powf(most.max(f64::MIN_POSITIVE).log10().floor());
    let steps = [1.0, 2.0, 4.0, 8.0, 10.0].into_iter();
    steps.map(|step| step * power).find(|step| *step >= most).unwrap_or(1.0).max(1e-3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_ends_at_a_number_that_divides_by_four() {
        assert_eq!([0.7, 1.0, 3.0, 99.0, 4000.0].map(nice), [0.8, 1.0, 4.0, 100.0, 4000.0]);
        assert!(nice(0.0) > 0.0);
    }

    #[test]
    fn looks_without_a_collection_leave_no_trace_in_the_curves() {
        let point = |at_s, p99_s| Point { at_s, p50_s: f64::NAN, p99_s, resident_bytes: 1e6, up: 3.0 };
        let clean = Measured { points: vec![point(1.0, f64::NAN), point(2.0, 0.01)], ..Measured::default() };
        let svg = draw(&clean, Some(&clean), 10);
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
        assert!(!svg.contains("NaN") && svg.contains("stroke-dasharray"), "{svg}");
    }
}
