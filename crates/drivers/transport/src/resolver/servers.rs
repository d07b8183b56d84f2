use std::future::Future;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use hickory_resolver::TokioResolver;
use hickory_resolver::config::{
    ConnectionConfig, NameServerConfig, ProtocolConfig, ResolveHosts, ResolverConfig, ResolverOpts,
};
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::net::{DnsError, NetError, NoRecords};
use hickory_resolver::proto::op::ResponseCode;
use hickory_resolver::proto::rr::{Name, RecordType};
use parking_lot::Mutex;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};

use crate::resolver::LookupError;

/// Addresses, and how long they may be kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) addresses: Vec<IpAddr>,
    pub(crate) time_to_live: Duration,
}

/// The name servers of the machine, and their options.
pub(crate) struct Servers {
    servers: Vec<Arc<Server>>,
    search: Vec<Name>,
    ndots: u32,
    attempts: u32,
}

struct Server {
    /// A client for this server only.
    client: TokioResolver,
    timeout: Duration,
    silent_since: Mutex<Option<Instant>>,
}

/// The result of one query.
enum Answer {
    Found(Found),
    /// The server says that there is no such record.
    Nothing(String),
    Failed(LookupError),
}

impl Servers {
    /// Reads the contents of resolv.conf(5). Name servers listen on `port`.
    pub(crate) fn parse(text: &[u8], port: u16) -> Result<Self, NetError> {
        let (mut settings, _unknown_lines) = resolv_conf::Config::parse_with_errors(text);
        settings.glibc_normalize();
        let timeout = Duration::from_secs(u64::from(settings.timeout)).clamp(TIMEOUT_MIN, TIMEOUT_MAX);
        let servers = settings.get_nameservers_or_local();
        let servers = servers
            .into_iter()
            .map(|address| Server::new(address.into(), port, timeout, settings.edns0).map(Arc::new))
            .collect::<Result<_, _>>()?;
        let search = settings.get_last_search_or_domain().filter_map(|domain| {
            let mut name = Name::from_str_relaxed(domain).ok()?;
            name.set_fqdn(true);
            Some(name)
        });
        let (search, ndots) = (search.collect(), settings.ndots);
        Ok(Self { servers, search, ndots, attempts: settings.attempts.clamp(1, ATTEMPTS_MAX) })
    }

    /// Looks up a name with each possible search domain, until one has an address.
    pub(crate) async fn lookup(&self, host: &str) -> Result<Found, LookupError> {
        let mut failed = None;
        let mut nothing = format!("`{host}` has no address");
        for name in candidates(host, &self.search, self.ndots).map_err(LookupError::NotFound)? {
            match self.addresses(&name).await {
                Answer::Found(found) => return Ok(found),
                Answer::Nothing(reason) => nothing = reason,
                // The other names are for the same servers, which are silent.
                Answer::Failed(LookupError::TimedOut) => return Err(LookupError::TimedOut),
                Answer::Failed(error) => failed = Some(error),
            }
        }
        Err(failed.unwrap_or(LookupError::NotFound(nothing)))
    }

    /// Looks up both families at once. When one has addresses, the other one gets only a little more time.
    async fn addresses(&self, name: &Name) -> Answer {
        let (v4, v6) = (self.ask(name, RecordType::A), self.ask(name, RecordType::AAAA));
        tokio::pin!(v4, v6);
        tokio::select! {
            first = &mut v4 => both(first, v6).await,
            first = &mut v6 => both(first, v4).await,
        }
    }

    async fn ask(&self, name: &Name, kind: RecordType) -> Answer {
        let mut failed = LookupError::TimedOut;
        for _ in 0..self.attempts {
            match self.ask_all(name, kind).await {
                Answer::Failed(error) => failed = error,
                answer => return answer,
            }
        }
        Answer::Failed(failed)
    }

