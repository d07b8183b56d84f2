use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use plugin_host::sink::Failure;
use plugin_host::{GeneralReason, Host, InstanceSink, Stage};
use tracing::error;

use super::plugins::{Libraries, instance_config, source_of};
use crate::config::Config;
use crate::model::Target;
use crate::pipeline::{Catalog, Limits, Scope, Store};
use crate::schedule::{
    self, Collector, Driver, Ends, HostDeadlines, JobId, JobSpec, Planner, PluginCollector,
};
use crate::telemetry::{Book, JobKey, JobObserver};

/// Every collection of the process, ready to be driven.
pub(super) struct Engine {
    jobs: Vec<Job>,
    specs: Vec<JobSpec>,
    limits: schedule::Limits,
}

struct Job {
    key: JobKey,
    collector: Arc<PluginCollector>,
    store: Arc<Store>,
    deadline: Duration,
}

impl Engine {
    /// A store, an observer and an empty collector for each module of each target.
    pub(super) fn new(config: &Config, book: &Arc<Book>, ends: &Ends) -> Self {
        let catalog = Catalog::new();
        let (mut jobs, mut specs) = (Vec::new(), Vec::new());
        for (target_index, target) in config.targets.iter().enumerate() {
            let labelled = target
                .labels
                .iter()
                .fold(Target::new(&target.name), |labelled, (name, value)| labelled.with_label(name, value));
            let scope = Scope::new(Arc::clone(&catalog), labelled, Limits::default());
            for (module_index, module) in target.modules.iter().enumerate() {
                let key = JobKey { target: target_index, module: module_index };
                let observer = JobObserver {
                    book: Arc::clone(book),
                    key,
                    job: JobId(jobs.len()),
                    plugin: config.modules[module].plugin.clone(),
                    ends: ends.clone(),
                };
                let store = scope.store(Arc::new(observer));
                book.targets()[target_index].set_store(module_index, Arc::clone(&store));
                let collector = Arc::new(PluginCollector::new(Arc::clone(book), key, Arc::clone(&store)));
                jobs.push(Job { key, collector, store, deadline: target.deadline });
                specs.push(JobSpec {
                    target: target_index,
                    key: format!("{}/{module}", target.name),
                    interval: target.interval,
                });
            }
        }
        let limits = schedule::Limits {
            running_max: config.scrape.max_concurrent as usize,
            connecting_max: config.scrape.max_connecting as usize,
        };
        Self { jobs, specs, limits }
    }

    /// Makes the plugin instances. Blocks: a plugin may take its time. One that cannot be made leaves its own job
    /// down and no other.
    pub(super) fn create_instances(&self, config: &Config, libraries: &Libraries) {
        for job in &self.jobs {
            let target = &config.targets[job.key.target];
            let module = &config.modules[&target.modules[job.key.module]];
            let library = &libraries[&module.plugin];
            let settings = instance_config(Some(target), module, &config.transports[&target.transport]);
            let sink = Arc::clone(&job.store) as Arc<dyn InstanceSink>;
            let made = source_of(module, library).and_then(|source| {
                library.create(source, &settings, sink).map_err(|error| error.to_string())
            });
            let made = made.map_err(|message| {
                error!(
                    target_name = target.name,
                    plugin = module.plugin,
                    message,
                    "Plugin instance not made"
                );
                Failure::new(Stage::Plugin, GeneralReason::Internal, message)
            });
            job.collector.set_instance(made);
        }
    }

    /// The task that drives them all.
    pub(super) fn driver(
        self,
        host: Host,
        ends: tokio::sync::mpsc::UnboundedReceiver<schedule::Ended>,
        skipped: Arc<AtomicU64>,
    ) -> Driver {
        // One seed for all: targets are spread by their names, alike in every run.
        let planner = Planner::new(&self.specs, self.limits, 0, Instant::now());
        let collectors = self.jobs.into_iter();
        let collectors = collectors.map(|job| (job.collector as Arc<dyn Collector>, job.deadline)).collect();
        Driver::new(planner, collectors, Arc::new(HostDeadlines(host)), ends).skipped_into(skipped)
    }
}
