use std::sync::{Arc, Mutex, PoisonError};

use otlp_encode::{Facts, Resource};
use series::model;

/// Who a target is to collectors: its resource, which its series, events and collections share.
#[derive(Debug)]
pub(super) struct Identity {
    target: model::Target,
    host: String,
    now: Mutex<(String, Arc<Resource>)>,
}

impl Identity {
    /// What the configuration says.
    pub(super) fn of(target: &config::Target) -> Self {
        let labels = target.labels.iter();
        let labelled = labels.fold(model::Target::new(&target.name), |labelled, (name, value)| {
            labelled.with_label(name, value)
        });
        let facts = Facts { host: &target.host, os_version: "" };
        let now = Mutex::new((String::new(), Arc::new(Resource::of(&labelled, &facts))));
        Self { target: labelled, host: target.host.clone(), now }
    }

    /// What the target said of itself.
    pub(super) fn set_os_version(&self, os_version: &str) {
        let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        if now.0 != os_version {
            let facts = Facts { host: &self.host, os_version };
            *now = (os_version.to_owned(), Arc::new(Resource::of(&self.target, &facts)));
        }
    }

    /// The version of its Windows; empty where it has not told one.
    pub(super) fn os_version(&self) -> String {
        self.now.lock().unwrap_or_else(PoisonError::into_inner).0.clone()
    }

    /// Its resource, as far as it is known by now.
    pub(super) fn resource(&self) -> Arc<Resource> {
        Arc::clone(&self.now.lock().unwrap_or_else(PoisonError::into_inner).1)
    }
}
