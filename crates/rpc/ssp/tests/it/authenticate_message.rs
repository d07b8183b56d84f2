//! The bytes of an AUTHENTICATE_MESSAGE: what ours gives away, and which of others' are believed.

use std::sync::Arc;

use hmac::{Hmac, KeyInit, Mac};
use md4::{Digest, Md4};
use md5::Md5;
use ssp::{
    ClientOptions, Error, ImpersonationLevel, Mechanism, Outcome, ServerOptions, SessionKey, Step, Usage,
    server,
};

use crate::authentication::{NTLM, neg_token_init, neg_token_resp};
use crate::pair::{DOMAIN, MECHANISMS, OneAccount, PASSWORD, Pair, USER, seal};

fn hmac_md5(key: &[u8], parts: &[&[u8]]) -> Vec<u8> {
    let mut mac = <Hmac<Md5> as KeyInit>::new_from_slice(key).unwrap();
    parts.iter().for_each(|part| mac.update(part));
    mac.finalize().into_bytes().to_vec()
}

/// [MS-NLMP] 3.3.2 `NTOWFv2`, written once more.
fn ntowf_v2() -> Vec<u8> {
    let utf16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    hmac_md5(&Md4::digest(utf16(PASSWORD)), &[&utf16(&USER.to_uppercase()), &utf16(DOMAIN)])
}

/// NTLM's message within a token.
fn ntlm(token: &[u8]) -> &[u8] {
    &token[token.windows(8).position(|window| window == b"NTLMSSP\0").unwrap()..]
}

/// The payload that length and offset at `fields` point to.
fn payload(message: &[u8], fields: usize) -> &[u8] {
    let length = usize::from(u16::from_le_bytes(message[fields..fields + 2].try_into().unwrap()));
    let offset = u32::from_le_bytes(message[fields + 4..fields + 8].try_into().unwrap());
    &message[usize::try_from(offset).unwrap()..][..length]
}

fn av_pairs(mut list: &[u8]) -> Vec<(u16, Vec<u8>)> {
    let mut pairs = Vec::new();
    loop {
        let id = u16::from_le_bytes(list[..2].try_into().unwrap());
        let length = usize::from(u16::from_le_bytes(list[2..4].try_into().unwrap()));
        if id == 0 {
            return pairs;
        }
        pairs.push((id, list[4..4 + length].to_vec()));
        list = &list[4 + length..];
    }
}

/// Challenge and answer of the two sides; `change` sees the challenge on its way.
fn challenge_and_answer(mechanism: Mechanism, change: impl Fn(&mut [u8])) -> (Vec<u8>, Vec<u8>) {
    let mut pair = Pair::new(mechanism, Usage::Smb);
    let Ok(Step::Continue(negotiate)) = pair.client.step(&[]) else { panic!("a client speaks first") };
    let Ok(Step::Continue(mut challenge)) = pair.server.step(&negotiate) else { panic!("a server answers") };
    change(&mut challenge);
    match pair.client.step(&challenge).unwrap() {
        Step::Continue(token) | Step::Done(Some(token)) => (challenge, token),
        other => panic!("{other:?} is no message"),
    }
}

/// Makes `MsvAvTimestamp` a `MsvAvDnsTreeName`.
fn without_timestamp(challenge: &mut [u8]) {
    let at = challenge.windows(4).position(|window| window == [7, 0, 8, 0]).unwrap();
    challenge[at..at + 12].copy_from_slice(b"\x05\0\x08\0t\0r\0e\0e\0");
}

/// A valid LMv2 response is enough to log on, without integrity code and service name.
#[test]
fn no_response_that_could_be_passed_on_stands_beside_the_proof() {
    for mechanism in MECHANISMS {
        for change in [|_: &mut [u8]| (), without_timestamp] {
            let (challenge, answer) = challenge_and_answer(mechanism, change);
            let (challenge, answer) = (ntlm(&challenge), ntlm(&answer));
            let server_challenge = &challenge[24..32];
            let key = ntowf_v2();

            let nt_response = payload(answer, 20);
            let (nt_proof, client_challenge) = nt_response.split_at(16);
            assert_eq!(hmac_md5(&key, &[server_challenge, client_challenge]), nt_proof, "the key is right");

            let lm_response = payload(answer, 12);
            let (lm_proof, client_challenge) = lm_response.split_at(16);
            assert_ne!(hmac_md5(&key, &[server_challenge, client_challenge]), lm_proof);
            assert_eq!(lm_response, [0; 24]);
        }
    }
}

