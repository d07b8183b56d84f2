//! A server with one counterset, and a channel that leads to it without a network.

use core::convert::Infallible;
use core::future::{Future, ready};

use counters::pcq::perflibv2::methods::{EnumerateCountersetsReply, QueryCounterDataReply};
use counters::pcq::perflibv2::{
    CallInfo, Change, PerflibV2Service, RegistrationInfo, RegistrationRequest, dispatch,
};
use counters::pcq::types::{
    Attrib, CounterId, CounterType, DetailLevel, InstanceId, InstanceType, QueryHandle,
};
use counters::pcq::wire::{
    Clocks, CounterIdentifier, CounterRegInfo, CounterSetRegInfo, CounterSetRegistration, CounterStrings,
    InstanceInfo, QueryDataWriter, RawValue,
};
use dcerpc::{AuthLevel, Channel, FaultStatus};
use rpc::ndr::{ConformantVarying, ConformantVaryingBytes};
use wire::{FileTime, Guid, Win32Error};

pub(crate) const PROCESSOR_INFORMATION: Guid = Guid::from_u128(0xb4fc721a_0378_476f_89ba_a5a79f810b36);
pub(crate) const PROVIDER: Guid = Guid::from_u128(0x383487a6_3676_4870_a4e7_d45b30c35629);
pub(crate) const HANDLE: QueryHandle =
    QueryHandle { attributes: 0, uuid: Guid::from_u128(0x01020304_0506_0708_090a_0b0c0d0e0f10) };
pub(crate) const CLOCKS: Clocks = Clocks {
    perf_time_stamp: 1_259_983_709_807,
    perf_freq: 10_000_000,
    perf_time_100ns: FileTime(134_351_767_437_550_592),
};

/// Processor Information with % Processor Utility (26), its base (27), and two instances.
#[derive(Default)]
pub(crate) struct FakeServer {
    pub(crate) open: bool,
    pub(crate) identifiers: Vec<CounterIdentifier>,
    /// Countersets that are there besides.
    pub(crate) others: Vec<Guid>,
    /// Instances that are there besides.
    pub(crate) more_instances: u32,
    /// How many instances come with every call.
    pub(crate) growth: u32,
}

impl FakeServer {
    pub(crate) fn instances(&self) -> Vec<InstanceInfo> {
        let more = (0..self.more_instances).map(|id| format!("1,{id}"));
        let names = ["0,0".to_owned(), "_Total".to_owned()].into_iter().chain(more);
        names.zip(0..).map(|(name, id)| InstanceInfo { instance_id: InstanceId(id), name }).collect()
    }

    fn known(set: Guid) -> Result<(), Win32Error> {
        if set == PROCESSOR_INFORMATION { Ok(()) } else { Err(Win32Error::ERROR_WMI_GUID_NOT_FOUND) }
    }

    fn write_block(&self, identifier: &CounterIdentifier, writer: &mut QueryDataWriter) {
        let instances = self.instances();
        let values = [RawValue::U64(0x02f6_53e8_4cd6), RawValue::U32(0x5619_6ec4)];
        let ids = [CounterId(26), CounterId(27)];
        let index = ids.iter().position(|id| *id == identifier.counter_id);
        let named = |name: &str| instances.iter().any(|instance| instance.name == name);
        match (identifier.instance_name.as_deref(), index) {
            (Some("*"), None) => {
                writer.counter_set(&ids, instances.iter().map(|instance| (instance, values))).unwrap();
            }
            (Some("*"), Some(index)) => {
                let one = instances.iter().map(|instance| (instance, values[index]));
                writer.multi_instances(one).unwrap();
            }
            (Some(name), None) if named(name) => writer.multi_counters(&ids, &values).unwrap(),
            (Some(name), Some(index)) if named(name) => writer.single_counter(values[index]).unwrap(),
            _ => writer.error_return(Win32Error::ERROR_NO_DATA).unwrap(),
        }
    }
}

impl PerflibV2Service for FakeServer {
    fn enumerate_counter_set(&mut self, _machine: &str) -> Result<Vec<Guid>, Win32Error> {
        Ok([PROCESSOR_INFORMATION].into_iter().chain(self.others.iter().copied()).collect())
    }

    fn query_counter_set_registration_info(
        &mut self,
        machine: &str,
        set: Guid,
        request: RegistrationRequest,
    ) -> Result<RegistrationInfo, Win32Error> {
        assert_eq!(machine, "web1");
        Self::known(set)?;
        let utility = CounterRegInfo {
            base_counter_id: CounterId(27),
            ..CounterRegInfo::new(CounterId(26), CounterType::PERF_AVERAGE_BULK)
        };
        let base = CounterRegInfo {
            attrib: Attrib::NO_DISPLAYABLE,
            default_scale: -2,
            ..CounterRegInfo::new(CounterId(27), CounterType::PERF_AVERAGE_BASE)
        };
        let strings = |help: &str| {
            let utility = (CounterId(26), Some(format!("% Processor Utility{help}")));
            RegistrationInfo::Strings(CounterStrings { entries: vec![utility, (CounterId(27), None)] })
        };
        Ok(match request {
            RegistrationRequest::CounterSet => RegistrationInfo::CounterSet(CounterSetRegistration {
                info: CounterSetRegInfo {
                    counter_set_guid: set,
                    detail_level: DetailLevel::NOVICE,
                    num_counters: 2,
                    instance_type: InstanceType::MULTIPLE,
                },
                counters: vec![utility, base],
            }),
            RegistrationRequest::Counter(CounterId(26)) => RegistrationInfo::Counter(utility),
            RegistrationRequest::Counter(CounterId(27)) => RegistrationInfo::Counter(base),
            RegistrationRequest::Counter(_) => return Err(Win32Error::ERROR_WMI_ITEMID_NOT_FOUND),
            RegistrationRequest::CounterSetName(_) => {
                RegistrationInfo::Text("Prozessorinformationen".to_owned())
            }
            RegistrationRequest::CounterSetHelp(_) => RegistrationInfo::Text("Über Prozessoren.".to_owned()),
            RegistrationRequest::CounterNames(_) | RegistrationRequest::EnglishCounterNames => strings(""),
            RegistrationRequest::CounterHelps(_) => strings(" says how busy"),
            RegistrationRequest::ProviderName => {
                RegistrationInfo::Text("Microsoft-Windows-Kernel".to_owned())
            }
            RegistrationRequest::ProviderGuid => RegistrationInfo::ProviderGuid(PROVIDER),
            RegistrationRequest::EnglishCounterSetName => {
                RegistrationInfo::Text("Processor Information".to_owned())
            }
        })
    }

