//! From the YAML tree to [`Config`], one function a section. A wrong value is reported and replaced by its
//! default, so that reading goes on and the next problem is found too.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::external::external_url;
use super::hosts::AllowHosts;
use super::normalize::{NormalizeSection, normalize};
use super::operate;
use super::pattern::FilePattern;
use super::probe::probe;
use super::section::{Item, Later, Section};
use super::stale::stale_after;
use super::target;
use super::types::{
    Config, Credentials, Encryption, Identity, Module, PluginName, Plugins, Scrape, SecretSource, Transport,
    Web,
};

const LATER_WEB: Later = &[];
const LATER_TOP: Later = &["profiles", "sd"];
const LATER_IDENTITY: Later =
    &["principal", "keytab_file", "ccache_file", "realm", "kdc", "delegate", "lockout_guard"];
const LATER_TRANSPORT: Later = &["call_timeout", "retries", "max_series", "rpc", "proxy"];

pub(super) const INTERVALS: RangeInclusive<Duration> =
    Duration::from_secs(1)..=Duration::from_secs(24 * 3600);
pub(super) const DEADLINES: RangeInclusive<Duration> = Duration::from_millis(100)..=Duration::from_secs(3600);
const ANSWER_TIMEOUTS: RangeInclusive<Duration> = Duration::from_secs(1)..=Duration::from_secs(24 * 3600);
const TIMEOUTS: RangeInclusive<Duration> = Duration::from_millis(100)..=Duration::from_secs(300);
const COOLDOWNS: RangeInclusive<Duration> = Duration::from_secs(60)..=Duration::from_secs(30 * 24 * 3600);
/// The highest `max_series`.
pub const SERIES_MAX: u32 = 1_000_000;
pub(super) const SERIES: RangeInclusive<u32> = 1..=SERIES_MAX;
/// Wildcards and their files are looked at every few seconds.
const TARGET_FILES_MAX: usize = 100;

/// Reads the document. `base` is the folder that relative paths start from.
pub(super) fn config(root: &Item<'_>, base: &Path) -> Option<Config> {
    let mut top = root.section(LATER_TOP)?;
    let web = top.get("web").map(|item| web(&item, base)).unwrap_or_default();
    let plugins = match top.get("plugins") {
        Some(item) => plugins(&item, base),
        None => Plugins { path: None, load: Vec::new() },
    };
    let scrape = top.get("scrape").map(|item| scrape(&item)).unwrap_or_default();
    let probe = top.get("probe").map(|item| probe(&item)).unwrap_or_default();
    let credentials = top.get("credentials").map(|item| credentials(&item, base)).unwrap_or_default();
    let identities = named(top.get("identities"), |item| identity(item, base));
    let mut transports = named(top.get("transports"), transport);
    transports.entry("default".to_owned()).or_default();
    let normalize = top.get("normalize").map(|item| normalize(&item, None)).unwrap_or_default();
    let modules = named(top.get("modules"), |item| module(item, &normalize));
    let target_defaults = top.get("target_defaults").map(|item| target::defaults(&item)).unwrap_or_default();
    let targets = top.get("targets").map(|item| item.list()).unwrap_or_default();
    let targets = targets
        .iter()
        .filter_map(|item| target::target(item, &scrape, &target_defaults, &normalize))
        .collect();
    let target_files = top.get("target_files").map(|item| target_files(&item, base)).unwrap_or_default();
    let otlp = super::otlp::endpoints(top.get("otlp"), base);
    let telemetry = top.get("telemetry").and_then(|item| super::otlp::telemetry(&item, base));
    let watch = top.get("config").and_then(|item| operate::watch(&item));
    let log_level = top.get("log").and_then(|item| operate::log(&item));
    top.finish();
    Some(Config {
        web,
        plugins,
        scrape,
        probe,
        credentials,
        identities,
        transports,
        normalize,
        modules,
        target_defaults,
        targets,
        target_files,
        otlp,
        telemetry,
        shown: super::shown::shown(root.node).into(),
        watch,
        log_level,
    })
}

fn web(item: &Item<'_>, base: &Path) -> Web {
    let mut web = Web::default();
    let Some(mut section) = item.section(LATER_WEB) else { return web };
    if let Some(listen) = section.get("listen") {
        let items = listen.list();
        if items.is_empty() {
            listen.problem("is empty", Some("name an address such as `0.0.0.0:9483`".to_owned()));
        }
        web.listen = items.iter().filter_map(listen_address).collect();
    }
    set(&mut web.max_connections, section.get("max_connections").and_then(|item| item.count(1..=65_536)));
    set(&mut web.max_scrapes, section.get("max_scrapes").and_then(|item| item.count(1..=1024)));
    set(&mut web.metrics_targets, section.get("metrics_targets").and_then(|item| item.flag()));
    set(&mut web.enable_lifecycle, section.get("enable_lifecycle").and_then(|item| item.flag()));
    web.external_url = section.get("external_url").and_then(|item| external_url(&item));
    set(&mut web.header_timeout, section.get("header_timeout").and_then(|item| item.duration(TIMEOUTS)));
    set(&mut web.write_timeout, section.get("write_timeout").and_then(|item| item.duration(TIMEOUTS)));
    web.config_file = section.get("config_file").and_then(|item| path(&item, base));
    web.max_connections_per_peer =
        section.get("max_connections_per_peer").and_then(|item| item.count(1..=65_536));
    set(
        &mut web.answer_timeout,
        section.get("answer_timeout").and_then(|item| item.duration(ANSWER_TIMEOUTS)),
    );
    set(&mut web.idle_timeout, section.get("idle_timeout").and_then(|item| item.duration(ANSWER_TIMEOUTS)));
    set(
        &mut web.handshake_timeout,
        section.get("handshake_timeout").and_then(|item| item.duration(TIMEOUTS)),
    );
    refer_to_file(&mut section);
    section.finish();
    web
}

