use std::collections::HashMap;
use std::io;
use std::sync::{Arc, LazyLock, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use ssp::kerberos::{self, KdcClient};
use ssp::{ClientOptions, Credentials, Error, Principal, SecurityContext};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, oneshot};
use tokio::time::{Instant, timeout_at};
use transport::{Connector, Endpoint, TcpConnector};

/// Threads that ask a KDC for tickets of one cache, or of one principal without a cache. A KDC that does not answer holds so
/// many and no more; others have their own.
const THREADS_OF_A_CACHE: usize = 8;

/// A principal without a cache is asked for by one thread: whoever comes next knows whether the key was refused.
const THREADS_OF_A_PRINCIPAL: usize = 1;
/// A logon that began so soon after an answer had not heard of it.
const HEARD_AFTER: Duration = Duration::from_secs(2);
/// For this time an answer counts that nobody waited for.
const UNHEARD_KEPT: Duration = Duration::from_secs(600);

/// By the name of a cache or a principal, for as long as somebody waits.
static TURNS: LazyLock<Mutex<HashMap<String, Arc<Semaphore>>>> = LazyLock::new(Mutex::default);

/// Begins an authentication. One by Kerberos may need tickets first, for which a thread of its own asks a KDC: the library of
/// the system knows no deadline. The thread is left to itself where nobody waits any longer.
pub(super) async fn begin(
    credentials: &Credentials,
    options: ClientOptions,
) -> Result<Box<dyn SecurityContext>, Error> {
    let queued = Instant::now();
    let turns = match credentials {
        Credentials::Password(_) => return ssp::client(credentials, options),
        Credentials::Tickets(tickets) => turns_of(&tickets.cache, THREADS_OF_A_CACHE),
        Credentials::Principal(principal) => turns_of(&name_of(principal), THREADS_OF_A_PRINCIPAL),
    };
    let turn = turns.acquire_owned().await.map_err(|error| failed(error.into()))?;
    if let Credentials::Principal(principal) = credentials
        && let Some(error) = answer_to(principal, queued)
    {
        return Err(Error::Kdc(error));
    }
    let credentials = credentials.clone();
    let (sender, receiver) = oneshot::channel();
    let thread = std::thread::Builder::new().name("kerberos".to_owned());
    // Goes when nobody waits any longer.
    let awaited = Arc::new(());
    let network = Arc::new(Network { runtime: Handle::current(), awaited: Arc::downgrade(&awaited) });
    let work = move || {
        let outcome = match &credentials {
            Credentials::Principal(principal) => {
                let outcome = ssp::kerberos::client_without_library(principal, &options, network);
                note_answer(principal, &outcome, sender.is_closed());
                outcome
            }
            credentials => ssp::client(credentials, options),
        };
        drop(turn);
        // Perhaps nobody waits any longer.
        let _ = sender.send(outcome);
    };
    thread.spawn(work).map_err(|error| failed(error.into()))?;
    receiver.await.map_err(|error| failed(error.into()))?
}

fn name_of(principal: &Principal) -> String {
    format!("{}@{}", principal.username, principal.realm)
}

/// What a KDC said last of a key, or that none answers, by the name of the principal.
static ANSWERS: LazyLock<Mutex<HashMap<String, Answer>>> = LazyLock::new(Mutex::default);

struct Answer {
    principal: Principal,
    error: kerberos::Error,
    at: Instant,
    /// Nobody waited for it any longer, so that nobody knows.
    is_unheard: bool,
}

/// Keeps what was said, for logons that wait for their turn, and for the next one where nobody waited for the answer.
fn note_answer<T>(principal: &Principal, outcome: &Result<T, Error>, is_unheard: bool) {
    use kerberos::Reason;
    let name = name_of(principal);
    let mut answers = ANSWERS.lock();
    answers.retain(|of, answer| *of != name && answer.at.elapsed() < UNHEARD_KEPT);
    let Err(Error::Kdc(error)) = outcome else { return };
    let is_of_key =
        matches!(error.reason, Reason::WrongPassword | Reason::AccountRevoked | Reason::PasswordExpired);
    if is_of_key || error.reason == Reason::KdcUnreachable {
        let (principal, error, at) = (principal.clone(), error.clone(), Instant::now());
        answers.insert(name, Answer { principal, error, at, is_unheard: is_unheard && is_of_key });
    }
}

/// The answer to a logon that has waited since `queued`, if it is known already.
fn answer_to(principal: &Principal, queued: Instant) -> Option<kerberos::Error> {
    let mut answers = ANSWERS.lock();
    let answer = answers.get_mut(&name_of(principal))?;
    let is_unheard = core::mem::take(&mut answer.is_unheard) && answer.at.elapsed() < UNHEARD_KEPT;
    let has_key = |of: &Principal| (&of.proof, &of.realm) == (&principal.proof, &principal.realm);
    let counts = has_key(&answer.principal) && (is_unheard || queued < answer.at + HEARD_AFTER);
    counts.then(|| answer.error.clone())
}

