//! Peers that lie.

use com::dcom::activation::{Activation, ActivationProperties, ActivationRequest};
use com::dcom::types::{CLSID_ACTIVATION_PROPERTIES_OUT, IID_ACTIVATION_PROPERTIES_OUT, property};
use com::dcom::wire::{BINDINGS_MAX, Context, DataElement, DualStringArray, Objref, ObjrefBody};
use rpc::ndr::Reader;
use wire::{DecodeError, Guid, decode, encode_vec};

use crate::dcom::fixture::{CID, CLASS, IID, activation, bindings, objref, pointer, std_objref};
use crate::dcom::hex;

fn array(text: &str) -> Result<DualStringArray, String> {
    decode(&hex(text)).map_err(|error: DecodeError| error.to_string())
}

fn refused(text: &str, expected: &str) {
    let error = array(text).unwrap_err();
    assert!(error.contains(expected), "{error}");
}

#[test]
fn an_array_of_bindings_has_lists_that_end_where_it_says() {
    assert_eq!(array("0400 0200 0000 0000 0000 0000").unwrap(), DualStringArray::default());
    assert_eq!(array("0000 0000").unwrap(), DualStringArray::default());
    // web1 by TCP; NTLM without a principal. What Reserved says, and what is after the ends, is not looked at.
    let good = "0e00 0800 0700 7700 6500 6200 3100 0000 0000 4141 0a00 1234 0000 0000 4141 4141";
    assert_eq!(array(good).unwrap(), bindings("web1"));
    refused("0400", "4 bytes needed at offset 0, 2 there");
    refused("0400 0200 0000", "8 bytes needed at offset 4, 2 there");
    refused("0200 0300 0000 0000", "`wSecurityOffset`: is above wNumEntries");
    refused("0200 0200 0000 0000", "`SecBinding`: has no end within its list (offset 8)");
    refused("0200 0000 0000 0000", "`StringBinding`: has no end within its list (offset 4)");
    refused("0400 0300 0700 7700 6500 0000", "`aNetworkAddr`: has no end within its list (offset 6)");
    refused("0400 0200 0700 0000 0000 0000", "`StringBinding`: has no end within its list (offset 8)");
    refused("0500 0300 0700 00d8 0000 0000 0000", "`aNetworkAddr`: is no UTF-16 (offset 6)");
    refused("0300 0100 0000 0a00 ffff", "`aPrincName`: has no end within its list (offset 10)");
    refused("0200 0100 0000 0a00", "`Reserved`: has no end within its list (offset 8)");
}

#[test]
fn an_array_has_not_more_bindings_than_a_host_has_addresses() {
    let many = |count| DualStringArray::tcp((0..count).map(|_| "a".to_owned()), Vec::new());
    let bytes = encode_vec(&many(BINDINGS_MAX)).unwrap();
    assert_eq!(decode::<DualStringArray>(&bytes).unwrap().strings.len(), BINDINGS_MAX);
    let bytes = encode_vec(&many(BINDINGS_MAX + 1)).unwrap();
    let error = decode::<DualStringArray>(&bytes).unwrap_err().to_string();
    assert!(error.contains("`StringBinding`: 257 is above the limit of 256"), "{error}");
}

#[test]
fn an_array_in_ndr_counts_once() {
    let read = |text: &str| {
        let stub = hex(text);
        let read = Reader::new(&stub, "Test").read::<DualStringArray>("array");
        read.map_err(|error| error.to_string())
    };
    assert_eq!(read("04000000 0400 0200 0000 0000 0000 0000").unwrap(), DualStringArray::default());
    let error = read("05000000 0400 0200 0000 0000 0000 0000 0000").unwrap_err();
    assert!(error.contains("DUALSTRINGARRAY: `aStringArray`: max_count is not wNumEntries"), "{error}");
    let error = read("04000000 0400 0500 0000 0000 0000 0000").unwrap_err();
    assert!(error.contains("`wSecurityOffset`: is above wNumEntries (offset 8)"), "{error}");
    let error = read("ffff0000 ffff 0200 0000").unwrap_err();
    assert!(error.contains("131070 bytes needed at offset 8, 2 there"), "{error}");
}

