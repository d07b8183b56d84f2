//! Laws of `counters::pcq`.

mod blocks;
mod calls;
mod conversation;
mod plain;

use counters::pcq::perflibv2::{Change, PerflibV2Service, RegistrationInfo, RegistrationRequest};
use counters::pcq::types::{CounterId, CounterType, DetailLevel, InstanceId, InstanceType, QueryHandle};
use counters::pcq::wire::{
    Block, Body, Clocks, CounterIdentifier, CounterRegInfo, CounterSetRegInfo, CounterSetRegistration,
    CounterStrings, InstanceInfo, Layout, QueryData, QueryDataWriter, RawValue,
};
use wire::{FileTime, Guid, Win32Error};

pub use self::blocks::{blocks, lists};
pub use self::calls::{requests, responses};
pub(crate) use self::conversation::honest_conversation;
pub use self::conversation::{conversation, registration};

use super::input::Input;
use super::law::is_inside;

/// The buffer of `PerflibV2QueryCounterData`: everything in it lies in it, each instance has all of its values, and
/// what is written from it reads the same.
pub fn query_data(bytes: &[u8]) {
    let bytes = Input::new(bytes).rest();
    let Ok(data) = QueryData::parse(bytes) else { return };
    assert!(data.blocks().count() <= usize::try_from(data.header().num_counters).unwrap_or(0));
    let blocks: Vec<Block<'_>> = data.blocks().flatten().collect();
    assert!(blocks.is_sorted_by(|one, next| one.index < next.index));
    let mut read_until = bytes.as_ptr();
    blocks.iter().for_each(|block| read_until = check_inside(bytes, block, read_until));
    let again = QueryData::parse(bytes).expect("it was read");
    assert!(
        again.blocks().flatten().map(|block| content(&block)).eq(blocks.iter().map(content)),
        "the same again"
    );
    // What this reply proves does not change what is read in it.
    let mut layout = Layout::default();
    for _ in 0..2 {
        let again = QueryData::parse_with(bytes, &mut layout).expect("it was read");
        assert!(again.blocks().flatten().map(|block| content(&block)).eq(blocks.iter().map(content)));
    }
    let rewritten = rewrite(&data, &blocks);
    let again = QueryData::parse(&rewritten).expect("what was written can be read");
    assert_eq!(again.header().perf_time_100ns, data.header().perf_time_100ns);
    let mut read = 0;
    for (block, original) in again.blocks().zip(&blocks) {
        let block = block.expect("what was written can be read");
        assert_eq!(content(&block), content(original));
        read += 1;
    }
    assert_eq!(read, blocks.len());
}

/// Looks at a block whose bytes begin at `read_until` or after it, and answers where the last of them was: no byte is
/// part of two names or values.
fn check_inside(bytes: &[u8], block: &Block<'_>, mut read_until: *const u8) -> *const u8 {
    let mut take = |slice: &[u8]| {
        assert!(is_inside(bytes, slice));
        if !slice.is_empty() {
            assert!(slice.as_ptr() >= read_until, "it overlaps what was read before");
            read_until = slice.as_ptr_range().end;
        }
    };
    let counters = block.counters().len();
    assert_eq!(block.counters().ids().count(), counters);
    let expected = match block.body {
        Body::SingleCounter(_) | Body::MultiInstances(_) => 1,
        _ => counters,
    };
    let announced = block.instances().len();
    let mut instances = 0;
    for instance in block.instances() {
        take(instance.name.as_bytes());
        assert_eq!(instance.values.len(), expected);
        let mut values = 0;
        for value in instance.values {
            if let RawValue::Other(slice) = value {
                take(slice);
            }
            values += 1;
        }
        assert_eq!(values, expected, "each instance has all of its values");
        instances += 1;
    }
    assert_eq!(instances, announced, "no instance is lost on the way");
    read_until
}

/// What a reader takes from a block.
type Content<'a> = (Vec<CounterId>, Vec<(InstanceId, String, Vec<RawValue<'a>>)>);

fn content<'a>(block: &Block<'a>) -> Content<'a> {
    let instances = block.instances();
    let instances = instances.map(|one| (one.instance_id, one.name.to_string(), one.values.collect()));
    (block.counters().ids().collect(), instances.collect())
}

