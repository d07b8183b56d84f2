//! Wanted countersets, from collection to collection: when a query is opened, kept, closed.

use counter_poll::{Client, FetchError, OpenQuery, Seen, SelectionPoller};
use dcerpc::FaultStatus;
use ms_dtyp::Guid;
use test_support::future::now;

use crate::host::{CallError, MemoryHost, client, client_and_model};
use crate::sink::{Indexes, RecordingSink};
use crate::watch_list::wanted;

const ENUMERATE: u16 = 0;
const OPEN_QUERY: u16 = 3;
const CLOSE_QUERY: u16 = 4;
const QUERY_DATA: u16 = 6;

/// One source over one connection.
struct Source {
    client: Client<MemoryHost>,
    poller: SelectionPoller<Indexes>,
    query: Option<OpenQuery>,
    kept: RecordingSink,
}

impl Source {
    fn new(client: Client<MemoryHost>, names: &[&str]) -> Self {
        let poller = SelectionPoller::new(wanted(names), None);
        Self { client, poller, query: None, kept: RecordingSink::default() }
    }

    fn collect(&mut self) -> Result<Seen<String>, FetchError<CallError>> {
        let Self { client, poller, query, kept } = self;
        poller.begin(kept);
        if poller.needs_enumeration() {
            poller.enumerated(now(client.enumerate_counter_set())?, None);
        }
        let data = match now(poller.fetch(client, query, kept)) {
            Ok(data) => Some(data),
            Err(FetchError::Missing) => None,
            Err(error) => return Err(error),
        };
        Ok(poller.emit(data.as_ref().zip(query.as_ref()), Ok(()), kept))
    }

    fn calls(&mut self, opnum: u16) -> usize {
        self.client.channel().calls.iter().filter(|called| **called == opnum).count()
    }
}

#[test]
fn a_collection_after_the_first_one_is_one_call() {
    let mut source = Source::new(client(), &["HTTP Service", "Thermal Zone Information"]);
    assert!(source.collect().unwrap().is_complete());
    source.client.channel().calls.clear();
    assert!(source.collect().unwrap().is_complete());
    assert_eq!(source.client.channel().calls, [QUERY_DATA]);
}

#[test]
fn other_wanted_countersets_take_another_query_and_end_the_series_of_the_first() {
    let mut source = Source::new(client(), &["HTTP Service"]);
    source.collect().unwrap();
    source.poller.select(wanted(&["Thermal Zone Information"]), None);
    assert!(source.collect().unwrap().is_complete());
    assert_eq!((source.calls(OPEN_QUERY), source.calls(CLOSE_QUERY)), (2, 1));
    let http = source.kept.series.iter().filter(|one| one.is_retired).count();
    assert!(http > 0);
    assert!(!source.kept.instances_of("Temperature").is_empty());
}

#[test]
fn a_query_with_which_a_call_fails_is_closed() {
    let mut source = Source::new(client(), &["HTTP Service"]);
    source.collect().unwrap();
    source.client.channel().fail(QUERY_DATA, CallError::Fault(FaultStatus::NCA_S_FAULT_UNSPEC));
    assert!(matches!(source.collect(), Err(FetchError::Call(_))));
    assert!(source.query.is_none());
    assert_eq!(source.calls(CLOSE_QUERY), 1);
    assert!(source.collect().unwrap().is_complete(), "by another query");
}

#[test]
fn what_is_missing_is_looked_for_again_now_and_then() {
    let (client, _clock, model) = client_and_model();
    model.replace_changes(vec!["HTTP Service=absent".parse().unwrap()]);
    let mut source = Source::new(client, &["HTTP Service", "Thermal Zone Information"]);
    assert!(!source.collect().unwrap().is_complete());
    model.replace_changes(Vec::new());
    let mut polls = 1;
    while !source.collect().unwrap().is_complete() {
        polls += 1;
        assert!(polls < 30, "it is never found");
    }
    assert_eq!(source.calls(ENUMERATE), 2);
    assert!(polls > 10, "not at once: {polls}");
}

#[test]
fn a_host_that_has_nothing_of_what_is_wanted_says_why() {
    let mut source = Source::new(client(), &["HTTP Servise"]);
    let said = source.collect().unwrap().missing[0].to_string();
    assert_eq!(said, "the host has no counterset `HTTP Servise`; did you mean `HTTP Service`?");
    // More than the host can list: then nobody knows.
    source.poller.lose_connection();
    source.poller.enumerated(vec![Guid::from_u128(7)], Some("its registry is closed".to_owned()));
    let fetched = now(source.poller.fetch(&mut source.client, &mut source.query, &mut source.kept));
    assert!(matches!(fetched, Err(FetchError::Missing)));
    let said = source.poller.emit(None, Ok(()), &mut source.kept).missing[0].to_string();
    assert!(said.contains("its registry is closed"), "{said}");
}
