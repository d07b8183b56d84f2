//! The words of a plugin's command, and what the configuration adds to them.

use config::{AllowHosts, Config, Target, TransportSettings, in_words};
use plugin_abi::{SettingsSchema, TransportInfo};
use plugin_host::CommandInfo;
use safe_text::nearest::suggestion;

/// The words of a command, to be read and added to.
pub(super) struct Words<'a> {
    command: &'a CommandInfo,
    words: Vec<String>,
}

impl<'a> Words<'a> {
    pub(super) const fn new(command: &'a CommandInfo, words: Vec<String>) -> Self {
        Self { command, words }
    }

    /// The value of an option, wherever it is.
    pub(super) fn value(&self, name: &str) -> Option<&str> {
        let dashed = format!("--{name}");
        let mut words = self.words.iter().take_while(|word| *word != "--");
        while let Some(word) = words.next() {
            if *word == dashed {
                return words.next().map(String::as_str);
            }
            if let Some(value) = word.strip_prefix(&dashed).and_then(|rest| rest.strip_prefix('=')) {
                return Some(value);
            }
        }
        None
    }

    /// Adds a declared option that was not given. It goes first, because after `--` it would not be an option.
    fn add(&mut self, name: &str, value: &str) {
        if self.declares(name) && self.value(name).is_none() {
            self.words.insert(0, format!("--{name}={value}"));
        }
    }

    /// Replaces the given value.
    fn replace(&mut self, name: &str, value: &str) {
        let dashed = format!("--{name}");
        let Some(at) =
            self.words.iter().position(|word| *word == dashed || word.starts_with(&format!("{dashed}=")))
        else {
            return;
        };
        let length = if self.words[at] == dashed { 2 } else { 1 };
        let end = (at + length).min(self.words.len());
        self.words.splice(at..end, [format!("{dashed}={value}")]);
    }

    fn declares(&self, name: &str) -> bool {
        self.command.options.iter().any(|option| option.name == name)
    }

    pub(super) fn into_words(self) -> Vec<String> {
        self.words
    }
}

/// Adds what the configuration knows of `--target`, by the conventions of a command's options: `target`, `target-name`,
/// `port`, `identity`, `connect-timeout`, and the kind and the key of each setting of a transport, such as `tls-mode`.
/// `schema` has the transports of the command's plugin; `account` is the identity of the command line.
///
/// # Errors
/// When no identity can be shown to the target.
pub(super) fn fill_in(
    words: &mut Words<'_>,
    config: Option<&Config>,
    schema: &SettingsSchema,
    account: Option<&str>,
) -> Result<(), String> {
    let Some(named) = words.value("target").map(str::to_owned) else { return Ok(()) };
    let target = target_of(&named, config);
    let host = host_of(&named, config);
    words.replace("target", host);
    if let Some(target) = target {
        words.add("target-name", &target.name);
    }
    if let Some(config) = config {
        let transport = target.map_or("default", |target| target.transport.as_str());
        if let Some(transport) = config.transports.get(transport) {
            add_transport(words, &transport.settings(schema), schema);
        }
    }
    let identity = match (words.value("identity"), account) {
        (Some(given), None) => return known(given, config),
        (_, Some(account)) => account.to_owned(),
        (None, None) => match target.and_then(|target| target.identity.clone()) {
            Some(identity) => identity,
            None if !words.declares("identity") => return Ok(()),
            None => only_identity_for(host, config)?,
        },
    };
    words.replace("identity", &identity);
    words.add("identity", &identity);
    Ok(())
}

/// The target of the configuration that is named like this, or has such a host; or else the only one whose host's name
/// begins so, as people call their hosts: `web1` for `web1.corp.example.com`.
pub(super) fn target_of<'a>(named: &str, config: Option<&'a Config>) -> Option<&'a Target> {
    let targets = &config?.targets;
    let by_name = targets.iter().find(|target| target.name.eq_ignore_ascii_case(named));
    by_name.or_else(|| targets.iter().find(|target| target.host.eq_ignore_ascii_case(named))).or_else(|| {
        let is_short = |target: &&Target| {
            let (short, _) = target.host.split_once('.').unwrap_or_default();
            config::address(&target.host).is_none() && short.eq_ignore_ascii_case(named)
        };
        let mut found = targets.iter().filter(is_short);
        found.next().filter(|_| found.next().is_none())
    })
}

