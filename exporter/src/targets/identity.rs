use std::sync::{Arc, Mutex, PoisonError};

use otlp_encode::{Facts, Resource};
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
    system: OperatingSystem,
    resource: Arc<Resource>,
}

/// The operating system that a target said it runs. What it has not said is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OperatingSystem {
    /// As OpenTelemetry has it: `windows`.
    pub name: String,
    /// Such as `10.0.20348`.
    pub version: String,
}

impl OperatingSystem {
    /// The same with one of the facts that targets tell; nothing where that is none of these.
    fn with(&self, fact: &str, value: &str) -> Option<Self> {
        let value = value.to_owned();
        match fact {
            "os.type" => Some(Self { name: value, ..self.clone() }),
            "os.version" => Some(Self { version: value, ..self.clone() }),
            _ => None,
        }
    }
}

impl Identity {
    /// What the configuration says.
    pub(super) fn of(target: &config::Target) -> Self {
        let labels = target.labels.iter();
        let labelled = labels.fold(model::Target::new(&target.name), |labelled, (name, value)| {
            labelled.with_label(name, value)
        });
        let system = OperatingSystem::default();
        let resource = resource(&labelled, &target.host, &system);
        Self { target: labelled, host: target.host.clone(), now: Mutex::new(Known { system, resource }) }
    }

    /// What the target said of itself.
    pub(super) fn set_fact(&self, name: &str, value: &str) {
        let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(system) = now.system.with(name, value)
            && system != now.system
        {
            let resource = resource(&self.target, &self.host, &system);
            *now = Known { system, resource };
        }
    }

    /// What it runs, as far as it said so.
    pub(super) fn operating_system(&self) -> OperatingSystem {
        self.now.lock().unwrap_or_else(PoisonError::into_inner).system.clone()
    }

    /// Its resource, as far as it is known by now.
    pub(super) fn resource(&self) -> Arc<Resource> {
        Arc::clone(&self.now.lock().unwrap_or_else(PoisonError::into_inner).resource)
    }
}

fn resource(target: &model::Target, host: &str, system: &OperatingSystem) -> Arc<Resource> {
    let facts = Facts { host, os_type: &system.name, os_version: &system.version };
    Arc::new(Resource::of(target, &facts))
}
