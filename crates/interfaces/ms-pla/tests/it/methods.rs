//! The methods are those of the IDL: `data/methods.txt` was made from [MS-PLA] section 6.

use com::oaut::{ArrayParameter, Bstr, Value, Variant, VariantBool};
use ms_pla::{
    AnyVariant, IAlertDataCollector, IApiTracingDataCollector, IConfigurationDataCollector, IDataCollector,
    IDataCollectorCollection, IDataCollectorSet, IDataCollectorSetCollection, IDataManager, IFolderAction,
    IFolderActionCollection, IPerformanceCounterDataCollector, ISchedule, IScheduleCollection,
    ITraceDataCollector, ITraceDataProvider, ITraceDataProviderCollection, IValueMap, IValueMapItem, Object,
};
use rpc::ndr::{ConformantBytes, Enum, InterfacePointer, Writer};
use rpc::orpc::{ComVersion, ObjectInterface, OrpcThat, OrpcThis};
use rpc::{Direction, Interface, Method};
use wire::Guid;

type Recode = fn(Direction, u16, &[u8]) -> Option<rpc::ndr::Result<rpc::ndr::EncodeResult<Vec<u8>>>>;

/// An interface, and how many methods it has of its own.
pub(crate) struct Declared {
    pub(crate) name: &'static str,
    pub(crate) methods: &'static [Method],
    pub(crate) recode: Recode,
    count: usize,
    iid: Guid,
    end: u16,
}

fn declared<I: ObjectInterface>(count: usize) -> Declared {
    Declared {
        name: I::NAME,
        methods: I::METHODS,
        recode: <I as Interface>::recode,
        count,
        iid: I::IID,
        end: I::OPNUMS_END,
    }
}

pub(crate) fn interfaces() -> [Declared; 18] {
    [
        declared::<IDataCollectorSet>(60),
        declared::<IDataManager>(25),
        declared::<IFolderAction>(8),
        declared::<IFolderActionCollection>(8),
        declared::<IDataCollector>(22),
        declared::<IPerformanceCounterDataCollector>(10),
        declared::<IConfigurationDataCollector>(18),
        declared::<IAlertDataCollector>(16),
        declared::<ITraceDataCollector>(33),
        declared::<IApiTracingDataCollector>(14),
        declared::<ITraceDataProvider>(19),
        declared::<ISchedule>(8),
        declared::<ITraceDataProviderCollection>(10),
        declared::<IScheduleCollection>(8),
        declared::<IDataCollectorCollection>(9),
        declared::<IDataCollectorSetCollection>(8),
        declared::<IValueMapItem>(10),
        declared::<IValueMap>(14),
    ]
}

/// A line of the table: interface, opnum, name, kinds of parameters in and out.
type Row = (&'static str, u16, &'static str, Vec<&'static str>, Vec<&'static str>);

pub(crate) fn table() -> Vec<Row> {
    let lines = include_str!("../data/methods.txt").lines().filter(|line| !line.starts_with('#'));
    let kinds = |text: &'static str| text.split(' ').filter(|kind| *kind != "-").collect();
    lines
        .map(|line| {
            let (head, replies) = line.split_once(" -> ").unwrap();
            let mut words = head.splitn(4, ' ');
            let mut word = || words.next().unwrap();
            (word(), word().parse().unwrap(), word(), kinds(word()), kinds(replies))
        })
        .collect()
}

#[test]
fn there_are_18_interfaces_with_300_methods_on_the_wire() {
    for interface in interfaces() {
        assert_eq!(interface.methods.len(), interface.count, "{}", interface.name);
    }
    assert_eq!(interfaces().iter().map(|interface| interface.methods.len()).sum::<usize>(), 300);
    let all: Vec<_> = interfaces()
        .iter()
        .flat_map(|one| one.methods.iter().map(|it| (it.interface, it.opnum, it.name)))
        .collect();
    let idl: Vec<_> =
        table().into_iter().map(|(interface, opnum, name, ..)| (interface, opnum, name)).collect();
    assert_eq!(all, idl);
}

