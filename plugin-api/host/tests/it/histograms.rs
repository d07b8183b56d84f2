use plugin_abi::raw::{DROPPED_INVALID, DROPPED_UNSUPPORTED, FULL, INVALID, OK};
use plugin_abi::{DisplayRule, Kind, ValueKind};
use plugin_host::testing::{Recorded, RecordedSeries};
use plugin_host::{Library, Violation};

use crate::support::{World, collect, instance, said};

fn all_said(recorded: &Recorded, whats: &[&str], expected: u32) {
    for what in whats {
        assert_eq!(said(recorded, what), i64::from(expected), "{what}");
    }
}

#[test]
fn histograms_arrive_with_their_bounds_and_what_cannot_be_one_is_refused() {
    let world = World::new();
    let library = world.load("zoo/histograms.c");
    let (instance, sink) = instance(&library, "a");
    let recorded = collect(&world, &instance, &sink);
    all_said(&recorded, &["Waits", "Drifts", "Height"], 0);
    let impossible = ["No bounds", "Falling", "Twice", "Endless", "None", "Many", "Level", "Single"];
    all_said(&recorded, &impossible, DROPPED_INVALID);
    all_said(&recorded, &["Later", "Older"], DROPPED_UNSUPPORTED);
    let families: Vec<_> =
        recorded.families.iter().map(|family| (&*family.item, family.kind, family.value)).collect();
    let expected = [
        ("Waits", Kind::Histogram, ValueKind::Histogram),
        ("Drifts", Kind::Histogram, ValueKind::Histogram),
        ("Height", Kind::Gauge, ValueKind::F64),
    ];
    assert_eq!(families, expected);
    let bounds: Vec<_> = recorded.families.iter().map(|family| &*family.bounds).collect();
    assert_eq!(bounds, [&[0.1, 1.0, 10.0][..], &[-1.0, 0.0, 1.0], &[]]);
    assert_eq!(recorded.families[0].display, DisplayRule::None, "a rule for values is none for buckets");
}

#[test]
fn rows_of_histograms_that_cannot_be_are_left_out_and_their_neighbours_stay() {
    let world = World::new();
    let library = world.load("zoo/histograms.c");
    let (instance, sink) = instance(&library, "a");
    let recorded = collect(&world, &instance, &sink);
    all_said(&recorded, &["batch", "below zero", "number"], OK.unsigned_abs());
    assert_eq!(said(&recorded, "taken"), 6, "what is left out was taken, too");
    let refused =
        ["of a gauge", "of nothing", "a bucket short", "around the corner", "size", "no struct", "far"];
    all_said(&recorded, &refused, INVALID.unsigned_abs());
    let [a, b, drift] = &*recorded.series else { panic!("there are three") };
    let is = |series: &RecordedSeries| (series.histogram.clone(), series.start.map(|start| start.unix_nanos));
    assert_eq!(is(a), (Some((vec![1, 2, 3, 4], 50.5)), Some(5)));
    assert_eq!(is(b), (Some((vec![0, 7, 0, 0], 3.5)), Some(77)), "it began again");
    assert_eq!(is(drift), (Some((vec![1, 2, 3, 4], -4.0)), None), "observations may be negative");
    assert!(recorded.series.iter().all(|series| series.value.is_none()));
    let expected = [
        (Violation::NullPointer, 1),
        (Violation::BadSize, 1),
        (Violation::TooLong, 1),
        (Violation::LengthMismatch, 2),
        // Families, then rows.
        (Violation::BadHistogram, 7 + 3),
        (Violation::IdOutOfRange, 2),
        // A row of another family, a batch of a gauge's, a number.
        (Violation::WrongValueKind, 3),
    ];
    assert_eq!(counted(&library), expected);
}

#[test]
fn a_batch_of_histograms_is_as_long_as_its_counts() {
    let world = World::limited(|limits| limits.batch_rows_max = 9);
    let library = world.load("zoo/histograms.c");
    let (instance, sink) = instance(&library, "a");
    let recorded = collect(&world, &instance, &sink);
    // Of rows with four counts two have no more than nine of them.
    assert_eq!((said(&recorded, "batch"), said(&recorded, "taken")), (i64::from(FULL), 2));
    assert_eq!(recorded.series[1].histogram, Some((vec![0, 7, 0, 0], 3.5)));
}

fn counted(library: &Library) -> Vec<(Violation, u64)> {
    library.violations().iter().filter(|(_, count)| *count > 0).collect()
}