/// A relaying server that could send `MsvAvFlags` of its own would switch the integrity code off.
#[test]
fn flags_name_and_channel_bindings_are_the_clients_alone() {
    let claim_flags = |challenge: &mut [u8]| {
        let at = challenge.windows(4).position(|window| window == [7, 0, 8, 0]).unwrap();
        challenge[at..at + 12].copy_from_slice(&[6, 0, 4, 0, 0, 0, 0, 0, 9, 0, 0, 0]);
    };
    for mechanism in MECHANISMS {
        let (_, answer) = challenge_and_answer(mechanism, claim_flags);
        let pairs = av_pairs(&payload(ntlm(&answer), 20)[16 + 28..]);
        let values =
            |id| pairs.iter().filter(move |pair| pair.0 == id).map(|pair| &pair.1).collect::<Vec<_>>();
        assert_eq!(values(6), [&[2, 0, 0, 0]]);
        assert_eq!(values(10), [&[0; 16]], "there is no TLS to bind to");
        let name: Vec<u8> = "cifs/web1.corp.example.com".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(values(9), [&name]);
    }
}

const MIC: core::ops::Range<usize> = 72..88;

/// What a client sends that does not say which version it is: the field is there and empty ([MS-NLMP] 2.2.1.3).
fn without_version(before: [&[u8]; 2], authenticate: &mut [u8], session_key: &SessionKey) {
    authenticate[63] &= !0x02;
    authenticate[64..72].fill(0);
    authenticate[MIC].fill(0);
    let mic = hmac_md5(session_key.as_bytes(), &[before[0], before[1], authenticate]);
    authenticate[MIC].copy_from_slice(&mic);
}

/// A client without version, within SPNEGO or not; `change` sees its last message on its way.
fn versionless_logon(in_spnego: bool, change: impl Fn(&mut [u8])) -> (Pair, Result<Step, Error>) {
    let mut pair = Pair::new(Mechanism::Ntlm, Usage::Rpc);
    let wrap = |first: bool, token: &[u8]| match (in_spnego, first) {
        (false, _) => token.to_vec(),
        (true, true) => neg_token_init(&NTLM, token),
        (true, false) => neg_token_resp(token),
    };
    if in_spnego {
        let accounts = Arc::<OneAccount>::clone(&pair.accounts);
        pair.server = server(accounts, ServerOptions::new(Mechanism::Negotiate, Usage::Rpc)).unwrap();
    }
    let Ok(Step::Continue(negotiate)) = pair.client.step(&[]) else { panic!("a client speaks first") };
    let Ok(Step::Continue(challenge)) = pair.server.step(&wrap(true, &negotiate)) else {
        panic!("a server answers")
    };
    let challenge = ntlm(&challenge);
    let Ok(Step::Done(Some(mut authenticate))) = pair.client.step(challenge) else {
        panic!("the client answers")
    };
    let session_key = pair.client.session_key().unwrap();
    without_version([&negotiate, challenge], &mut authenticate, &session_key);
    change(&mut authenticate);
    let result = pair.server.step(&wrap(false, &authenticate));
    (pair, result)
}

#[test]
fn a_client_that_says_no_version_is_let_in() {
    for in_spnego in [false, true] {
        let (mut pair, result) = versionless_logon(in_spnego, |_| ());
        assert!(matches!(result, Ok(Step::Done(_))), "{result:?}");
        assert_eq!(pair.accounts.attempts()[0].1, Outcome::Accepted);
        let mut sealed = seal(&mut *pair.client, ssp::Protection::Privacy, b"first message");
        pair.server.unwrap(sealed.message()).unwrap();
        assert_eq!(sealed.body, b"first message");
    }
}

#[test]
fn a_changed_message_of_a_client_that_says_no_version_is_refused() {
    for in_spnego in [false, true] {
        for at in [64, 72, 87] {
            let (pair, result) = versionless_logon(in_spnego, |message| message[at] ^= 1);
            assert!(matches!(result, Err(Error::WrongIntegrityCode)), "byte {at}: {result:?}");
            assert!(pair.server.session_key().is_err());
            assert_eq!(pair.accounts.attempts()[0].1, Outcome::Malformed);
        }
    }
}

/// [MS-NLMP] 2.2.2.5: where the bit is that asks for a token of the level "identify".
fn is_identify(message: &[u8], flags: usize) -> bool {
    u32::from_le_bytes(message[flags..flags + 4].try_into().unwrap()) & 0x0010_0000 != 0
}

#[test]
fn a_server_learns_whether_it_may_impersonate() {
    for mechanism in MECHANISMS {
        for impersonation in [ImpersonationLevel::Identify, ImpersonationLevel::Impersonate] {
            let mut options = ClientOptions::new(mechanism, "host/web1", Usage::Rpc);
            options.impersonation = impersonation;
            let mut pair = Pair::with_options(options, DOMAIN, USER, PASSWORD);
            pair.authenticate().unwrap();
            assert_eq!(pair.server.peer().account.unwrap().impersonation, impersonation, "{mechanism:?}");
            let (negotiate, authenticate) = (ntlm(&pair.tokens[0]), ntlm(&pair.tokens[2]));
            let is_limited = impersonation == ImpersonationLevel::Identify;
            assert_eq!([is_identify(negotiate, 12), is_identify(authenticate, 60)], [is_limited; 2]);
            let mut sealed = seal(&mut *pair.client, ssp::Protection::Privacy, b"first message");
            pair.server.unwrap(sealed.message()).unwrap();
        }
    }
}