#[test]
fn what_an_array_cannot_hold_is_not_written() {
    let write = |address: &str| encode_vec(&bindings(address)).map_err(|error| error.to_string());
    assert_eq!(write("a\0b").unwrap_err(), "DUALSTRINGARRAY: `aNetworkAddr`: holds a NUL");
    assert_eq!(write(&"a".repeat(0x1_0000)).unwrap_err(), "DUALSTRINGARRAY: `wNumEntries`: is above 16 bits");
    let mut none = bindings("a");
    none.strings[0].protocol.0 = 0;
    assert_eq!(encode_vec(&none).unwrap_err().to_string(), "DUALSTRINGARRAY: `wTowerId`: is zero");
    let mut none = bindings("a");
    none.security[0].service.0 = 0;
    assert_eq!(encode_vec(&none).unwrap_err().to_string(), "DUALSTRINGARRAY: `wAuthnSvc`: is zero");
}

/// Each form of an object reference.
fn forms() -> Vec<Objref<'static>> {
    let (std, resolver) = (std_objref(), bindings("web1"));
    let context = DataElement { id: CID, data: b"a context"[..].into() };
    vec![
        objref(),
        Objref { iid: IID, body: ObjrefBody::Handler { std, clsid: CLASS, resolver: resolver.clone() } },
        Objref::custom(IID, CLASS, &b"data"[..]),
        Objref { iid: IID, body: ObjrefBody::Extended { std, resolver, context } },
    ]
}