    /// The first answer of the servers: the next one is asked when the one before it fails or is silent for a while.
    async fn ask_all(&self, name: &Name, kind: RecordType) -> Answer {
        let mut failed: Option<LookupError> = None;
        let mut asked = JoinSet::new();
        let mut waiting = self.in_order().into_iter();
        loop {
            let has_more = match waiting.next() {
                Some(server) => {
                    let name = name.clone();
                    asked.spawn(async move { server.ask(name, kind).await });
                    waiting.len() > 0
                }
                None => false,
            };
            let answer = tokio::select! {
                answer = asked.join_next() => answer,
                () = sleep(PATIENCE), if has_more => continue,
            };
            match answer {
                Some(Ok(Answer::Failed(error))) if failed.is_none() || error != LookupError::TimedOut => {
                    failed = Some(error);
                }
                Some(Ok(Answer::Failed(_)) | Err(_)) => {}
                Some(Ok(answer)) => return answer,
                None => return Answer::Failed(failed.unwrap_or(LookupError::TimedOut)),
            }
        }
    }

    /// The servers in the configured order, with recently silent ones last.
    fn in_order(&self) -> Vec<Arc<Server>> {
        let (silent, others): (Vec<_>, Vec<_>) =
            self.servers.iter().map(Arc::clone).partition(|server| server.was_silent());
        others.into_iter().chain(silent).collect()
    }
}

impl Server {
    fn new(address: IpAddr, port: u16, timeout: Duration, edns0: bool) -> Result<Self, NetError> {
        let connections = [ProtocolConfig::Udp, ProtocolConfig::Tcp].map(|protocol| {
            let mut connection = ConnectionConfig::new(protocol);
            connection.port = port;
            connection
        });
        let server = NameServerConfig::new(address, true, connections.to_vec());
        let config = ResolverConfig::from_name_servers(vec![server]);
        let mut options = ResolverOpts::default();
        options.timeout = timeout;
        options.edns0 = edns0;
        // Retries, the choice of a server and caching are done here.
        options.attempts = 0;
        options.cache_size = 0;
        options.num_concurrent_reqs = 1;
        options.use_hosts_file = ResolveHosts::Never;
        let client = TokioResolver::builder_with_config(config, TokioRuntimeProvider::default());
        let client = client.with_options(options).build()?;
        Ok(Self { client, timeout, silent_since: Mutex::default() })
    }

    async fn ask(&self, name: Name, kind: RecordType) -> Answer {
        // Only an answer clears this mark.
        let silent = SilentUnlessAnswered { server: self, began: Instant::now() };
        let Ok(answer) = timeout(self.timeout, self.client.lookup(name, kind)).await else {
            return Answer::Failed(LookupError::TimedOut);
        };
        let answer = match answer {
            Ok(lookup) => {
                let addresses: Vec<IpAddr> =
                    lookup.answers().iter().filter_map(|record| record.data.ip_addr()).collect();
                let until = Instant::from_std(lookup.valid_until());
                let time_to_live = until.saturating_duration_since(Instant::now());
                if addresses.is_empty() {
                    Answer::Nothing("the name server knows the name, but no address".to_owned())
                } else {
                    Answer::Found(Found { addresses, time_to_live })
                }
            }
            Err(error) => failure(&error),
        };
        if !matches!(answer, Answer::Failed(LookupError::TimedOut)) {
            silent.answered();
        }
        answer
    }

    fn was_silent(&self) -> bool {
        let since = *self.silent_since.lock();
        since.is_some_and(|since| since.elapsed() < SILENT_FOR)
    }

    fn set_silent_since(&self, since: Option<Instant>) {
        *self.silent_since.lock() = since;
    }
}

/// Notes that a server is silent when a query ends without an answer, also when another server answered first.
struct SilentUnlessAnswered<'a> {
    server: &'a Server,
    began: Instant,
}

impl SilentUnlessAnswered<'_> {
    fn answered(self) {
        self.server.set_silent_since(None);
        std::mem::forget(self);
    }
}

impl Drop for SilentUnlessAnswered<'_> {
    fn drop(&mut self) {
        if self.began.elapsed() >= PATIENCE {
            self.server.set_silent_since(Some(Instant::now()));
        }
    }
}

/// The combined answer of both families, when `first` is the answer for one of them.
async fn both(first: Answer, second: impl Future<Output = Answer>) -> Answer {
    match first {
        Answer::Found(mut found) => {
            if let Ok(Answer::Found(other)) = timeout(OTHER_FAMILY, second).await {
                found.addresses.extend(other.addresses);
                found.time_to_live = found.time_to_live.min(other.time_to_live);
            }
            Answer::Found(found)
        }
        Answer::Nothing(reason) => match second.await {
            Answer::Nothing(_) => Answer::Nothing(reason),
            answer => answer,
        },
        Answer::Failed(error) => match second.await {
            Answer::Found(found) => Answer::Found(found),
            Answer::Failed(other) if error == LookupError::TimedOut => Answer::Failed(other),
            Answer::Nothing(_) | Answer::Failed(_) => Answer::Failed(error),
        },
    }
}

