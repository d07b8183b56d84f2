//! Arrays as go-msrpc 1.2.5 writes them. Its variants with arrays do not say the type of the elements, and it leaves clSize
//! to its user; the arrays are whole.

use com::oaut::{Bstr, SafeArray, Value, VarType, Variant};
use rpc::ndr::{Reader, Writer};

fn unhex(text: &str) -> Vec<u8> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let digits: Vec<u8> = lines.flat_map(str::bytes).collect();
    let byte = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.chunks(2).map(byte).collect()
}

fn check(theirs: &str, array: SafeArray<'_>) {
    let theirs = unhex(theirs);
    let read: Variant<'_> = Reader::new(&theirs, "go-msrpc").read("variant").unwrap();
    assert_eq!(read.vt, VarType::VT_ARRAY);
    assert_eq!(read.value, Value::Array(Some(Box::new(Some(Box::new(array))))));
    let mut dst = Writer::new();
    dst.write(&read).unwrap();
    let ours = dst.into_stub();
    // Numbers of pointers are the writer's own; everything else is the same.
    let words = |bytes: &[u8]| bytes.chunks(4).map(<[u8]>::to_vec).collect::<Vec<_>>();
    let differing = words(&ours).into_iter().zip(words(&theirs)).filter(|(ours, theirs)| ours != theirs);
    assert!(differing.into_iter().all(|(ours, _)| ours[2..] == [2, 0]), "{ours:02x?} {theirs:02x?}");
    assert_eq!(ours.len(), theirs.len());
}

#[test]
fn an_array_of_texts() {
    let texts = ["a", "bc"].map(|text| Bstr::new(text).unwrap()).to_vec();
    check(include_str!("../../data/oaut/bstrs.hex"), SafeArray::of_bstrs(texts).unwrap());
}

#[test]
fn an_array_of_numbers() {
    let array = SafeArray::of_dwords(VarType::VT_UI4, vec![1, 2]).unwrap();
    check(include_str!("../../data/oaut/dwords.hex"), array);
}

#[test]
fn an_array_of_variants() {
    let variants =
        [Value::I4(7), Value::Bstr(Bstr::new("a").unwrap())].map(|value| Variant::new(value).unwrap());
    check(include_str!("../../data/oaut/variants.hex"), SafeArray::of_variants(variants.to_vec()).unwrap());
}
