//! What a target says of itself, and who is told.

use std::sync::Arc;

use otlp::encode::{Facts, Resource};
use parking_lot::Mutex;
use series::model;

/// Who a target is to collectors: its resource, which its series, events and collections share.
#[derive(Debug)]
pub(super) struct Identity {
    target: model::Target,
    host: String,
    now: Mutex<Known>,
}

/// What is known of it by now.
#[derive(Debug)]
struct Known {
    facts: SaidFacts,
    resource: Arc<Resource>,
}

/// What a target said of itself. What it has not said is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct SaidFacts {
    host_name: String,
    system: OperatingSystem,
}

/// The operating system that a target said it runs. What it has not said is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OperatingSystem {
    /// As OpenTelemetry has it: `windows`.
    pub name: String,
    pub version: String,
}

impl SaidFacts {
    /// The same with one of the facts that targets tell; others are passed over.
    fn with(mut self, fact: &str, value: &str) -> Self {
        match fact {
            "host.name" => value.clone_into(&mut self.host_name),
            "os.type" => value.clone_into(&mut self.system.name),
            "os.version" => value.clone_into(&mut self.system.version),
            _ => {}
        }
        self
    }
}

impl Identity {
    /// What the configuration says.
    pub(super) fn of(target: &config::Target) -> Self {
        let labels = target.labels.iter();
        let labelled = labels.fold(model::Target::new(&target.name), |labelled, (name, value)| {
            labelled.with_label(name, value)
        });
        let facts = SaidFacts::default();
        let resource = resource(&labelled, &target.host, &facts);
        Self { target: labelled, host: target.host.clone(), now: Mutex::new(Known { facts, resource }) }
    }

    /// What the target said of itself.
    pub(super) fn set_fact(&self, name: &str, value: &str) {
        let mut now = self.now.lock();
        let facts = now.facts.clone().with(name, value);
        if facts != now.facts {
            let resource = resource(&self.target, &self.host, &facts);
            *now = Known { facts, resource };
        }
    }

    /// What it runs, as far as it said so.
    pub(super) fn operating_system(&self) -> OperatingSystem {
        self.now.lock().facts.system.clone()
    }

    /// Its resource, as far as it is known by now.
    pub(super) fn resource(&self) -> Arc<Resource> {
        Arc::clone(&self.now.lock().resource)
    }
}

/// The host is called by its own name, once it said that, else as the configuration does.
fn resource(target: &model::Target, host: &str, said: &SaidFacts) -> Arc<Resource> {
    let host = if said.host_name.is_empty() { host } else { &said.host_name };
    let facts = Facts { host, os_type: &said.system.name, os_version: &said.system.version };
    Arc::new(Resource::of(target, &facts))
}
