//! Which value of a reply goes to which series, and what that costs from reply to reply.

use counter_poll::{
    Addition, Aggregate, Catalog, Client, Counterset, CountersetPoller, FamilyGroup, Forms, Lookup,
    OpenQuery, Wanted, Which, clocks_of,
};
use counter_types::{Filter, PatternText, Selection, SelectionRules, Totals};
use ms_pcq::perflibv2::CounterData;
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
    let mut query = now(OpenQuery::open(client, ms_pcq::wire::Layout::default())).unwrap();
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
