//! What judging and logging cost when nothing comes or goes.

use crate::workload::Target;

#[test]
fn replies_with_the_same_instances_are_judged_without_an_allocation() {
    let thresholds =
        [r"\Works(*)\Load>50", r"\Works(*)\Turns/sec>5", r"\Works(7)\Load>1", r"\Works(no)\Load>1"];
    let mut target = Target::new(100, &thresholds.map(str::to_owned));
    for _ in 0..4 {
        target.round();
    }
    let fired = target.fired();
    let allocations = allocation_counter::measure(|| {
        target.round();
        target.round();
    });
    assert_eq!(allocations.count_total, 0);
    // Of 100 loads 49 are above 50, all wheels turn once of two times and wrap back the other, and one load is above 1.
    assert!(target.fired() >= fired + 2 * 50, "they are judged");
}

#[test]
fn replies_with_the_same_instances_are_logged_without_an_allocation() {
    let thresholds = [r"\Works(*)\Load>50", r"\Works(*)\Turns/sec>5"];
    let mut target = Target::new(100, &thresholds.map(str::to_owned));
    let mut values = (0..4).map(|_| target.record()).last();
    let allocations = allocation_counter::measure(|| values = Some(target.record().max(target.record())));
    assert_eq!(allocations.count_total, 0);
    // All wheels turn once of two times and wrap back the other.
    assert_eq!(values, Some(200));
}

#[test]
fn an_instance_above_the_limit_of_columns_is_left_out_once() {
    let mut target =
        Target::new(21_000, &[r"\Works(*)\Load>50", r"\Works(*)\Turns/sec>5"].map(str::to_owned));
    // Of the first counter 20,000 have a column, of the second one none.
    assert_eq!(target.record(), 20_000);
    assert_eq!(target.alerts.left_out(), 21_000);
}

#[tokio::test]
async fn all_records_that_are_made_are_in_the_file() {
    let place = tempfile::tempdir().expect("a folder");
    let mut target = Target::new(100, &[r"\Works(*)\Load>50", r"\Works(*)\Turns/sec>5"].map(str::to_owned));
    target.log_to(place.path().join("web1"));
    (0..60).for_each(|_| target.write());
    assert_eq!(target.close().await, 60);
    let file = place.path().join("web1/Measured/run/counters.csv");
    let text = std::fs::read_to_string(file).expect("a log");
    assert_eq!(text.lines().map(|line| line.split(',').count()).collect::<Vec<_>>(), [201; 61]);
}

#[test]
fn many_alerts_of_many_instances_let_other_tasks_run_in_between() {
    let thresholds: Vec<String> = (0..100).map(|limit| format!(r"\Works(*)\Load>{limit}")).collect();
    let mut target = Target::new(2_000, &thresholds);
    for _ in 0..3 {
        target.round();
        // Not all instances have room, so that each round looks at 200,000 of them.
        assert!(target.alerts.turns() >= 24, "{} turns", target.alerts.turns());
    }
    let by_name: Vec<String> = (0..100).map(|number| format!(r"\Works({number})\Load>5")).collect();
    let mut target = Target::new(50_000, &by_name);
    target.round();
    assert!(target.alerts.turns() >= 6, "{} turns", target.alerts.turns());
    target.round();
    assert_eq!(target.alerts.turns(), 0, "the names are looked up once");
    let mut target = Target::new(50_000, &[r"\Works(*)\Load>50".to_owned()]);
    target.record();
    // The columns are found, and then their places.
    assert!(target.alerts.turns() >= 12, "{} turns", target.alerts.turns());
}
