use std::collections::{HashMap, HashSet};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Weak};
use std::time::SystemTime;

use alerts::{Feed, Origin, Registry};
use config::{Config, Target};
use otlp::push::EventRouter;
use plugin_abi::{Failure, GeneralReason, Sinks, Stage};
use plugin_host::Instance;
use series::model;
use series::pipeline::Catalog;
use targets::schedule::{JobId, JobSpec, NewJob, Schedule, TargetId};
use targets::{
    AlertLines, Costs, JobObserver, PluginCollector, Reporter, TargetRegistry, TargetState, TimedStore,
};
use tracing::{error, info};

use super::plugins::{Libraries, source_of, storing_config};
use super::probe::Probes;
use super::{reporter_of, scope_of};

/// The targets that are asked, each with its stores, instances and jobs.
///
/// [`Engine::apply`] changes them to the configured ones: unchanged targets keep their connections, those of which only
/// modules' settings changed keep their instances, other changed ones are made again, and removed ones end with their
/// series.
pub(super) struct Engine {
    libraries: Libraries,
    catalog: Arc<Catalog>,
    target_registry: Arc<TargetRegistry>,
    schedule: Schedule,
    costs: Arc<Costs>,
    event_router: Option<Arc<EventRouter>>,
    alerts: Option<Arc<Registry>>,
    targets: HashMap<String, ActiveTarget>,
    /// Gets all changes.
    probes: Option<Arc<Probes>>,
    ids: u64,
}

/// What was done to have the targets that are wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Changes {
    pub(super) added: usize,
    pub(super) changed: usize,
    pub(super) removed: usize,
}

impl Engine {
    /// An engine without targets.
    pub(super) fn new(
        libraries: Libraries,
        target_registry: Arc<TargetRegistry>,
        schedule: Schedule,
        costs: Arc<Costs>,
    ) -> Self {
        let (catalog, targets) = (Catalog::new(), HashMap::new());
        Self {
            libraries,
            catalog,
            target_registry,
            schedule,
            costs,
            event_router: None,
            alerts: None,
            targets,
            probes: None,
            ids: 0,
        }
    }

    /// The catalog of metric names, for other collectors.
    pub(super) fn catalog(&self) -> &Arc<Catalog> {
        &self.catalog
    }

    /// The same, with an event router.
    pub(super) fn with_event_router(self, event_router: &Arc<EventRouter>) -> Self {
        Self { event_router: Some(Arc::clone(event_router)), ..self }
    }

    /// The same, with a registry of the alerts of its targets.
    pub(super) fn with_alerts(self, alerts: &Arc<Registry>) -> Self {
        Self { alerts: Some(Arc::clone(alerts)), ..self }
    }

    /// The same, with probes.
    pub(super) fn with_probes(self, probes: &Arc<Probes>) -> Self {
        Self { probes: Some(Arc::clone(probes)), ..self }
    }

    /// What is made from now on is made of these.
    pub(super) fn set_libraries(&mut self, libraries: Libraries) {
        self.libraries = libraries;
    }

    /// From now on `wanted` are the targets; their names are unique, and what they name is in `config`. Blocks:
    /// plugins may take their time to make instances. One that cannot be made leaves its own job down and no other.
    pub(super) fn apply(&mut self, config: &Arc<Config>, wanted: &[Target]) -> Changes {
        self.target_registry.set_config(config);
        let names: HashSet<&str> = wanted.iter().map(|target| target.name.as_str()).collect();
        let mut changes = Changes::default();
        let mut gone = Vec::new();
        self.targets.retain(|name, active| {
            let stays = names.contains(name.as_str());
            if !stays {
                active.entry.end();
                gone.push(active.id);
                changes.removed += 1;
            }
            stays
        });
        if !gone.is_empty() {
            self.show(wanted);
            self.schedule.remove(std::mem::take(&mut gone));
        }
        let (mut jobs, mut reconfigured) = (Vec::new(), Vec::new());
        for target in wanted {
            match self.targets.get_mut(&target.name) {
                Some(active) => {
                    let difference = active.difference(config, target);
                    let keeps = match &difference {
                        Difference::Nothing => true,
                        Difference::Settings(places) => active.reconfigure(config, target, places),
                        Difference::Other => false,
                    };
                    changes.changed += usize::from(difference != Difference::Nothing);
                    if keeps {
                        active.keep(config, target);
                        reconfigured.extend((difference != Difference::Nothing).then_some(active.id));
                        continue;
                    }
                    active.entry.end();
                    gone.push(active.id);
                }
                None => changes.added += 1,
            }
            let active = self.make(config, target, &mut jobs);
            self.targets.insert(target.name.clone(), active);
        }
        // The old ones of changed targets go when the new ones are there, so that none is missing from a page.
        self.show(wanted);
        if let Some(probes) = &self.probes {
            let active = wanted.iter().filter_map(|target| self.targets.get(&target.name));
            let known = active.map(|active| (active.target.clone(), Arc::clone(&active.entry)));
            probes.know(config, &self.libraries, known.collect());
        }
        if !gone.is_empty() {
            self.schedule.remove(gone);
        }
        if !jobs.is_empty() {
            self.schedule.add(jobs);
        }
        if !reconfigured.is_empty() {
            self.schedule.retry(reconfigured);
        }
        self.close_alerts(wanted);
        changes
    }

