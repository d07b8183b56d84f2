//! Peers that authenticate.

use std::sync::Arc;

use dcerpc::AuthService;
use dcom::rpc_server::{Options, Refusal};
use host_session::rpc_client::Security;
use ssp::{Accounts, Credentials, Mechanism, Outcome, Secret, ServerOptions, Usage};

use crate::rpc_server::world::{CALLER, WEB1, bind, call, dial, server, soon};

struct OneUser;

impl Accounts for OneUser {
    fn password(&self, _domain: &str, user: &str) -> Option<Secret> {
        (user == "web1$").then(|| Secret::new("made up"))
    }

    fn attempted(&self, _domain: &str, _user: &str, _outcome: Outcome) {}
}

fn security(password: &str) -> Security {
    let credentials = Credentials::new("CORP", "web1$", Secret::new(password));
    Security { mechanism: Mechanism::Ntlm, ..Security::sealed(credentials, "host/exporter") }
}

fn with_accounts() -> Options {
    let acceptor = Arc::new(|service| match service {
        AuthService::WINNT => {
            ssp::server(Arc::new(OneUser), ServerOptions::new(Mechanism::Ntlm, Usage::Rpc)).ok()
        }
        _ => None,
    });
    Options { acceptor, ..Options::default() }
}

#[tokio::test]
async fn a_server_without_accounts_refuses_peers_that_authenticate_and_takes_others() {
    let server = server(Options::default());
    let error = bind(dial(&server, WEB1).0, Some(&security("made up"))).await.unwrap_err();
    assert!(error.to_string().contains("bind refused"), "{error}");
    assert_eq!(server.counters().refused_for(Refusal::Authentication), 1);
    bind(dial(&server, WEB1).0, None).await.unwrap();
}

#[tokio::test]
async fn an_interface_learns_who_calls_and_how_well_the_call_is_protected() {
    let server = server(with_accounts());
    let mut association = bind(dial(&server, WEB1).0, Some(&security("made up"))).await.unwrap();
    let caller = association.call(call(CALLER, &[]), soon()).await.unwrap();
    assert_eq!(String::from_utf8(caller).unwrap(), "web1$ at 10.0.0.1, level 6");
}

#[tokio::test]
async fn a_wrong_password_ends_the_connection() {
    let server = server(with_accounts());
    let (stream, served) = dial(&server, WEB1);
    // The last leg of NTLM has no answer.
    let mut association = bind(stream, Some(&security("guessed"))).await.unwrap();
    assert!(association.call(call(CALLER, &[]), soon()).await.is_err());
    served.await.unwrap();
    assert_eq!(server.counters().refused_for(Refusal::Authentication), 1);
}
