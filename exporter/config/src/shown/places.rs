//! What may be shown: the places that are known to hold no secret.

use super::Schemas;

/// Places whose values are shown: keys with dots between them, `*` for any key or any item of a list, `**` for all
/// that is below.
const SHOWN: &[&str] = &[
    "web.listen.*",
    "web.config_file",
    "web.enable_lifecycle",
    "web.external_url",
    "web.allowed_hosts.*",
    "web.max_connections_per_peer",
    "web.answer_timeout",
    "web.idle_timeout",
    "web.handshake_timeout",
    "web.max_connections",
    "web.max_scrapes",
    "web.metrics_targets",
    "web.header_timeout",
    "web.write_timeout",
    "config.watch",
    "config.watch_interval",
    "log.level",
    "plugins.path",
    "plugins.load.*",
    "scrape.interval",
    "scrape.deadline",
    "scrape.max_connecting",
    "scrape.connect_rate",
    "scrape.max_concurrent",
    "scrape.max_series",
    "scrape.drain",
    "scrape.stale_after",
    "probe.enabled",
    "probe.allow_targets.*",
    "probe.deadline",
    "probe.timeout_offset",
    "probe.cache",
    "probe.max_concurrent",
    "probe.max_targets",
    "probe.idle",
    "credentials.state_dir",
    "credentials.cooldown",
    "rpc_state.level",
    "rpc_state.directory",
    "storage.directory",
    "storage.downloads",
    "identities.*.kind",
    "identities.*.domain",
    "identities.*.username",
    "identities.*.password_file",
    "identities.*.password_env",
    "identities.*.keytab_file",
    "identities.*.allow_hosts.*",
    "transports.*.connect_timeout",
    // Rules are compared with names and labels, which everybody sees.
    "normalize.**",
    "modules.*.plugin",
    "modules.*.source",
    "modules.*.normalize.**",
    "target_defaults.identity",
    "target_defaults.transport",
    "target_defaults.modules.*",
    "target_defaults.labels.*",
    "target_defaults.normalize.**",
    "targets.*.name",
    "targets.*.host",
    "targets.*.identity",
    "targets.*.transport",
    "targets.*.modules.*",
    "targets.*.interval",
    "targets.*.deadline",
    "targets.*.max_series",
    "targets.*.stale_after",
    "targets.*.labels.*",
    "targets.*.normalize.**",
    "target_files.*",
    "otlp.*.name",
    "otlp.*.endpoint",
    "otlp.*.protocol",
    "otlp.*.interval",
    "otlp.*.timeout",
    "otlp.*.headers.*.file",
    "otlp.*.headers.*.env",
    "otlp.*.compression",
    "otlp.*.tls.ca_file",
    "otlp.*.tls.cert_file",
    "otlp.*.tls.key_file",
    "otlp.*.temporality",
    "otlp.*.queue_points",
    "otlp.*.request_bytes",
    "otlp.*.logs",
    "otlp.*.traces.one_in",
    "otlp.*.traces.targets.*",
    "otlp.*.traces.failed",
    "otlp.*.traces.slower_than",
    "otlp.*.queue_records",
    "alerts.alertmanagers.*.url",
    "alerts.alertmanagers.*.name",
    "alerts.alertmanagers.*.timeout",
    "alerts.alertmanagers.*.headers.*.file",
    "alerts.alertmanagers.*.headers.*.env",
    "alerts.alertmanagers.*.tls.ca_file",
    "alerts.alertmanagers.*.tls.cert_file",
    "alerts.alertmanagers.*.tls.key_file",
    "alerts.webhooks.*.url",
    "alerts.webhooks.*.url_file",
    "alerts.webhooks.*.send_resolved",
    "alerts.webhooks.*.name",
    "alerts.webhooks.*.repeat_interval",
    "alerts.webhooks.*.timeout",
    "alerts.webhooks.*.headers.*.file",
    "alerts.webhooks.*.headers.*.env",
    "alerts.webhooks.*.tls.ca_file",
    "alerts.webhooks.*.tls.cert_file",
    "alerts.webhooks.*.tls.key_file",
    "alerts.resend_interval",
    "alerts.labels.*",
    "alerts.max_alerts",
    "telemetry.endpoint",
    "telemetry.interval",
    "telemetry.timeout",
    "telemetry.headers.*.file",
    "telemetry.headers.*.env",
    "telemetry.tls.ca_file",
    "telemetry.tls.cert_file",
    "telemetry.tls.key_file",
];

/// Whether the value at `path` may be shown: its keys from the root on, the items of lists by their numbers.
pub(super) fn is_shown(path: &[String], schemas: &Schemas) -> bool {
    match path {
        [section, module, settings @ ..]
            if section == "modules"
                && last_key(settings).is_some_and(|key| schemas.shows_setting(module, key)) =>
        {
            return true;
        }
        [section, of_plugins, plugin, settings @ ..] if section == "plugins" && of_plugins == "settings" => {
            return last_key(settings).is_some_and(|key| schemas.shows_plugin_setting(plugin, key));
        }
        [section, _, kind, key] if section == "transports" => return schemas.shows_transport(kind, key),
        _ => {}
    }
    SHOWN.iter().any(|place| is_at(place, path))
}

/// The key that a value belongs to, also as an item of lists.
fn last_key(path: &[String]) -> Option<&str> {
    let is_index = |key: &str| key.bytes().all(|byte| byte.is_ascii_digit());
    path.iter().map(String::as_str).rev().find(|key| !is_index(key))
}

/// Whether `path` is what `place` means.
fn is_at(place: &str, path: &[String]) -> bool {
    let mut keys = place.split('.');
    for key in path {
        match keys.next() {
            Some("**") => return true,
            Some(known) if known == "*" || known == key.as_str() => {}
            _ => return false,
        }
    }
    keys.next().is_none()
}
