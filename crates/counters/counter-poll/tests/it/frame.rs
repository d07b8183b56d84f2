//! The numbers of replies, kept in place, are those that each reply has by itself.

use std::collections::BTreeMap;
use std::time::Duration;

use counter_poll::paths::{Aggregates, Frame, Instance, PathPlan, PathQuery, Rows};
use counter_types::{CounterPath, Reading};
use counters::pcq::perflibv2::CounterData;
use test_support::future::now;

use crate::host::client_and_model;

/// By counterset, counter, and instance.
type Readings = BTreeMap<(usize, usize, Option<(String, u32)>), Reading>;

fn of_rows(plan: &PathPlan, query: &PathQuery, data: &CounterData, aggregates: &mut Aggregates) -> Readings {
    let mut readings = Readings::new();
    let read = Rows::read(plan, Some((query, data)), None, aggregates, |rows| {
        for (counterset, known) in plan.countersets.iter().enumerate() {
            for (counter, row) in (0..known.counters.len())
                .flat_map(|counter| rows.of(counterset).iter().map(move |row| (counter, row)))
            {
                let found = row.reading(&known.counters[counter].info);
                let key = (counterset, counter, row.instance.as_ref().map(key_of));
                readings.extend(found.map(|reading| (key, reading)));
            }
        }
    });
    now(read);
    readings
}

fn of_frame(plan: &PathPlan, frame: &Frame) -> Readings {
    let mut readings = Readings::new();
    for (counterset, known) in plan.countersets.iter().enumerate() {
        let of_counterset = frame.of(counterset).unwrap();
        for (counter, known) in known.counters.iter().enumerate() {
            let Some(columns) = of_counterset.columns(&known.info) else { continue };
            for (place, instance) in of_counterset.instances().iter().enumerate() {
                let found = of_counterset.reading(place, &columns);
                let key = (counterset, counter, instance.as_ref().map(key_of));
                readings.extend(found.map(|reading| (key, reading)));
            }
        }
    }
    readings
}

fn key_of(instance: &Instance) -> (String, u32) {
    (instance.name.clone(), instance.index)
}

const PATHS: [&str; 8] = [
    r"\Process V2(*)\*",
    r"\Counter Types(*)\*",
    r"\Processor Information(_Total)\*",
    r"\Processor Information(0,1)\% Processor Time",
    r"\Thermal Zone Information(*)\*",
    r"\Oddities(*)\*",
    r"\Workers Together(*)\*",
    r"\Workers Together\*",
];

#[test]
fn a_frame_has_the_readings_of_its_last_reply_whatever_came_before() {
    let (mut client, clock, _model) = client_and_model();
    let paths: Vec<CounterPath> = PATHS.iter().map(|path| path.parse().unwrap()).collect();
    let (plan, _) = now(PathPlan::find(&mut client, &paths, |_, _| {})).unwrap();
    let mut query = now(PathQuery::open(&mut client, &plan)).unwrap();
    let (mut frame, mut aggregates) = (Frame::default(), Aggregates::default());
    let mut versions = Vec::new();
    for round in 0..40 {
        let data = now(query.fetch(&mut client)).unwrap();
        now(frame.update(&plan, Some((&query, &data)), &[]));
        let expected = of_rows(&plan, &query, &data, &mut aggregates);
        assert!(expected.len() > 100, "{}", expected.len());
        assert_eq!(of_frame(&plan, &frame), expected, "reply {round}");
        versions.push((0..plan.countersets.len()).map(|place| frame.of(place).unwrap().version()).collect());
        clock.advance(Duration::from_secs(if round % 2 == 0 { 1 } else { 613 }));
    }
    let first: &Vec<u64> = &versions[0];
    let came_and_went = |place: usize| versions.iter().any(|versions| versions[place] != first[place]);
    assert!((0..first.len()).any(came_and_went), "some processes come and go");
    assert!(!(0..first.len()).all(came_and_went), "most instances stay");
}

#[test]
fn a_counterset_without_a_reply_of_its_kind_stays_as_it_is() {
    let (mut client, _clock, _model) = client_and_model();
    let (plan, _) =
        now(PathPlan::find(&mut client, &[r"\Counter Types(*)\*".parse().unwrap()], |_, _| {})).unwrap();
    let mut query = now(PathQuery::open(&mut client, &plan)).unwrap();
    let data = now(query.fetch(&mut client)).unwrap();
    let mut frame = Frame::default();
    now(frame.update(&plan, Some((&query, &data)), &[]));
    let before = (frame.of(0).unwrap().version(), of_frame(&plan, &frame));
    now(frame.update(&plan, None, &[]));
    assert_eq!((frame.of(0).unwrap().version(), of_frame(&plan, &frame)), before);
    assert!(!before.1.is_empty());
}

#[test]
fn aggregates_go_on_over_searches_for_the_same_paths() {
    let (mut client, clock, _model) = client_and_model();
    let (mut frame, mut aggregates) = (Frame::default(), Aggregates::default());
    let mut is_above_its_instances = false;
    for search in 0..3 {
        // The places of the countersets are others with each search.
        let paths: Vec<CounterPath> = PATHS[search..].iter().map(|path| path.parse().unwrap()).collect();
        let (plan, _) = now(PathPlan::find(&mut client, &paths, |_, _| {})).unwrap();
        let mut query = now(PathQuery::open(&mut client, &plan)).unwrap();
        frame.change_plan(&plan);
        for round in 0..10 {
            let data = now(query.fetch(&mut client)).unwrap();
            now(frame.update(&plan, Some((&query, &data)), &[]));
            let kept = of_rows(&plan, &query, &data, &mut aggregates);
            assert_eq!(of_frame(&plan, &frame), kept, "reply {round} of search {search}");
            let begun = of_rows(&plan, &query, &data, &mut Aggregates::default());
            is_above_its_instances |= search > 0 && kept != begun;
            clock.advance(Duration::from_secs(613));
        }
        now(query.close(&mut client)).unwrap();
    }
    assert!(is_above_its_instances, "a sum that began with the second search is another one");
}
