//! A server that takes everybody, and a client that is not given what it asked for.

use ssp::{Error, Mechanism, NegotiateFlags, ServerOptions, Step, Usage, server_of_anybody};

use crate::pair::{MECHANISMS, Pair};

/// An account is let in without its password, and has no keys.
#[test]
fn an_account_is_named_and_its_messages_are_not_protected() {
    for mechanism in MECHANISMS {
        let mut pair = Pair::new(mechanism, Usage::Rpc);
        pair.server = server_of_anybody(ServerOptions::new(mechanism, Usage::Rpc)).unwrap();
        // Within SPNEGO the client misses the signature of the list, which nobody here can make.
        assert_eq!(pair.authenticate().is_ok(), mechanism == Mechanism::Ntlm);
        assert_eq!(pair.server.peer().account.unwrap().user, "svc-metrics");
        let error = pair.server.session_key().unwrap_err();
        assert!(matches!(error, Error::UnknownKeys { .. }), "{error:?}");
        assert_eq!(pair.accounts.attempts(), [], "no account is looked up");
    }
}

#[test]
fn an_answer_before_the_question_is_refused() {
    let mut pair = Pair::new(Mechanism::Ntlm, Usage::Rpc);
    pair.authenticate().unwrap();
    let mut server = server_of_anybody(ServerOptions::new(Mechanism::Ntlm, Usage::Rpc)).unwrap();
    let error = server.step(&pair.tokens[2]).unwrap_err();
    assert!(error.to_string().contains("before it was asked"), "{error}");
}

#[test]
fn a_client_that_offers_kerberos_alone_is_told_so() {
    let kerberos = [0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x12, 1, 2, 2];
    let element = |tag: u8, content: &[u8]| [&[tag, u8::try_from(content.len()).unwrap()], content].concat();
    let list = element(0xa0, &element(0x30, &kerberos));
    let init = element(0xa0, &element(0x30, &list));
    let spnego = [0x06, 0x06, 0x2b, 6, 1, 5, 5, 2];
    let token = element(0x60, &[&spnego[..], &init].concat());
    let mut server = server_of_anybody(ServerOptions::new(Mechanism::Negotiate, Usage::Rpc)).unwrap();
    let error = server.step(&token).unwrap_err();
    assert_eq!(error.to_string(), "the client offers no NTLM, but Kerberos");
}

#[test]
fn a_server_that_does_not_give_what_was_asked_for_gets_no_proof_of_the_password() {
    for (flag, missing) in [
        (NegotiateFlags::EXTENDED_SESSION_SECURITY, "extended session security"),
        (NegotiateFlags::SIGN, "signatures"),
        (NegotiateFlags::SEAL, "encryption"),
        (NegotiateFlags::KEY_128, "keys of 128 bits"),
    ] {
        let mut pair = Pair::new(Mechanism::Ntlm, Usage::Rpc);
        let Ok(Step::Continue(negotiate)) = pair.client.step(&[]) else { panic!("a client speaks first") };
        let Ok(Step::Continue(mut challenge)) = pair.server.step(&negotiate) else {
            panic!("a server answers")
        };
        let given = u32::from_le_bytes(challenge[20..24].try_into().unwrap());
        challenge[20..24].copy_from_slice(&(given & !flag).to_le_bytes());
        let error = pair.client.step(&challenge).unwrap_err();
        assert_eq!(error.to_string(), format!("the other side does not agree to {missing}"));
    }
}
