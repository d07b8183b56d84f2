//! Which value of a reply goes to which series, and what that costs from reply to reply.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Waker};

use counter_poll::{
    Addition, Aggregate, Catalog, Client, Counterset, CountersetPoller, FamilyGroup, Forms, Lookup,
    OpenQuery, Reading, Wanted, Which, clocks_of,
};
use counter_types::{Filter, PatternText, RawClocks, Selection, SelectionRules, Totals, boot_time};
use counters::pcq::perflibv2::CounterData;
use counters::pcq::types::{CounterId, InstanceId};
use counters::pcq::wire::{Clocks, InstanceInfo, QueryData, QueryDataWriter, RawValue};
use test_support::future::now;

use crate::host::{MemoryHost, client_and_clock};
use crate::sink::{Indexes, RecordingSink};

fn wanted(counters: &[&str], totals: Totals) -> Wanted {
    let include = counters.iter().map(|name| PatternText::Plain((*name).to_owned())).collect();
    let counters = Filter { include, exclude: Vec::new() };
    let selection = Selection::new(&SelectionRules { counters, totals, ..SelectionRules::default() });
    Wanted {
        label: "Processor Information".to_owned(),
        which: Which::Name("Processor Information".to_owned()),
        selection: selection.unwrap(),
        instance_id: false,
        aggregate: Aggregate::No,
        top_n: None,
        is_optional: false,
    }
}

/// The wanted counterset, and a query for it.
fn open(client: &mut Client<MemoryHost>, wanted: &Wanted) -> (std::sync::Arc<Counterset>, OpenQuery) {
    let mut catalog = Catalog::default();
    catalog.enumerated(now(client.enumerate_counter_set()).unwrap());
    let found = now(catalog.find(client, &wanted.which)).unwrap();
    let [Lookup::Found(counterset)] = &found[..] else { panic!("{found:?}") };
    let Counterset { instance_type, is_type_inferred, .. } = **counterset;
    let guid = counterset.provider.guid().unwrap();
    let addition = Addition { watched: 0, guid, instance_type, is_type_inferred };
    let mut query = now(OpenQuery::open(client, counters::pcq::wire::Layout::default())).unwrap();
    assert!(now(query.fill(client, &[addition], &mut Forms::default())).unwrap().is_empty());
    (std::sync::Arc::clone(counterset), query)
}

fn emit(
    poller: &mut CountersetPoller<Indexes>,
    data: &CounterData,
    wanted: &Wanted,
    kept: &mut RecordingSink,
) {
    let data = data.data();
    for block in data.blocks() {
        now(poller.emit(&block.unwrap().into(), clocks_of(data.header()), wanted, kept));
    }
}

#[test]
fn wanted_counters_and_instances_have_a_series_each() {
    let (mut client, _clock) = client_and_clock();
    let wanted = wanted(&["% Processor Time", "Parking Status"], Totals::DropBesideParts);
    let (counterset, mut query) = open(&mut client, &wanted);
    let mut kept = RecordingSink::default();
    let mut poller = CountersetPoller::new(&counterset, &wanted, &mut kept);
    emit(&mut poller, &now(query.fetch(&mut client)).unwrap(), &wanted, &mut kept);
    let items: Vec<&str> = kept.families.iter().map(|(_, item)| item.as_str()).collect();
    assert_eq!(items, ["% Processor Time", "Parking Status"]);
    let cores = ["0,0", "0,1", "0,2", "0,3"].map(|name| format!("counter_instance={name}"));
    assert_eq!(kept.instances_of("% Processor Time"), cores);
    assert_eq!(kept.instances_of("Parking Status"), cores);
    poller.end(&mut kept);
    assert_eq!(kept.instances_of("Parking Status"), [""; 0], "all series have ended");
}

