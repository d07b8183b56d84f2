//! Arrays that are parameters, behind one pointer and behind two, put together by hand from [MS-OAUT] 2.2.30.10.

use com::oaut::{ArrayParameter, Bstr, SafeArray};
use rpc::ndr::{ConformantBytes, Reader, Writer};

fn written(parameter: &ArrayParameter<'_>) -> Vec<u8> {
    let mut dst = Writer::new();
    dst.write(parameter).unwrap();
    dst.into_stub()
}

fn read(stub: &[u8]) -> Result<ArrayParameter<'_>, String> {
    Reader::new(stub, "Method").read("keywords").map_err(|error| error.to_string())
}

/// An array of three bytes whose fFeatures are these: its number of dimensions, itself, its bounds, its bytes.
fn bytes(features: u16) -> Vec<u8> {
    let head = [1, u32::from(features) << 16 | 1, 1, 0, 0x10, 3, 0x2_0008, 3, 0, 3];
    [&head.map(u32::to_le_bytes).concat()[..], &[1, 2, 3]].concat()
}

fn behind(pointers: &[u32], array: &[u8]) -> Vec<u8> {
    let pointers = pointers.iter().flat_map(|pointer| pointer.to_le_bytes());
    pointers.chain(array.iter().copied()).collect()
}

#[test]
fn the_number_of_pointers_before_an_array_is_seen_whatever_they_are() {
    // Pointers of Windows, of marshalers in C (1), and ones that look like a number of dimensions and a kind of elements.
    for features in [0, 0x80] {
        let array = bytes(features);
        for pointer in [0x2_0000, 1, 0x10, 0x7265_7355] {
            let stub = behind(&[pointer], &array);
            let single = read(&stub).unwrap();
            assert!(matches!(single, ArrayParameter::Single(Some(_))), "{single:?}");
            for inner in [0x2_0004, 1, 0x10] {
                let stub = behind(&[pointer, inner], &array);
                let double = read(&stub).unwrap();
                assert!(matches!(double, ArrayParameter::Double(Some(_))), "{features} {inner}: {double:?}");
                assert_eq!((double.bytes(), double.array()), (Some(&[1, 2, 3][..]), single.array()));
            }
        }
    }
}

#[test]
fn no_array_is_a_null_pointer_or_a_pointer_to_one() {
    assert_eq!(read(&[0; 4]), Ok(ArrayParameter::Single(None)));
    assert_eq!(read(&[1, 0, 0, 0, 0, 0, 0, 0]), Ok(ArrayParameter::Double(Some(Box::new(None)))));
    for none in [
        ArrayParameter::Single(None),
        ArrayParameter::Double(None),
        ArrayParameter::Double(Some(Box::new(None))),
    ] {
        assert_eq!((none.array(), none.bstrs(), none.bytes()), (None, Some(&[][..]), Some(&[][..])));
        assert_eq!(
            written(&none).len(),
            if none == ArrayParameter::Double(Some(Box::new(None))) { 8 } else { 4 }
        );
    }
}

#[test]
fn an_array_of_one_kind_has_none_of_another() {
    let bytes = ArrayParameter::of_bytes(ConformantBytes(vec![1, 2, 3].into())).unwrap();
    assert_eq!((bytes.bytes(), bytes.bstrs()), (Some(&[1, 2, 3][..]), None));
    let texts = vec![Bstr::new("a").unwrap(), Bstr::null()];
    let array = ArrayParameter::of_bstrs(texts.clone()).unwrap();
    assert_eq!((array.bytes(), array.bstrs()), (None, Some(&texts[..])));
    assert_eq!(read(&written(&array)), Ok(array));
    let single = ArrayParameter::Single(Some(Box::new(SafeArray::of_bstrs(texts).unwrap())));
    assert_eq!(read(&written(&single)), Ok(single));
}

#[test]
fn an_array_that_is_cut_off_is_an_error_that_names_it() {
    for pointers in [&[0x2_0000][..], &[0x2_0000, 0x2_0004]] {
        let stub = behind(pointers, &bytes(0x80));
        for end in 4..stub.len() {
            let error = read(&stub[..end]).unwrap_err();
            assert!(error.contains("SAFEARRAY") || error.contains("SIZEDARR"), "{end}: {error}");
        }
    }
}
