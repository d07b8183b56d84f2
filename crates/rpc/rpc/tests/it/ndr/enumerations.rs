//! Enums without `[v1_enum]`, in both forms and as readers of both forms read them.

use rpc::ndr::{Enum, EnumForm, Reader, Writer};

/// An enum after `before` bytes, as the last parameter.
fn last(form: EnumForm, before: usize) -> Vec<u8> {
    let mut dst = Writer::new().with_enums(form);
    dst.bytes(&vec![0xee; before]);
    dst.write(&Enum(0x1234)).unwrap();
    dst.into_stub()[before..].to_vec()
}

#[test]
fn each_form_has_its_size_and_alignment() {
    use EnumForm::{Either, Long, Short};
    assert_eq!([0, 1, 2, 3].map(|before| last(Short, before).len()), [2, 3, 2, 3]);
    assert_eq!([0, 1, 2, 3].map(|before| last(Long, before).len()), [4, 7, 6, 5]);
    assert_eq!(last(Either, 0), [0x34, 0x12, 0, 0]);
    // First as padding of the long form, then as the long form.
    assert_eq!(last(Either, 2), [0x34, 0x12, 0x34, 0x12, 0, 0]);
    assert_eq!(last(Either, 1), [0, 0x34, 0x12, 0x34, 0x12, 0, 0]);
}

#[test]
fn what_is_written_for_either_is_read_in_both_and_both_are_read() {
    let forms = [EnumForm::Either, EnumForm::Short, EnumForm::Long];
    for before in 0..4 {
        for (writer, reader) in forms.into_iter().flat_map(|writer| forms.map(|reader| (writer, reader))) {
            let stub = [vec![0xee; before], last(writer, before)].concat();
            let src = &mut Reader::new(&stub, "Call").with_enums(reader);
            src.take("before", before).unwrap();
            let read = src.read::<Enum>("mode").ok().map(|value| value.0);
            if writer == reader || writer == EnumForm::Either || reader == EnumForm::Either {
                assert_eq!(read, Some(0x1234), "{before} {writer:?} {reader:?}");
            } else if before == 0 {
                // A reader of the long form finds no second half; one of the short form does not look for it.
                assert_eq!(read, (reader == EnumForm::Short).then_some(0x1234));
            } else {
                assert_ne!((read, before), (Some(0x1234), 2), "{writer:?} {reader:?}");
            }
        }
    }
}

#[test]
fn what_follows_is_aligned_to_four_and_so_the_same_in_both_forms() {
    let written = [EnumForm::Either, EnumForm::Short, EnumForm::Long].map(|form| {
        let mut dst = Writer::new().with_enums(form);
        dst.write(&Enum(0x1234)).unwrap();
        dst.u32(7);
        dst.into_stub()
    });
    assert!(written.iter().all(|stub| *stub == [0x34, 0x12, 0, 0, 7, 0, 0, 0]));
    // The high half is padding to some, and means nothing to others.
    let noise = [0x34, 0x12, 0xcc, 0xcc, 7, 0, 0, 0];
    for form in [EnumForm::Either, EnumForm::Short, EnumForm::Long] {
        let src = &mut Reader::new(&noise, "Call").with_enums(form);
        assert_eq!((src.read::<Enum>("mode").unwrap().0, src.u32("status").unwrap()), (0x1234, 7));
    }
}

#[test]
fn an_enum_that_is_cut_off_is_an_error() {
    for stub in [&[][..], &[0x34]] {
        let error = Reader::new(stub, "Call").read::<Enum>("mode").unwrap_err();
        assert!(error.to_string().contains("`mode`"), "{error}");
    }
}