/// What other programs have in their main file and we in another one.
fn refer_to_file(section: &mut Section<'_>) {
    for key in ["tls_server_config", "http_server_config", "basic_auth_users", "rate_limit", "tls"] {
        if let Some(item) = section.get(key) {
            let hint = "put it into a file of its own and name that in `web.config_file`".to_owned();
            item.problem("does not stand here", Some(hint));
        }
    }
}

/// `ADDRESS:PORT`, `NAME:PORT` or `:PORT` for every IPv4 address.
fn listen_address(item: &Item<'_>) -> Option<String> {
    let text = item.text()?;
    let valid = text.rsplit_once(':').filter(|(host, port)| {
        let bare = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        let host_is_good =
            bare.map_or(!host.contains(':'), |bare| bare.parse::<std::net::Ipv6Addr>().is_ok());
        port.parse::<u16>().is_ok() && host_is_good
    });
    match valid {
        Some(("", port)) => Some(format!("0.0.0.0:{port}")),
        Some(_) => Some(text.to_owned()),
        None => {
            let hint = "write ADDRESS:PORT, such as `0.0.0.0:9483` or `[::]:9483`".to_owned();
            item.problem(format!("`{text}` is no address to listen on"), Some(hint));
            None
        }
    }
}

fn plugins(item: &Item<'_>, base: &Path) -> Plugins {
    let mut plugins = Plugins { path: None, load: Vec::new() };
    let Some(mut section) = item.section(&["reload"]) else { return plugins };
    plugins.path = section.get("path").and_then(|item| path(&item, base));
    for item in section.get("load").map(|item| item.list()).unwrap_or_default() {
        let Some(name) = item.text() else { continue };
        let valid = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_');
        if !name.chars().all(valid) {
            let hint =
                "give the name, not the file: `pcq` is `libplugin_pcq.so` in `plugins.path`".to_owned();
            item.problem(format!("`{name}` is no plugin's name"), Some(hint));
        } else if plugins.load.iter().any(|known: &PluginName| known.name == name) {
            item.problem(format!("`{name}` is here twice"), None);
        } else {
            plugins.load.push(PluginName { name: name.to_owned(), position: item.position() });
        }
    }
    section.finish();
    plugins
}

fn scrape(item: &Item<'_>) -> Scrape {
    let mut scrape = Scrape::default();
    let Some(mut section) = item.section(&[]) else { return scrape };
    set(&mut scrape.interval, section.get("interval").and_then(|item| item.duration(INTERVALS)));
    scrape.deadline = deadline(&mut section, scrape.interval);
    set(&mut scrape.max_connecting, section.get("max_connecting").and_then(|item| item.count(1..=65_536)));
    set(&mut scrape.connect_rate, section.get("connect_rate").and_then(|item| item.count(1..=100_000)));
    set(&mut scrape.max_series, section.get("max_series").and_then(|item| item.count(SERIES)));
    set(&mut scrape.max_concurrent, section.get("max_concurrent").and_then(|item| item.count(1..=65_536)));
    let stale = section.get("stale_after").and_then(|item| stale_after(&item, scrape.interval));
    set(&mut scrape.stale_after, stale);
    set(&mut scrape.drain, section.get("drain").and_then(|item| item.duration(TIMEOUTS)));
    section.finish();
    scrape
}

pub(super) fn deadline(section: &mut Section<'_>, interval: Duration) -> Option<Duration> {
    let item = section.get("deadline")?;
    let deadline = item.duration(DEADLINES)?;
    if deadline <= interval {
        Some(deadline)
    } else {
        let shown = humantime::format_duration(interval);
        let hint = Some("a collection must end before the next begins".to_owned());
        item.problem(format!("is longer than the interval of {shown}"), hint);
        None
    }
}

fn credentials(item: &Item<'_>, base: &Path) -> Credentials {
    let mut credentials = Credentials::default();
    let Some(mut section) = item.section(&[]) else { return credentials };
    credentials.state_dir = section.get("state_dir").and_then(|item| path(&item, base));
    set(&mut credentials.cooldown, section.get("cooldown").and_then(|item| item.duration(COOLDOWNS)));
    section.finish();
    credentials
}

