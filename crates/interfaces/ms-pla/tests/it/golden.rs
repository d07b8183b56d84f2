//! Stubs as go-msrpc 1.2.5 writes them, with the forms that it has: enumerations of two bytes, arrays behind one pointer.

use com::oaut::{ArrayParameter, Bstr, Date, SafeArray, Value, Variant, VariantBool};
use ms_pla::data_collector_set::{
    CommitRequest, GetDataCollectorsReply, GetDurationReply, GetKeywordsReply, GetNameReply, GetSegmentReply,
    GetStatusReply, PutDescriptionRequest, PutDurationRequest, PutKeywordsRequest, PutSegmentRequest,
    PutSubdirectoryFormatRequest,
};
use ms_pla::{
    AnyVariant, AutoPathFormat, CommitMode, DataCollectorSetStatus, DataManagerSteps, Object,
    data_collector_collection, data_collector_set_collection, data_manager, schedule, trace_data_collector,
    trace_data_provider,
};
use rpc::ndr::{ConformantBytes, EnumForm, InterfacePointer, NdrEncode, Writer};
use rpc::orpc::{ComVersion, OrpcThat, OrpcThis, read_reply, read_request};
use rpc::{FromStub, Message, Request};
use wire::{Guid, HResult};

const GUID: Guid = Guid::from_u128(0x0f5c_3e7a_1111_2222_3333_4444_5555_6666);

/// What go-msrpc wrote for a method in one direction.
fn theirs(method: &str, direction: &str) -> Vec<u8> {
    let start = format!("{method} {direction} ");
    let mut lines = include_str!("../data/go_msrpc.txt").lines();
    let digits = lines.find_map(|line| line.strip_prefix(&start)).unwrap();
    let byte = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.as_bytes().chunks(2).map(byte).collect()
}

fn ours(header: &impl NdrEncode, message: &impl Message) -> Vec<u8> {
    let mut dst = Writer::new().with_enums(EnumForm::Short);
    dst.write(header).unwrap();
    message.encode(&mut dst).unwrap();
    dst.into_stub()
}

/// Numbers of pointers are the writer's own; everything else is the same.
fn check_bytes(ours: &[u8], theirs: &[u8]) {
    let words = |bytes: &[u8]| bytes.chunks(4).map(<[u8]>::to_vec).collect::<Vec<_>>();
    let differing = words(ours).into_iter().zip(words(theirs)).filter(|(ours, theirs)| ours != theirs);
    for (ours, theirs) in differing {
        let are_pointers = ours[2..] == [2, 0] && theirs[1..] == [0; 3] && theirs[0] != 0;
        assert!(are_pointers, "{ours:02x?} {theirs:02x?}");
    }
    assert_eq!(ours.len(), theirs.len());
}

fn check_request<'stub, R>(theirs: &'stub [u8], request: &R)
where
    R: Request + FromStub<'stub> + PartialEq + core::fmt::Debug,
{
    let (this, read) = read_request::<R>(theirs).unwrap();
    assert_eq!((&this, &read), (&OrpcThis::new(ComVersion::V5_7, GUID), request));
    check_bytes(&ours(&this, request), theirs);
}

fn check_reply<'stub, M>(method: &str, theirs: &'stub [u8], reply: &M)
where
    M: FromStub<'stub> + PartialEq + core::fmt::Debug,
{
    assert!(
        method.contains(M::METHOD.interface) && method.ends_with(&M::METHOD.opnum.to_string()),
        "{method}"
    );
    let (that, read) = read_reply::<M>(theirs).unwrap();
    assert_eq!((&that, &read), (&OrpcThat::default(), reply));
    check_bytes(&ours(&that, reply), theirs);
}

fn text(text: &str) -> Bstr {
    Bstr::new(text).unwrap()
}

fn texts<'stub>() -> ArrayParameter<'stub> {
    ArrayParameter::Single(Some(Box::new(SafeArray::of_bstrs(vec![text("a"), text("bc")]).unwrap())))
}

fn bytes<'stub>() -> ArrayParameter<'stub> {
    let bytes = ConformantBytes(vec![1, 2, 3].into());
    ArrayParameter::Single(Some(Box::new(SafeArray::of_bytes(bytes).unwrap())))
}

fn object<'stub>() -> Object<'stub> {
    Some(Box::new(InterfacePointer { size: 4, data: b"MEOW"[..].into() }))
}

fn date<'stub>() -> AnyVariant<'stub> {
    Some(Box::new(Variant::new(Value::Date(Date(44088.5))).unwrap()))
}