/// The host that `--target` means, without the brackets of an address.
pub(super) fn host_of<'a>(named: &'a str, config: Option<&'a Config>) -> &'a str {
    let host = target_of(named, config).map_or(named, |target| &target.host);
    host.trim_start_matches('[').trim_end_matches(']')
}

/// Whether `--target` names a host.
///
/// # Errors
/// When it does not, with what to write.
pub(super) fn check_host(named: &str, config: Option<&Config>) -> Result<(), String> {
    let host = host_of(named, config);
    if config::is_host_name(host) {
        return Ok(());
    }
    let hint = config::host_hint(host, || "an option of the command, such as --port".to_owned());
    Err(format!("--target: `{named}` is not a valid host; {hint}"))
}

fn add_transport(words: &mut Words<'_>, transport: &TransportSettings, schema: &SettingsSchema) {
    if let Some(port) = port_of_first(transport, schema) {
        words.add("port", &port.to_string());
    }
    words.add("connect-timeout", &humantime::format_duration(transport.connect_timeout).to_string());
    for TransportInfo { kind, settings, .. } in &schema.transports {
        for setting in settings {
            if let Some(value) = transport.by_kind.get(kind).and_then(|values| values.get(&setting.key)) {
                words.add(
                    &format!("{kind}-{}", setting.key).replace('_', "-"),
                    &in_words(&setting.kind, value),
                );
            }
        }
    }
}

/// The option `port` is that of the first kind; a plugin with several has options such as `tls-port`, too.
fn port_of_first(transport: &TransportSettings, schema: &SettingsSchema) -> Option<u16> {
    match &schema.transports[..] {
        [] | [_] => transport.port,
        [first, ..] => {
            let port = transport.by_kind.get(&first.kind)?.get(&first.port()?.key)?;
            u16::try_from(port.as_u64()?).ok()
        }
    }
}

fn known(identity: &str, config: Option<&Config>) -> Result<(), String> {
    let Some(config) = config else {
        return Err(format!(
            "--identity {identity} needs a configuration, and there is none; {HOW_TO_LOG_ON}"
        ));
    };
    if config.identities.contains_key(identity) {
        return Ok(());
    }
    let hint = suggestion(identity, config.identities.keys().map(String::as_str));
    let hint = hint.map(|hint| format!("; {hint}")).unwrap_or_default();
    Err(format!("there is no identity `{identity}`{hint}"))
}

/// If no identity was named: the only identity that may be used for the host.
fn only_identity_for(host: &str, config: Option<&Config>) -> Result<String, String> {
    let Some(config) = config else {
        return Err(format!("no identity is given for {host}; {HOW_TO_LOG_ON}"));
    };
    let allows = |allow_hosts: &AllowHosts| allow_hosts.allows_host(host);
    let mut fitting = config.identities.iter().filter(|(_, identity)| allows(&identity.allow_hosts));
    match (fitting.next(), fitting.next()) {
        (Some((name, _)), None) => Ok(name.clone()),
        (None, _) => Err(format!(
            "no identity of the configuration may be used for {host}; add it to `allow_hosts`, or \
             {HOW_TO_LOG_ON}"
        )),
        (Some((one, _)), Some((other, _))) => Err(format!(
            "several identities may be used for {host}; choose with --identity, such as --identity {one} or \
             --identity {other}"
        )),
    }
}

