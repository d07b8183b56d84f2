//! What a host chooses about its data, in all combinations: our decoder and a second reader, which knows nothing of it,
//! find the same values in the same bytes.

use core::future::{Future, ready};
use std::collections::HashSet;
use std::sync::Arc;

use counters::pcq::perflibv2::{BlockMapping, CallInfo, Change, CounterData, PerflibV2Client};
use counters::pcq::types::CounterId;
use counters::pcq::wire::{Body, CounterIdentifier, RawValue};
use dcerpc::{AuthLevel, Channel, FaultStatus};
use test_support::future::now;
use test_support::perflib::{Gaps, RawValue as Published, read};
use windows_sim::choices::{
    BlockOrder, BlockPadding, Choices, IdListPadding, IndexAnswer, PaddingBytes, SmallBuffer,
};
use windows_sim::model::{Clock, ValueSource};
use windows_sim::service::pcq::PerflibService;
use wire::Guid;

use crate::host::{NOON, model};

/// Leads to a service in memory.
struct Loop(PerflibService);

impl Channel for Loop {
    type Error = FaultStatus;

    fn call(
        &mut self,
        opnum: u16,
        _object: Option<Guid>,
        stub: &[u8],
    ) -> impl Future<Output = Result<Vec<u8>, FaultStatus>> + Send {
        ready(self.0.execute(CallInfo { auth_level: AuthLevel::PKT_PRIVACY, object: None }, opnum, stub))
    }
}

/// All countersets by wildcard, and of one of them a counter, an instance, and an instance that is not there.
fn identifiers(source: &dyn ValueSource) -> Vec<CounterIdentifier> {
    let sets = source.countersets();
    let all = sets.iter().map(|set| match set.has_instances() {
        true => CounterIdentifier::all_instances(set.guid),
        false => CounterIdentifier::single_instance(set.guid),
    });
    let processors = CounterIdentifier::all_instances(sets[0].guid);
    let named = |name: &str| Some(name.to_owned());
    let more = [
        CounterIdentifier { counter_id: CounterId(0), ..processors.clone() },
        CounterIdentifier { instance_name: named("0,1"), ..processors.clone() },
        CounterIdentifier { instance_name: named("none"), ..processors },
    ];
    // Last in, first out, where the host sorts by counterset.
    all.rev().chain(more).collect()
}

/// The values that our decoder finds, as the second reader says them.
fn decoded(asked: &[CounterIdentifier], listed: &[CounterIdentifier], data: &CounterData) -> Vec<Published> {
    let mapping = BlockMapping::new(asked, listed);
    assert_eq!(mapping.problems(), []);
    let mut values = Vec::new();
    for block in data.data().blocks().map(Result::unwrap) {
        let identifier = &asked[mapping.identifier_of(block.index).unwrap()];
        let mut ids: Vec<CounterId> = block.counters().ids().collect();
        if ids.is_empty() {
            ids.push(identifier.counter_id);
        }
        for instance in block.instances() {
            // The second reader gives an instance that the block does not name the name that was asked for.
            let name = match block.body {
                Body::MultiCounters { .. } => identifier.instance_name.clone().unwrap_or_default(),
                _ => instance.name.to_string(),
            };
            values.extend(ids.iter().zip(instance.values).map(|(id, value)| Published {
                set: identifier.counter_set_guid.to_bytes(),
                instance: name.clone(),
                instance_id: instance.instance_id.0,
                counter_id: id.0,
                bytes: match value {
                    RawValue::U32(value) => value.to_le_bytes().to_vec(),
                    RawValue::U64(value) => value.to_le_bytes().to_vec(),
                    RawValue::Other(bytes) => bytes.to_vec(),
                },
            }));
        }
    }
    values.sort();
    values
}

/// Everything that a host can choose about its data. How it says that a buffer is too small goes round.
fn all_choices() -> Vec<Choices> {
    let mut all = vec![Choices::default()];
    let each = |all: Vec<Choices>, change: &dyn Fn(&Choices) -> Vec<Choices>| -> Vec<Choices> {
        all.iter().flat_map(change).collect()
    };
    macro_rules! question {
        ($field:ident, $answers:ident) => {
            all = each(all, &|one| {
                $answers::ALL.iter().map(|answer| Choices { $field: *answer, ..one.clone() }).collect()
            });
        };
    }
    question!(index, IndexAnswer);
    question!(block_order, BlockOrder);
    question!(id_list_padding, IdListPadding);
    question!(block_padding, BlockPadding);
    question!(padding_bytes, PaddingBytes);
    let statuses = SmallBuffer::ALL.iter().cycle();
    all.into_iter().zip(statuses).map(|(one, status)| Choices { small_buffer: *status, ..one }).collect()
}

/// What both readers find in a reply of a host that chooses so, and its bytes.
fn both(source: &Arc<dyn ValueSource>, choices: &Choices) -> (Vec<Published>, Vec<Published>, Vec<u8>) {
    let asked = identifiers(&**source);
    let mut service = PerflibService::new(Arc::clone(source));
    service.choose(choices.clone());
    let mut client = PerflibV2Client::new(Loop(service), "web1");
    let mut query = now(client.open_query_handle()).unwrap();
    let added = now(client.validate_counters(&query, &asked, Change::Add)).unwrap();
    assert!(added.iter().all(|one| one.status.is_success()));
    let listed = now(client.query_counter_info(&query)).unwrap();
    let data = now(client.query_counter_data(&mut query)).unwrap();
    let ours = decoded(&asked, &listed, &data);
    let gaps = Gaps {
        id_lists: choices.id_list_padding == IdListPadding::Uncounted,
        blocks: choices.block_padding == BlockPadding::Uncounted,
    };
    let theirs = read(&CounterIdentifier::encode_list(&listed).unwrap(), data.bytes(), gaps);
    (ours, theirs, data.bytes().to_vec())
}

#[test]
fn two_readers_find_the_same_values_in_every_layout() {
    let source: Arc<dyn ValueSource> = Arc::new(model(&Clock::manual(NOON)));
    let all = all_choices();
    assert_eq!(all.len(), 2 * 2 * 3 * 3 * 2);
    let (expected, ..) = both(&source, &all[0]);
    assert!(expected.len() > 1000, "{} values", expected.len());
    let mut replies = HashSet::new();
    for choices in &all {
        let (ours, theirs, bytes) = both(&source, choices);
        assert_eq!(ours, theirs, "{choices:?}");
        assert_eq!(ours, expected, "{choices:?}");
        replies.insert(bytes);
    }
    // In each order: lists with padding make whole blocks, with two kinds of bytes each; and of those without, blocks
    // have padding of two kinds that is counted or not, or none.
    assert_eq!(replies.len(), 2 * (2 + 2 + 2 * 2 + 1));
}
