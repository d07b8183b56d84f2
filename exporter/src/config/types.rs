use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use super::hosts::AllowHosts;
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
    /// How secrets are guarded.
    pub credentials: Credentials,
    /// Who we are.
    pub identities: BTreeMap<String, Identity>,
    /// How targets are reached; `default` always exists.
    pub transports: BTreeMap<String, Transport>,
    /// What is asked.
    pub modules: BTreeMap<String, Module>,
    /// Whom we ask, in the order of the file; names are unique.
    pub targets: Vec<Target>,
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
    /// `header_timeout`: a request's head must be there within it. Default 10 s.
    pub header_timeout: Duration,
    /// `write_timeout`: a reader that takes nothing for so long is dropped. Default 30 s.
    pub write_timeout: Duration,
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
    /// `max_concurrent`: collections at a time. Default 1024.
    pub max_concurrent: u32,
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
    /// Every other key: the plugin's own, as JSON.
    pub settings: serde_json::Map<String, serde_json::Value>,
    /// The module as the file has it, to find the place that a plugin complains of.
    pub source: Node,
}

/// One of `targets:`
#[derive(Clone, Debug, PartialEq, Eq)]
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
    /// `labels`: added to each of its series.
    pub labels: BTreeMap<String, String>,
    /// Where the file has it.
    pub position: Position,
}

impl Default for Web {
    fn default() -> Self {
        Self {
            listen: vec!["0.0.0.0:9483".to_owned()],
            max_connections: 512,
            max_scrapes: 8,
            header_timeout: Duration::from_secs(10),
            write_timeout: Duration::from_secs(30),
        }
    }
}

impl Default for Scrape {
    fn default() -> Self {
        Self {
            interval: Duration::from_secs(30),
            deadline: None,
            max_connecting: 64,
            max_concurrent: 1024,
            drain: Duration::from_secs(5),
        }
    }
}

impl Default for Credentials {
    fn default() -> Self {
        Self { state_dir: None, cooldown: Duration::from_secs(3600) }
    }
}

impl Default for Transport {
    fn default() -> Self {
        Self { connect_timeout: Duration::from_secs(3), encryption: Encryption::default(), port: None }
    }
}
