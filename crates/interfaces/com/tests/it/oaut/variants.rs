use com::oaut::{Bstr, Currency, Date, Decimal, SafeArray, Value, VarType, Variant, VariantBool};
use rpc::ndr::{InterfacePointer, Reader, Writer};
use wire::HResult;

fn written(variant: &Variant<'_>) -> Vec<u8> {
    let mut dst = Writer::new();
    dst.write(variant).unwrap();
    dst.into_stub()
}

fn read(stub: &[u8]) -> Result<Variant<'_>, String> {
    Reader::new(stub, "Method").read("variant").map_err(|error| error.to_string())
}

/// The header of [MS-OAUT] 2.2.29.1 by hand, with the union's tag, then what follows.
fn wire(units: u32, vt: u16, tag: u32, rest: &[u8]) -> Vec<u8> {
    let mut bytes = [units, 0].map(u32::to_le_bytes).concat();
    bytes.extend(vt.to_le_bytes());
    bytes.extend([0; 6]);
    bytes.extend(tag.to_le_bytes());
    bytes.extend(rest);
    bytes
}

#[test]
fn values_stand_behind_their_type_at_their_alignment() {
    let eight = |bytes: [u8; 8]| [&[0; 4][..], &bytes].concat();
    let text = [&[0, 0, 2, 0, 1, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0][..], b"a\0"].concat();
    for (value, vt, units, rest) in [
        (Value::Empty, 0, 3, vec![]),
        (Value::Null, 1, 3, vec![]),
        (Value::I2(-2), 2, 3, vec![0xfe, 0xff]),
        (Value::I4(7), 3, 3, vec![7, 0, 0, 0]),
        (Value::R4(1.0), 4, 3, vec![0, 0, 0x80, 0x3f]),
        (Value::R8(1.0), 5, 4, eight([0, 0, 0, 0, 0, 0, 0xf0, 0x3f])),
        (Value::Currency(Currency(52_500)), 6, 4, eight(52_500_i64.to_le_bytes())),
        (Value::Date(Date(5.25)), 7, 4, eight(5.25_f64.to_le_bytes())),
        (Value::Bstr(Bstr::new("a").unwrap()), 8, 5, text),
        (Value::Error(HResult::E_INVALIDARG), 10, 3, vec![0x57, 0, 7, 0x80]),
        (Value::Bool(VariantBool::TRUE), 11, 3, vec![0xff, 0xff]),
        (Value::Unknown(None), 13, 3, vec![0; 4]),
        (
            Value::Decimal(Decimal { scale: 2, sign: 0x80, high: 1, low: 2, reserved: 0 }),
            14,
            5,
            [&[0; 4][..], &[0, 0, 2, 0x80, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0]].concat(),
        ),
        (Value::I1(-1), 16, 3, vec![0xff]),
        (Value::Ui2(7), 18, 3, vec![7, 0]),
        (Value::Ui8(7), 21, 4, eight(7_u64.to_le_bytes())),
        (Value::Uint(7), 23, 3, vec![7, 0, 0, 0]),
        (Value::Ui4Ref(Some(Box::new(7))), 0x4013, 4, vec![0, 0, 2, 0, 7, 0, 0, 0]),
        (Value::Ui4Ref(None), 0x4013, 3, vec![0; 4]),
    ] {
        let variant = Variant::new(value).unwrap();
        assert_eq!((variant.vt.0, variant.size), (vt, units), "{variant:?}");
        let stub = written(&variant);
        assert_eq!(stub, wire(units, vt, vt.into(), &rest), "{variant:?}");
        assert_eq!(read(&stub), Ok(variant));
    }
}

#[test]
fn a_variant_is_aligned_to_eight_bytes_whatever_its_value() {
    let variant = Some(Box::new(Variant::new(Value::I4(7)).unwrap()));
    let mut dst = Writer::new();
    dst.write(&variant).unwrap();
    let expected = [&[0, 0, 2, 0, 0, 0, 0, 0][..], &wire(3, 3, 3, &[7, 0, 0, 0])].concat();
    assert_eq!(dst.into_stub(), expected);
}

