//! A client and a server in one place.

use std::sync::Arc;

use parking_lot::Mutex;
use ssp::{
    Accounts, ClientOptions, Credentials, Error, Mechanism, Message, Outcome, Protection, Secret,
    SecurityContext, ServerOptions, Step, Usage,
};

pub(crate) const DOMAIN: &str = "CORP";
pub(crate) const USER: &str = "svc-metrics";
pub(crate) const PASSWORD: &str = "Größe 42";

/// One account, and a list of all attempts.
#[derive(Debug, Default)]
pub(crate) struct OneAccount {
    attempts: Mutex<Vec<(String, Outcome)>>,
}

impl OneAccount {
    pub(crate) fn attempts(&self) -> Vec<(String, Outcome)> {
        self.attempts.lock().clone()
    }
}

impl Accounts for OneAccount {
    fn password(&self, domain: &str, user: &str) -> Option<Secret> {
        (domain.eq_ignore_ascii_case(DOMAIN) && user.eq_ignore_ascii_case(USER))
            .then(|| Secret::new(PASSWORD))
    }

    fn attempted(&self, domain: &str, user: &str, outcome: Outcome) {
        self.attempts.lock().push((format!("{domain}\\{user}"), outcome));
    }
}

pub(crate) struct Pair {
    pub(crate) client: Box<dyn SecurityContext>,
    pub(crate) server: Box<dyn SecurityContext>,
    pub(crate) accounts: Arc<OneAccount>,
    /// Every token, in the order of sending.
    pub(crate) tokens: Vec<Vec<u8>>,
}

impl Pair {
    pub(crate) fn new(mechanism: Mechanism, usage: Usage) -> Self {
        Self::with_credentials(mechanism, usage, DOMAIN, USER, PASSWORD)
    }

    pub(crate) fn with_credentials(
        mechanism: Mechanism,
        usage: Usage,
        domain: &str,
        user: &str,
        password: &str,
    ) -> Self {
        let options = ClientOptions::new(mechanism, "cifs/web1.corp.example.com", usage);
        Self::with_options(options, domain, user, password)
    }

    pub(crate) fn with_options(options: ClientOptions, domain: &str, user: &str, password: &str) -> Self {
        let (mechanism, usage) = (options.mechanism, options.usage);
        let credentials = Credentials::new(domain, user, Secret::new(password));
        let accounts = Arc::new(OneAccount::default());
        Self {
            client: ssp::client(&credentials, options).unwrap(),
            server: ssp::server(Arc::<OneAccount>::clone(&accounts), ServerOptions::new(mechanism, usage))
                .unwrap(),
            accounts,
            tokens: Vec::new(),
        }
    }

    /// Passes tokens to and fro until both sides are done, or one refuses.
    pub(crate) fn authenticate(&mut self) -> Result<(), Error> {
        let mut token = Vec::new();
        loop {
            match self.client.step(&token)? {
                Step::Continue(next) | Step::Done(Some(next)) => token = next,
                Step::Done(None) => return Ok(()),
                other => panic!("{other:?} is not answered"),
            }
            self.tokens.push(token.clone());
            match self.server.step(&token)? {
                Step::Continue(next) | Step::Done(Some(next)) => token = next,
                Step::Done(None) => return Ok(()),
                other => panic!("{other:?} is not answered"),
            }
            self.tokens.push(token.clone());
        }
    }

    pub(crate) fn established(mechanism: Mechanism, usage: Usage) -> Self {
        let mut pair = Self::new(mechanism, usage);
        pair.authenticate().unwrap();
        pair
    }
}

/// A message and its signature.
#[derive(Clone)]
pub(crate) struct Sealed {
    pub(crate) protection: Protection,
    pub(crate) header: Vec<u8>,
    pub(crate) body: Vec<u8>,
    pub(crate) trailer: Vec<u8>,
    pub(crate) signature: Vec<u8>,
}

impl Sealed {
    pub(crate) fn message(&mut self) -> Message<'_> {
        Message {
            protection: self.protection,
            header: &self.header,
            body: &mut self.body,
            trailer: &self.trailer,
            signature: &mut self.signature,
        }
    }
}

pub(crate) fn seal(sender: &mut dyn SecurityContext, protection: Protection, body: &[u8]) -> Sealed {
    let mut sealed = Sealed {
        protection,
        header: b"header of the PDU, 24 by".to_vec(),
        body: body.to_vec(),
        trailer: b"trailer.".to_vec(),
        signature: vec![0; sender.signature_len(protection)],
    };
    sender.wrap(sealed.message()).unwrap();
    sealed
}

pub(crate) const MECHANISMS: [Mechanism; 2] = [Mechanism::Ntlm, Mechanism::Negotiate];
