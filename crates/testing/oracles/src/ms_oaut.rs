//! Honest calls of `com::oaut`, whose laws are those of interfaces.

use com::oaut::{
    Bstr, CloneEnumeratorReply, CloneEnumeratorRequest, Currency, Date, Decimal, DispParams, ExcepInfo,
    GetIdsOfNamesReply, GetIdsOfNamesRequest, GetTypeInfoCountReply, GetTypeInfoCountRequest,
    GetTypeInfoReply, GetTypeInfoRequest, InvokeReply, InvokeRequest, NextVariantsReply, NextVariantsRequest,
    ResetVariantsReply, ResetVariantsRequest, SafeArray, SkipVariantsReply, SkipVariantsRequest, Value,
    VarType, Variant, VariantBool,
};
use rpc::ndr::{Conformant, ConformantVarying, InterfacePointer, WideString};
use wire::{Guid, HResult};

use crate::ms_dcom::{Call, object};

const MADE: &str = "our own encoders take it";

fn pointer() -> Box<InterfacePointer<'static>> {
    Box::new(InterfacePointer { size: 4, data: b"MEOW"[..].into() })
}

fn text(text: &str) -> Bstr {
    Bstr::new(text).expect(MADE)
}

/// A value of each kind.
fn variants() -> Vec<Option<Box<Variant<'static>>>> {
    let array = |array: SafeArray<'static>| Value::Array(Some(Box::new(Some(Box::new(array)))));
    let texts = SafeArray::of_bstrs(vec![text("a"), Bstr::null()]).expect(MADE);
    let variants = SafeArray::of_variants(vec![Variant::empty()]).expect(MADE);
    let numbers = SafeArray::of_dwords(VarType::VT_UI4, vec![1, 2]).expect(MADE);
    let arrays = [
        (VarType::VT_BSTR, array(texts)),
        (VarType::VT_VARIANT, array(variants)),
        (VarType::VT_UI4, array(numbers)),
    ];
    let arrays = arrays.map(|(vt, value)| Variant::of_array(vt, value).expect(MADE));
    let values = [
        Value::Empty,
        Value::I4(7),
        Value::R8(0.5),
        Value::Currency(Currency(7)),
        Value::Date(Date(5.25)),
        Value::Bstr(text("web1")),
        Value::Dispatch(Some(pointer())),
        Value::Bool(VariantBool::TRUE),
        Value::Decimal(Decimal { scale: 2, low: 7, ..Decimal::default() }),
        Value::Ui8Ref(Some(Box::new(7))),
        Value::BstrRef(Some(Box::new(text("x")))),
        Value::VariantRef(Some(Box::new(Some(Box::new(Variant::empty()))))),
    ];
    let values = values.map(|value| Variant::new(value).expect(MADE));
    let null = std::iter::once(None);
    null.chain(values.into_iter().chain(arrays).map(|variant| Some(Box::new(variant)))).collect()
}

pub(crate) fn honest_dispatch() -> Vec<Call> {
    let (status, iid) = (HResult::S_OK, Guid::NULL);
    let names = Conformant(vec![Some(Box::new(WideString("Name".to_owned()))), None]);
    let arguments = variants();
    let params = DispParams {
        count: u32::try_from(arguments.len()).expect(MADE),
        arguments: Some(Box::new(Conformant(arguments))),
        names: Some(Box::new(Conformant(vec![7]))),
        named_count: 1,
    };
    let reference = || Conformant(vec![Some(Box::new(Variant::new(Value::I4Ref(None)).expect(MADE)))]);
    let invoke = InvokeRequest {
        member: -1,
        iid,
        lcid: 0x409,
        flags: 1,
        params,
        count: 1,
        indexes: Conformant(vec![0]),
        references: reference(),
    };
    let exception = ExcepInfo { source: text("web1"), scode: HResult::E_INVALIDARG, ..ExcepInfo::default() };
    let result = Some(Box::new(Variant::empty()));
    let invoked = InvokeReply { result, exception, wrong_argument: 0, references: reference(), status };
    let calls = [
        (3, object(&GetTypeInfoCountRequest {}, &GetTypeInfoCountReply { count: 1, status })),
        (
            4,
            object(
                &GetTypeInfoRequest { index: 0, lcid: 0x409 },
                &GetTypeInfoReply { type_info: Some(pointer()), status },
            ),
        ),
        (
            5,
            object(
                &GetIdsOfNamesRequest { iid, names, count: 2, lcid: 0x409 },
                &GetIdsOfNamesReply { ids: Conformant(vec![7, -1]), status },
            ),
        ),
        (6, object(&invoke, &invoked)),
    ];
    calls.into_iter().map(|(opnum, (request, reply))| (opnum, request, reply)).collect()
}

pub(crate) fn honest_enumerator() -> Vec<Call> {
    let status = HResult::S_OK;
    let elements = vec![Some(Box::new(Variant::new(Value::Dispatch(Some(pointer()))).expect(MADE)))];
    let items = ConformantVarying { max_count: 2, elements };
    let next = NextVariantsReply { items, count: 1, status: HResult::S_FALSE };
    let enumerator = Some(pointer());
    let calls = [
        (3, object(&NextVariantsRequest { requested: 2 }, &next)),
        (4, object(&SkipVariantsRequest { count: 1 }, &SkipVariantsReply { status })),
        (5, object(&ResetVariantsRequest {}, &ResetVariantsReply { status })),
        (6, object(&CloneEnumeratorRequest {}, &CloneEnumeratorReply { enumerator, status })),
    ];
    calls.into_iter().map(|(opnum, (request, reply))| (opnum, request, reply)).collect()
}
