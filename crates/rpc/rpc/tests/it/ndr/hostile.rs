//! Stubs that lie.

use rpc::ndr::{
    Conformant, ContextHandle, FixedString, Limits, NarrowString, NdrDecode, Reader, Varying, WideString,
    Writer,
};

use crate::ndr::structures::{Chain, Container, Item};

fn error<T: for<'stub> NdrDecode<'stub> + core::fmt::Debug>(words: &[u32]) -> String {
    let stub: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    Reader::new(&stub, "Call").read::<T>("p").unwrap_err().to_string()
}

#[test]
fn a_count_without_its_elements_is_refused_before_memory_is_taken() {
    assert_eq!(
        error::<Conformant<u32>>(&[0x000f_ffff, 1]),
        "Call: `p`: 4194300 bytes needed at offset 4, 4 there"
    );
    assert_eq!(
        error::<Container>(&[1, 1, 0, 0x1000]),
        "CONTAINER: `buffer`: 49152 bytes needed at offset 16, 0 there"
    );
}

#[test]
fn a_count_above_the_limit_is_refused_even_if_its_elements_are_there() {
    let mut dst = Writer::new();
    dst.write(&Conformant(vec![0_u8; 5])).unwrap();
    let stub = dst.into_stub();
    let limits = Limits { array_elements_max: 4, ..Limits::default() };
    let result = Reader::new(&stub, "Call").with_limits(limits).read::<Conformant<u8>>("p");
    assert_eq!(result.unwrap_err().to_string(), "Call: `p`: 5 is above the limit of 4 (offset 0)");
    Reader::new(&stub, "Call").read::<Conformant<u8>>("p").unwrap();
}

#[test]
fn more_elements_than_room_are_refused() {
    let stub: Vec<u8> = [2_u32, 0, 3, 0].iter().flat_map(|word| word.to_le_bytes()).collect();
    let error = Reader::new(&stub, "Call").conformant_varying_bytes("p").unwrap_err();
    assert_eq!(error.to_string(), "Call: `p`: actual_count is above max_count (offset 8)");
    let mut dst = Writer::new();
    dst.conformant_varying_bytes(2, &[1, 2, 3]).unwrap_err();
}

#[test]
fn an_offset_that_is_not_zero_is_refused() {
    assert_eq!(
        error::<Varying<u8>>(&[1, 1, 0]),
        "Call: `p`: the offset of a varying array is not zero (offset 0)"
    );
}

#[test]
fn strings_end_with_their_first_nul() {
    let ab = u32::from_le_bytes(*b"a\0b\0");
    let a_nul = u32::from_le_bytes(*b"a\0\0\0");
    let nul_a = u32::from_le_bytes(*b"\0\0a\0");
    let lone_surrogate = u32::from_le_bytes([0, 0xd8, 0, 0]);
    let refused = |words: &[u32], reason: &str| {
        let error = error::<WideString>(words);
        assert!(error.contains(reason), "{error}");
    };
    refused(&[2, 0, 2, ab], "does not end with a NUL");
    refused(&[0, 0, 0], "does not end with a NUL");
    refused(&[4, 0, 4, nul_a, 0], "has a NUL before its end");
    refused(&[2, 0, 2, lone_surrogate], "is no UTF-16");
    refused(&[1, 0, 2, a_nul], "actual_count is above max_count");
    refused(&[0xffff_ffff, 0, 0xffff_ffff, a_nul], "is above the limit of 65536");
    refused(&[0x1_0000, 0, 0x1_0000, a_nul], "131072 bytes needed at offset 12, 4 there");
    let mut dst = Writer::new();
    dst.wide_string("a\0b").unwrap_err();
}

#[test]
fn strings_of_bytes_end_with_their_first_nul_and_have_their_room() {
    let ab = u32::from_le_bytes(*b"ab\0\0");
    let read = |words: &[u32]| error::<NarrowString>(words);
    assert!(read(&[4, 0, 2, ab]).contains("does not end with a NUL"));
    assert!(read(&[4, 0, 4, ab]).contains("has a NUL before its end"));
    assert!(read(&[2, 0, 3, ab]).contains("actual_count is above max_count"));
    assert!(read(&[0xffff_ffff, 0, 0xffff_ffff, ab]).contains("is above the limit of 65536"));
    assert!(read(&[5, 0, 5, ab]).contains("5 bytes needed at offset 12, 4 there"));
    let read = |words: &[u32]| error::<FixedString<3>>(words);
    assert!(read(&[0, 2, ab]).contains("does not end with a NUL"));
    assert!(read(&[0, 4, ab]).contains("4 is above the limit of 3"));
    assert!(read(&[1, 3, ab]).contains("the offset of a varying array is not zero"));

    let write = |max_count, text: &str| {
        let text = NarrowString { max_count, text: text.to_owned() };
        Writer::new().write(&text).map_err(|error| error.to_string())
    };
    write(3, "ab").unwrap();
    assert!(write(2, "ab").unwrap_err().contains("longer than there is room for"));
    assert!(write(9, "a\0b").unwrap_err().contains("holds a NUL"));
    assert!(write(9, "\u{100}").unwrap_err().contains("none of ISO 8859-1"));
    Writer::new().write(&FixedString::<3>("ab".to_owned())).unwrap();
    Writer::new().write(&FixedString::<3>("abc".to_owned())).unwrap_err();
}

#[test]
fn pointers_behind_pointers_have_an_end() {
    let chain = (0..40)
        .fold(Chain { value: 0, next: None }, |next, value| Chain { value, next: Some(Box::new(next)) });
    let mut dst = Writer::new();
    dst.write(&chain).unwrap();
    let stub = dst.into_stub();
    let error = Reader::new(&stub, "Call").read::<Chain>("p").unwrap_err();
    assert!(error.to_string().contains("pointers are nested too deeply"), "{error}");
    let limits = Limits { depth_max: 40, ..Limits::default() };
    assert_eq!(Reader::new(&stub, "Call").with_limits(limits).read::<Chain>("p").unwrap(), chain);
}

#[test]
fn a_value_out_of_range_is_an_error_of_its_own() {
    let stub = [1, 0, 0, 0, 1, 1, 0, 0];
    let src = &mut Reader::new(&stub, "PerflibV2EnumerateCounterSet");
    src.u32("before").unwrap();
    let error = src.range_u32("dwInSize", 0..=256).unwrap_err();
    assert!(matches!(error, rpc::ndr::Error::Range(_)));
    assert_eq!(
        error.to_string(),
        "PerflibV2EnumerateCounterSet: `dwInSize`: 257 is outside of the range 0 to 256 (offset 4)"
    );
}

#[test]
fn an_error_names_the_innermost_structure() {
    // One item, and the stub ends inside of its second member.
    assert_eq!(
        error::<Conformant<Item>>(&[1, 0, 7, 0x0002_0000]),
        "ITEM: `remark`: 4 bytes needed at offset 16, 0 there"
    );
}

#[test]
fn a_stub_that_ends_early_is_an_error_wherever_it_ends() {
    let mut dst = Writer::new();
    dst.write(&ContextHandle::NULL).unwrap();
    dst.wide_string("host").unwrap();
    let stub = dst.into_stub();
    for end in 0..stub.len() {
        let src = &mut Reader::new(&stub[..end], "Call");
        let result = src.read::<ContextHandle>("h").and_then(|_| src.wide_string("s"));
        assert!(result.is_err(), "cut at {end}");
    }
}
