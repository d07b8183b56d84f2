use std::collections::HashMap;
use std::sync::Arc;

use config::{Config, Position, Target, host_hint, in_transport, is_host_name};
use safe_text::nearest::{nearest, suggestion};

use super::view::Views;
use crate::process::plugins::Libraries;
use targets::TargetState;
use web::{ProbeRefused, ProbeRequest};

/// The configuration, and the targets of probes.
pub(super) struct ProbeTargets {
    pub(super) config: Arc<Config>,
    pub(super) libraries: Libraries,
    pub(super) targets: Vec<Configured>,
    /// Whether `targets` were read already.
    pub(super) is_complete: bool,
    by_name: HashMap<String, usize>,
    /// In lower case; the first target that has it.
    by_host: HashMap<String, usize>,
}

/// Questions that are one and the same.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    host: String,
    modules: Vec<String>,
    identity: Option<String>,
    transport: String,
    /// The addresses of other hosts are checked.
    is_configured: bool,
}

/// What a question is about.
pub(super) enum Asked<'a> {
    /// A configured target, and these of its modules.
    Configured { configured: &'a Configured, modules: Vec<usize> },
    /// Something that the schedule does not know.
    Other(Box<Other>),
}

/// A target of the schedule.
pub(super) struct Configured {
    pub(super) target: Target,
    pub(super) entry: Arc<TargetState>,
    pub(super) views: Views,
}

/// Something that the schedule does not know.
pub(super) struct Other {
    pub(super) key: Key,
    /// Whole, as if it were configured.
    pub(super) target: Target,
    /// The host is that of a configured target.
    pub(super) is_configured: bool,
}

impl ProbeTargets {
    /// Before the targets were read.
    pub(super) fn nothing(config: Arc<Config>) -> Self {
        Self { is_complete: false, ..Self::new(config, Libraries::new(), Vec::new()) }
    }

    pub(super) fn new(config: Arc<Config>, libraries: Libraries, targets: Vec<Configured>) -> Self {
        let mut by_host = HashMap::new();
        for (index, Configured { target, .. }) in targets.iter().enumerate() {
            by_host.entry(host_key(&target.host)).or_insert(index);
        }
        let by_name = targets.iter().enumerate().map(|(index, known)| (known.target.name.clone(), index));
        Self { by_name: by_name.collect(), by_host, config, libraries, targets, is_complete: true }
    }

