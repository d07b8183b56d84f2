//! Laws that hold for all values and all bytes.

use proptest::prelude::*;
use rpc::ndr::{
    Conformant, ConformantVarying, FixedString, NarrowString, NdrDecode, NdrEncode, Reader, Varying,
    WideString, Writer,
};

use crate::ndr::structures::{Container, Item, Leaf, Mixed, RpcSid, Text, Tree};

fn text() -> impl Strategy<Value = Text> {
    proptest::option::of("[^\0]{0,9}".prop_map(|text| Box::new(WideString(text))))
}

fn item() -> impl Strategy<Value = Item> {
    (text(), any::<u32>(), text()).prop_map(|(name, kind, remark)| Item { name, kind, remark })
}

fn container() -> impl Strategy<Value = Container> {
    let items = proptest::collection::vec(item(), 0..5).prop_map(|items| Box::new(Conformant(items)));
    (any::<u32>(), proptest::option::of(items), any::<u32>()).prop_map(|(count, buffer, next)| Container {
        count,
        buffer,
        next,
    })
}

fn tree() -> impl Strategy<Value = Tree> {
    let leaf = (proptest::option::of(any::<u32>().prop_map(Box::new)), any::<u32>())
        .prop_map(|(d, v)| Box::new(Leaf { d, v }));
    (proptest::option::of(leaf), text()).prop_map(|(b, c)| Tree { b, c })
}

/// Reads back what was written after `before` bytes, to the last byte.
fn survives<T: NdrEncode + for<'stub> NdrDecode<'stub> + PartialEq + core::fmt::Debug>(
    before: &[u8],
    value: &T,
) {
    let mut dst = Writer::new();
    dst.bytes(before);
    dst.write(value).unwrap();
    let stub = dst.into_stub();
    let src = &mut Reader::new(&stub, "Call");
    src.take("before", before.len()).unwrap();
    assert_eq!(&src.read::<T>("p").unwrap(), value);
    assert_eq!(src.remaining(), []);
}

proptest! {
    #[test]
    fn what_is_written_at_any_alignment_is_read_back(
        before in proptest::collection::vec(any::<u8>(), 0..9),
        container in container(),
        tree in tree(),
        mixed in (any::<u8>(), any::<u16>(), any::<u64>(), any::<u32>()),
        wide in proptest::collection::vec(any::<u64>(), 0..5),
    ) {
        survives(&before, &container);
        survives(&before, &tree);
        let (a, b, c, d) = mixed;
        survives(&before, &Conformant(vec![Mixed { a, b, c, d }, Mixed { a, b, c, d }]));
        survives(&before, &Varying(wide.clone()));
        survives(&before, &ConformantVarying { max_count: 9, elements: wide });
    }

    #[test]
    fn a_string_of_bytes_is_read_back(
        before in proptest::collection::vec(any::<u8>(), 0..5),
        text in "[\u{1}-\u{ff}]{0,15}",
        room in 16_u32..99,
    ) {
        survives(&before, &Conformant(vec![FixedString::<16>(text.clone()), FixedString::default()]));
        survives(&before, &Conformant(vec![NarrowString { max_count: room, text }, NarrowString::default()]));
    }

    #[test]
    fn no_bytes_make_a_reader_panic(stub in proptest::collection::vec(any::<u8>(), 0..200)) {
        let read = || Reader::new(&stub, "Call");
        let _ = read().read::<Container>("p");
        let _ = read().read::<Tree>("p");
        let _ = read().read::<Option<Box<RpcSid>>>("p");
        let _ = read().read::<ConformantVarying<Mixed>>("p");
        let _ = read().wide_string("p");
        let _ = read().read::<NarrowString>("p");
        let _ = read().read::<FixedString<8>>("p");
        let _ = read().conformant_bytes("p");
    }

    #[test]
    fn a_stub_with_bytes_changed_is_read_or_refused(
        container in container(),
        changes in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut dst = Writer::new();
        dst.write(&container).unwrap();
        let mut stub = dst.into_stub();
        for (at, byte) in changes {
            let at = at.index(stub.len());
            stub[at] = byte;
        }
        let _ = Reader::new(&stub, "Call").read::<Container>("p");
    }
}
