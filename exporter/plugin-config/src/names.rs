use std::sync::Arc;

use plugin_host::MetricNames;
use series::model;
use series::pipeline::{Normalize, metric_name};

/// Names metrics by the rules of each module, and by those for all.
#[must_use]
pub fn names_of(modules: Vec<Normalize>, for_all: Normalize) -> MetricNames {
    let (modules, for_all) = (Arc::new(modules), Arc::new(for_all));
    MetricNames::new(move |module, family| {
        let normalize = module.and_then(|module| modules.get(module)).unwrap_or(&for_all);
        metric_name(normalize.clone(), model::Target::new("target"), family)
    })
}