#[test]
fn the_size_that_a_writer_states_is_not_believed() {
    let stub = wire(u32::MAX, 3, 3, &[7, 0, 0, 0]);
    assert_eq!(read(&stub).unwrap().value, Value::I4(7));
}

#[test]
fn an_array_says_its_type_in_the_variant_and_in_itself() {
    let texts = ["a", "bc"].map(|text| Bstr::new(text).unwrap()).to_vec();
    let array = SafeArray::of_bstrs(texts).unwrap();
    assert_eq!(array.element_type(), Some(VarType::VT_BSTR));
    let value = Value::Array(Some(Box::new(Some(Box::new(array)))));
    let variant = Variant::of_array(VarType::VT_BSTR, value.clone()).unwrap();
    assert_eq!(variant.vt, VarType::VT_BSTR.array());
    let stub = written(&variant);
    // Two pointers, the number of bounds, cDims and fFeatures, cbElements, cLocks, SF_BSTR, the number of elements, their
    // pointer, and the bounds.
    let words: Vec<u32> =
        stub[16..64].chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect();
    assert_eq!(words, [0x2000, 0x2_0000, 0x2_0004, 1, 0x0180_0001, 4, 0x8_0000, 8, 2, 0x2_0008, 2, 0]);
    assert_eq!(variant.size as usize, stub.len().div_ceil(8));
    assert_eq!(read(&stub), Ok(variant));
    assert!(Variant::new(value).is_err(), "the type of the elements is missing");
}

#[test]
fn variants_can_be_in_arrays_of_variants_up_to_a_depth() {
    let mut variant = Variant::empty();
    for depth in 0..20 {
        let array = SafeArray::of_variants(vec![variant, Variant::empty()]).unwrap();
        let value = Value::Array(Some(Box::new(Some(Box::new(array)))));
        variant = Variant::of_array(VarType::VT_VARIANT, value).unwrap();
        let stub = written(&variant);
        // Each array is behind two pointers, its elements behind one, and each variant behind one.
        match read(&stub) {
            Ok(read) => assert_eq!((read, depth < 8), (variant.clone(), true)),
            Err(error) => assert!(depth >= 8 && error.contains("nested too deeply"), "{depth}: {error}"),
        }
    }
}

#[test]
fn objects_are_references_in_bytes() {
    let pointer = InterfacePointer { size: 3, data: (&b"abc"[..]).into() };
    let variant = Variant::new(Value::Dispatch(Some(Box::new(pointer)))).unwrap();
    let stub = written(&variant);
    assert_eq!(stub[20..], [0, 0, 2, 0, 3, 0, 0, 0, 3, 0, 0, 0, b'a', b'b', b'c']);
    assert_eq!(read(&stub), Ok(variant));
}

#[test]
fn values_that_contradict_their_type_are_refused() {
    for (stub, expected) in [
        (wire(3, 3, 4, &[0; 4]), "_varUnion"),
        (wire(3, 0x24, 0x24, &[0; 4]), "no arm of the union has this tag"),
        (wire(3, 0x2008, 0x2008, &[0; 4]), "_varUnion"),
        (
            wire(5, 14, 14, &[0, 0, 0, 0, 0, 0, 29, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
            "`scale`: is above 28",
        ),
        (wire(3, 5, 5, &[0; 8]), "needed"),
    ] {
        let error = read(&stub).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn an_array_says_whether_its_bounds_fit_its_elements() {
    let array = SafeArray::of_dwords(VarType::VT_UI4, vec![1, 2]).unwrap();
    let value = Value::Array(Some(Box::new(Some(Box::new(array)))));
    let honest = written(&Variant::of_array(VarType::VT_UI4, value).unwrap());
    let bounds = honest.windows(8).position(|bytes| bytes == [2, 0, 0, 0, 0, 0, 0, 0]).unwrap();
    for (count, expected) in [(2, true), (3, false), (0, false)] {
        let mut stub = honest.clone();
        stub[bounds] = count;
        let Value::Array(Some(array)) = read(&stub).unwrap().value else { panic!("{stub:?}") };
        assert_eq!(array.unwrap().is_filled(), expected, "{count}");
    }
    let mut none = honest;
    none[32] = 0; // cDims
    assert!(read(&none).unwrap_err().contains("`cDims`"), "{none:02x?}");
}
