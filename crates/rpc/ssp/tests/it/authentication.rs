use std::sync::Arc;

use ssp::{
    ClientOptions, Credentials, Error, Mechanism, Outcome, Peer, Protection, Secret, ServerOptions, Step,
    Usage, client, server,
};

use crate::pair::{DOMAIN, MECHANISMS, OneAccount, PASSWORD, Pair, USER, seal};

#[test]
fn both_sides_share_a_key_that_is_new_each_time() {
    for mechanism in MECHANISMS {
        for usage in [Usage::Smb, Usage::Rpc] {
            let one = Pair::established(mechanism, usage);
            let key = one.client.session_key().unwrap();
            assert_eq!(key, one.server.session_key().unwrap());
            let another = Pair::established(mechanism, usage);
            assert_ne!(key, another.client.session_key().unwrap());
        }
    }
}

#[test]
fn the_server_knows_who_came_and_counts_one_attempt() {
    for mechanism in MECHANISMS {
        let pair = Pair::established(mechanism, Usage::Smb);
        let account = pair.server.peer().account.unwrap();
        assert_eq!((account.domain.as_str(), account.user.as_str()), (DOMAIN, USER));
        assert_eq!(pair.accounts.attempts(), [(format!("{DOMAIN}\\{USER}"), Outcome::Accepted)]);
    }
}

#[test]
fn the_client_knows_what_the_server_runs() {
    for mechanism in MECHANISMS {
        let pair = Pair::established(mechanism, Usage::Rpc);
        let Peer { server: Some(server), account: None } = pair.client.peer() else {
            panic!("a client knows a server")
        };
        assert_eq!(server.os_version.map(|version| version.major), Some(10));
        assert!(server.timestamp.is_some());
    }
}

#[test]
fn a_wrong_password_is_one_attempt_and_tells_so() {
    for mechanism in MECHANISMS {
        let mut pair = Pair::with_credentials(mechanism, Usage::Smb, DOMAIN, USER, "not it");
        let error = pair.authenticate().unwrap_err();
        assert!(matches!(error, Error::BadPassword { .. }), "{error:?}");
        assert_eq!(error.to_string(), r"bad password for account `CORP\svc-metrics`");
        assert_eq!(pair.accounts.attempts(), [(format!("{DOMAIN}\\{USER}"), Outcome::BadPassword)]);
        assert!(pair.server.session_key().is_err(), "nobody gets a key without the password");
        assert!(matches!(pair.server.step(&[]), Err(Error::Finished)), "and nobody tries twice");
    }
}

#[test]
fn an_unknown_account_is_told_from_a_wrong_password() {
    for mechanism in MECHANISMS {
        let mut pair = Pair::with_credentials(mechanism, Usage::Smb, DOMAIN, "nobody", PASSWORD);
        assert!(matches!(pair.authenticate(), Err(Error::UnknownAccount { user, .. }) if user == "nobody"));
        assert_eq!(pair.accounts.attempts(), [(r"CORP\nobody".to_owned(), Outcome::UnknownAccount)]);
    }
}

#[test]
fn case_of_domain_and_user_does_not_matter_to_the_proof() {
    for mechanism in MECHANISMS {
        let mut pair = Pair::with_credentials(mechanism, Usage::Rpc, "corp", "SVC-Metrics", PASSWORD);
        pair.authenticate().unwrap();
        assert_eq!(pair.client.session_key().unwrap(), pair.server.session_key().unwrap());
    }
}

/// The response names the service, so that it cannot be used at another.
#[test]
fn the_client_sends_target_name_and_integrity_code() {
    let utf16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let name = utf16("cifs/web1.corp.example.com");
    let pair_header = [9, 0, u8::try_from(name.len()).unwrap(), 0];
    let in_message = [pair_header.as_slice(), &name].concat();
    // MsvAvFlags, four bytes: a message integrity code is there.
    let flags = [6, 0, 4, 0, 2, 0, 0, 0];
    for mechanism in MECHANISMS {
        let pair = Pair::established(mechanism, Usage::Smb);
        let authenticate = &pair.tokens[2];
        assert!(authenticate.windows(in_message.len()).any(|window| window == in_message));
        assert!(authenticate.windows(flags.len()).any(|window| window == flags));
    }
}

