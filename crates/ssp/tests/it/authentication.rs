use std::sync::Arc;

use ssp::{
    ClientOptions, Credentials, Error, Mechanism, Outcome, Peer, Secret, ServerOptions, Step, Usage, client,
    server,
};

use crate::pair::{DOMAIN, MECHANISMS, OneAccount, PASSWORD, Pair, USER};

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
        assert!(matches!(error, Error::Package { .. }), "{error:?}");
        assert_eq!(pair.accounts.attempts(), [(format!("{DOMAIN}\\{USER}"), Outcome::Malformed)]);
    }
}

/// impacket and others do not sign the list of mechanisms.
#[test]
fn a_client_that_does_not_sign_the_mechanism_list_is_let_in_and_its_messages_count_from_zero() {
    let mut pair = Pair::new(Mechanism::Ntlm, Usage::Rpc);
    let accounts: Arc<OneAccount> = Arc::clone(&pair.accounts);
    pair.server = server(accounts, ServerOptions::new(Mechanism::Negotiate, Usage::Rpc)).unwrap();

    // NTLM by the client's raw context, wrapped by hand as RFC 4178 says.
    let Ok(Step::Continue(negotiate)) = pair.client.step(&[]) else { panic!("a client speaks first") };
    let length = |size: usize| u8::try_from(size).unwrap();
    let mech_types = [0xa0, 14, 0x30, 12, 6, 10, 0x2b, 6, 1, 4, 1, 0x82, 0x37, 2, 2, 10];
    let token =
        [&[0xa2, length(negotiate.len() + 2), 4, length(negotiate.len())], negotiate.as_slice()].concat();
    let init = [&[0x30, length(mech_types.len() + token.len())], mech_types.as_slice(), &token].concat();
    let content = [&[6, 6, 0x2b, 6, 1, 5, 5, 2, 0xa0, length(init.len())], init.as_slice()].concat();
    let first = [&[0x60, length(content.len())], content.as_slice()].concat();
    let Ok(Step::Continue(challenge)) = pair.server.step(&first) else { panic!("a server answers") };

    let start = challenge.windows(8).position(|window| window == b"NTLMSSP\0").unwrap();
    let Ok(Step::Done(Some(authenticate))) = pair.client.step(&challenge[start..]) else {
        panic!("the client answers")
    };
    let big = |size: usize| [0x82, size.to_be_bytes()[6], size.to_be_bytes()[7]];
    let token = [&[4], &big(authenticate.len())[..], &authenticate].concat();
    let token = [&[0xa2], &big(token.len())[..], &token].concat();
    let token = [&[0x30], &big(token.len())[..], &token].concat();
    let second = [&[0xa1], &big(token.len())[..], &token].concat();
    let Ok(Step::Done(Some(last))) = pair.server.step(&second) else { panic!("the server ends it") };
    assert_eq!(last, [0xa1, 7, 0x30, 5, 0xa0, 3, 0x0a, 1, 0], "accept-completed and nothing else");

    let mut sealed = crate::pair::seal(&mut *pair.client, ssp::Protection::Privacy, b"first message");
    pair.server.unwrap(sealed.message()).unwrap();
    assert_eq!(sealed.body, b"first message");
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
