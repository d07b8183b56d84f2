use counters::pcq::perflibv2::{Change, PerflibV2Service, RegistrationInfo, RegistrationRequest};
use counters::pcq::types::{CounterId, CounterType, DetailLevel, InstanceId, InstanceType, QueryHandle};
use counters::pcq::wire::{
    Clocks, CounterIdentifier, CounterRegInfo, CounterSetRegInfo, CounterSetRegistration, CounterStrings,
    InstanceInfo, QueryDataWriter, RawValue,
};
use wire::{FileTime, Guid, Win32Error};

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