fn failure(error: &NetError) -> Answer {
    let failed = |reason: String| Answer::Failed(LookupError::ServerFailed(reason));
    match error {
        NetError::Dns(DnsError::NoRecordsFound(NoRecords { response_code, query, .. })) => {
            match *response_code {
                ResponseCode::NXDomain => Answer::Nothing(format!("there is no name `{}`", query.name())),
                ResponseCode::NoError => Answer::Nothing(format!("`{}` has no address", query.name())),
                code => failed(format!("a name server answered {code}")),
            }
        }
        NetError::Dns(DnsError::ResponseCode(code)) => failed(format!("a name server answered {code}")),
        NetError::Timeout => Answer::Failed(LookupError::TimedOut),
        NetError::Io(error) if error.kind() == std::io::ErrorKind::TimedOut => {
            Answer::Failed(LookupError::TimedOut)
        }
        NetError::Io(error) => failed(format!("a name server cannot be reached: {error}")),
        other => failed(format!("a name server cannot be asked: {other}")),
    }
}

/// After this time without an answer the next server is asked, too.
const PATIENCE: Duration = Duration::from_secs(1);
/// For this time a server that was silent is asked after the others.
const SILENT_FOR: Duration = Duration::from_secs(30);
/// When one address family has answered, how long to wait for the other one.
const OTHER_FAMILY: Duration = Duration::from_millis(250);
const TIMEOUT_MIN: Duration = Duration::from_secs(1);
/// The limits of the C library.
const TIMEOUT_MAX: Duration = Duration::from_secs(30);
const ATTEMPTS_MAX: u32 = 5;

/// The names to look up for `host`, in order: `host` itself, and `host` with each search domain appended. With at least
/// `ndots` dots `host` itself comes first, with fewer last. Nothing is appended to a name that ends with a dot.
///
/// `Err` is the reason why `host` cannot be a name.
pub(crate) fn candidates(host: &str, search: &[Name], ndots: u32) -> Result<Vec<Name>, String> {
    let mut absolute =
        Name::from_str_relaxed(host).map_err(|error| format!("`{host}` is no legal name: {error}"))?;
    if absolute.is_fqdn() {
        return Ok(vec![absolute]);
    }
    let relative = absolute.clone();
    absolute.set_fqdn(true);
    let mut names: Vec<Name> = Vec::with_capacity(search.len() + 1);
    // A name that became too long is skipped.
    for name in search.iter().filter_map(|domain| relative.clone().append_domain(domain).ok()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.retain(|name| *name != absolute);
    let dots = host.bytes().filter(|byte| *byte == b'.').count();
    let at = if dots >= ndots as usize { 0 } else { names.len() };
    names.insert(at, absolute);
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(host: &str, ndots: u32, expected: &[&str]) {
        let search = ["corp.example", "lab.example."].map(|name| {
            let mut name = Name::from_str_relaxed(name).unwrap();
            name.set_fqdn(true);
            name
        });
        let names = candidates(host, &search, ndots).unwrap();
        assert_eq!(names.iter().map(ToString::to_string).collect::<Vec<_>>(), expected, "{host}");
    }

    #[test]
    fn search_domains_come_before_a_name_with_few_dots_and_behind_one_with_many() {
        check("web1", 1, &["web1.corp.example.", "web1.lab.example.", "web1."]);
        check("web1.site", 1, &["web1.site.", "web1.site.corp.example.", "web1.site.lab.example."]);
        check("web1.site", 2, &["web1.site.corp.example.", "web1.site.lab.example.", "web1.site."]);
        check("web1.", 1, &["web1."]);
        check("web1", 0, &["web1.", "web1.corp.example.", "web1.lab.example."]);
        check("WEB_1", 1, &["WEB_1.corp.example.", "WEB_1.lab.example.", "WEB_1."]);
    }

    #[test]
    fn a_label_that_is_too_long_makes_no_name() {
        assert!(candidates(&"x".repeat(64), &[], 1).unwrap_err().contains("no legal name"));
    }
}