#[test]
fn methods_that_are_local_and_those_behind_the_last_are_not_there() {
    let missing = |name: &str| {
        let all = interfaces();
        let one = all.iter().find(|interface| interface.name == name).unwrap();
        let first = one.methods[0].opnum;
        let has = |opnum: &u16| one.methods.iter().any(|method| method.opnum == *opnum);
        (first..one.end).filter(|opnum| !has(opnum)).collect::<Vec<_>>()
    };
    assert_eq!(missing("IDataCollector"), [8, 28]);
    assert_eq!(missing("ITraceDataCollector"), [35, 37, 41, 47, 62, 64, 68]);
    assert_eq!(missing("IDataCollectorSet"), []);
    // Opnum 31 is local, too: interfaces that inherit begin at 32.
    assert_eq!((IDataCollector::OPNUMS_END, IAlertDataCollector::METHODS[0].opnum), (31, 32));
    assert_eq!(IAlertDataCollector::method(24).unwrap().name, "get_Name");
    assert_eq!(IDataCollectorSet::method(6).unwrap().name, "Invoke");
}

// [MS-PLA] 1.9
#[test]
fn all_identifiers_end_alike() {
    let iids: Vec<String> = interfaces().iter().map(|interface| interface.iid.to_string()).collect();
    let firsts: Vec<&str> =
        iids.iter().map(|iid| iid.strip_suffix("-098b-11d8-9414-505054503030").unwrap()).collect();
    let expected = [
        "03837520", "03837541", "03837543", "03837544", "038374ff", "03837506", "03837514", "03837516",
        "0383750b", "0383751a", "03837512", "0383753a", "03837510", "0383753d", "03837502", "03837524",
        "03837533", "03837534",
    ];
    assert_eq!(firsts, expected);
}

/// Writes a parameter of a kind of the table.
fn write(kind: &str, dst: &mut Writer) {
    let object: Object<'_> = Some(Box::new(InterfacePointer { size: 4, data: b"MEOW"[..].into() }));
    let variant: AnyVariant<'_> = Some(Box::new(Variant::new(Value::I4(-7)).unwrap()));
    let text = |text: &str| Bstr::new(text).unwrap();
    let written = match kind {
        "u32" => dst.write(&0x1122_3344_u32),
        "i32" => dst.write(&-3_i32),
        "u64" => dst.write(&0x1122_3344_5566_7788_u64),
        "bool" => dst.write(&VariantBool::TRUE),
        "enum" => dst.write(&Enum(0x1234)),
        "guid" => dst.write(&Guid::from_u128(0x0f5c_3e7a_1111_2222_3333_4444_5555_6666)),
        "text" => dst.write(&text("odd")),
        "texts" => dst.write(&ArrayParameter::of_bstrs(vec![text("a"), text("bc")]).unwrap()),
        "bytes" => dst.write(&ArrayParameter::of_bytes(ConformantBytes(vec![1, 2, 3].into())).unwrap()),
        "variant" => dst.write(&variant),
        "object" => dst.write(&object),
        _ => panic!("{kind}"),
    };
    written.unwrap();
}

/// A request and a reply of a line of the table.
pub(crate) fn stubs(requests: &[&str], replies: &[&str]) -> [(Direction, Vec<u8>); 2] {
    let (mut request, mut reply) = (Writer::new(), Writer::new());
    request.write(&OrpcThis::new(ComVersion::V5_7, Guid::from_u128(7))).unwrap();
    requests.iter().for_each(|kind| write(kind, &mut request));
    reply.write(&OrpcThat::default()).unwrap();
    replies.iter().for_each(|kind| write(kind, &mut reply));
    reply.write(&0x0030_0100_u32).unwrap();
    [(Direction::Request, request.into_stub()), (Direction::Reply, reply.into_stub())]
}

#[test]
fn each_method_has_the_parameters_of_the_idl() {
    for (name, opnum, method, requests, replies) in table() {
        let all = interfaces();
        let interface = all.iter().find(|interface| interface.name == name).unwrap();
        for (direction, stub) in stubs(&requests, &replies) {
            let recoded = (interface.recode)(direction, opnum, &stub).unwrap();
            assert_eq!(recoded.unwrap().unwrap(), stub, "{name} {method} {direction:?}");
            let cut = (interface.recode)(direction, opnum, &stub[..stub.len() - 4]).unwrap();
            let has_parameters = direction == Direction::Reply || !requests.is_empty();
            assert!(cut.is_err() || !has_parameters || requests.last() == Some(&"enum"), "{name} {method}");
        }
    }
}
