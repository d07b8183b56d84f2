//! Laws of `ssp`: tokens of a peer that is not authenticated.

use std::sync::Arc;

use ssp::kerberos::{EncryptionType, Key};
use ssp::{
    Accounts, ClientOptions, Credentials, Mechanism, Outcome, Secret, SecurityContext, ServerOptions, Step,
    Usage,
};

use crate::input::Input;

/// Tokens of a peer that does not know the password, to either side: a server never accepts them, and a context
/// that has refused one takes no more. The challenge in between is random.
pub fn tokens(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let mode = input.byte();
    if mode & 8 != 0 {
        return keytab(input.chunk().unwrap_or_default());
    }
    let mechanism = if mode & 1 == 0 { Mechanism::Ntlm } else { Mechanism::Negotiate };
    let usage = if mode & 2 == 0 { Usage::Smb } else { Usage::Rpc };
    let is_server = mode & 4 == 0;
    let context = if is_server {
        ssp::server(Arc::new(OneAccount), ServerOptions::new(mechanism, usage))
    } else {
        let credentials = Credentials::new("CORP", "svc-metrics", Secret::new("Passw0rd"));
        ssp::client(&credentials, ClientOptions::new(mechanism, "cifs/web1", usage))
    };
    let mut context = context.expect("a context can be made");
    if !is_server {
        context.step(&[]).expect("a client speaks first");
    }
    while let Some(token) = input.chunk() {
        match context.step(token) {
            Ok(Step::Continue(_)) => {}
            Ok(_) => {
                assert!(!is_server, "nobody knows the password");
                return;
            }
            Err(_) => return check_refused(context.as_mut(), token),
        }
    }
}

/// A key of a keytab is one of the principal that was asked for, and its text says the same.
fn keytab(content: &[u8]) {
    let types = &EncryptionType::WITHOUT_LIBRARY;
    if let Ok(key) = Key::of_keytab(content, "svc@PEERS.EXAMPLE", types) {
        assert!(types.contains(&key.encryption_type));
        assert!(content.windows(17).any(|window| window == b"\0\x0dPEERS.EXAMPLE\0\x03"));
        assert_eq!(Key::from_text(&key.to_text()), Some(key));
    }
}

fn check_refused(context: &mut dyn SecurityContext, token: &[u8]) {
    assert!(matches!(context.step(token), Err(ssp::Error::Finished)));
    assert!(context.session_key().is_err());
}

struct OneAccount;

impl Accounts for OneAccount {
    fn password(&self, _domain: &str, _user: &str) -> Option<Secret> {
        Some(Secret::new("Passw0rd"))
    }

    fn attempted(&self, _domain: &str, _user: &str, outcome: Outcome) {
        assert_ne!(outcome, Outcome::Accepted);
    }
}
