//! Counter paths in, cooked values out.

use std::time::Duration;

use counter_poll::Client;
use counter_poll::paths::{
    FindError, OpenPath, PathMatch, PathPlan, PathProblem, PathQuery, PathSearch, Readings, Sample, Value,
};
use counter_types::{Cooked, CounterPath};
use test_support::future::now;

use crate::host::{CallError, MemoryHost, client, client_and_clock};

fn find(client: &mut Client<MemoryHost>, paths: &[&str]) -> Result<PathPlan, FindError<CallError>> {
    let paths: Vec<CounterPath> = paths.iter().map(|path| path.parse().unwrap()).collect();
    let (plan, open) = now(PathPlan::find(client, &paths, |_, _| {}))?;
    match open.iter().find_map(|path| path.problem()) {
        Some(problem) => Err(problem.clone().into()),
        None => Ok(plan),
    }
}

#[test]
fn a_path_without_an_instance_means_all_of_an_aggregate_counterset_as_one() {
    let (mut client, clock) = client_and_clock();
    let plan = find(
        &mut client,
        &[r"\Workers Together(*)\Queue Length", r"\workers together\queue length", r"\Workers\Queue Length"],
    )
    .unwrap();
    let mut query = now(PathQuery::open(&mut client, &plan)).unwrap();
    let mut readings = Readings::default();
    for _ in 0..5 {
        let data = now(query.fetch(&mut client)).unwrap();
        let sample = now(Sample::read(&plan, Some((&query, &data)), None, &mut readings));
        let of = |counterset: &str, is_whole: bool| -> Vec<u64> {
            let is_it = |key: &counter_poll::paths::Key| {
                plan.countersets[key.counterset].name.text == counterset && key.instance.is_none() == is_whole
            };
            let values = sample.values.iter().filter(|(key, _)| is_it(key));
            let number = |value: &Value| match value {
                Value::Number(reading, _) => reading.value,
                other => panic!("{other:?}"),
            };
            values.map(|(_, value)| number(value)).collect()
        };
        let parts = of("Workers Together", false);
        assert!(parts.len() > 1, "{parts:?}");
        assert_eq!(of("Workers Together", true), [parts.iter().sum::<u64>()]);
        assert_eq!(of("Workers", true).len(), 1);
        let paths: Vec<String> = sample.values.iter().map(|(key, _)| key.path(&plan)).collect();
        assert!(paths.contains(&r"\Workers Together\Queue Length".to_owned()), "{paths:?}");
        clock.advance(Duration::from_secs(61));
    }
}

#[test]
fn a_value_has_its_path_what_was_read_and_what_is_displayed() {
    let (mut client, clock) = client_and_clock();
    let plan = find(&mut client, &[r"\Counter Types(1)\Raw Count", r"\counter types(1)\bulk count"]).unwrap();
    let mut query = now(PathQuery::open(&mut client, &plan)).unwrap();
    let mut readings = Readings::default();
    let mut take = || {
        let data = now(query.fetch(&mut client)).unwrap();
        now(Sample::read(&plan, Some((&query, &data)), None, &mut readings))
    };
    let first = take();
    assert!(first.needs_another, "a rate is that of two samples");
    clock.advance(Duration::from_secs(2));
    let second = take();
    assert!(!second.needs_another);
    assert_eq!(second.time.0 - first.time.0, 20_000_000);
    let paths: Vec<String> = second.values.iter().map(|(key, _)| key.path(&plan)).collect();
    assert_eq!(paths, [r"\Counter Types(1)\Raw Count", r"\Counter Types(1)\Bulk Count"]);
    let raw = |sample: &Sample, index: usize| match &sample.values[index].1 {
        Value::Number(reading, _) => reading.value,
        other => panic!("{other:?}"),
    };
    let shown = |index: usize| match &second.values[index].1 {
        Value::Number(_, Cooked::Value(value)) => *value,
        other => panic!("{other:?}"),
    };
    #[expect(clippy::cast_precision_loss, reason = "these numbers are small")]
    let expected = [raw(&second, 0) as f64, (raw(&second, 1) - raw(&first, 1)) as f64 / 2.0];
    assert_eq!([shown(0), shown(1)], expected);
    assert!(expected[1] > 0.0, "it counts");
    now(query.close(&mut client)).unwrap();
}

