//! Wanted countersets, from collection to collection: when a query is opened, kept, closed.

use std::time::Duration;

use counter_poll::{Client, FetchError, OpenQuery, Seen, SelectionPoller, Wanted, Which};
use counter_types::{NamePattern, PatternText};
use dcerpc::FaultStatus;
use test_support::future::now;
use wire::Guid;

use crate::host::{CallError, MemoryHost, client, client_and_model};
use crate::sink::{Indexes, RecordingSink};
use crate::watch_list::wanted;

/// From collection to collection.
const INTERVAL: Duration = Duration::from_secs(1);

/// A counter of `HTTP Service`.
const HTTP_COUNTER: &str = "UriCacheHits";

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
    /// When the next collection begins.
    at: Duration,
}

impl Source {
    fn new(client: Client<MemoryHost>, names: &[&str]) -> Self {
        Self::of(client, wanted(names))
    }

    fn of(client: Client<MemoryHost>, wanted: Vec<Wanted>) -> Self {
        let poller = SelectionPoller::new(wanted, None);
        Self { client, poller, query: None, kept: RecordingSink::default(), at: Duration::ZERO }
    }

    fn collect(&mut self) -> Result<Seen<String>, FetchError<CallError>> {
        let Self { client, poller, query, kept, at } = self;
        poller.begin(*at, kept);
        *at += INTERVAL;
        if poller.needs_enumeration() {
            poller.enumerated(now(client.enumerate_counter_set())?, None);
        }
        let data = match now(poller.fetch(client, query, kept)) {
            Ok(data) => Some(data),
            Err(FetchError::Missing) => None,
            Err(error) => return Err(error),
        };
        Ok(now(poller.emit(data.as_ref().zip(query.as_ref()), Ok(()), kept)))
    }

