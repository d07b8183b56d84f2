//! Hosts that do what documents allow and few servers show, one behaviour at a time. None of it costs a value, and where
//! values cannot be told apart for certain, none of them is shown and the collection says why.

use std::sync::Arc;
use std::time::Duration;

use plugin_abi::Stage;
use test_support::perflib::Gaps;
use windows_sim::choices::{
    AggregateIdentifiers, BlockOrder, BlockPadding, Choices, IdListPadding, IndexAnswer, OddAnswer,
    PaddingBytes, RefusedCodes, StringOffsets,
};
use windows_sim::model::{self, Clock, ValueSource};

use crate::orchard::{UNWATCHED, WATCHED, host, read_again, settings};
use crate::world::{NOON, Plugin, SimHost, all_calls, countersets};

/// Collects from a host that chooses so, and compares with what the second reader finds in the same bytes.
#[track_caller]
fn check(choose: impl Fn(&mut Choices), gaps: Gaps) -> SimHost {
    let (sim, plugin) = (host(), Plugin::new());
    sim.choose(choose);
    sim.host.take_calls();
    let series = plugin.watch(&sim, settings(&WATCHED)).full().series();
    assert_eq!(series, read_again(&sim.host.take_calls(), gaps));
    // Three of one instance, five of three, four of two, three of three.
    assert_eq!(series.len(), 3 + 15 + 8 + 9);
    sim
}

#[test]
fn a_host_that_leaves_the_index_as_it_was_sent_is_asked_for_it() {
    for block_order in [BlockOrder::Grouped, BlockOrder::AsAdded] {
        let sim = check(
            |choices| *choices = Choices { index: IndexAnswer::Untouched, block_order, ..Choices::default() },
            Gaps::default(),
        );
        // One that fills it in is not believed either: the question costs one call a query.
        assert_eq!((sim.calls(3), sim.calls(5), sim.calls(6)), (1, 1, 1));
    }
    check(|choices| choices.index = IndexAnswer::Filled, Gaps::default());
}

#[test]
fn the_steady_state_is_one_call_all_the_same() {
    let (sim, plugin) = (host(), Plugin::new());
    let watch = plugin.watch(&sim, settings(&WATCHED));
    watch.full();
    for _ in 0..3 {
        let before = all_calls(&sim);
        watch.full();
        assert_eq!(all_calls(&sim), before + 1);
    }
}

#[test]
fn an_id_list_without_padding_and_nothing_after_it_is_read() {
    check(|choices| choices.id_list_padding = IdListPadding::None, Gaps::default());
}

#[test]
fn an_id_list_with_padding_that_its_size_counts_or_does_not_is_read() {
    check(|choices| choices.id_list_padding = IdListPadding::Counted, Gaps::default());
    let gaps = Gaps { id_lists: true, ..Gaps::default() };
    for bytes in [PaddingBytes::Zeros, PaddingBytes::Noise] {
        let choose = |choices: &mut Choices| {
            choices.id_list_padding = IdListPadding::Uncounted;
            choices.padding_bytes = bytes;
        };
        check(choose, gaps);
    }
}

#[test]
fn blocks_without_padding_are_read() {
    check(|choices| choices.block_padding = BlockPadding::None, Gaps::default());
    let gaps = Gaps { blocks: true, ..Gaps::default() };
    check(|choices| choices.block_padding = BlockPadding::Uncounted, gaps);
}

#[test]
fn text_offsets_from_the_end_of_the_headers_are_read() {
    check(|choices| choices.string_offsets = StringOffsets::FromEndOfHeaders, Gaps::default());
}

#[track_caller]
fn check_odd(answer: OddAnswer) {
    let choose = |choices: &mut Choices| {
        choices.odd_counterset = Some(UNWATCHED.to_owned());
        choices.odd_answer = answer;
    };
    let sim = check(choose, Gaps::default());
    assert_eq!(sim.connections(), 1, "{answer:?}");
    // Whoever watches it as well loses it alone, and where it has a name of its own, nothing.
    let plugin = Plugin::new();
    let ended = plugin.watch(&sim, settings(&["Beta", UNWATCHED])).collect();
    if answer == OddAnswer::UnterminatedName {
        assert!(ended.series().iter().any(|line| line.starts_with("Omega|Clouds|")));
    } else {
        let (objects, failure) = ended.partial();
        assert_eq!(objects, ["Beta"], "{answer:?}");
        assert!(failure.message.starts_with("the host has no counterset `Omega`"), "{failure}");
        assert!(failure.message.contains("whose names it does not tell"), "{failure}");
    }
    assert_eq!(sim.connections(), 2, "{answer:?}");
}

#[test]
fn an_empty_or_unterminated_name_costs_its_counterset_alone() {
    check_odd(OddAnswer::EmptyName);
    check_odd(OddAnswer::LoneNul);
    check_odd(OddAnswer::UnterminatedName);
}

#[test]
fn a_status_to_each_question_about_a_counterset_costs_it_alone() {
    check_odd(OddAnswer::Status);
}

#[test]
fn a_fault_for_a_counterset_costs_it_alone_and_not_the_connection() {
    check_odd(OddAnswer::Fault);
}

#[test]
fn a_stub_that_ends_too_early_costs_its_counterset_alone() {
    check_odd(OddAnswer::TruncatedStub);
}