    /// Targets whose logon was refused are tried again now: whoever reloads may have mended that.
    pub(super) fn retry_refused(&self) {
        let is_refused = |active: &&ActiveTarget| {
            active.entry.read(|status| status.trouble().is_some_and(|down| down.stage == Stage::Auth))
        };
        self.schedule.retry(self.targets.values().filter(is_refused).map(|active| active.id).collect());
    }

    /// Closes the alerts of modules that are not asked any more.
    fn close_alerts(&self, wanted: &[Target]) {
        let Some(alerts) = &self.alerts else { return };
        let modules_of = |target: &Target| {
            target.modules.iter().map(|module| (target.name.clone(), module.clone())).collect::<Vec<_>>()
        };
        let modules: HashSet<(String, String)> = wanted.iter().flat_map(modules_of).collect();
        alerts.retain(SystemTime::now(), |target, module| {
            modules.contains(&(target.to_owned(), module.to_owned()))
        });
    }

    /// The registry has those of `wanted` that live, in that order.
    fn show(&self, wanted: &[Target]) {
        let active = wanted.iter().filter_map(|target| self.targets.get(&target.name));
        self.target_registry.set_targets(active.map(|active| Arc::clone(&active.entry)).collect());
    }

    /// A target with a store, an instance and a job for each of its modules.
    fn make(&mut self, config: &Arc<Config>, target: &Target, jobs: &mut Vec<NewJob>) -> ActiveTarget {
        let id = TargetId(self.next_id());
        let entry = Arc::new(TargetState::new(target, config.port(target)));
        let mut collectors = Vec::new();
        let (scope, normalize) = scope_of(&self.catalog, config, target, model::Target::new(&target.name));
        for (index, (module, normalize)) in target.modules.iter().zip(normalize).enumerate() {
            let job = JobId(self.next_id());
            let alerts = self.feed(&entry, module, &config.modules[module].plugin);
            let observer = Arc::new(JobObserver {
                entry: Arc::downgrade(&entry),
                module: index,
                job,
                plugin: config.modules[module].plugin.clone(),
                schedule: self.schedule.clone(),
                costs: self.costs.of(&config.modules[module].plugin),
                reporter: self.reporter(&config.modules[module].plugin),
                alerts: alerts.clone(),
                ended: AtomicU64::default(),
                alert_lines: AlertLines::default(),
            });
            let store = scope.ruled_store(Arc::clone(&observer) as Arc<_>, normalize);
            entry.set_store(index, Arc::clone(&store));
            let costs = self.costs.of(&config.modules[module].plugin);
            let data = Arc::new(TimedStore::new(Arc::clone(&store), costs));
            let instance = self.instance(config, target, module, Sinks { data, notices: observer });
            let collector = PluginCollector::new(Arc::clone(&entry), index, store, instance);
            let collector = Arc::new(collector.with_alerts(alerts));
            collectors.push(Arc::downgrade(&collector));
            let key = format!("{}/{module}", target.name);
            let spec = JobSpec { job, target: id, key, interval: target.interval };
            jobs.push(NewJob { spec, collector, deadline: target.deadline });
        }
        ActiveTarget { id, target: target.clone(), config: Arc::clone(config), entry, collectors }
    }

    /// Where the alerts of a module go.
    fn feed(&self, entry: &TargetState, module: &str, plugin: &str) -> Option<Arc<Feed>> {
        let origin = Origin {
            target: entry.name.as_str().into(),
            module: module.into(),
            plugin: plugin.into(),
            labels: entry.labels.clone(),
        };
        Some(Arc::new(self.alerts.as_ref()?.feed(origin)))
    }

    fn reporter(&self, plugin: &str) -> Option<Reporter> {
        Some(reporter_of(self.event_router.as_ref()?, &self.libraries, plugin))
    }

    fn instance(
        &self,
        config: &Config,
        target: &Target,
        name: &str,
        sinks: Sinks,
    ) -> Result<Instance, Failure> {
        let module = &config.modules[name];
        let library = &self.libraries[&module.plugin];
        let settings = storing_config(config, Some(target), module, &target.transport);
        let made = source_of(module, library).map_err(|unknown| unknown.to_string()).and_then(|source| {
            library.create(&source.name, &settings, sinks).map_err(|error| error.to_string())
        });
        made.map_err(|error| {
            error!(
                target = target.name,
                module = name,
                plugin = module.plugin,
                error,
                "Failed to create a plugin instance"
            );
            Failure::new(Stage::Plugin, GeneralReason::Internal, error)
        })
    }

    /// An id for a target or a job; never reused.
    fn next_id(&mut self) -> u64 {
        self.ids += 1;
        self.ids
    }
}

// The plugin instances of targets: which of them live on at a reload.

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
