//! What the plugin instances of a target send into.

use std::sync::Arc;

use config::{Config, Target};
use otlp::push::EventRouter;
use series::model;
use series::pipeline::{Catalog, Limits, Normalize, Scope};

use super::plugins::Libraries;
use crate::targets::Reporter;

/// The scope of a target, and the rules of each of its modules. `named` is the target without its labels.
pub(super) fn scope_of(
    catalog: &Arc<Catalog>,
    config: &Config,
    target: &Target,
    named: model::Target,
) -> (Arc<Scope>, Vec<Normalize>) {
    let labels = target.labels.iter();
    let labelled = labels.fold(named, |labelled, (name, value)| labelled.with_label(name, value));
    let normalize: Vec<Normalize> =
        target.modules.iter().map(|module| config.normalize(target, module)).collect();
    let widest = normalize.iter().map(|normalize| &normalize.profile).find(|profile| profile.is_utf8());
    let limits = Limits {
        series_max: target.max_series as usize,
        keeps_stale: !target.stale_after.is_zero(),
        ..Limits::default()
    };
    let scope =
        Scope::with_profile(Arc::clone(catalog), labelled, limits, widest.cloned().unwrap_or_default());
    (scope, normalize)
}

/// Tells these collectors what comes from a plugin.
pub(super) fn reporter_of(event_router: &Arc<EventRouter>, libraries: &Libraries, plugin: &str) -> Reporter {
    let version = libraries.get(plugin).map_or("", |library| &library.info().version);
    Reporter {
        event_router: Arc::clone(event_router),
        scope: Arc::new(otlp::encode::Scope::new(plugin, version)),
    }
}
