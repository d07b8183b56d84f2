use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use parking_lot::Mutex;
use ssp::{ClientOptions, Credentials, Error, SecurityContext};
use tokio::sync::{Semaphore, oneshot};

/// Threads that ask a KDC for tickets of one cache. A KDC that does not answer holds so many and no more; other caches
/// have their own.
const THREADS_OF_A_CACHE: usize = 8;

/// By the name of a cache, for as long as somebody waits.
static TURNS: LazyLock<Mutex<HashMap<String, Arc<Semaphore>>>> = LazyLock::new(Mutex::default);

/// Begins an authentication. A context by tickets may need one for the service first, for which a thread of its own asks
/// a KDC: the library of the system knows no deadline. The thread is left to itself where nobody waits any longer.
pub(super) async fn begin(
    credentials: &Credentials,
    options: ClientOptions,
) -> Result<Box<dyn SecurityContext>, Error> {
    let Credentials::Tickets(tickets) = credentials else { return ssp::client(credentials, options) };
    let turns = turns_of(&tickets.cache);
    let turn = turns.acquire_owned().await.map_err(|error| failed(error.into()))?;
    let credentials = credentials.clone();
    let (sender, receiver) = oneshot::channel();
    let thread = std::thread::Builder::new().name("kerberos".to_owned());
    let work = move || {
        let outcome = ssp::client(&credentials, options);
        drop(turn);
        // Nobody waits any longer.
        let _ = sender.send(outcome);
    };
    thread.spawn(work).map_err(|error| failed(error.into()))?;
    receiver.await.map_err(|error| failed(error.into()))?
}

fn turns_of(cache: &str) -> Arc<Semaphore> {
    let mut all = TURNS.lock();
    all.retain(|_, turns| Arc::strong_count(turns) > 1);
    let turns = all.entry(cache.to_owned()).or_insert_with(|| Arc::new(Semaphore::new(THREADS_OF_A_CACHE)));
    Arc::clone(turns)
}

fn failed(source: Box<dyn std::error::Error + Send + Sync>) -> Error {
    Error::Package { doing: "ask for tickets on a thread of its own", source }
}