/// What covers the three messages is the integrity code: change a byte that nothing else covers.
#[test]
fn a_changed_message_is_refused_by_its_integrity_code() {
    for mechanism in MECHANISMS {
        let mut pair = Pair::new(mechanism, Usage::Smb);
        let Ok(Step::Continue(negotiate)) = pair.client.step(&[]) else { panic!("a client speaks first") };
        let Ok(Step::Continue(challenge)) = pair.server.step(&negotiate) else { panic!("a server answers") };
        let mut authenticate = match pair.client.step(&challenge).unwrap() {
            Step::Continue(token) | Step::Done(Some(token)) => token,
            other => panic!("{other:?} is no message"),
        };
        let message = authenticate.windows(8).position(|window| window == b"NTLMSSP\0").unwrap();
        authenticate[message + 64 + 2] ^= 1; // the build number within the version
        let error = pair.server.step(&authenticate).unwrap_err();
        assert!(matches!(error, Error::WrongIntegrityCode), "{error:?}");
        assert_eq!(pair.accounts.attempts(), [(format!("{DOMAIN}\\{USER}"), Outcome::Malformed)]);
    }
}

/// The integrity code is the client's to leave out; the proof of the password is not.
#[test]
fn a_client_without_integrity_code_still_has_to_know_the_password() {
    for mechanism in MECHANISMS {
        let mut pair = Pair::with_credentials(mechanism, Usage::Smb, DOMAIN, USER, "not it");
        let Ok(Step::Continue(negotiate)) = pair.client.step(&[]) else { panic!("a client speaks first") };
        let Ok(Step::Continue(challenge)) = pair.server.step(&negotiate) else { panic!("a server answers") };
        let mut authenticate = match pair.client.step(&challenge).unwrap() {
            Step::Continue(token) | Step::Done(Some(token)) => token,
            other => panic!("{other:?} is no message"),
        };
        let flags = authenticate.windows(8).position(|window| window == [6, 0, 4, 0, 2, 0, 0, 0]).unwrap();
        authenticate[flags + 4] = 0;
        assert!(matches!(pair.server.step(&authenticate), Err(Error::BadPassword { .. })));
    }
}

/// A client that goes on with NTLM after SPNEGO and does not sign the list of mechanisms, as impacket does.
///
/// The tokens are wrapped by hand as RFC 4178 says; `first` has the first.
fn check_unsigned_negotiation(first: impl Fn(&[u8]) -> Vec<u8>, has_extra_leg: bool) {
    let mut pair = Pair::new(Mechanism::Ntlm, Usage::Rpc);
    let accounts = Arc::<OneAccount>::clone(&pair.accounts);
    pair.server = server(accounts, ServerOptions::new(Mechanism::Negotiate, Usage::Rpc)).unwrap();

    let Ok(Step::Continue(negotiate)) = pair.client.step(&[]) else { panic!("a client speaks first") };
    let Ok(Step::Continue(mut answer)) = pair.server.step(&first(&negotiate)) else {
        panic!("a server answers")
    };
    if has_extra_leg {
        let Ok(Step::Continue(challenge)) = pair.server.step(&neg_token_resp(&negotiate)) else {
            panic!("a server answers")
        };
        answer = challenge;
    }
    let start = answer.windows(8).position(|window| window == b"NTLMSSP\0").unwrap();
    let Ok(Step::Done(Some(authenticate))) = pair.client.step(&answer[start..]) else {
        panic!("the client answers")
    };
    let Ok(Step::Done(Some(last))) = pair.server.step(&neg_token_resp(&authenticate)) else {
        panic!("the server ends it")
    };
    assert_eq!(last, [0xa1, 7, 0x30, 5, 0xa0, 3, 0x0a, 1, 0], "accept-completed and nothing else");

    let mut sealed = seal(&mut *pair.client, Protection::Privacy, b"first message");
    pair.server.unwrap(sealed.message()).unwrap();
    assert_eq!(sealed.body, b"first message");
}

