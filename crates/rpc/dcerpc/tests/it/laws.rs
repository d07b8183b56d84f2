use dcerpc::AuthLevel;
use dcerpc::client::Event;
use dcerpc::pdu::{Body, Pdu, encode_pdu};
use proptest::prelude::*;
use ssp::Mechanism;
use wire::Encode;

use crate::pair::{Pair, WINREG, pattern, protections};

/// What is always true of a PDU that could be read: written again it is the same, but for what is not read.
fn check_size_law(bytes: &[u8]) {
    let Ok(Pdu { header, body, verifier }) = Pdu::decode(bytes) else {
        return;
    };
    let body: &dyn Encode = match &body {
        Body::Bind(bind) => bind,
        Body::BindAck(ack) => ack,
        Body::BindNak(nak) => nak,
        Body::Fault(fault) => fault,
        _ => return,
    };
    let again = encode_pdu(header.packet_type, header.flags, header.call_id, Some(body), verifier).unwrap();
    let again = Pdu::decode(&again).unwrap();
    assert_eq!(again.header.packet_type, header.packet_type);
    assert_eq!(Pdu::decode(bytes).unwrap().body, again.body);
}

fn whole_pdu() -> impl Strategy<Value = Vec<u8>> {
    let types = prop_oneof![Just(0_u8), Just(2), Just(3), 11..=19_u8, any::<u8>()];
    (types, any::<u8>(), 0..40_u16, proptest::collection::vec(any::<u8>(), 0..300)).prop_map(
        |(packet_type, flags, auth_length, body)| {
            let length = u16::try_from(16 + body.len()).unwrap();
            let mut pdu = vec![5, 0, packet_type, flags, 0x10, 0, 0, 0];
            pdu.extend(length.to_le_bytes());
            pdu.extend(auth_length.to_le_bytes());
            pdu.extend([2, 0, 0, 0]);
            pdu.extend(body);
            pdu
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_make_the_decoder_panic(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
        check_size_law(&bytes);
    }

    #[test]
    fn what_can_be_read_can_be_written(bytes in whole_pdu()) {
        check_size_law(&bytes);
    }

    #[test]
    fn no_pdus_make_an_unprotected_association_panic(
        pdus in proptest::collection::vec(whole_pdu(), 1..5),
        is_bound in any::<bool>(),
        has_call in any::<bool>(),
    ) {
        let mut pair = Pair::new(None);
        pair.client.bind(&[WINREG]).unwrap();
        if is_bound {
            pair.drive();
            if has_call {
                pair.answer_to(b"1234");
            }
        }
        for pdu in &pdus {
            let _ = pair.client.handle_bytes(pdu);
            let _ = pair.server.handle_bytes(pdu);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_pdus_make_a_sealed_association_panic(pdus in proptest::collection::vec(whole_pdu(), 1..4)) {
        let mut pair = Pair::bound(Some((Mechanism::Negotiate, AuthLevel::PKT_PRIVACY)));
        pair.answer_to(b"1234");
        for pdu in &pdus {
            let _ = pair.client.handle_bytes(pdu);
            let _ = pair.server.handle_bytes(pdu);
        }
    }

    /// Whatever a man in the middle does to one byte of a protected call, the stub data is never another.
    #[test]
    fn no_changed_byte_changes_protected_stub_data(
        at in any::<proptest::sample::Index>(),
        flip in 1..=255_u8,
        protection in 1..5_usize,
    ) {
        let protection = protections().nth(protection).unwrap();
        let stub = pattern(3000);
        let mut pair = Pair::bound(protection);
        let mut answer = pair.answer_to(&stub).concat();
        let at = at.index(answer.len());
        answer[at] ^= flip;
        let result = pair.client.handle_bytes(&answer);
        match pair.client.poll_event() {
            Some(Event::Response { stub: seen, .. }) => prop_assert!(seen == stub),
            // A shutdown proves nothing about its sender; closing the connection is all that it can bring about.
            Some(Event::Shutdown) => {}
            Some(other) => prop_assert!(result.is_err(), "{other:?}"),
            None => prop_assert!(result.is_err() || pair.client.is_within_pdu()),
        }
    }
}
