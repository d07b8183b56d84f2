//! What the model counts, and that it is the same whenever it is asked for the same instant.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use windows_sim::model::{Clock, Counterset, Host, HostOptions, Sample, Value, ValueSource};

use crate::host::{NOON, model};

fn set(host: &Host, name: &str) -> &'static Counterset {
    host.countersets().into_iter().find(|set| set.name == name).unwrap()
}

/// All but those that are there for what is wrong with them, or sent without names.
fn proper(host: &Host) -> Vec<&'static Counterset> {
    let mut sets = host.countersets();
    sets.retain(|set| !["Duplicates", "Oddities"].contains(&set.name));
    sets.retain(|set| set.has_instances() || !set.instances.is_aggregate());
    sets
}

fn sample(host: &Host, name: &str) -> Vec<Sample> {
    host.sample(set(host, name).guid, &host.moment()).unwrap()
}

fn names(samples: &[Sample]) -> BTreeSet<String> {
    samples.iter().map(|sample| sample.instance.name.clone()).collect()
}

/// The numbers of one counter by instance.
fn column(host: &Host, name: &str, counter: &str) -> BTreeMap<String, u64> {
    let index = set(host, name).counters.iter().position(|known| known.name == counter).unwrap();
    let number = |sample: &Sample| match sample.values[index] {
        Value::Dword(value) => u64::from(value),
        Value::Large(value) => value,
        _ => panic!("{counter} is no number"),
    };
    sample(host, name).iter().map(|sample| (sample.instance.name.clone(), number(sample))).collect()
}

#[test]
fn ids_ascend_and_every_reference_to_another_counter_is_good() {
    for set in proper(&model(&Clock::manual(NOON))) {
        assert!(set.counters.is_sorted_by(|a, b| a.id < b.id), "{}", set.name);
        for counter in set.counters {
            let others = [counter.base, counter.perf_time, counter.perf_freq, counter.multi];
            let known = others.into_iter().flatten().all(|id| set.counter(id).is_some());
            let has_texts = !counter.name.is_empty() && !counter.explain.is_empty();
            assert!(known && has_texts, "{}: {}", set.name, counter.name);
        }
    }
}

#[test]
fn no_instance_appears_twice() {
    let host = model(&Clock::manual(NOON));
    for set in proper(&host) {
        let samples = host.sample(set.guid, &host.moment()).unwrap();
        assert_eq!(names(&samples).len(), samples.len(), "{}", set.name);
    }
}

#[test]
fn the_same_seed_and_clock_give_the_same_values_and_another_seed_gives_others() {
    let clock = Clock::manual(NOON);
    let other = Host::new(HostOptions { seed: 8, clock: clock.clone(), ..HostOptions::default() });
    assert_eq!(sample(&model(&clock), "Process V2"), sample(&model(&clock), "Process V2"));
    assert_ne!(sample(&model(&clock), "Process V2"), sample(&other, "Process V2"));
}

#[test]
fn processes_come_and_go_and_keep_their_start_while_they_run() {
    let clock = Clock::manual(NOON);
    let host = model(&clock);
    let (mut seen, mut running) = (BTreeSet::new(), BTreeMap::new());
    let (mut came, mut went) = (0, 0);
    for _ in 0..60 {
        let now = column(&host, "Process V2", "Elapsed Time");
        for (name, started) in &now {
            match running.get(name) {
                Some(before) => assert_eq!(before, started, "{name} was started once"),
                None => {
                    came += 1;
                    assert!(seen.insert(name.clone()), "{name} comes back under the name of another");
                }
            }
        }
        went += running.keys().filter(|name| !now.contains_key(*name)).count();
        running = now;
        clock.advance(Duration::from_secs(10));
    }
    assert!(running.contains_key("System:4") && came > 20 && went > 5, "{came} came, {went} went");
}

#[test]
fn gpu_engines_belong_to_processes_that_run() {
    let clock = Clock::manual(NOON);
    let host = model(&clock);
    let mut counts = BTreeSet::new();
    for _ in 0..60 {
        let pids: BTreeSet<String> = names(&sample(&host, "Process V2"))
            .iter()
            .filter_map(|name| Some(name.rsplit_once(':')?.1.to_owned()))
            .collect();
        let engines = names(&sample(&host, "GPU Engine"));
        assert!(engines.iter().all(|engine| pids.contains(engine.split('_').nth(1).unwrap())));
        counts.insert(engines.len());
        clock.advance(Duration::from_secs(10));
    }
    assert!(counts.len() > 1, "engines come and go: {counts:?}");
}

// Idle time is what PERF_100NSEC_TIMER_INV counts; with user and privileged time it is all the time there is.
#[test]
fn a_processor_is_idle_or_busy_and_never_more_than_all_the_time() {
    let clock = Clock::manual(NOON);
    let host = model(&clock);
    let of = |counter| column(&host, "Processor Information", counter);
    let (idle, user, privileged) = (of("% Processor Time"), of("% User Time"), of("% Privileged Time"));
    let uptime = host.moment().uptime_100ns();
    for name in ["0,0", "0,1", "0,2", "0,3"] {
        assert_eq!(idle[name] + user[name] + privileged[name], uptime, "{name}");
    }
    assert_eq!(idle["_Total"], (idle["0,0"] + idle["0,1"] + idle["0,2"] + idle["0,3"]) / 4);
    clock.advance(Duration::from_secs(300));
    let later = column(&host, "Processor Information", "% Processor Time");
    let busy_share = 1.0 - (later["_Total"] - idle["_Total"]) as f64 / 3e9;
    assert!((0.02..0.95).contains(&busy_share), "{busy_share}");
}