    /// What `request` is about, as far as the configuration allows it. The addresses of a name are not known yet.
    pub(super) fn asked(&self, request: &ProbeRequest) -> Result<Asked<'_>, ProbeRefused> {
        self.check_names(request)?;
        let name = request.target.as_str();
        let index = self.by_name.get(name).or_else(|| self.by_host.get(&host_key(name)));
        let configured = index.map(|&index| &self.targets[index]);
        if let Some(configured) = configured
            && let target = &configured.target
            && request.identity.as_ref().is_none_or(|identity| target.identity.as_ref() == Some(identity))
            && request.transport.as_ref().is_none_or(|transport| *transport == target.transport)
            && let Some(modules) = places(target, &request.modules)
        {
            return Ok(Asked::Configured { configured, modules });
        }
        let target = self.target(request, configured.map(|known| &known.target))?;
        let key = Key {
            host: host_key(&target.host),
            modules: target.modules.clone(),
            identity: target.identity.clone(),
            transport: target.transport.clone(),
            is_configured: configured.is_some(),
        };
        Ok(Asked::Other(Box::new(Other { key, target, is_configured: configured.is_some() })))
    }

    /// Everything that is named exists.
    fn check_names(&self, request: &ProbeRequest) -> Result<(), ProbeRefused> {
        let Config { modules, identities, transports, .. } = &*self.config;
        let named = request.modules.iter().map(|name| ("module", name, modules.contains_key(name)));
        let identity = request.identity.iter().map(|name| ("identity", name, identities.contains_key(name)));
        let transport =
            request.transport.iter().map(|name| ("transport", name, transports.contains_key(name)));
        let mut all = named.chain(identity).chain(transport);
        let Some((what, name, _)) = all.find(|(.., exists)| !exists) else { return Ok(()) };
        let hint = match what {
            "module" => suggestion(name, modules.keys().map(String::as_str)),
            "identity" => suggestion(name, identities.keys().map(String::as_str)),
            _ => suggestion(name, transports.keys().map(String::as_str)),
        };
        let hint = hint.map(|hint| format!("; {hint}")).unwrap_or_default();
        Err(ProbeRefused::Bad(format!("there is no {what} `{name}`{hint}")))
    }

    /// The requested target, with its own or the default configuration.
    fn target(&self, request: &ProbeRequest, configured: Option<&Target>) -> Result<Target, ProbeRefused> {
        let config = &self.config;
        let host = configured.map_or(request.target.as_str(), |target| &target.host);
        if configured.is_none() {
            self.check_host(host)?;
        }
        let (defaults, probe) = (&config.target_defaults, &config.probe);
        let mut modules = request.modules.clone();
        if modules.is_empty() {
            modules.clone_from(configured.map_or(&defaults.modules, |target| &target.modules));
        }
        if modules.is_empty() {
            let hint = suggestion("", config.modules.keys().map(String::as_str));
            let hint = hint.map(|hint| format!("; {hint}")).unwrap_or_default();
            return Err(ProbeRefused::Bad(format!(
                "`module` is missing, and `target_defaults` has none{hint}"
            )));
        }
        // One order for all requests.
        modules.sort_unstable();
        let default_identity = configured.map_or(&defaults.identity, |target| &target.identity);
        let identity = request.identity.clone().or_else(|| default_identity.clone());
        let default_transport = configured.map_or(&defaults.transport, |target| &target.transport);
        let target = Target {
            name: host.to_owned(),
            host: host.to_owned(),
            identity,
            service_principal: configured.and_then(|target| target.service_principal.clone()),
            transport: request.transport.clone().unwrap_or_else(|| default_transport.clone()),
            modules,
            interval: config.scrape.interval,
            deadline: probe.deadline,
            max_series: configured.map_or(config.scrape.max_series, |target| target.max_series),
            stale_after: std::time::Duration::ZERO,
            labels: configured.map(|target| target.labels.clone()).unwrap_or_default(),
            normalize: configured.map_or(&defaults.normalize, |target| &target.normalize).clone(),
            position: Position { line: 0, column: 0 },
        };
        self.check_identity(&target)?;
        Ok(target)
    }

    /// Whether a host that is not configured may be asked for.
    fn check_host(&self, host: &str) -> Result<(), ProbeRefused> {
        if !is_host_name(host) {
            let hint = host_hint(host, || in_transport(self.config.port_key().as_deref()));
            return Err(ProbeRefused::Bad(format!("`{host}` is not a valid host; {hint}")));
        }
        if self.config.probe.allow_targets.allows_host(host) {
            return Ok(());
        }
        let configured = nearest(host, self.by_name.keys().map(String::as_str));
        let hint = configured.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default();
        Err(ProbeRefused::Forbidden(format!(
            "`{host}` may not be probed: it is neither a configured target nor in `probe.allow_targets`{hint}"
        )))
    }

    /// Whether the target has an identity where it needs one, which its host may see.
    fn check_identity(&self, target: &Target) -> Result<(), ProbeRefused> {
        let config = &self.config;
        let logs_on = target.modules.iter().find(|module| config.logs_on.contains(*module));
        if let (None, Some(module)) = (&target.identity, logs_on) {
            let hint = suggestion("", config.identities.keys().map(String::as_str));
            let hint = hint.map(|hint| format!("; {hint}")).unwrap_or_default();
            return Err(ProbeRefused::Bad(format!(
                "module `{module}` logs on to the host: `identity` is missing, and `target_defaults` has none{hint}"
            )));
        }
        let Some((name, identity)) =
            target.identity.as_ref().and_then(|name| Some((name, self.config.identities.get(name)?)))
        else {
            return Ok(());
        };
        if identity.allow_hosts.allows_host(&target.host) {
            return match identity.refusal_of_address(&target.host, target.service_principal.as_deref()) {
                Some((message, hint)) => {
                    Err(ProbeRefused::Bad(format!("identity `{name}`: {message}; {hint}")))
                }
                None => Ok(()),
            };
        }
        Err(ProbeRefused::Forbidden(format!(
            "identity `{name}` may not be used for `{}`; its `allow_hosts` has {}",
            target.host, identity.allow_hosts
        )))
    }
}

/// The indexes of `modules` among those of the target; all if none is named, `None` if one is missing.
fn places(target: &Target, modules: &[String]) -> Option<Vec<usize>> {
    if modules.is_empty() {
        return Some((0..target.modules.len()).collect());
    }
    modules.iter().map(|name| target.modules.iter().position(|module| module == name)).collect()
}

/// Normalises hosts: case, the root's dot and the brackets of an address do not matter.
fn host_key(host: &str) -> String {
    match config::address(host) {
        Some(address) => address.to_canonical().to_string(),
        None => host.trim_end_matches('.').to_lowercase(),
    }
}