#[test]
fn a_counterset_without_a_name_is_found_by_its_guid() {
    let (sim, plugin) = (host(), Plugin::new());
    sim.choose(|choices| {
        choices.odd_counterset = Some("Beta".to_owned());
        choices.odd_answer = OddAnswer::EmptyName;
    });
    let guid = "7d1e0005-5a0e-4d0c-9a1f-3b7e6d0f2b00";
    let watch = plugin.watch(&sim, serde_json::json!({"countersets": [{"guid": guid}]}));
    let series = watch.full().series();
    assert_eq!(series.len(), 15);
    assert!(series.iter().all(|line| line.starts_with(&format!("counterset_{guid}|"))), "{series:?}");
}

#[test]
fn blocks_that_share_one_index_are_not_shown_and_the_collection_says_why() {
    let (sim, plugin) = (host(), Plugin::new());
    sim.rule("5=corrupt:index");
    let ended = plugin.watch(&sim, settings(&WATCHED)).collect();
    let (stage, reason, message) = ended.failed();
    assert_eq!((stage, reason), (Stage::Decode, "malformed_reply"));
    assert!(
        message.starts_with(
            "countersets `Alpha`, `Beta`, `Gamma`, `Delta`: the host says that these values and others are at place 0"
        ),
        "{message}"
    );
    assert!(ended.series().is_empty());
    assert_eq!(sim.calls(6), 0, "nothing is fetched that could not be told apart");
    // A counterset alone is at no other place.
    assert_eq!(plugin.watch(&sim, settings(&["Beta"])).full().series().len(), 15);
}

#[test]
fn data_with_a_block_less_than_was_asked_for_are_not_shown() {
    let (sim, plugin) = (host(), Plugin::new());
    let watch = plugin.watch(&sim, settings(&WATCHED));
    let before = watch.full().series();
    sim.rule("6x1=corrupt:block-count");
    let ended = watch.collect();
    let (stage, reason, message) = ended.failed();
    assert_eq!((stage, reason), (Stage::Decode, "malformed_reply"));
    assert!(message.contains("the data have 3 blocks where 4 were asked for"), "{message}");
    assert_eq!(watch.full().series(), before);
}

#[test]
fn an_aggregate_counterset_without_data_is_asked_for_in_the_other_form_once() {
    let (sim, plugin) = (host(), Plugin::new());
    sim.choose(|choices| choices.aggregate_identifiers = AggregateIdentifiers::NamedElseNoData);
    let watch = plugin.watch(&sim, settings(&["Beta", "Delta"]));
    assert_eq!(watch.full().series().len(), 15 + 9);
    assert_eq!(sim.calls(3), 2, "the second query has the other form");
    let before = all_calls(&sim);
    watch.full();
    assert_eq!(all_calls(&sim), before + 1);
    // It is remembered for as long as the host is the same.
    sim.host.stop_service();
    assert_eq!(watch.full().series().len(), 15 + 9);
    assert_eq!(sim.calls(3), 3);
}

#[test]
fn an_aggregate_counterset_that_is_refused_in_one_form_is_taken_in_the_other() {
    let (sim, plugin) = (host(), Plugin::new());
    sim.choose(|choices| choices.aggregate_identifiers = AggregateIdentifiers::Named);
    let watch = plugin.watch(&sim, settings(&["Beta", "Delta"]));
    assert_eq!(watch.full().series().len(), 15 + 9);
    assert_eq!((sim.calls(3), sim.calls(7)), (1, 2));
    sim.host.stop_service();
    watch.full();
    assert_eq!((sim.calls(3), sim.calls(7)), (2, 3), "it is remembered");
}

#[test]
fn an_aggregate_counterset_without_instances_costs_the_steady_state_nothing_and_is_found_when_they_come() {
    for form in [AggregateIdentifiers::NamelessElseNoData, AggregateIdentifiers::NamedElseNoData] {
        let clock = Clock::manual(NOON);
        let model = Arc::new(model::Host::new(crate::world::at_noon(&clock)));
        model.replace_changes(vec!["Workers Together=error:232".parse().unwrap()]);
        let source: Arc<dyn ValueSource> = Arc::<model::Host>::clone(&model);
        let (sim, plugin) = (SimHost::with_source(source, clock), Plugin::new());
        sim.choose(|choices| choices.aggregate_identifiers = form);
        let watch = plugin.watch(&sim, countersets(&["Workers Together", "HTTP Service"]));
        // No instance is no failure.
        assert_eq!(watch.full().series().len(), 6);
        watch.full();
        let before = all_calls(&sim);
        watch.full();
        assert_eq!(all_calls(&sim), before + 1, "{form:?}");
        model.replace_changes(Vec::new());
        plugin.advance(Duration::from_secs(61));
        let comes = (0..2).position(|_| watch.full().series().len() > 6);
        assert!(comes.is_some(), "{form:?}");
    }
}

#[test]
fn counters_that_are_asked_for_one_by_one_go_on_where_a_deadline_cut_them_off() {
    let (sim, plugin) = (host(), Plugin::new());
    sim.choose(|choices| choices.refused_codes = RefusedCodes::Counterset);
    let watch = plugin.watch(&sim, settings(&["Beta"]));
    sim.rule("1.2+3x1=stall");
    let ended = watch.collect_within(Duration::from_millis(1_500));
    assert_eq!(ended.failed().1, "timeout");
    sim.heal();
    sim.host.take_calls();
    assert_eq!(watch.full().series().len(), 15);
    // The request code comes before the LCID and the size.
    let is_for_one = |call: &&windows_sim::RecordedCall| {
        call.opnum == 1 && call.request[call.request.len() - 12..][..4] == 2_u32.to_le_bytes()
    };
    assert_eq!(sim.host.take_calls().iter().filter(is_for_one).count(), 2, "three of five were known");
}