#[test]
fn totals_that_are_shown_apart_have_families_of_their_own() {
    let (mut client, _clock) = client_and_clock();
    let wanted = wanted(&["% Processor Time"], Totals::Separate);
    let (counterset, mut query) = open(&mut client, &wanted);
    let mut kept = RecordingSink::default();
    let mut poller = CountersetPoller::new(&counterset, &wanted, &mut kept);
    emit(&mut poller, &now(query.fetch(&mut client)).unwrap(), &wanted, &mut kept);
    let groups: Vec<FamilyGroup> = kept.families.iter().map(|(group, _)| *group).collect();
    assert_eq!(groups, [FamilyGroup::Instances, FamilyGroup::Totals]);
    let of = |family| kept.series.iter().filter(move |one| one.family == family).count();
    assert_eq!((of(0), of(1)), (4, 2), "four cores, the total of their group and that of all");
}

/// The clocks of a host that has been up for so long at this second of 2026.
fn clocks(uptime_s: u64, second: u64) -> RawClocks {
    const SECOND: u64 = 10_000_000;
    const YEAR_2026: u64 = 134_116_992_000_000_000;
    let time_100ns = YEAR_2026 + second * SECOND;
    RawClocks { perf_time: uptime_s * SECOND, perf_freq: SECOND, time_100ns, ..RawClocks::default() }
}

#[test]
fn counters_count_since_the_start_of_the_host_that_has_the_name_now() {
    let (mut client, _clock) = client_and_clock();
    let wanted = wanted(&["% User Time", "Interrupts/sec", "Parking Status"], Totals::DropBesideParts);
    let (counterset, mut query) = open(&mut client, &wanted);
    let data = now(query.fetch(&mut client)).unwrap();
    let boot = |clocks: RawClocks| boot_time(clocks.perf_time, clocks.perf_freq, clocks.time_100ns);
    let (first, moved) = (clocks(9_000, 0), clocks(80_000, 30));
    let anew = |began: RawClocks, newer: RawClocks| {
        let mut kept = RecordingSink::default();
        let mut poller = CountersetPoller::new(&counterset, &wanted, &mut kept);
        // Nothing falls: the values are the same in all replies.
        for clocks in [began, clocks(9_015, 15), newer, RawClocks { perf_time: newer.perf_time + 1, ..newer }]
        {
            let data = data.data();
            for block in data.blocks() {
                now(poller.emit(&block.unwrap().into(), clocks, &wanted, &mut kept));
            }
        }
        let starts = |item: &str| kept.starts()[item].clone();
        [starts("% User Time"), starts("Interrupts/sec"), starts("Parking Status")]
    };
    // A counter of 32 bits may have gone round before it was seen, and a gauge counts nothing.
    assert_eq!(anew(first, clocks(9_030, 30)), [vec![boot(first); 4], vec![None; 4], vec![None; 4]]);
    for newer in [moved, clocks(20, 30), RawClocks { perf_freq: 3_000_000, ..clocks(9_030, 30) }] {
        assert_eq!(
            anew(first, newer),
            [vec![boot(newer); 4], vec![boot(newer); 4], vec![None; 4]],
            "{newer:?}"
        );
    }
    // The time of day was set.
    assert_eq!(anew(first, clocks(9_030, 3_600)), [vec![boot(first); 4], vec![None; 4], vec![None; 4]]);
}

#[test]
fn a_reply_with_what_the_last_one_held_is_read_without_an_allocation() {
    let (mut client, clock) = client_and_clock();
    let wanted = wanted(&[], Totals::Keep);
    let (counterset, mut query) = open(&mut client, &wanted);
    let mut kept = RecordingSink::default();
    let mut poller = CountersetPoller::new(&counterset, &wanted, &mut kept);
    let mut allocated = Vec::new();
    for _ in 0..4 {
        clock.advance(std::time::Duration::from_secs(15));
        let data = now(query.fetch(&mut client)).unwrap();
        let emitted = allocation_counter::measure(|| emit(&mut poller, &data, &wanted, &mut kept));
        allocated.push(emitted.count_total);
    }
    assert!(allocated[0] > 0, "the first one registers");
    // Of two buffers that take turns the second one has its size after the second reply.
    assert!(allocated[1] < 10, "{allocated:?}");
    assert_eq!(allocated[2..], [0, 0]);
}