fn element(tag: u8, content: &[u8]) -> Vec<u8> {
    let length = u16::try_from(content.len()).unwrap().to_be_bytes();
    [&[tag, 0x82], length.as_slice(), content].concat()
}

pub(crate) fn neg_token_resp(token: &[u8]) -> Vec<u8> {
    element(0xa1, &element(0x30, &element(0xa2, &element(4, token))))
}

pub(crate) fn neg_token_init(mech_types: &[u8], token: &[u8]) -> Vec<u8> {
    let mech_types = element(0xa0, &element(0x30, mech_types));
    let token = element(0xa2, &element(4, token));
    let init = element(0xa0, &element(0x30, &[mech_types, token].concat()));
    element(0x60, &[[6, 6, 0x2b, 6, 1, 5, 5, 2].as_slice(), &init].concat())
}

pub(crate) const NTLM: [u8; 12] = [6, 10, 0x2b, 6, 1, 4, 1, 0x82, 0x37, 2, 2, 10];
const MS_KERBEROS: [u8; 11] = [6, 9, 0x2a, 0x86, 0x48, 0x82, 0xf7, 0x12, 1, 2, 2];

#[test]
fn a_client_that_does_not_sign_the_mechanism_list_is_let_in() {
    check_unsigned_negotiation(|negotiate| neg_token_init(&NTLM, negotiate), false);
}

/// Windows offers Kerberos first, with a token for it that means nothing here.
#[test]
fn a_client_that_prefers_kerberos_is_asked_for_ntlm() {
    let mech_types = [MS_KERBEROS.as_slice(), &NTLM].concat();
    check_unsigned_negotiation(|_| neg_token_init(&mech_types, b"a Kerberos ticket"), true);
}

#[test]
fn a_client_without_ntlm_is_refused() {
    let accounts = Arc::new(OneAccount::default());
    let mut server = server(accounts, ServerOptions::new(Mechanism::Negotiate, Usage::Smb)).unwrap();
    let error = server.step(&neg_token_init(&MS_KERBEROS, b"a ticket")).unwrap_err();
    assert!(matches!(error, Error::NoCommonMechanism { offered: "Kerberos", .. }), "{error:?}");
}

#[test]
fn credentials_that_would_be_misread_are_refused() {
    let try_with = |user: &str, password: &str| {
        let options = ClientOptions::new(Mechanism::Ntlm, "", Usage::Smb);
        client(&Credentials::new("", user, Secret::new(password)), options).err()
    };
    assert!(matches!(try_with("", "x"), Some(Error::InvalidCredentials { field: "username", .. })));
    let error = try_with("user", "$NTLM$:00000000000000000000000000000000").unwrap();
    assert!(matches!(error, Error::InvalidCredentials { field: "password", .. }));
    assert!(!error.to_string().contains("0000"));
}

#[test]
fn nothing_is_protected_before_the_end() {
    let mut pair = Pair::new(Mechanism::Ntlm, Usage::Rpc);
    assert!(matches!(pair.client.session_key(), Err(Error::NotEstablished)));
    let mut signature = [0; 16];
    let message = ssp::Message {
        protection: ssp::Protection::Privacy,
        header: &[],
        body: &mut [],
        trailer: &[],
        signature: &mut signature,
    };
    assert!(matches!(pair.client.wrap(message), Err(Error::NotEstablished)));
}

#[test]
fn a_name_with_its_domain_behind_it_works() {
    let mut pair = Pair::with_credentials(
        Mechanism::Negotiate,
        Usage::Smb,
        "",
        "svc-metrics@corp.example.com",
        PASSWORD,
    );
    // The one account has another form of name; what matters is that the server hears all of it.
    assert!(matches!(
        pair.authenticate(),
        Err(Error::UnknownAccount { domain, user }) if domain.is_empty() && user == "svc-metrics@corp.example.com"
    ));
}
