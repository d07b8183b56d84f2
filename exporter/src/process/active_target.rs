//! The plugin instances of targets: which of them live on at a reload.

use std::sync::{Arc, Weak};

use config::{Config, Target};
use tracing::info;

use super::plugins::storing_config;
use targets::schedule::TargetId;
use targets::{PluginCollector, TargetState};

/// A target that is asked.
pub(super) struct ActiveTarget {
    pub(super) id: TargetId,
    pub(super) target: Target,
    /// What the names in `target` meant when it was made, or got its settings.
    pub(super) config: Arc<Config>,
    pub(super) entry: Arc<TargetState>,
    /// Of each module. The schedule owns them.
    pub(super) collectors: Vec<Weak<PluginCollector>>,
}

/// How a target differs from the one that is wanted.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Difference {
    /// In nothing that matters.
    Nothing,
    /// In the settings of these modules, by their places in the target. Instances may take other settings.
    Settings(Vec<usize>),
    /// In something that an instance is made for: the target itself, names, labels, rules, limits, how it is reached.
    Other,
}

impl ActiveTarget {
    /// How it differs from `target` of `config`.
    pub(super) fn difference(&self, config: &Arc<Config>, target: &Target) -> Difference {
        if !self.target.is_like(target) {
            return Difference::Other;
        }
        if Arc::ptr_eq(&self.config, config) {
            return Difference::Nothing;
        }
        if !self.has_same_instances(config, target) {
            return Difference::Other;
        }
        let directory = |config: &Config, name: &String| {
            config::libraries::directory_of(config, &config.modules[name], &target.name)
        };
        let has_changed = |name: &String| {
            self.config.modules[name].settings != config.modules[name].settings
                || directory(&self.config, name) != directory(config, name)
        };
        let modules = target.modules.iter().enumerate();
        let changed: Vec<usize> =
            modules.filter(|(_, name)| has_changed(name)).map(|(place, _)| place).collect();
        if changed.is_empty() { Difference::Nothing } else { Difference::Settings(changed) }
    }

    /// It is `target` of `config` from now on.
    pub(super) fn keep(&mut self, config: &Arc<Config>, target: &Target) {
        (self.config, self.target.position) = (Arc::clone(config), target.position);
    }

    /// Gives the modules with these places their settings of `config`. Returns whether all of them took them. Blocks.
    pub(super) fn reconfigure(&self, config: &Config, target: &Target, places: &[usize]) -> bool {
        places.iter().all(|&place| {
            let name = &target.modules[place];
            let settings = storing_config(config, Some(target), &config.modules[name], &target.transport);
            let collector = self.collectors.get(place).and_then(Weak::upgrade);
            let taken = match collector {
                Some(collector) => collector.reconfigure(&settings),
                None => Err("it has ended".to_owned()),
            };
            if let Err(reason) = &taken {
                let target = &target.name;
                info!(
                    target,
                    module = name,
                    reason,
                    "Instance does not take other settings; the target is made again"
                );
            }
            taken.is_ok()
        })
    }

    /// Whether the names in `target`, which is like ours, mean the same in everything but the settings of modules.
    fn has_same_instances(&self, config: &Config, target: &Target) -> bool {
        let same_module = |name: &String| {
            let (old, new) = (&self.config.modules[name], &config.modules[name]);
            let of_transport = |config: &Config, module| config.transport_settings(&target.transport, module);
            (&old.plugin, &old.source_name, &old.normalize) == (&new.plugin, &new.source_name, &new.normalize)
                && of_transport(&self.config, old) == of_transport(config, new)
        };
        self.config.normalize == config.normalize
            && target.modules.iter().all(same_module)
            && target.identity.as_ref().is_none_or(|name| self.keeps_identity(config, name))
    }

    /// Whether the target has the same identity, and may still use it. Changes of other entries in lists of hosts
    /// do not matter.
    fn keeps_identity(&self, config: &Config, name: &str) -> bool {
        let (Some(old), Some(new)) = (self.config.identities.get(name), config.identities.get(name)) else {
            return false;
        };
        let host = &self.target.host;
        let is_allowed = old.allow_hosts == new.allow_hosts
            || (new.allow_hosts.allows_host(host) && !new.allow_hosts.needs_addresses(host));
        old.account() == new.account() && is_allowed
    }
}