/// The method's request, whatever it is called.
macro_rules! requests {
    ($($method:literal => $request:expr;)*) => {$(
        check_request(&theirs($method, "in"), &$request);
    )*};
}

#[test]
fn requests_with_each_kind_of_parameter_are_those_that_go_msrpc_writes() {
    let mode = CommitMode::CREATE_OR_MODIFY;
    let steps = DataManagerSteps::CREATE_HTML | DataManagerSteps::RESOURCE_FREEING;
    requests! {
        "IDataCollectorSet 9" => PutDurationRequest { value: 60 };
        "IDataCollectorSet 11" => PutDescriptionRequest { value: text("Nightly run") };
        "IDataCollectorSet 17" => PutKeywordsRequest { value: texts() };
        "IDataCollectorSet 25" => PutSegmentRequest { value: VariantBool::TRUE };
        "IDataCollectorSet 37" => PutSubdirectoryFormatRequest {
            value: AutoPathFormat::COMPUTER | AutoPathFormat::YEAR_MONTH_DAY,
        };
        "IDataCollectorSet 60" => CommitRequest { name: text("odd"), server: Bstr(None), mode };
        "IDataManager 30" => data_manager::RunRequest { steps, folder: text("C") };
        "ITraceDataProvider 10" => trace_data_provider::PutGuidRequest { value: GUID };
        "ITraceDataProvider 20" => trace_data_provider::PutFilterDataRequest { value: bytes() };
        "IDataCollectorCollection 10" => data_collector_collection::AddRequest { item: object() };
    }
}

/// [MS-OAUT] 2.2.29.2 makes a VARIANT a pointer. go-msrpc leaves it out of requests, though not out of replies.
#[test]
fn requests_with_variants_are_those_that_go_msrpc_writes_behind_a_pointer() {
    let with_pointer = |method| {
        let mut stub = theirs(method, "in");
        // Behind ORPCTHIS; what follows is aligned to eight.
        stub.splice(32..32, [1, 0, 0, 0, 0, 0, 0, 0]);
        stub
    };
    let index = Some(Box::new(Variant::new(Value::I4(1)).unwrap()));
    let start = schedule::PutStartDateRequest { value: date() };
    check_request(&with_pointer("ISchedule 8"), &start);
    let item = data_collector_set_collection::GetItemRequest { index };
    check_request(&with_pointer("IDataCollectorSetCollection 8"), &item);
}

macro_rules! replies {
    ($($method:literal => $reply:expr;)*) => {$(
        check_reply($method, &theirs($method, "out"), &$reply);
    )*};
}

#[test]
fn replies_with_each_kind_of_parameter_are_those_that_go_msrpc_writes() {
    let status = HResult::S_OK;
    replies! {
        "IDataCollectorSet 7" => GetDataCollectorsReply { value: object(), status };
        "IDataCollectorSet 8" => GetDurationReply { value: 60, status };
        "IDataCollectorSet 16" => GetKeywordsReply { value: texts(), status };
        "IDataCollectorSet 20" => GetNameReply { value: text("odd"), status };
        "IDataCollectorSet 24" => GetSegmentReply { value: VariantBool::TRUE, status };
        "IDataCollectorSet 33" => GetStatusReply { value: DataCollectorSetStatus::COMPILING, status };
        "ITraceDataProvider 9" => trace_data_provider::GetGuidReply { value: GUID, status };
        "ITraceDataProvider 19" => trace_data_provider::GetFilterDataReply { value: bytes(), status };
        "ITraceDataCollector 63" => trace_data_collector::GetSessionIdReply { value: 0x1122_3344_5566_7788, status };
        "ISchedule 7" => schedule::GetStartDateReply { value: date(), status };
        "IDataCollectorSetCollection 7" => data_collector_set_collection::GetCountReply { count: 2, status };
        "IDataCollectorCollection 14" => data_collector_collection::CreateDataCollectorFromXmlReply {
            validation: object(),
            collector: object(),
            status: HResult::PLA_S_PROPERTY_IGNORED,
        };
    }
}

#[test]
fn all_that_go_msrpc_wrote_is_compared() {
    let lines = include_str!("../data/go_msrpc.txt").lines().filter(|line| !line.starts_with('#'));
    let source = include_str!("golden.rs");
    for line in lines {
        let method = line.split(' ').take(2).collect::<Vec<_>>().join(" ");
        assert!(source.contains(&format!("\"{method}\"")), "{method}");
    }
}