    fn enumerate_counter_set_instances(
        &mut self,
        _machine: &str,
        set: Guid,
    ) -> Result<Vec<InstanceInfo>, Win32Error> {
        Self::known(set)?;
        let instances = self.instances();
        self.more_instances += self.growth;
        Ok(instances)
    }

    fn open_query_handle(&mut self, _machine: &str) -> Result<QueryHandle, Win32Error> {
        self.open = true;
        Ok(HANDLE)
    }

    fn is_open(&self, query: QueryHandle) -> bool {
        self.open && query == HANDLE
    }

    fn close_query_handle(&mut self, _query: QueryHandle) -> Result<(), Win32Error> {
        self.open = false;
        Ok(())
    }

    fn query_counter_info(&mut self, _query: QueryHandle) -> Result<Vec<CounterIdentifier>, Win32Error> {
        Ok(self.identifiers.clone())
    }

    fn query_counter_data(&mut self, _query: QueryHandle) -> Result<Vec<u8>, Win32Error> {
        let mut writer = QueryDataWriter::new(CLOCKS);
        for identifier in &self.identifiers {
            self.write_block(identifier, &mut writer);
        }
        self.more_instances += self.growth;
        Ok(writer.finish().unwrap())
    }

    fn validate_counters(
        &mut self,
        _query: QueryHandle,
        identifiers: &mut [CounterIdentifier],
        change: Change,
    ) -> Result<(), Win32Error> {
        for identifier in identifiers {
            match change {
                Change::Add if identifier.counter_set_guid == PROCESSOR_INFORMATION => {
                    identifier.index = u32::try_from(self.identifiers.len()).unwrap();
                    self.identifiers.push(identifier.clone());
                }
                Change::Add => identifier.status = Win32Error::ERROR_WMI_GUID_NOT_FOUND,
                Change::Remove => self.identifiers.retain(|other| {
                    other.counter_id != identifier.counter_id
                        || other.instance_name != identifier.instance_name
                }),
            }
        }
        Ok(())
    }
}

/// Leads to a server in memory, and counts the calls.
pub(crate) struct Loop {
    pub(crate) server: FakeServer,
    pub(crate) calls: u32,
}

impl Loop {
    pub(crate) fn new(server: FakeServer) -> Self {
        Self { server, calls: 0 }
    }
}

impl Channel for Loop {
    type Error = FaultStatus;

    fn call(
        &mut self,
        opnum: u16,
        object: Option<Guid>,
        stub: &[u8],
    ) -> impl Future<Output = Result<Vec<u8>, FaultStatus>> + Send {
        assert_eq!(object, None);
        self.calls += 1;
        ready(dispatch(&mut self.server, sealed(), opnum, stub))
    }
}

/// Answers the same bytes to every call, and keeps what it was asked.
pub(crate) struct Canned {
    pub(crate) response: Vec<u8>,
    pub(crate) requests: Vec<(u16, Vec<u8>)>,
}

impl Canned {
    pub(crate) fn new(response: Vec<u8>) -> Self {
        Self { response, requests: Vec::new() }
    }
}

impl Channel for Canned {
    type Error = Infallible;

    fn call(
        &mut self,
        opnum: u16,
        _object: Option<Guid>,
        stub: &[u8],
    ) -> impl Future<Output = Result<Vec<u8>, Infallible>> + Send {
        self.requests.push((opnum, stub.to_vec()));
        ready(Ok(self.response.clone()))
    }
}

pub(crate) fn sealed() -> CallInfo {
    CallInfo { auth_level: AuthLevel::PKT_PRIVACY, object: None }
}

/// A reply of any method that fills a buffer with bytes: they are all alike.
pub(crate) fn buffer_reply(
    max_count: u32,
    rtn_size: u32,
    data: &[u8],
    status: Win32Error,
) -> QueryCounterDataReply<'_> {
    let data = ConformantVaryingBytes { max_count, bytes: data.into() };
    let out_size = u32::try_from(data.bytes.len()).unwrap();
    QueryCounterDataReply { out_size, rtn_size, data, status }
}

/// A reply of opnum 0.
pub(crate) fn countersets_reply(
    max_count: u32,
    rtn_size: u32,
    guids: Vec<Guid>,
    status: Win32Error,
) -> EnumerateCountersetsReply {
    let out_size = u32::try_from(guids.len()).unwrap();
    let guids = ConformantVarying { max_count, elements: guids };
    EnumerateCountersetsReply { out_size, rtn_size, guids, status }
}
