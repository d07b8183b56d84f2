//! The countersets that are watched: found, polled, missed, exchanged.

use std::time::Duration;

use counter_poll::{Aggregate, Catalog, Client, Forms, OpenQuery, Seen, Wanted, WatchList, Which, Why};
use counter_types::{Selection, SelectionRules};
use test_support::future::now;

use crate::host::{MemoryHost, client, client_and_model};
use crate::sink::{Indexes, RecordingSink};

pub(crate) fn wanted(names: &[&str]) -> Vec<Wanted> {
    let wanted = |name: &&str| Wanted {
        label: (*name).to_owned(),
        which: Which::Name((*name).to_owned()),
        selection: Selection::new(&SelectionRules::default()).unwrap(),
        instance_id: false,
        aggregate: Aggregate::No,
        top_n: None,
        is_optional: false,
    };
    names.iter().map(wanted).collect()
}

/// What one source keeps.
struct Watch {
    wanted: Vec<Wanted>,
    catalog: Catalog,
    list: WatchList<Indexes>,
    kept: RecordingSink,
}

impl Watch {
    fn new(names: &[&str]) -> Self {
        let (catalog, list) = (Catalog::default(), WatchList::default());
        Self { wanted: wanted(names), catalog, list, kept: RecordingSink::default() }
    }

    /// Searches, opens a query and fetches once.
    fn poll(&mut self, client: &mut Client<MemoryHost>) -> Seen<String> {
        self.catalog.enumerated(now(client.enumerate_counter_set()).unwrap());
        let Self { wanted, catalog, list, kept } = self;
        let additions = now(list.search(catalog, client, wanted, None, kept)).unwrap();
        let mut query = now(OpenQuery::open(client, counters::pcq::wire::Layout::default())).unwrap();
        let refusals = now(query.fill(client, &additions, &mut Forms::default())).unwrap();
        for refusal in refusals {
            list.refuse(refusal.watched, refusal.trouble);
        }
        let data = now(query.fetch(client)).unwrap();
        let seen = now(list.emit(&data.data(), &query, wanted, Duration::ZERO, kept));
        now(query.close(client)).unwrap();
        seen
    }
}

#[test]
fn countersets_that_are_there_are_covered() {
    let mut client = client();
    let mut watch = Watch::new(&["HTTP Service", "Thermal Zone Information"]);
    let seen = watch.poll(&mut client);
    assert!(seen.is_complete(), "{seen:?}");
    let covered: Vec<&str> =
        watch.list.covered(&seen).map(|(counterset, _)| counterset.name.as_str()).collect();
    assert_eq!(covered, ["HTTP Service", "Thermal Zone Information"]);
    assert!(!watch.kept.instances_of("Temperature").is_empty());
}

#[test]
fn a_counterset_that_is_not_there_is_missing_and_the_others_are_covered() {
    let mut client = client();
    let mut watch = Watch::new(&["HTTP Servise", "Thermal Zone Information"]);
    let seen = watch.poll(&mut client);
    assert!(!seen.is_complete());
    let [missing] = &seen.missing[..] else { panic!("{seen:?}") };
    assert_eq!(
        missing.to_string(),
        "the host has no counterset `HTTP Servise`; did you mean `HTTP Service`?"
    );
    assert!(matches!(missing.why, Why::Unknown { .. }));
    assert_eq!(watch.list.covered(&seen).count(), 1);
    assert!(watch.list.lacks_some_but(|_| false));
}

#[test]
fn a_counterset_whose_provider_stopped_is_missing_until_it_runs() {
    let (mut client, _clock, model) = client_and_model();
    let mut watch = Watch::new(&["Thermal Zone Information"]);
    assert!(watch.poll(&mut client).is_complete());
    model.replace_changes(vec!["Thermal Zone Information=error:5".parse().unwrap()]);
    let seen = watch.poll(&mut client);
    assert!(matches!(seen.missing[..], [_]), "{seen:?}");
    model.replace_changes(Vec::new());
    assert!(watch.poll(&mut client).is_complete());
}

#[test]
fn a_provider_that_was_exchanged_is_noticed_by_its_values() {
    let (mut client, clock, model) = client_and_model();
    let mut watch = Watch::new(&["Updates"]);
    assert!(watch.poll(&mut client).exchanged.is_empty());
    model.replace_changes(vec!["Updates=updated".parse().unwrap()]);
    clock.advance(Duration::from_secs(15));
    let exchanged = watch.poll(&mut client).exchanged;
    let [guid] = exchanged[..] else { panic!("{exchanged:?}") };
    watch.catalog.forget(guid);
    let counters = watch.kept.families.len();
    assert!(watch.poll(&mut client).exchanged.is_empty());
    assert!(watch.kept.families.len() > counters, "the new counters have families");
}
