use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::external::ExternalUrl;
use super::hosts::AllowHosts;
use super::normalize::NormalizeSection;
use super::otlp::OtlpEndpoint;
use super::pattern::FilePattern;
use super::probe::Probe;
use super::stale::StaleAfter;
use super::tree::{Node, Position};

/// The whole configuration, checked: every name in it exists, every number is within its limits.
#[derive(Clone, Debug)]
pub struct Config {
    /// What is served, and where.
    pub web: Web,
    /// Which plugins are loaded, and from where.
    pub plugins: Plugins,
    /// When targets are asked.
    pub scrape: Scrape,
    /// Who may be asked for by URL.
    pub probe: Probe,
    /// How secrets are guarded.
    pub credentials: Credentials,
    /// Who we are.
    pub identities: BTreeMap<String, Identity>,
    /// How targets are reached; `default` always exists.
    pub transports: BTreeMap<String, Transport>,
    /// How all series get their names and labels.
    pub normalize: NormalizeSection,
    /// What is asked.
    pub modules: BTreeMap<String, Module>,
    /// What a target has that does not say otherwise, in this file and in target files.
    pub target_defaults: TargetDefaults,
    /// Whom we ask, in the order of the file; names are unique.
    pub targets: Vec<Target>,
    /// Where more of them are listed, in files that may change at any time.
    pub target_files: Vec<FilePattern>,
    /// Which collectors are pushed to.
    pub otlp: Vec<Arc<OtlpEndpoint>>,
    /// Where the exporter's own figures go besides `/metrics`.
    pub telemetry: Option<Arc<OtlpEndpoint>>,
    /// The file as people are shown it: without its secrets.
    pub shown: Arc<str>,
    /// `config.watch` and `config.watch_interval`: how often the file is looked at for changes. Default not at all.
    pub watch: Option<Duration>,
    /// `log.level`: what is logged, unless the command line says it. Default `info`.
    pub log_level: Option<String>,
}

impl Config {
    /// Whether all that `target` names is here.
    #[must_use]
    pub fn knows_names_of(&self, target: &Target) -> bool {
        target.identity.as_ref().is_none_or(|name| self.identities.contains_key(name))
            && self.transports.contains_key(&target.transport)
            && target.modules.iter().all(|name| self.modules.contains_key(name))
    }
}

/// `web:`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Web {
    /// `listen`: addresses to serve on. Port 0 takes a free one. Default `0.0.0.0:9483`.
    pub listen: Vec<String>,
    /// `max_connections`: more wait in the kernel's queue. Default 512.
    pub max_connections: u32,
    /// `max_scrapes`: pages encoded at a time; more are answered 503. Default 8.
    pub max_scrapes: u32,
    /// `metrics_targets`: whether `/metrics` shows the targets' series beside the exporter's own. Default true.
    pub metrics_targets: bool,
    /// `enable_lifecycle`: whether who reaches the server may ask for a reload. Default false.
    pub enable_lifecycle: bool,
    /// `external_url`: where Prometheus reaches the exporter, for `/sd`. Default: as the request says.
    pub external_url: Option<ExternalUrl>,
    /// `header_timeout`: a request's head must be there within it. Default 10 s.
    pub header_timeout: Duration,
    /// `write_timeout`: a reader that takes nothing for so long is dropped. Default 30 s.
    pub write_timeout: Duration,
    /// `config_file`: TLS, passwords, headers, a limit of requests. See [`WebFile`](super::WebFile).
    pub config_file: Option<PathBuf>,
    /// `max_connections_per_peer`: of one address, or of one /64 of IPv6; more are closed. Default half of
    /// `max_connections`.
    pub max_connections_per_peer: Option<u32>,
    /// `answer_timeout`: an answer is taken within it, however steadily. Default 5 min.
    pub answer_timeout: Duration,
    /// `idle_timeout`: a connection without a request for so long is closed. Default 3 min.
    pub idle_timeout: Duration,
    /// `handshake_timeout`: of TLS. Default 10 s.
    pub handshake_timeout: Duration,
}

/// `plugins:`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plugins {
    /// `path`: the folder of the libraries. Default: beside the program.
    pub path: Option<PathBuf>,
    /// `load`: names; `pcq` is the file `libplugin_pcq.so`.
    pub load: Vec<PluginName>,
}

/// One entry of `plugins.load`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PluginName {
    /// The name.
    pub name: String,
    /// Where the file names it.
    pub position: Position,
}

/// `scrape:` the defaults of every target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scrape {
    /// `interval`: between two collections. Default 30 s.
    pub interval: Duration,
    /// `deadline`: of one collection. Default 10 s, or the interval where that is shorter.
    pub deadline: Option<Duration>,
    /// `max_connecting`: targets that are being connected at a time. Default 64.
    pub max_connecting: u32,
    /// `connect_rate`: connections that are begun in a second. Default 50. Connected targets do not wait for it.
    pub connect_rate: u32,
    /// `max_concurrent`: collections at a time. Default 1024.
    pub max_concurrent: u32,
    /// `max_series`: series of one target, over all its modules; more are left out and counted. Default 200,000.
    pub max_series: u32,
    /// `stale_after`: how long series outlive a collection that fails, in intervals (0 to 3) or as a time. Default 0.
    pub stale_after: StaleAfter,
    /// `drain`: how long collections may go on after the process was asked to end. Default 5 s.
    pub drain: Duration,
}

