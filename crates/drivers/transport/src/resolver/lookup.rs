use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, timeout, timeout_at};
use tracing::debug;

use crate::resolver::answers::Answers;
use crate::resolver::flights::{Flight, Flights, Outcome};
use crate::resolver::servers::Servers;
use crate::resolver::system::{Current, Files, System};
use crate::resolver::{LookupError, literal, order};

/// Limits of a [`Resolver`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Look-ups in flight. Each takes up to eight descriptors when the name server is silent.
    pub in_flight_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { in_flight_max: 256 }
    }
}

/// Finds addresses of names. Clones share everything.
#[derive(Clone)]
pub struct Resolver(Arc<Shared>);

struct Shared {
    system: System,
    answers: Answers,
    flights: Flights,
}

impl Default for Resolver {
    fn default() -> Self {
        Self::new(Files::default(), Limits::default())
    }
}

impl fmt::Debug for Resolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Resolver").finish_non_exhaustive()
    }
}

impl Resolver {
    /// A resolver of these `files`, which are read with the first look-up.
    #[must_use]
    pub fn new(files: Files, limits: Limits) -> Self {
        let (system, flights) = (System::new(files), Flights::new(limits.in_flight_max));
        Self(Arc::new(Shared { system, answers: Answers::default(), flights }))
    }

    /// The addresses of `host`, best first; never empty. Call it on a tokio runtime with I/O and time enabled.
    ///
    /// # Errors
    /// When there are none, or they were not found by `deadline`.
    pub async fn lookup(&self, host: &str, deadline: Instant) -> Result<Vec<IpAddr>, LookupError> {
        if let Some(address) = literal(host) {
            return Ok(vec![address]);
        }
        let now = Instant::now();
        let Current { hosts, servers, servers_changed } = self.0.system.current(now);
        if servers_changed {
            self.0.answers.expire(now);
        }
        let name = host.to_lowercase();
        let listed = hosts.as_ref().and_then(|hosts| hosts.find(name.strip_suffix('.').unwrap_or(&name)));
        if let Some(listed) = listed {
            return Ok(sorted(listed.to_vec()));
        }
        if let Some(fresh) = self.0.answers.fresh(&name, now) {
            return Ok(fresh);
        }
        let Some(servers) = servers else {
            return Err(LookupError::ServerFailed(
                "the name servers of this machine are not known".to_owned(),
            ));
        };
        let last_good = self.0.answers.last_good(&name, now);
        let asking = self.ask(&name, servers, last_good.clone());
        let asked = timeout_at(deadline, asking).await;
        match (asked.unwrap_or(Err(LookupError::TimedOut)), last_good) {
            (Err(LookupError::TimedOut | LookupError::ServerFailed(_)), Some(last_good)) => {
                debug!(%name, addresses = ?last_good, "No answer from name servers, using the last good addresses");
                Ok(last_good)
            }
            (outcome, _) => outcome,
        }
    }

    async fn ask(
        &self,
        name: &str,
        servers: Arc<Servers>,
        last_good: Option<Vec<IpAddr>>,
    ) -> Result<Vec<IpAddr>, LookupError> {
        let lookup = || {
            let (shared, servers, name) = (Arc::clone(&self.0), Arc::clone(&servers), name.to_owned());
            async move { shared.ask(&name, &servers).await }
        };
        let flight = self.0.flights.enter(name, lookup).await;
        let outcome = match last_good {
            None => flight.ended().await,
            Some(last_good) => match timeout(PATIENCE, flight.ended()).await {
                Ok(outcome) => outcome,
                Err(_late) => {
                    keep_going(flight);
                    return Ok(last_good);
                }
            },
        };
        outcome.map(|found| found.addresses)
    }
}

impl Shared {
    async fn ask(&self, name: &str, servers: &Servers) -> Outcome {
        let outcome = servers.lookup(name).await;
        match outcome {
            Ok(mut found) => {
                found.addresses = sorted(found.addresses);
                debug!(%name, addresses = ?found.addresses, "Name resolved");
                self.answers.keep(name, &found.addresses, found.time_to_live, Instant::now());
                Ok(found)
            }
            Err(error) => {
                debug!(%name, %error, "Name not resolved");
                if let LookupError::NotFound(_) = error {
                    self.answers.forget(name);
                }
                Err(error)
            }
        }
    }
}

/// Lets a look-up finish although no caller waits for it, so that the next caller finds its answer.
fn keep_going(flight: Arc<Flight>) {
    tokio::spawn(async move { flight.ended().await.map(drop) });
}

fn sorted(mut addresses: Vec<IpAddr>) -> Vec<IpAddr> {
    order::sort(&mut addresses);
    addresses
}

/// After this time without an answer the last good addresses are used, as RFC 8767 describes.
const PATIENCE: Duration = Duration::from_secs(1);
