use counter_log::data_manager::reports::{Figures, Statistics};
use counter_log::{Batch, Sample};

use crate::data_manager::reports::run::time;

fn batch(records: &[(i64, &[Option<f64>])]) -> Batch {
    let mut batch = Batch::new(2);
    for (second, values) in records {
        batch.push(time(*second), values.iter().map(|value| Sample { value: *value, raw: None }));
    }
    batch
}

fn gather(batch: &Batch) -> Statistics {
    let mut statistics = Statistics::new(2);
    batch.rows().for_each(|row| statistics.add(row));
    statistics
}

#[test]
fn missing_values_and_what_is_no_number_do_not_count() {
    let statistics = gather(&batch(&[
        (0, &[Some(1.0), None]),
        (1, &[None, Some(f64::NAN)]),
        (2, &[Some(-4.0), Some(f64::INFINITY)]),
        (3, &[Some(6.0), None]),
    ]));
    let figures = Figures { samples: 3, mean: 1.0, min: -4.0, max: 6.0, first: time(0), last: time(3) };
    assert_eq!(statistics.figures(0), Some(figures));
    assert_eq!((statistics.figures(1), statistics.figures(2)), (None, None));
    assert_eq!(statistics.records(), 4);
}

#[test]
fn merged_parts_are_the_whole_in_any_order() {
    let records: [(i64, &[Option<f64>]); 4] =
        [(0, &[Some(1.5)]), (1, &[Some(2.5), Some(8.0)]), (2, &[]), (3, &[Some(-1.0), Some(4.0)])];
    let whole = gather(&batch(&records));
    let (first, second) = (gather(&batch(&records[..2])), gather(&batch(&records[2..])));
    for (mut one, other) in [(first.clone(), &second), (second.clone(), &first)] {
        one.merge(other);
        assert_eq!(one, whole);
    }
}

#[test]
fn a_mean_lies_between_minimum_and_maximum() {
    let huge = gather(&batch(&[(0, &[Some(f64::MAX)]), (1, &[Some(f64::MAX)])]));
    assert_eq!(huge.figures(0).map(|figures| figures.mean), Some(f64::MAX));
    let tenths: Vec<(i64, &[Option<f64>])> = (0..10).map(|second| (second, &[Some(0.1)][..])).collect();
    assert_eq!(gather(&batch(&tenths)).figures(0).map(|figures| figures.mean), Some(0.1));
}

#[test]
fn a_record_allocates_nothing() {
    let batch = batch(&[(0, &[Some(1.0), Some(2.0)]), (1, &[None, Some(3.0)])]);
    let mut statistics = Statistics::new(2);
    let counted = allocation_counter::measure(|| batch.rows().for_each(|row| statistics.add(row)));
    assert_eq!((counted.count_total, statistics.records()), (0, 2));
}
