//! The plugin against simulated hosts, and what is asked of its collections.

use std::time::Duration;

use plugin_abi::{Failure, Stage, StageReport};
pub(crate) use plugin_harness::{BOOT, CounterHost as SimHost, NOON, PASSWORD, at_noon};
use plugin_harness::{Collection, config};
use plugin_host::testing::{Recorded, RecordedFamily, RecordedOutcome};
use serde_json::{Value, json};

/// Calls of all methods of PerflibV2 so far.
pub(crate) fn all_calls(sim: &SimHost) -> u64 {
    (0..8).map(|opnum| sim.calls(opnum)).sum()
}

pub(crate) struct Plugin(plugin_harness::Plugin);

impl std::ops::Deref for Plugin {
    type Target = plugin_harness::Plugin;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl Plugin {
    pub(crate) fn new() -> Self {
        Self(plugin_harness::Plugin::new("pcq", plugin_pcq::entry))
    }

    /// An instance for a simulated host.
    pub(crate) fn watch(&self, sim: &SimHost, settings: Value) -> Watch {
        self.watch_port("127.0.0.1", sim.port, settings)
    }

    pub(crate) fn watch_port(&self, host: &str, port: u16, settings: Value) -> Watch {
        Watch(self.0.watch("pcq", config(host, port, settings)))
    }
}

/// Settings for these countersets, whole.
pub(crate) fn countersets(names: &[&str]) -> Value {
    let countersets: Vec<Value> = names.iter().map(|name| json!({ "name": name })).collect();
    json!({ "countersets": countersets })
}

/// One instance of the source with all that it sent.
pub(crate) struct Watch(plugin_harness::Watch);

impl std::ops::Deref for Watch {
    type Target = plugin_harness::Watch;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl Watch {
    /// Collects with a deadline far away.
    #[track_caller]
    pub(crate) fn collect(&self) -> Ended {
        Ended::new(self.0.collect())
    }

    /// Collects, and insists that it ends in time.
    #[track_caller]
    pub(crate) fn collect_within(&self, time: Duration) -> Ended {
        Ended::new(self.0.collect_within(time))
    }

    /// Collects, and insists that it is complete.
    #[track_caller]
    pub(crate) fn full(&self) -> Ended {
        Ended::new(self.0.full())
    }
}

/// A collection, without the series that say which kind of provider gives a counterset.
#[derive(Debug)]
pub(crate) struct Ended {
    collection: Collection,
    /// Those, by the labels.
    pub(crate) providers: Vec<[String; 2]>,
}

impl std::ops::Deref for Ended {
    type Target = Collection;

    fn deref(&self) -> &Self::Target {
        &self.collection
    }
}

impl Ended {
    fn new(mut collection: Collection) -> Self {
        let providers = take_providers(&mut collection.recorded);
        Self { collection, providers }
    }

    /// The objects that a partial collection covers, but for what the plugin says of countersets, and why it is not full.
    #[track_caller]
    pub(crate) fn partial(&self) -> (Vec<&str>, &Failure) {
        match &self.outcome {
            RecordedOutcome::Partial(families, Some(failure)) => {
                let object = |id: &u32| self.recorded.families[*id as usize].object.as_str();
                let mut objects: Vec<&str> = families.iter().map(object).collect();
                objects.dedup();
                objects.retain(|object| *object != "Counterset");
                (objects, failure)
            }
            other => panic!("it is not partial with a reason: {other:?}"),
        }
    }

    /// The families that were registered, but for that of the providers.
    pub(crate) fn families(&self) -> impl Iterator<Item = &RecordedFamily> {
        self.recorded.families.iter().filter(|family| family.object != "Counterset")
    }

    pub(crate) fn stage(&self, stage: Stage) -> StageReport {
        *self.stages.iter().find(|report| report.stage == stage).expect("the stage was entered")
    }

    /// The series that are there, as `object|item|part{labels} = value`, sorted.
    pub(crate) fn series(&self) -> Vec<String> {
        let mut lines: Vec<String> =
            self.lines().map(|(line, value)| format!("{line} = {value:?}")).collect();
        lines.sort();
        lines
    }

    fn lines(&self) -> impl Iterator<Item = (String, Option<plugin_host::testing::Value>)> {
        self.live().map(|(family, series)| {
            let labels: Vec<String> =
                series.labels.iter().map(|(name, value)| format!("{name}={value}")).collect();
            let line = format!("{}|{}|{}{{{}}}", family.object, family.item, family.part, labels.join(","));
            (line, series.value)
        })
    }

    /// What tells the instances apart of which series are there.
    pub(crate) fn instances(&self) -> Vec<String> {
        let labels = self.live().flat_map(|(_, series)| &series.labels);
        let is_key = |name: &str| ["counter_instance", "process_id"].contains(&name);
        let mut names: Vec<String> =
            labels.filter(|(name, _)| is_key(name)).map(|(_, value)| value.clone()).collect();
        names.sort();
        names.dedup();
        names
    }
}

fn take_providers(recorded: &mut Recorded) -> Vec<[String; 2]> {
    let mut providers = Vec::new();
    let families = &recorded.families;
    recorded.series.retain(|series| {
        let is_provider = families[series.family as usize].object == "Counterset";
        if is_provider && !series.retired {
            let [(_, counterset), (_, provider)] = &series.labels[..] else { panic!("{series:?}") };
            providers.push([counterset.clone(), provider.clone()]);
        }
        !is_provider
    });
    providers
}
