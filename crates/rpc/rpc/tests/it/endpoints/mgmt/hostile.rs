//! Peers that lie.

use rpc::endpoints::mgmt::management::{
    InqIfIdsReply, InqPrincNameReply, InqPrincNameRequest, InqStatsReply,
};
use rpc::{FromStub, Request};

fn stub(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn error<'a, M: FromStub<'a> + core::fmt::Debug>(stub: &'a [u8]) -> String {
    M::from_stub(stub).unwrap_err().to_string()
}

#[test]
fn a_vector_of_interfaces_counts_once_and_has_its_elements() {
    let bytes = stub(&[1, 2, 1, 0, 0, 0]);
    let message = error::<InqIfIdsReply>(&bytes);
    assert!(message.contains("`if_id`: max_count is not count"), "{message}");
    let bytes = stub(&[1, 0xffff_ffff, 0xffff_ffff, 0]);
    let message = error::<InqIfIdsReply>(&bytes);
    assert!(message.contains("4294967295 is above the limit"), "{message}");
    let bytes = stub(&[1, 0x1000, 0x1000, 0]);
    let message = error::<InqIfIdsReply>(&bytes);
    assert!(message.contains("16384 bytes needed at offset 12, 4 there"), "{message}");
    // Neither a vector that is NULL nor an interface that is.
    let bytes = stub(&[0, 0]);
    assert_eq!(InqIfIdsReply::from_stub(&bytes).unwrap().if_id_vector, None);
    let bytes = stub(&[1, 1, 1, 0, 0]);
    let vector = InqIfIdsReply::from_stub(&bytes).unwrap().if_id_vector.unwrap();
    assert_eq!((vector.count, vector.interfaces().count()), (1, 0));
}

#[test]
fn figures_count_once() {
    let bytes = stub(&[4, 3, 0, 0, 0, 0]);
    let message = error::<InqStatsReply>(&bytes);
    assert!(message.contains("`statistics`: max_count is not count"), "{message}");
}

#[test]
fn a_name_has_its_nul_at_its_end_and_fits_the_room() {
    let text = u32::from_le_bytes(*b"ab\0\0");
    let bytes = stub(&[8, 0, 3, text, 0]);
    let reply = InqPrincNameReply::from_stub(&bytes).unwrap();
    assert_eq!(reply.name.text, "ab");
    let request = |room| InqPrincNameRequest { authn_proto: Default::default(), room };
    assert_eq!(request(3).broken_rule(&reply), None);
    assert_eq!(request(2).broken_rule(&reply).unwrap().0, "princ_name");
    for (words, reason) in [
        ([8, 0, 2, text, 0], "does not end with a NUL"),
        ([8, 0, 4, text, 0], "has a NUL before its end"),
        ([2, 0, 3, text, 0], "actual_count is above max_count"),
        ([8, 1, 3, text, 0], "the offset of a varying array is not zero"),
        ([0xffff_ffff, 0, 0xffff_ffff, text, 0], "is above the limit"),
    ] {
        let bytes = stub(&words);
        let message = error::<InqPrincNameReply>(&bytes);
        assert!(message.contains(reason), "{message}");
    }
}
