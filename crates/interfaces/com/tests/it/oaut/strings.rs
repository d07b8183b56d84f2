use com::oaut::Bstr;
use rpc::ndr::{Reader, Writer};
use wire::Utf16Error;

fn written(bstr: &Bstr) -> Vec<u8> {
    let mut dst = Writer::new();
    dst.write(bstr).unwrap();
    dst.into_stub()
}

fn read(stub: &[u8]) -> Result<Bstr, String> {
    Reader::new(stub, "Method").read("bstr").map_err(|error| error.to_string())
}

fn blob(words: &[u32], units: &[u8]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).chain(units.iter().copied()).collect()
}

// [MS-OAUT] 2.2.23.1 by hand: a pointer, max_count, cBytes, clSize, characters.
#[test]
fn a_text_has_its_size_in_bytes_and_in_units_and_no_nul() {
    let bstr = Bstr::new("aé").unwrap();
    assert_eq!(written(&bstr), blob(&[0x2_0000, 2, 4, 2], b"a\0\xe9\0"));
    assert_eq!(read(&written(&bstr)), Ok(bstr.clone()));
    assert_eq!(bstr.text(), Ok(Some("aé".to_owned())));
    assert_eq!(Bstr::new("").unwrap().text(), Ok(Some(String::new())));
    assert!(!Bstr::new("").unwrap().is_null());
}

#[test]
fn nuls_behind_a_text_are_no_part_of_it_and_one_within_it_is() {
    for (units, text) in [(&b"a\0\0\0"[..], "a"), (b"a\0\0\0\0\0", "a"), (b"\0\0a\0", "\0a"), (b"\0\0", "")] {
        let count = u32::try_from(units.len() / 2).unwrap();
        let bstr = read(&blob(&[0x2_0000, count, 2 * count, count], units)).unwrap();
        assert_eq!(bstr.text(), Ok(Some(text.to_owned())), "{units:?}");
        assert_eq!(
            written(&bstr),
            blob(&[0x2_0000, count, 2 * count, count], units),
            "it is passed on as it came"
        );
    }
}

#[test]
fn nothing_has_two_forms() {
    assert_eq!(written(&Bstr::null()), blob(&[0x2_0000, 0, u32::MAX, 0], b""));
    for stub in [blob(&[0x2_0000, 0, u32::MAX, 0], b""), blob(&[0], b"")] {
        let bstr = read(&stub).unwrap();
        assert!(bstr.is_null());
        assert_eq!(bstr.text(), Ok(None));
    }
}

#[test]
fn data_of_an_odd_size_are_read_and_are_no_text() {
    let bstr = read(&blob(&[1, 2, 3, 2], b"abc\0")).unwrap();
    assert_eq!(bstr.text(), Err(Utf16Error::OddLength));
    let bstr = read(&blob(&[1, 1, 2, 1], b"\0\xd8")).unwrap();
    assert_eq!(bstr.text(), Err(Utf16Error::LoneSurrogate));
}

#[test]
fn sizes_that_contradict_each_other_are_refused() {
    for (stub, expected) in [
        (blob(&[1, 1, 4, 1], b"a\0"), "`asData`: max_count is not elements (bytes, count)"),
        (blob(&[1, 1, u32::MAX, 1], b"a\0"), "`asData`: max_count is not elements (bytes, count)"),
        (blob(&[1, 2, 2, 1], b"a\0b\0"), "`asData`"),
        (blob(&[1, u32::MAX, u32::MAX, 0], b""), "limit"),
        (blob(&[1, 2, 4, 2], b"a\0"), "needed"),
    ] {
        let error = read(&stub).unwrap_err();
        assert!(error.contains("FLAGGED_WORD_BLOB") && error.contains(expected), "{error}");
    }
}
