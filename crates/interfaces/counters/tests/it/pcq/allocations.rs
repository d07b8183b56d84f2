//! Reading values takes no memory, however many there are.

use counters::pcq::perflibv2::methods::QueryCounterDataReply;
use counters::pcq::types::{CounterId, InstanceId};
use counters::pcq::wire::{InstanceInfo, QueryData, QueryDataWriter, RawValue};
use rpc::{FromStub, Message};
use wire::Win32Error;

use crate::pcq::fixture::{CLOCKS, buffer_reply};

#[test]
fn reading_a_reply_allocates_nothing() {
    let ids: Vec<CounterId> = (0..32).map(CounterId).collect();
    let values: Vec<RawValue<'_>> = (0..32).map(RawValue::U32).collect();
    let instances: Vec<InstanceInfo> =
        (0..64).map(|id| InstanceInfo { instance_id: InstanceId(id), name: format!("0,{id}") }).collect();
    let mut writer = QueryDataWriter::new(CLOCKS);
    writer.counter_set(&ids, instances.iter().map(|instance| (instance, &values))).unwrap();
    // A text among the numbers of an instance.
    let other = [RawValue::Other(b"t\0\0\0\0\0"), RawValue::U64(1)];
    writer.multi_counters(&ids[..2], &other).unwrap();
    let data = writer.finish().unwrap();
    let in_size = u32::try_from(data.len()).unwrap();
    let status = Win32Error::ERROR_SUCCESS;
    let stub = buffer_reply(in_size, in_size, &data, status).to_stub().unwrap();

    let (mut sum, mut texts) = (0, 0);
    let taken = allocation_counter::measure(|| {
        let reply = QueryCounterDataReply::from_stub(&stub).unwrap();
        for block in QueryData::parse(&reply.data.bytes).unwrap().blocks().flatten() {
            for value in block.instances().flat_map(|instance| instance.values) {
                sum += value.to_u64().unwrap_or(0);
                texts += u32::from(value.to_u64().is_none());
            }
        }
    });
    assert_eq!((sum, texts), (64 * (0..32).sum::<u64>() + 1, 1));
    assert_eq!(taken.count_total, 0);
}