fn identity(item: &Item<'_>, base: &Path) -> Option<Identity> {
    let mut section = item.section(LATER_IDENTITY)?;
    if let Some(kind) = section.require("kind", "write `kind: ntlm`") {
        match kind.text() {
            Some("ntlm") | None => {}
            Some("kerberos") => {
                kind.problem("`kerberos` is not supported yet", Some("use `ntlm`".to_owned()));
            }
            Some(other) => kind.problem(format!("`{other}` is not a choice"), Some("use `ntlm`".to_owned())),
        }
    }
    let domain = section.get("domain").and_then(|item| item.text_or_empty()).unwrap_or_default();
    let username = section.require("username", "name the account").and_then(|item| item.text());
    let secret = secret_source(&mut section, base);
    let mut allow_hosts = AllowHosts::default();
    let hint = "list the hosts that may see this identity, such as '*.corp.example.com' or 10.0.0.0/8";
    let allow = section.require("allow_hosts", hint);
    for item in allow.as_ref().map(Item::list).unwrap_or_default() {
        let Some(text) = item.text() else { continue };
        if allow_hosts.add(text).is_err() {
            let hint = "write '*.corp.example.com', 10.0.0.0/8 or one address".to_owned();
            item.problem(format!("`{text}` is neither a host name pattern nor a network"), Some(hint));
        }
    }
    let position = section.position;
    section.finish();
    let (domain, username) = (domain.to_owned(), username?.to_owned());
    Some(Identity { domain, username, secret: secret?, allow_hosts, position })
}

fn secret_source(section: &mut Section<'_>, base: &Path) -> Option<SecretSource> {
    if let Some(literal) = section.get("password") {
        let hint = "put it into a file and name that in `password_file`, or use `password_env`".to_owned();
        literal.problem("a secret may not stand in the configuration", Some(hint));
        // One problem is enough; the right keys are marked as known all the same.
        section.get("password_file");
        section.get("password_env");
        return None;
    }
    let file = section.get("password_file");
    let env = section.get("password_env");
    match (file, env) {
        (Some(_), Some(env)) => {
            env.problem("`password_file` is there too", Some("keep one of them".to_owned()));
            None
        }
        (Some(file), None) => path(&file, base).map(SecretSource::File),
        (None, Some(env)) => env.text().map(|name| SecretSource::Environment(name.to_owned())),
        (None, None) => {
            let hint = Some("name a file that holds the password, or use `password_env`".to_owned());
            section.problems.push_hint(section.position, &section.path, "`password_file` is missing", hint);
            None
        }
    }
}

fn transport(item: &Item<'_>) -> Option<Transport> {
    let mut transport = Transport::default();
    let mut section = item.section(LATER_TRANSPORT)?;
    set(
        &mut transport.connect_timeout,
        section.get("connect_timeout").and_then(|item| item.duration(TIMEOUTS)),
    );
    if let Some(mut smb) = section.get("smb").and_then(|item| item.section(&["signing", "dialects"])) {
        let words =
            [Encryption::Disabled, Encryption::Preferred, Encryption::Required].map(|e| (e.word(), e));
        set(&mut transport.encryption, smb.get("encryption").and_then(|item| item.word(&words)));
        let port = smb.get("port").and_then(|item| item.count(1..=65_535));
        transport.port = port.and_then(|port| u16::try_from(port).ok());
        smb.finish();
    }
    section.finish();
    Some(transport)
}

fn module(item: &Item<'_>, outer: &NormalizeSection) -> Option<Module> {
    let mut section = item.section(&[])?;
    let plugin = section.require("plugin", "name one of `plugins.load`").and_then(|item| item.text());
    let normalize = section.get("normalize").map(|item| normalize(&item, Some(outer))).unwrap_or_default();
    let settings = section.rest();
    let settings = settings.iter().map(|entry| (entry.key.clone(), entry.node.to_json())).collect();
    Some(Module { plugin: plugin?.to_owned(), normalize, settings, source: item.node.clone() })
}

fn target_files(item: &Item<'_>, base: &Path) -> Vec<FilePattern> {
    let items = item.list();
    if items.len() > TARGET_FILES_MAX {
        item.problem(format!("has {} entries, the limit is {TARGET_FILES_MAX}", items.len()), None);
    }
    let patterns = items.iter().take(TARGET_FILES_MAX).filter_map(|item| {
        let text = item.text()?;
        let made = FilePattern::new(base, text);
        made.map_err(|bad| item.problem(bad.message, Some(bad.hint))).ok()
    });
    patterns.collect()
}

/// A path; a relative one starts at the folder of the configuration.
fn path(item: &Item<'_>, base: &Path) -> Option<PathBuf> {
    item.text().map(|text| base.join(text))
}

fn named<T>(item: Option<Item<'_>>, read: impl Fn(&Item<'_>) -> Option<T>) -> BTreeMap<String, T> {
    let entries = item.map(|item| item.named()).unwrap_or_default();
    entries.iter().filter_map(|(entry, item)| Some((entry.key.clone(), read(item)?))).collect()
}

fn set<T>(slot: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *slot = value;
    }
}
