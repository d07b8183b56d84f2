//! Whatever a host chooses where documents leave it open, the same metrics come out.

use std::time::Duration;

use serde_json::Value as Json;
use test_support::pairs::all_pairs;
use test_support::perflib::Gaps;
use windows_sim::choices::{
    AggregateIdentifiers, BlockOrder, BlockPadding, Choices, IdListPadding, IndexAnswer, OddAnswer,
    PaddingBytes, RefusedCodes, SmallBuffer, StringOffsets,
};

use crate::commands::run;
use crate::orchard::{UNWATCHED, WATCHED, host, read_again, settings};
use crate::world::Plugin;

/// How many answers each question has, in the order of [`choices`].
const COUNTS: [usize; 10] = [
    IndexAnswer::ALL.len(),
    BlockOrder::ALL.len(),
    IdListPadding::ALL.len(),
    BlockPadding::ALL.len(),
    PaddingBytes::ALL.len(),
    StringOffsets::ALL.len(),
    SmallBuffer::ALL.len(),
    RefusedCodes::ALL.len(),
    AggregateIdentifiers::ALL.len(),
    OddAnswer::ALL.len(),
];

fn choices(row: &[usize]) -> Choices {
    Choices {
        index: IndexAnswer::ALL[row[0]],
        block_order: BlockOrder::ALL[row[1]],
        id_list_padding: IdListPadding::ALL[row[2]],
        block_padding: BlockPadding::ALL[row[3]],
        padding_bytes: PaddingBytes::ALL[row[4]],
        string_offsets: StringOffsets::ALL[row[5]],
        small_buffer: SmallBuffer::ALL[row[6]],
        refused_codes: RefusedCodes::ALL[row[7]],
        aggregate_identifiers: AggregateIdentifiers::ALL[row[8]],
        odd_answer: OddAnswer::ALL[row[9]],
        odd_counterset: Some(UNWATCHED.to_owned()),
        hanging_counterset: None,
        ..Choices::default()
    }
}

/// What the plugin makes of a host: two collections a minute apart, and what `discover` finds.
#[derive(Debug, PartialEq)]
struct Seen {
    first: Vec<String>,
    second: Vec<String>,
    discovered: Vec<Json>,
}

/// Does the plugin's main job with a host that chooses so. Each collection is compared with what the second reader finds
/// in the same bytes.
fn seen(plugin: &Plugin, choices: &Choices) -> Seen {
    let sim = host();
    sim.choose(|current| current.clone_from(choices));
    // Each kind of buffer is too small once.
    sim.rules(&["1.10x1=grow:50", "1.9x1=grow:50", "5x1=grow:50", "6x1=grow:50"]);
    let gaps = Gaps {
        id_lists: choices.id_list_padding == IdListPadding::Uncounted,
        blocks: choices.block_padding == BlockPadding::Uncounted,
    };
    sim.host.take_calls();
    let watch = plugin.watch(&sim, settings(&WATCHED));
    let first = watch.full().series();
    let calls = sim.host.take_calls();
    // Where neither form of an identifier had data, two would be on the way; the last data are those that are shown.
    assert_eq!(first, read_again(&calls, gaps), "{choices:?}");
    sim.clock.advance(Duration::from_secs(60));
    let second = watch.full().series();
    let again = sim.host.take_calls();
    assert_eq!(again.iter().map(|call| call.opnum).collect::<Vec<_>>(), [6], "{choices:?}");
    assert_eq!(second, read_again(&[calls, again].concat(), gaps), "{choices:?}");
    assert_eq!(sim.connections(), 1, "{choices:?}");
    let ran = run(plugin, &sim, "discover", &["--format", "json"]);
    assert_eq!(ran.code, 0, "{choices:?}: {}", ran.err);
    Seen { first, second, discovered: watched(&ran.out) }
}

/// Names, identifiers and counters of the watched countersets. The instance type is not told where code 1 is refused.
fn watched(discovered: &str) -> Vec<Json> {
    let all: Json = serde_json::from_str(discovered).unwrap();
    let found = all["countersets"].as_array().unwrap().iter();
    let of = |set: &Json| {
        let counters = set["counters"].as_array().unwrap().iter();
        let counters: Vec<Json> = counters
            .map(|counter| {
                serde_json::json!([counter["id"], counter["name"], counter["type"], counter["help"]])
            })
            .collect();
        serde_json::json!([set["name"], set["guid"], counters])
    };
    found.filter(|set| WATCHED.iter().any(|name| set["name"] == *name)).map(of).collect()
}

/// A full cross product has some 60,000 combinations of a tenth of a second each, so all pairs are tried; the questions
/// that meet in one reply are tried in full by the simulator's own tests.
#[test]
fn the_same_metrics_come_out_whatever_the_host_chooses() {
    let plugin = Plugin::new();
    let rows = all_pairs(&COUNTS);
    assert!(rows.len() >= 35, "there are {} rows", rows.len());
    let expected = seen(&plugin, &choices(&rows[0]));
    assert_eq!((expected.first.len(), expected.discovered.len()), (35, 4));
    assert_ne!(expected.first, expected.second, "the values have changed");
    for row in &rows[1..] {
        let choices = choices(row);
        assert_eq!(seen(&plugin, &choices), expected, "{choices:?}");
    }
}
