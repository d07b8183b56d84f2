use proptest::prelude::*;
use ssp::{Error, Mechanism, Outcome, SecurityContext, Step, Usage};

use crate::pair::{MECHANISMS, Pair};

/// The client's side up to where its last token would go out, and that token.
fn before_the_last_token(pair: &mut Pair) -> Vec<u8> {
    let Ok(Step::Continue(negotiate)) = pair.client.step(&[]) else { panic!("a client speaks first") };
    let Ok(Step::Continue(challenge)) = pair.server.step(&negotiate) else { panic!("a server answers") };
    match pair.client.step(&challenge).unwrap() {
        Step::Continue(token) | Step::Done(Some(token)) => token,
        other => panic!("{other:?} is no message"),
    }
}

#[test]
fn a_token_cut_anywhere_is_refused_by_both_sides() {
    for mechanism in MECHANISMS {
        let mut whole = Pair::new(mechanism, Usage::Rpc);
        whole.authenticate().unwrap();
        for (index, token) in whole.tokens.iter().enumerate() {
            for length in (0..token.len()).step_by(7) {
                let mut pair = Pair::new(mechanism, Usage::Rpc);
                let result = match index {
                    0 => pair.server.step(&token[..length]),
                    1 => pair.client.step(&[]).and_then(|_| pair.client.step(&token[..length])),
                    2 => {
                        let token = before_the_last_token(&mut pair);
                        pair.server.step(&token[..length.min(token.len() - 1)])
                    }
                    _ => continue,
                };
                assert!(result.is_err(), "{mechanism:?} token {index} cut to {length}");
            }
        }
    }
}

#[test]
fn a_server_that_answers_with_something_else_is_refused() {
    let mut pair = Pair::new(Mechanism::Ntlm, Usage::Rpc);
    let Ok(Step::Continue(negotiate)) = pair.client.step(&[]) else { panic!("a client speaks first") };
    let error = pair.client.step(&negotiate).unwrap_err();
    assert_eq!(error.to_string(), "unexpected token: the server sends no NTLM challenge");
}

#[test]
fn a_client_that_answers_before_it_is_asked_is_refused() {
    let mut pair = Pair::new(Mechanism::Ntlm, Usage::Rpc);
    let authenticate = before_the_last_token(&mut pair);
    let mut fresh = Pair::new(Mechanism::Ntlm, Usage::Rpc);
    assert!(matches!(fresh.server.step(&authenticate), Err(Error::UnexpectedToken { .. })));
}

/// A response to one challenge is worth nothing for another.
#[test]
fn a_replayed_response_is_a_bad_password() {
    for mechanism in MECHANISMS {
        let mut pair = Pair::new(mechanism, Usage::Rpc);
        let recorded = before_the_last_token(&mut pair);
        let mut fresh = Pair::new(mechanism, Usage::Rpc);
        before_the_last_token(&mut fresh);
        assert!(matches!(fresh.server.step(&recorded), Err(Error::BadPassword { .. })));
    }
}

/// NTLMv1 responses have 24 bytes; the published message of [MS-NLMP] 4.2.2.3 in its layout, names changed.
#[test]
fn a_response_of_ntlm_version_1_is_refused() {
    let mut pair = Pair::new(Mechanism::Ntlm, Usage::Rpc);
    let mut authenticate = before_the_last_token(&mut pair);
    authenticate[20..24].copy_from_slice(&[24, 0, 24, 0]);
    let error = pair.server.step(&authenticate).unwrap_err();
    assert!(matches!(error, Error::NotNtlmV2), "{error:?}");
    assert_eq!(pair.accounts.attempts()[0].1, Outcome::Malformed);
}

#[test]
fn an_anonymous_client_is_refused_and_is_nobodys_attempt() {
    let mut pair = Pair::new(Mechanism::Ntlm, Usage::Rpc);
    let mut authenticate = before_the_last_token(&mut pair);
    authenticate[12..52].fill(0);
    assert!(matches!(pair.server.step(&authenticate), Err(Error::Anonymous)));
    assert_eq!(pair.accounts.attempts(), []);
}

/// A final SPNEGO token without a signature is no end for RPC, whose messages would be counted wrongly.
#[test]
fn an_rpc_client_insists_on_the_signature_of_the_mechanism_list() {
    let accept_completed = [0xa1, 7, 0x30, 5, 0xa0, 3, 0x0a, 1, 0];
    let mut pair = Pair::new(Mechanism::Negotiate, Usage::Rpc);
    before_the_last_token(&mut pair);
    assert!(matches!(pair.client.step(&accept_completed), Err(Error::UnexpectedToken { .. })));

    let mut pair = Pair::new(Mechanism::Negotiate, Usage::Smb);
    before_the_last_token(&mut pair);
    assert!(matches!(pair.client.step(&accept_completed), Ok(Step::Done(None))));
}

fn step_quietly(context: &mut dyn SecurityContext, token: &[u8]) {
    let _ = context.step(token);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_make_either_side_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        for mechanism in MECHANISMS {
            let mut pair = Pair::new(mechanism, Usage::Rpc);
            step_quietly(&mut *pair.server, &bytes);
            step_quietly(&mut *pair.client, &[]);
            step_quietly(&mut *pair.client, &bytes);
        }
    }

    #[test]
    fn no_changed_byte_makes_either_side_panic(
        at in any::<proptest::sample::Index>(),
        value in any::<u8>(),
        leg in 0..3_usize,
        negotiate in any::<bool>(),
    ) {
        let mechanism = MECHANISMS[usize::from(negotiate)];
        let mut pair = Pair::new(mechanism, Usage::Rpc);
        let change = |token: &mut Vec<u8>, of: usize| {
            if of == leg {
                let at = at.index(token.len());
                token[at] = value;
            }
        };
        let Ok(Step::Continue(mut token)) = pair.client.step(&[]) else { panic!("a client speaks first") };
        change(&mut token, 0);
        if let Ok(Step::Continue(mut token)) = pair.server.step(&token) {
            change(&mut token, 1);
            if let Ok(Step::Continue(mut token) | Step::Done(Some(mut token))) = pair.client.step(&token) {
                change(&mut token, 2);
                step_quietly(&mut *pair.server, &token);
            }
        }
    }
}