const HOW_TO_LOG_ON: &str =
    "give --config FILE with `identities`, or --username 'DOMAIN\\USER' --password-file FILE";

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use plugin_host::{Host, HostOptions};

    use super::*;
    use crate::process::plugins::{Libraries, set_schemas};

    #[test]
    fn what_the_configuration_knows_is_added_and_what_was_given_stays() {
        let text = "plugins: {load: [pcq]}
transports: {other: {connect_timeout: 1s, smb: {port: 4450}}}
identities: {corp: {kind: ntlm, username: a, password_env: B, allow_hosts: ['*.example']}}
modules: {os: {plugin: pcq}}
targets:
- {name: web1, host: web1.example, identity: corp, transport: other, modules: [os]}
- {host: db1.eu.example, identity: corp, modules: [os]}
- {host: db2.eu.example, identity: corp, modules: [os]}
- {host: db2.us.example, identity: corp, modules: [os]}";
        let mut config = config::parse("a.yml", text, std::path::Path::new(".")).unwrap();
        let library = Host::new(HostOptions::default()).link("pcq", plugin_pcq::entry).unwrap();
        let schema = Arc::clone(&library.info().sources[0].schema);
        assert_eq!(set_schemas(&Libraries::from([("pcq".to_owned(), library)]), &mut config), []);
        let options = ["target", "identity", "port", "smb-encryption"].map(|name| plugin_host::OptionInfo {
            name: name.to_owned(),
            value_name: "X".to_owned(),
            help: String::new(),
            required: false,
            repeated: false,
        });
        let command = CommandInfo {
            name: "discover".to_owned(),
            help: String::new(),
            aliases: Vec::new(),
            options: options.into(),
        };
        let filled = |words: &[&str], account| {
            let words = words.iter().map(|word| (*word).to_owned()).collect();
            let mut words = Words::new(&command, words);
            fill_in(&mut words, Some(&config), &schema, account).map(|()| {
                let mut words = words.into_words();
                words.sort();
                words.join(" ")
            })
        };
        assert_eq!(
            filled(&["--target", "WEB1", "--port", "1"], None).unwrap(),
            // The option that is not declared, `connect-timeout`, is not added.
            "--identity=corp --port --smb-encryption=preferred --target=web1.example 1"
        );
        assert_eq!(
            filled(&["--target", "db1"], None).unwrap(),
            "--identity=corp --smb-encryption=preferred --target=db1.eu.example"
        );
        // There are two, and neither is asked.
        assert!(filled(&["--target", "db2"], None).unwrap_err().contains("may be used for db2"));
        assert_eq!(
            filled(&["--target=web2.example"], None).unwrap(),
            "--identity=corp --smb-encryption=preferred --target=web2.example"
        );
        assert_eq!(
            filled(&["--target=web1", "--identity=corp"], Some("me")).unwrap(),
            "--identity=me --port=4450 --smb-encryption=preferred --target=web1.example"
        );
        let error = filled(&["--target=web1", "--identity=crop"], None).unwrap_err();
        assert_eq!(error, "there is no identity `crop`; did you mean `corp`?");
    }

    #[test]
    fn ports_of_several_transports_have_options_of_their_own() {
        let text = "plugins: {load: [pla]}
transports: {both: {smb: {port: 4450}, dcom: {port: 1135}}, one: {dcom: {port: 1135}}}
identities: {corp: {kind: ntlm, username: a, password_env: B, allow_hosts: ['*.example']}}
modules: {alerts: {plugin: pla}}
targets:
- {name: web1, host: web1.example, identity: corp, transport: both, modules: [alerts]}
- {name: web2, host: web2.example, identity: corp, transport: one, modules: [alerts]}";
        let mut config = config::parse("a.yml", text, std::path::Path::new(".")).unwrap();
        let [smb, dcom] = [exposition::testing::schema::smb(&[]), exposition::testing::schema::dcom(&[])];
        let transports = smb.transports.iter().chain(&dcom.transports).cloned().collect();
        let schema = exposition::testing::schema::schema(&[], transports);
        let mut schemas = config::Schemas::default();
        schemas.add_source("pla", &schema);
        assert_eq!(config.set_schemas(&schemas), []);
        let options = ["target", "port", "dcom-port"].map(|name| plugin_host::OptionInfo {
            name: name.to_owned(),
            value_name: "X".to_owned(),
            help: String::new(),
            required: false,
            repeated: false,
        });
        let command = CommandInfo {
            name: "list".to_owned(),
            help: String::new(),
            aliases: Vec::new(),
            options: options.into(),
        };
        let filled = |target: &str| {
            let mut words = Words::new(&command, vec!["--target".to_owned(), target.to_owned()]);
            fill_in(&mut words, Some(&config), &schema, None).unwrap();
            let mut words = words.into_words();
            words.sort();
            words.join(" ")
        };
        assert_eq!(filled("web1"), "--dcom-port=1135 --port=4450 --target=web1.example");
        assert_eq!(filled("web2"), "--dcom-port=1135 --target=web2.example", "the port is that of SMB");
    }
}