/// Asks KDCs for a thread that is not the runtime's.
struct Network {
    runtime: Handle,
    awaited: Weak<()>,
}

/// Of one question, from the name to the last byte of the answer.
const KDC_TIMEOUT: Duration = Duration::from_secs(5);
/// Authorization data of an account in very many groups are of some 64 KiB.
const ANSWER_MAX: usize = 1 << 20;

impl KdcClient for Network {
    fn ask(&self, host: &str, port: u16, question: &[u8]) -> io::Result<Vec<u8>> {
        if self.awaited.strong_count() == 0 {
            return Err(io::Error::other("nobody waits for it any longer"));
        }
        let deadline = Instant::now() + KDC_TIMEOUT;
        let exchange = async {
            let kdc = Endpoint::new(host, port);
            timeout_at(deadline, exchange(kdc, question, deadline)).await
        };
        self.runtime.block_on(exchange).unwrap_or_else(|_passed| Err(io::ErrorKind::TimedOut.into()))
    }
}

async fn exchange(kdc: Endpoint, question: &[u8], deadline: Instant) -> io::Result<Vec<u8>> {
    let connected = TcpConnector::default().connect(&kdc, deadline).await;
    let mut stream = connected.map_err(|error| io::Error::other(error.what()))?;
    stream.write_all(question).await?;
    let mut length = [0; 4];
    stream.read_exact(&mut length).await?;
    let len = usize::try_from(u32::from_be_bytes(length)).unwrap_or(usize::MAX);
    if len > ANSWER_MAX {
        return Err(io::Error::other(format!("an answer of {len} bytes is too long")));
    }
    let mut answer = length.to_vec();
    // Grows with what arrives.
    (&mut stream).take(len as u64).read_to_end(&mut answer).await?;
    if answer.len() == length.len() + len { Ok(answer) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

fn turns_of(name: &str, threads: usize) -> Arc<Semaphore> {
    let mut all = TURNS.lock();
    all.retain(|_, turns| Arc::strong_count(turns) > 1);
    let turns = all.entry(name.to_owned()).or_insert_with(|| Arc::new(Semaphore::new(threads)));
    Arc::clone(turns)
}

fn failed(source: Box<dyn std::error::Error + Send + Sync>) -> Error {
    Error::Package { doing: "ask for tickets on a thread of its own", source }
}

#[cfg(test)]
mod tests {
    use ssp::{LongTermKey, Secret};

    use super::*;

    fn principal(username: &str, password: &str) -> Principal {
        Principal {
            realm: "CORP.EXAMPLE".to_owned(),
            username: username.to_owned(),
            proof: LongTermKey::Password(Secret::new(password)),
            service: None,
        }
    }

    fn refused(reason: kerberos::Reason) -> Result<(), Error> {
        Err(Error::Kdc(kerberos::Error { reason, message: "scripted".to_owned() }))
    }

    #[tokio::test(start_paused = true)]
    async fn a_key_is_shown_once_by_logons_that_have_not_heard_of_its_refusal() {
        let (old, new) = (principal("heard", "made up"), principal("heard", "made up, too"));
        let queued = Instant::now();
        tokio::time::advance(Duration::from_secs(5)).await;
        note_answer(&old, &refused(kerberos::Reason::WrongPassword), false);
        assert!(answer_to(&old, queued).is_some() && answer_to(&old, Instant::now()).is_some());
        assert!(answer_to(&new, queued).is_none(), "another key is tried");
        tokio::time::advance(HEARD_AFTER).await;
        assert!(answer_to(&old, queued).is_some(), "it still waits for its turn");
        assert!(answer_to(&old, Instant::now()).is_none(), "the guard decides by then");
        note_answer(&old, &Ok(()), false);
        assert!(answer_to(&old, queued).is_none(), "it was accepted since");

        let slow = principal("unheard", "made up");
        note_answer(&slow, &refused(kerberos::Reason::AccountRevoked), true);
        tokio::time::advance(UNHEARD_KEPT / 2).await;
        assert!(answer_to(&slow, Instant::now()).is_some(), "nobody waited for the answer, and it counts");
        assert!(answer_to(&slow, Instant::now()).is_none(), "once");

        let queued = Instant::now();
        note_answer(&slow, &refused(kerberos::Reason::KdcUnreachable), true);
        assert!(answer_to(&slow, queued).is_some(), "all who wait know that no KDC answers");
        tokio::time::advance(HEARD_AFTER).await;
        assert!(answer_to(&slow, Instant::now()).is_none(), "the next one asks");
        note_answer(&slow, &refused(kerberos::Reason::Other), false);
        assert!(answer_to(&slow, Instant::now()).is_none(), "it says nothing of the key");
    }
}
