use ssp::{Error, Mechanism, Protection, Usage};

use crate::pair::{MECHANISMS, Pair, Sealed, seal};

const PROTECTIONS: [Protection; 2] = [Protection::Integrity, Protection::Privacy];

#[test]
fn messages_pass_both_ways_in_order() {
    for mechanism in MECHANISMS {
        for protection in PROTECTIONS {
            let mut pair = Pair::established(mechanism, Usage::Rpc);
            for round in 0..100_u8 {
                let body = vec![round; usize::from(round)];
                let mut request = seal(&mut *pair.client, protection, &body);
                assert_eq!(request.body == body, protection == Protection::Integrity || body.is_empty());
                pair.server.unwrap(request.message()).unwrap();
                assert_eq!(request.body, body);
                let mut response = seal(&mut *pair.server, protection, &body);
                pair.client.unwrap(response.message()).unwrap();
                assert_eq!(response.body, body);
            }
        }
    }
}

/// [MS-SPNG] 3.2.5.1: the signatures of the mechanism list count, though they leave the cipher where it was.
#[test]
fn after_spnego_both_sides_count_from_one_and_after_ntlm_from_zero() {
    for (mechanism, first) in [(Mechanism::Ntlm, 0_u32), (Mechanism::Negotiate, 1)] {
        let mut pair = Pair::established(mechanism, Usage::Rpc);
        // [MS-NLMP] 2.2.2.9.2: the number is the last four bytes of a signature.
        let request = seal(&mut *pair.client, Protection::Privacy, b"request");
        assert_eq!(request.signature[12..], first.to_le_bytes());
        let response = seal(&mut *pair.server, Protection::Privacy, b"response");
        assert_eq!(response.signature[12..], first.to_le_bytes());
    }
}

/// NTLM signs header and trailer too, whatever was negotiated.
#[test]
fn a_change_anywhere_in_a_message_is_noticed_and_ends_the_context() {
    let changes: [fn(&mut Sealed); 4] = [
        |sealed| sealed.header[3] ^= 1,
        |sealed| sealed.body[0] ^= 1,
        |sealed| sealed.trailer[0] ^= 1,
        |sealed| sealed.signature[5] ^= 1,
    ];
    for mechanism in MECHANISMS {
        for protection in PROTECTIONS {
            for change in changes {
                let mut pair = Pair::established(mechanism, Usage::Rpc);
                let mut sealed = seal(&mut *pair.client, protection, b"body");
                change(&mut sealed);
                let error = pair.server.unwrap(sealed.message()).unwrap_err();
                assert!(matches!(error, Error::MessageAltered { .. }), "{error:?}");
                let mut next = seal(&mut *pair.client, protection, b"body");
                assert!(matches!(pair.server.unwrap(next.message()), Err(Error::NotEstablished)));
            }
        }
    }
}

#[test]
fn a_message_that_is_repeated_or_left_out_is_noticed() {
    let mut pair = Pair::established(Mechanism::Ntlm, Usage::Rpc);
    let first = seal(&mut *pair.client, Protection::Privacy, b"first");
    pair.server.unwrap(first.clone().message()).unwrap();
    assert!(pair.server.unwrap(first.clone().message()).is_err(), "repeated");

    let mut pair = Pair::established(Mechanism::Ntlm, Usage::Rpc);
    let _left_out = seal(&mut *pair.client, Protection::Privacy, b"first");
    let mut second = seal(&mut *pair.client, Protection::Privacy, b"second");
    assert!(pair.server.unwrap(second.message()).is_err(), "left out");
}

#[test]
fn a_signature_of_another_length_is_an_error_and_no_panic() {
    let mut pair = Pair::established(Mechanism::Ntlm, Usage::Rpc);
    let mut sealed = seal(&mut *pair.client, Protection::Privacy, b"body");
    sealed.signature.pop();
    assert!(matches!(
        pair.server.unwrap(sealed.message()),
        Err(Error::SignatureLength { expected: 16, actual: 15 })
    ));
}