#[test]
fn an_object_reference_that_ends_early_says_where() {
    for form in forms() {
        let bytes = encode_vec(&form).unwrap();
        assert_eq!(decode::<Objref<'_>>(&bytes).unwrap(), form);
        let has_data_of_any_length = matches!(form.body, ObjrefBody::Custom { .. });
        let end = if has_data_of_any_length { bytes.len() - 4 } else { bytes.len() };
        for end in 0..end {
            let error = decode::<Objref<'_>>(&bytes[..end]).unwrap_err();
            assert!(error.offset <= end, "{error}");
        }
    }
}

#[test]
fn an_object_reference_has_its_signatures_and_an_interface() {
    let check = |form: &Objref<'_>, at: usize, bytes: &[u8], expected: &str| {
        let mut changed = encode_vec(form).unwrap();
        changed[at..at + bytes.len()].copy_from_slice(bytes);
        let error = decode::<Objref<'_>>(&changed).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    let forms = forms();
    for form in &forms {
        check(form, 0, b"WOOF", "OBJREF: `signature`: is not MEOW (offset 0)");
        check(form, 4, &[16], "OBJREF: `flags`: unsupported value 0x10 (offset 4)");
        check(form, 4, &[0], "OBJREF: `flags`: unsupported value 0x0 (offset 4)");
        check(form, 4, &[3], "OBJREF: `flags`: unsupported value 0x3 (offset 4)");
        check(form, 8, &[0; 16], "OBJREF: `iid`: is NULL (offset 8)");
    }
    let nobody = Objref::custom(Guid::NULL, CLASS, &b""[..]);
    assert_eq!(encode_vec(&nobody).unwrap_err().to_string(), "OBJREF: `iid`: is NULL");
    let extended = &forms[3];
    let n_elms = 24 + 40 + 4 + encode_vec(&bindings("web1")).unwrap().len();
    let data_id = n_elms + 8;
    check(extended, 24 + 40, &[0], "OBJREF_EXTENDED: `Signature1`: is not 0x4e535956");
    check(extended, n_elms, &[2], "OBJREF_EXTENDED: `nElms`: is not 1");
    check(extended, n_elms + 4, &[0], "OBJREF_EXTENDED: `Signature2`: is not 0x4e535956");
    check(extended, data_id, &[0; 16], "DATAELEMENT: `dataID`: is NULL");
    check(extended, data_id + 16, &[0; 8], "DATAELEMENT: `cbSize`: is zero");
    check(extended, data_id + 20, &[24], "DATAELEMENT: `cbRounded`: is not cbSize up to a multiple of 8");
    check(extended, data_id + 16, &[0xff; 8], "`cbRounded`: is not cbSize");
    check(
        extended,
        data_id + 16,
        &[0xf8, 0xff, 0xff, 0xff, 0xf8, 0xff, 0xff, 0xff],
        "`Data`: 4294967288 bytes needed",
    );
}

#[test]
fn a_context_is_marshaled_by_value_and_has_no_extents() {
    let context = Context::new(CID);
    let bytes = encode_vec(&context).unwrap();
    assert_eq!(decode::<Context<'_>>(&bytes).unwrap(), context);
    let check = |at: usize, expected: &str| {
        let mut changed = bytes.clone();
        changed[at] ^= 4;
        let error = decode::<Context<'_>>(&changed).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    check(0, "`MajorVersion`: is not 1.1");
    check(20, "`Flags`: is not CTXMSHLFLAGS_BYVAL");
    check(28, "`dwNumExtents`: there are extents");
    check(32, "`dwNumExtents`: there are extents");
    // A client that sends what is no context is refused.
    let mut request = ActivationRequest::new(CLASS, vec![IID]);
    request.context = Some(CID);
    let mut bytes = request.to_pointer().unwrap().data.into_owned();
    let at = bytes.windows(4).rposition(|window| window == b"MEOW").unwrap();
    bytes[at + 24] ^= 1;
    let error = ActivationRequest::from_pointer(&pointer(bytes)).unwrap_err().to_string();
    assert!(error.contains("`pIFDClientCtx`: is no context"), "{error}");
}

/// The properties of an activation's reply, with the word at `offset` of CustomHeader's body changed.
fn with_header(offset: usize, value: u32) -> String {
    let mut bytes = activation().to_pointer().unwrap().data.into_owned();
    let at = 48 /* OBJREF_CUSTOM */ + 8 /* dwSize, dwReserved */ + 16 + offset;
    bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
    Activation::from_pointer(&pointer(bytes)).map_or_else(|error| error.to_string(), |_| "read".to_owned())
}

#[test]
fn sizes_of_properties_are_those_of_the_bytes_that_are_there() {
    // totalSize, dwReserved and destCtx are not looked at.
    assert_eq!([with_header(0, 7), with_header(8, 7), with_header(12, 7)], ["read"; 3]);
    let check = |offset, value, expected: &str| {
        let error = with_header(offset, value);
        assert!(error.contains(expected), "{error}");
    };
    check(4, u32::MAX, "activation properties: `CustomHeader`: 4294967295 bytes needed");
    check(4, 0, "`Version`: is not 1");
    check(16, 0, "`cIfs`: is not 1 to 10");
    check(16, 11, "`cIfs`: is not 1 to 10");
    check(16, u32::MAX, "`cIfs`: is not 1 to 10");
    check(16, 3, "CustomHeader: `pclsid`: max_count is not cIfs");
    check(36, 0, "`pclsid`");
    check(48, u32::MAX, "limit");
    let p_sizes = 48 + 4 + 2 * 16;
    check(p_sizes, 1, "`pSizes`: max_count is not cIfs");
    check(p_sizes + 4, u32::MAX, "activation properties: `Property`: 4294967295 bytes needed");
    // The next property begins too early then.
    check(p_sizes + 4, 0, "ScmReplyInfo: `value`");
}

#[test]
fn a_property_is_pickled_in_little_endian_by_version_1() {
    let mut properties: Vec<_> = Vec::new();
    let pointer_of = activation().to_pointer().unwrap();
    let objref = Objref::from_pointer(&pointer_of).unwrap();
    let read: ActivationProperties<'_> =
        decode(objref.custom_data(CLSID_ACTIVATION_PROPERTIES_OUT).unwrap()).unwrap();
    for (at, expected) in
        [(0, "`Version`"), (1, "`Endianness`"), (2, "`CommonHeaderLength`"), (11, "bytes needed")]
    {
        let mut changed = read.clone();
        assert_eq!(changed.properties[1].format, property::SCM_REPLY_INFO);
        changed.properties[1].data.to_mut()[at] ^= 0x40;
        let data = encode_vec(&changed).unwrap();
        let changed = Objref::custom(IID_ACTIVATION_PROPERTIES_OUT, CLSID_ACTIVATION_PROPERTIES_OUT, data);
        let error = Activation::from_pointer(&changed.to_pointer().unwrap()).unwrap_err().to_string();
        assert!(error.starts_with("ScmReplyInfo: ") && error.contains(expected), "{error}");
        properties.push(error);
    }
    assert_eq!(properties.len(), 4);
}