    /// Whether a counterset has series with values.
    fn shown(&self, counterset: &str) -> bool {
        let item = if counterset == "HTTP Service" { HTTP_COUNTER } else { "Temperature" };
        !self.kept.instances_of(item).is_empty()
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
    assert!(source.shown("Thermal Zone Information"));
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

/// How long the values of a counterset stay away after it has come back, which was away for `away`.
fn comes_back_after(away: Duration, was_there: bool) -> Duration {
    let (client, _clock, model) = client_and_model();
    let absent = || vec!["HTTP Service=absent".parse().unwrap()];
    model.replace_changes(if was_there { Vec::new() } else { absent() });
    let mut source = Source::new(client, &["HTTP Service", "Thermal Zone Information"]);
    assert_eq!(source.collect().unwrap().is_complete(), was_there);
    model.replace_changes(absent());
    let left = source.at;
    while source.at < left + away {
        assert!(!source.collect().unwrap().is_complete());
    }
    model.replace_changes(Vec::new());
    let back = source.at;
    while !source.collect().unwrap().is_complete() {
        assert!(source.at - back < Duration::from_secs(3_600), "it is never found");
    }
    source.at - back
}

#[test]
fn what_was_there_a_moment_ago_is_found_soon_after_it_is_back() {
    for (away_s, found_s) in [(1, 2), (8, 7), (60, 40), (600, 310), (7_200, 610)] {
        let found = comes_back_after(Duration::from_secs(away_s), true);
        assert!(found <= Duration::from_secs(found_s), "away for {away_s} s, found after {found:?}");
    }
}

#[test]
fn what_never_was_there_is_looked_for_after_a_minute_and_then_more_rarely() {
    for (away_s, found_s) in [(1, 62), (600, 310), (7_200, 610)] {
        let found = comes_back_after(Duration::from_secs(away_s), false);
        assert!(found <= Duration::from_secs(found_s), "away for {away_s} s, found after {found:?}");
    }
}

#[test]
fn a_host_is_not_searched_with_each_collection_for_what_it_never_had() {
    let (client, _clock, model) = client_and_model();
    model.replace_changes(vec!["HTTP Service=absent".parse().unwrap()]);
    let mut source = Source::new(client, &["HTTP Service", "Thermal Zone Information"]);
    (0..3_600).for_each(|_| assert!(!source.collect().unwrap().is_complete()));
    let searches = source.calls(ENUMERATE);
    assert!((8..=14).contains(&searches), "in an hour: {searches}");
}

#[test]
fn a_pattern_that_matches_nothing_is_no_failure_unless_it_must_match() {
    let pattern = |is_optional| Wanted {
        which: Which::Matching(NamePattern::new(&PatternText::Wildcard("MSSQL*".to_owned())).unwrap()),
        is_optional,
        ..wanted(&["MSSQL*"]).remove(0)
    };
    for is_optional in [true, false] {
        let all = [vec![pattern(is_optional)], wanted(&["Thermal Zone Information"])].concat();
        let seen = Source::of(client(), all).collect().unwrap();
        assert_eq!(seen.is_complete(), is_optional, "{seen:?}");
        let said = seen.missing.iter().chain(&seen.absent).map(ToString::to_string);
        let said: Vec<String> = said.collect();
        assert_eq!(said, ["the host has no counterset whose name matches `MSSQL*`"]);
    }
}

#[test]
fn an_optional_counterset_that_comes_and_goes_is_never_a_failure() {
    let (client, _clock, model) = client_and_model();
    let absent = || vec!["HTTP Service=absent".parse().unwrap()];
    let optional = wanted(&["HTTP Service"]).into_iter().map(|one| Wanted { is_optional: true, ..one });
    let all = optional.chain(wanted(&["Thermal Zone Information"])).collect();
    let mut source = Source::of(client, all);
    for round in 0..3 {
        for is_there in [true, false] {
            model.replace_changes(if is_there { Vec::new() } else { absent() });
            (0..5).for_each(|_| assert!(source.collect().unwrap().is_complete(), "round {round}"));
            let seen = source.collect().unwrap();
            assert_eq!((seen.is_complete(), seen.absent.is_empty()), (true, is_there), "{seen:?}");
            assert_eq!(source.shown("HTTP Service"), is_there, "round {round}");
        }
    }
}

#[test]
fn the_first_of_several_that_the_host_has_is_taken_and_only_that() {
    let (client, _clock, model) = client_and_model();
    let names = ["No Such Thing", "HTTP Service", "Thermal Zone Information"].map(str::to_owned);
    let choice = Wanted { which: Which::FirstOf(names.to_vec()), ..wanted(&["a choice"]).remove(0) };
    let mut source = Source::of(client, vec![choice]);
    let taken = |source: &Source| -> Vec<String> {
        source.poller.choices().map(|(_, taken)| taken.to_owned()).collect()
    };
    assert!(source.collect().unwrap().is_complete());
    assert_eq!(taken(&source), ["HTTP Service"]);
    assert!(!source.shown("Thermal Zone Information"));
    // The host changes to another one, and back.
    model.replace_changes(vec!["HTTP Service=absent".parse().unwrap()]);
    (0..3).for_each(|_| drop(source.collect().unwrap()));
    assert!(source.collect().unwrap().is_complete());
    assert_eq!(taken(&source), ["Thermal Zone Information"]);
    assert!(!source.shown("HTTP Service"));
    assert!(source.shown("Thermal Zone Information"));
    model.replace_changes(Vec::new());
    (0..700).for_each(|_| assert!(source.collect().unwrap().is_complete()));
    assert_eq!(taken(&source), ["HTTP Service"]);
    assert!(!source.shown("Thermal Zone Information"));
    // It has none of them.
    let absent = |name: &str| format!("{name}=absent").parse().unwrap();
    model.replace_changes(vec![absent("HTTP Service"), absent("Thermal Zone Information")]);
    (0..3).for_each(|_| drop(source.collect().unwrap()));
    let said = source.collect().unwrap().missing[0].to_string();
    assert_eq!(said, "the host has none of the countersets `a choice`");
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
    let said = now(source.poller.emit(None, Ok(()), &mut source.kept)).missing[0].to_string();
    assert!(said.contains("its registry is closed"), "{said}");
}
