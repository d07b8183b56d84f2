//! Which block belongs to which identifier: by what the server lists, and never by a guess.

use counters::pcq::perflibv2::{BlockMapping, MappingProblem};
use counters::pcq::types::{CounterId, InstanceId};
use counters::pcq::wire::CounterIdentifier;
use wire::Guid;

fn set(n: u128) -> CounterIdentifier {
    CounterIdentifier::all_instances(Guid::from_u128(n))
}

fn at(index: u32, identifier: CounterIdentifier) -> CounterIdentifier {
    CounterIdentifier { index, ..identifier }
}

/// By block: which identifier.
fn identifiers(mapping: &BlockMapping, blocks: u32) -> Vec<Option<usize>> {
    (0..blocks).map(|block| mapping.identifier_of(block)).collect()
}

#[test]
fn blocks_are_found_by_the_listed_index_whatever_the_order() {
    let added = [set(1), set(2), set(3)];
    let listed = [at(2, set(2)), at(0, set(3)), at(1, set(1))];
    let mapping = BlockMapping::new(&added, &listed);
    assert_eq!(identifiers(&mapping, 4), [Some(2), Some(0), Some(1), None]);
    assert_eq!(mapping.problems(), []);
    assert_eq!(mapping.check_count(3), Ok(()));
    let mismatch = mapping.check_count(2).unwrap_err().to_string();
    assert!(mismatch.starts_with("the data have 2 blocks where 3 were asked for"), "{mismatch}");
}

#[test]
fn identifiers_of_one_counterset_are_told_apart_by_counter_instance_and_name() {
    let named = |name: &str| CounterIdentifier { instance_name: Some(name.to_owned()), ..set(1) };
    let numbered = |id| CounterIdentifier { instance_id: InstanceId(id), ..named("a") };
    let counter = |id| CounterIdentifier { counter_id: CounterId(id), ..named("a") };
    let added = [named("a"), numbered(1), numbered(2), counter(1), counter(2), named("b")];
    let listed: Vec<_> = (0..).zip(added.iter().rev()).map(|(index, one)| at(index, one.clone())).collect();
    let mapping = BlockMapping::new(&added, &listed);
    assert_eq!(identifiers(&mapping, 6), [5, 4, 3, 2, 1, 0].map(Some));
}

#[test]
fn an_identifier_is_found_although_the_server_writes_it_in_its_own_way() {
    let single = CounterIdentifier::single_instance(Guid::from_u128(1));
    let zero = CounterIdentifier { instance_id: InstanceId(0), ..single.clone() };
    let empty = CounterIdentifier { instance_name: Some(String::new()), ..single.clone() };
    let other = CounterIdentifier { instance_name: Some("all".to_owned()), ..single.clone() };
    for listed in [zero, empty, other] {
        let mapping = BlockMapping::new(&[set(2), single.clone()], &[at(1, listed), at(0, set(2))]);
        assert_eq!(identifiers(&mapping, 2), [Some(0), Some(1)]);
    }
    let shouted = CounterIdentifier { instance_name: Some("_TOTAL".to_owned()), ..set(1) };
    let meant = CounterIdentifier { instance_name: Some("_Total".to_owned()), ..set(1) };
    let mapping = BlockMapping::new(&[set(1), meant], &[at(0, shouted), at(1, set(1))]);
    assert_eq!(identifiers(&mapping, 2), [Some(1), Some(0)]);
}

#[test]
fn two_blocks_of_one_index_belong_to_nobody_and_the_others_to_whom_they_belong() {
    let added = [set(1), set(2), set(3)];
    let mapping = BlockMapping::new(&added, &[at(0, set(1)), at(0, set(2)), at(2, set(3))]);
    assert_eq!(identifiers(&mapping, 3), [None, None, Some(2)]);
    let problem = MappingProblem::SharedIndex(0);
    assert_eq!(mapping.problems(), [(0, problem), (1, problem)]);
    // Index as it was sent, for all of them.
    let mapping = BlockMapping::new(&added, &added);
    assert!(mapping.is_empty());
    assert_eq!(mapping.problems().len(), 3);
    assert!(mapping.problems()[0].1.to_string().contains("at place 0 of its data"));
}

#[test]
fn indexes_that_are_no_places_are_not_believed() {
    let added = [set(1), set(2)];
    // As if the server counted from 1: the first block would be that of the second.
    let mapping = BlockMapping::new(&added, &[at(1, set(1)), at(2, set(2))]);
    assert!(mapping.is_empty());
    assert_eq!(mapping.problems(), [(0, MappingProblem::NoPlaces(2)), (1, MappingProblem::NoPlaces(2))]);
    assert!(BlockMapping::new(&added[..1], &[at(u32::MAX, set(1))]).is_empty());
}

#[test]
fn what_is_not_listed_or_listed_twice_has_no_block() {
    let mapping = BlockMapping::new(&[set(1), set(2)], &[at(0, set(1))]);
    assert_eq!(identifiers(&mapping, 1), [Some(0)]);
    assert_eq!(mapping.problems(), [(1, MappingProblem::NotListed)]);
    let mapping = BlockMapping::new(&[set(1)], &[at(0, set(1)), at(1, set(1))]);
    assert_eq!(mapping.problems(), [(0, MappingProblem::NotListed)]);
    assert_eq!(identifiers(&BlockMapping::single(), 2), [Some(0), None]);
}