fn rewrite(data: &QueryData<'_>, blocks: &[Block<'_>]) -> Vec<u8> {
    let header = data.header();
    let mut writer = QueryDataWriter::new(Clocks {
        perf_time_stamp: header.perf_time_stamp,
        perf_freq: header.perf_freq,
        perf_time_100ns: header.perf_time_100ns,
    });
    for block in blocks {
        let (counters, instances) = content(block);
        let named: Vec<(InstanceInfo, Vec<RawValue<'_>>)> = instances
            .into_iter()
            .map(|(instance_id, name, values)| (InstanceInfo { instance_id, name }, values))
            .collect();
        let named = named.iter().map(|(instance, values)| (instance, values));
        match &block.body {
            Body::ErrorReturn | Body::Unknown(_) => writer.error_return(Win32Error::ERROR_NO_DATA),
            Body::SingleCounter(value) => writer.single_counter(*value),
            Body::MultiCounters { values, .. } => {
                writer.multi_counters(&counters, &values.clone().collect::<Vec<_>>())
            }
            Body::MultiInstances(_) => {
                writer.multi_instances(named.map(|(instance, values)| (instance, values[0])))
            }
            Body::CounterSet { .. } => writer.counter_set(&counters, named),
        }
        .expect("what was read can be written");
    }
    writer.finish().expect("it is no longer than what was read, but for padding")
}

pub(crate) const SET: Guid = Guid::from_u128(0xb4fc721a_0378_476f_89ba_a5a79f810b36);
pub(crate) const HANDLE: QueryHandle =
    QueryHandle { attributes: 0, uuid: Guid::from_u128(0x01020304_0506_0708_090a_0b0c0d0e0f10) };

/// Counters that a query may have.
const IDENTIFIERS_MAX: usize = 64;

/// A counterset with two counters and two instances, and one query with a name that an input can know.
#[derive(Debug, Default)]
pub(crate) struct Service {
    open: bool,
    identifiers: Vec<CounterIdentifier>,
}

fn known(set: Guid) -> Result<(), Win32Error> {
    if set == SET { Ok(()) } else { Err(Win32Error::ERROR_WMI_GUID_NOT_FOUND) }
}

fn instances() -> Vec<InstanceInfo> {
    let instance = |id, name: &str| InstanceInfo { instance_id: InstanceId(id), name: name.to_owned() };
    vec![instance(0, "0,0"), instance(1, "_Total")]
}

impl PerflibV2Service for Service {
    fn enumerate_counter_set(&mut self, _machine: &str) -> Result<Vec<Guid>, Win32Error> {
        Ok(vec![SET])
    }

    fn query_counter_set_registration_info(
        &mut self,
        _machine: &str,
        set: Guid,
        request: RegistrationRequest,
    ) -> Result<RegistrationInfo, Win32Error> {
        known(set)?;
        let counter = |id| CounterRegInfo::new(CounterId(id), CounterType::PERF_COUNTER_BULK_COUNT);
        Ok(match request {
            RegistrationRequest::CounterSet => RegistrationInfo::CounterSet(CounterSetRegistration {
                info: CounterSetRegInfo {
                    counter_set_guid: set,
                    detail_level: DetailLevel::NOVICE,
                    num_counters: 2,
                    instance_type: InstanceType::MULTIPLE,
                },
                counters: vec![counter(1), counter(2)],
            }),
            RegistrationRequest::Counter(id) if id.0 <= 2 => RegistrationInfo::Counter(counter(id.0)),
            RegistrationRequest::Counter(_) => return Err(Win32Error::ERROR_WMI_ITEMID_NOT_FOUND),
            RegistrationRequest::CounterNames(_)
            | RegistrationRequest::CounterHelps(_)
            | RegistrationRequest::EnglishCounterNames => RegistrationInfo::Strings(CounterStrings {
                entries: vec![(CounterId(1), Some("Zähler".to_owned())), (CounterId(2), None)],
            }),
            RegistrationRequest::ProviderGuid => RegistrationInfo::ProviderGuid(SET),
            _ => RegistrationInfo::Text("Processor Information".to_owned()),
        })
    }

    fn enumerate_counter_set_instances(
        &mut self,
        _machine: &str,
        set: Guid,
    ) -> Result<Vec<InstanceInfo>, Win32Error> {
        known(set).map(|()| instances())
    }

    fn open_query_handle(&mut self, _machine: &str) -> Result<QueryHandle, Win32Error> {
        self.open = true;
        Ok(HANDLE)
    }

    fn is_open(&self, query: QueryHandle) -> bool {
        self.open && query == HANDLE
    }

    fn close_query_handle(&mut self, query: QueryHandle) -> Result<(), Win32Error> {
        assert!(self.is_open(query), "a method gets open queries only");
        *self = Self::default();
        Ok(())
    }

    fn query_counter_info(&mut self, query: QueryHandle) -> Result<Vec<CounterIdentifier>, Win32Error> {
        assert!(self.is_open(query), "a method gets open queries only");
        Ok(self.identifiers.clone())
    }

    fn query_counter_data(&mut self, query: QueryHandle) -> Result<Vec<u8>, Win32Error> {
        assert!(self.is_open(query), "a method gets open queries only");
        let clocks = Clocks { perf_time_stamp: 1, perf_freq: 2, perf_time_100ns: FileTime(3) };
        let mut writer = QueryDataWriter::new(clocks);
        let (ids, values) = ([CounterId(1), CounterId(2)], [RawValue::U64(7), RawValue::U32(8)]);
        let instances = instances();
        for _ in &self.identifiers {
            let rows = instances.iter().map(|instance| (instance, values));
            writer.counter_set(&ids, rows).map_err(|_| Win32Error::ERROR_OUTOFMEMORY)?;
        }
        writer.finish().map_err(|_| Win32Error::ERROR_OUTOFMEMORY)
    }

    fn validate_counters(
        &mut self,
        query: QueryHandle,
        identifiers: &mut [CounterIdentifier],
        change: Change,
    ) -> Result<(), Win32Error> {
        assert!(self.is_open(query), "a method gets open queries only");
        for identifier in identifiers {
            match change {
                Change::Add if self.identifiers.len() < IDENTIFIERS_MAX => {
                    identifier.index = u32::try_from(self.identifiers.len()).unwrap_or(u32::MAX);
                    self.identifiers.push(identifier.clone());
                }
                Change::Add => identifier.status = Win32Error::ERROR_OUTOFMEMORY,
                Change::Remove => self.identifiers.retain(|other| other != identifier),
            }
        }
        Ok(())
    }
}