/// `credentials:`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credentials {
    /// `state_dir`: where verdicts on secrets are kept over a restart. Default: nowhere, a restart tries once more.
    pub state_dir: Option<PathBuf>,
    /// `cooldown`: a refused secret is tried once more after it. Default 1 h.
    pub cooldown: Duration,
}

/// One of `identities:`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// `domain`: empty or `.` for accounts of the host itself.
    pub domain: String,
    /// `username`
    pub username: String,
    /// `password_file` or `password_env`
    pub secret: SecretSource,
    /// `allow_hosts`: who may see it.
    pub allow_hosts: AllowHosts,
    /// Where the file has it.
    pub position: Position,
}

impl Identity {
    /// What tells one account from another, and where its secret comes from.
    #[must_use]
    pub fn account(&self) -> (&str, &str, &SecretSource) {
        (&self.domain, &self.username, &self.secret)
    }
}

/// Where a secret comes from; never the configuration itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SecretSource {
    /// The contents of a file, read each time that it is leased; one trailing newline is dropped.
    File(PathBuf),
    /// A variable of the environment.
    Environment(String),
}

/// One of `transports:`. Its settings go to the plugins as they are written, defaults filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transport {
    /// `connect_timeout`: for name, TCP and negotiation together. Default 3 s.
    pub connect_timeout: Duration,
    /// `smb.encryption`: default `preferred`.
    pub encryption: Encryption,
    /// `smb.port`: default 445.
    pub port: Option<u16>,
}

/// Whether SMB traffic is encrypted; the RPC calls within it always are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encryption {
    /// Only when the server insists.
    Disabled,
    /// When the server can.
    #[default]
    Preferred,
    /// Or not at all.
    Required,
}

impl Encryption {
    /// The word in the configuration.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Disabled => "disabled",
            Self::Preferred => "preferred",
            Self::Required => "required",
        }
    }
}

/// One of `modules:`
#[derive(Clone, Debug)]
pub struct Module {
    /// `plugin`: one of `plugins.load`.
    pub plugin: String,
    /// `normalize`
    pub normalize: NormalizeSection,
    /// Every other key: the plugin's own, as JSON.
    pub settings: serde_json::Map<String, serde_json::Value>,
    /// The module as the file has it, to find the place that a plugin complains of.
    pub source: Node,
}

/// `target_defaults:`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetDefaults {
    /// `identity`
    pub identity: Option<String>,
    /// `transport`: default `default`.
    pub transport: String,
    /// `modules`
    pub modules: Vec<String>,
    /// `labels`: a target's own of the same name win.
    pub labels: BTreeMap<String, String>,
}

/// One of `targets:`, or one of a target file.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// `name`: unique; the host where it is not given.
    pub name: String,
    /// `host`: a name or an address.
    pub host: String,
    /// `identity`: nothing for plugins that need none.
    pub identity: Option<String>,
    /// `transport`: default `default`.
    pub transport: String,
    /// `modules`: what is asked of it.
    pub modules: Vec<String>,
    /// `interval`
    pub interval: Duration,
    /// `deadline`
    pub deadline: Duration,
    /// `max_series`
    pub max_series: u32,
    /// `stale_after`: how long its series outlive a collection that fails.
    pub stale_after: Duration,
    /// `labels`: added to each of its series.
    pub labels: BTreeMap<String, String>,
    /// `normalize`
    pub normalize: NormalizeSection,
    /// Where its file has it.
    pub position: Position,
}

impl Target {
    /// Whether both ask the same in the same way, wherever they stand.
    #[must_use]
    pub fn is_like(&self, other: &Self) -> bool {
        let Self { name, host, identity, transport, modules, interval, deadline, .. } = self;
        let Self { max_series, stale_after, labels, normalize, .. } = self;
        (name, host, identity, transport, modules)
            == (&other.name, &other.host, &other.identity, &other.transport, &other.modules)
            && (interval, deadline) == (&other.interval, &other.deadline)
            && (max_series, stale_after, labels) == (&other.max_series, &other.stale_after, &other.labels)
            && *normalize == other.normalize
    }
}

impl Default for Web {
    fn default() -> Self {
        Self {
            listen: vec!["0.0.0.0:9483".to_owned()],
            max_connections: 512,
            max_scrapes: 8,
            metrics_targets: true,
            enable_lifecycle: false,
            external_url: None,
            header_timeout: Duration::from_secs(10),
            write_timeout: Duration::from_secs(30),
            config_file: None,
            max_connections_per_peer: None,
            answer_timeout: Duration::from_secs(300),
            idle_timeout: Duration::from_secs(180),
            handshake_timeout: Duration::from_secs(10),
        }
    }
}

impl Default for Scrape {
    fn default() -> Self {
        Self {
            interval: Duration::from_secs(30),
            deadline: None,
            max_connecting: 64,
            connect_rate: 50,
            max_concurrent: 1024,
            max_series: 200_000,
            stale_after: StaleAfter::default(),
            drain: Duration::from_secs(5),
        }
    }
}

impl Default for Credentials {
    fn default() -> Self {
        Self { state_dir: None, cooldown: Duration::from_secs(3600) }
    }
}

impl Default for TargetDefaults {
    fn default() -> Self {
        Self { identity: None, transport: "default".to_owned(), modules: Vec::new(), labels: BTreeMap::new() }
    }
}

impl Default for Transport {
    fn default() -> Self {
        Self { connect_timeout: Duration::from_secs(3), encryption: Encryption::default(), port: None }
    }
}