/// A reply with a counter of these instances.
fn reply(counter: CounterId, instances: impl Iterator<Item = (u32, String)>) -> Vec<u8> {
    let instance = |(id, name)| InstanceInfo { instance_id: InstanceId(id), name };
    let instances: Vec<InstanceInfo> = instances.map(instance).collect();
    let mut writer = QueryDataWriter::new(Clocks::default());
    writer.counter_set(&[counter], instances.iter().map(|one| (one, [RawValue::U64(1_000)]))).unwrap();
    writer.finish().unwrap()
}

/// The only counterset of a reply.
fn reading(reply: &[u8]) -> Reading<'_> {
    QueryData::parse(reply).unwrap().blocks().next().unwrap().unwrap().into()
}

/// Runs a future that lets others run in between.
fn run(future: impl Future) {
    assert!(poll_and_drop(future, usize::MAX));
}

/// Polls a future so often, or to its end, and drops it. Returns whether it ended.
fn poll_and_drop(future: impl Future, polls: usize) -> bool {
    let (mut future, mut context) = (pin!(future), Context::from_waker(Waker::noop()));
    (0..polls).any(|_| future.as_mut().poll(&mut context).is_ready())
}

#[test]
fn what_a_dropped_collection_noticed_is_told_by_the_next_one() {
    let (mut client, _clock) = client_and_clock();
    let parts = || (0..6_000).map(|number| (number, format!("0,{number}")));
    let total = || [(6_000, "_Total".to_owned())].into_iter();
    let (later, restarted) = (clocks(9_015, 15), clocks(20, 30));
    for (counterset, item, aggregate, has_parts, newer) in [
        // A total is not shown beside its parts.
        ("Processor Information", "% User Time", Aggregate::No, false, later),
        // The host was restarted, and all counts since then.
        ("Processor Information", "% User Time", Aggregate::No, true, restarted),
        ("Workers Together", "Requests/sec", Aggregate::Beside, true, restarted),
    ] {
        let which = Which::Name(counterset.to_owned());
        let wanted = Wanted { which, aggregate, ..wanted(&[item], Totals::DropBesideParts) };
        let (counterset, _query) = open(&mut client, &wanted);
        let counter = counterset.counters.iter().find(|counter| counter.name == item).unwrap();
        let all = reply(counter.info.counter_id, parts().chain(total()));
        let before = reply(counter.info.counter_id, parts().filter(|_| has_parts).chain(total()));
        // Since when which series count after a reply that is dropped and the next one.
        let starts = |polls: usize| {
            let mut kept = RecordingSink::default();
            let mut poller = CountersetPoller::new(&counterset, &wanted, &mut kept);
            run(poller.emit(&reading(&before), clocks(9_000, 0), &wanted, &mut kept));
            let is_whole = poll_and_drop(poller.emit(&reading(&all), newer, &wanted, &mut kept), polls);
            let last = RawClocks { perf_time: newer.perf_time + 10_000_000, ..newer };
            run(poller.emit(&reading(&all), last, &wanted, &mut kept));
            let mut starts = kept.starts()[item].clone();
            starts.sort_unstable();
            (is_whole, starts)
        };
        let (_, expected) = starts(usize::MAX);
        assert_eq!(expected.len(), 6_000 + usize::from(aggregate == Aggregate::Beside));
        let mut polls = 0;
        let mut is_whole = false;
        while !is_whole {
            polls += 1;
            let dropped = starts(polls);
            is_whole = dropped.0;
            assert!(dropped.1 == expected, "{item} of {newer:?}, dropped after {polls} polls");
        }
        assert!(polls > 1, "{polls}");
    }
}