#[test]
fn only_the_instances_that_are_named_are_fetched() {
    let mut client = client();
    let plan =
        find(&mut client, &[r"\Counter Types(3)\Raw Count", r"\Thermal Zone Information(*)\*"]).unwrap();
    let identifiers = plan.identifiers();
    let names: Vec<Option<&str>> =
        identifiers.iter().map(|(_, identifier)| identifier.instance_name.as_deref()).collect();
    assert_eq!(names, [Some("3"), Some("*")]);
}

#[test]
fn a_path_that_means_nothing_says_what_would() {
    let problem = |path: &str| match find(&mut client(), &[path]) {
        Err(FindError::Path(problem)) => problem,
        other => panic!("{other:?}"),
    };
    let PathProblem::UnknownCounterset { nearest, .. } =
        problem(r"\Procesor Information(*)\% Processor Time")
    else {
        panic!("it has another name")
    };
    assert_eq!(nearest.as_deref(), Some("Processor Information"));
    let PathProblem::UnknownCounter { nearest, .. } = problem(r"\Counter Types(1)\Raw Cuont") else {
        panic!("it has another name")
    };
    assert_eq!(nearest.as_deref(), Some("Raw Count"));
    let lacking = problem(r"\Counter Types\Raw Count");
    assert!(matches!(lacking, PathProblem::LacksInstance { .. }), "{lacking:?}");
    let classic = problem(r"\LogicalDisk(*)\% Free Space");
    assert!(matches!(classic, PathProblem::Classic { .. }), "{classic:?}");
}

#[test]
fn a_path_that_means_nothing_hides_no_other() {
    let mut client = client();
    let paths = [r"\Counter Types(1)\Raw Cuont", r"\Counter Types(1)\Raw Count", r"\Nothing(*)\Here"];
    let paths: Vec<CounterPath> = paths.iter().map(|path| path.parse().unwrap()).collect();
    let guids = now(client.enumerate_counter_set()).unwrap();
    let mut search = PathSearch::new(guids, paths);
    while now(search.step(&mut client, &mut |_, _| {})).unwrap() {}
    let (plan, open) = search.finish();
    let orders: Vec<usize> = plan.matches.iter().map(PathMatch::order).collect();
    assert_eq!(orders, [1]);
    let [(0, PathProblem::UnknownCounter { .. })] = &plan.problems[..] else { panic!("{:?}", plan.problems) };
    assert_eq!(open.iter().map(OpenPath::order).collect::<Vec<_>>(), [2], "it may be a classic object");
}

#[test]
fn a_search_goes_on_where_a_call_failed() {
    let names_asked_for = |is_interrupted: bool| {
        let mut client = client();
        let path = r"\Counter Types(1)\Raw Count".parse().unwrap();
        let guids = now(client.enumerate_counter_set()).unwrap();
        let mut search = PathSearch::new(guids, vec![path]);
        if is_interrupted {
            client.channel().fail(1, CallError::Lost);
            now(search.step(&mut client, &mut |_, _| {})).unwrap_err();
        }
        let mut names = 0;
        while now(search.step(&mut client, &mut |_, _| names += 1)).unwrap() {}
        assert_eq!(search.finish().0.matches.len(), 1);
        names
    };
    let all = names_asked_for(false);
    assert!(all > 1, "the first one is another");
    assert_eq!(names_asked_for(true), all, "the name that did not come is asked for again");
}

#[test]
fn many_instances_of_a_counterset_are_fetched_as_all_of_it() {
    let paths: Vec<String> = (0..65).map(|number| format!(r"\Counter Types({number})\Raw Count")).collect();
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    let names = |count: usize| {
        let plan = find(&mut client(), &paths[..count]).unwrap();
        let names = plan.identifiers().into_iter().map(|(_, identifier)| identifier.instance_name);
        names.map(Option::unwrap).collect::<Vec<_>>()
    };
    assert_eq!(names(64).len(), 64);
    assert_eq!(names(65), ["*"]);
}

#[test]
fn a_connection_that_is_lost_ends_the_search() {
    let mut client = client();
    client.channel().fail(0, CallError::Lost);
    let lost = find(&mut client, &[r"\Counter Types(1)\Raw Count"]).unwrap_err();
    assert!(matches!(lost, FindError::Call(_)), "{lost:?}");
}
