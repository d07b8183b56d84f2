//! Resources and scopes.

use series::model::Target;

use super::{BYTES, key, put_attribute, put_bytes, put_text};

/// A target as a `Resource`, in bytes.
#[derive(Debug)]
pub struct Resource {
    pub(super) message: Vec<u8>,
    /// Labels that the resource has, so that points need not repeat them.
    pub(super) labels: Vec<(String, String)>,
}

/// What is known of a target besides its name and labels. What is empty is not sent: before its first collection a
/// target has said nothing of itself, and no guess takes that place.
#[derive(Clone, Copy, Debug, Default)]
pub struct Facts<'a> {
    /// Its host, a name or an address.
    pub host: &'a str,
    /// What it runs, such as `windows`.
    pub os_type: &'a str,
    /// The version of that.
    pub os_version: &'a str,
}

impl Resource {
    /// The resource of a target.
    ///
    /// `service.instance.id` is the target's name, which is unique, and `service.name` is `perfmon-exporter`:
    /// Prometheus makes `instance` and `job` of the two.
    #[must_use]
    pub fn of(target: &Target, facts: &Facts<'_>) -> Self {
        let mut message = Vec::new();
        let mut put = |name: &str, value: &str| {
            if !value.is_empty() {
                put_attribute(&mut message, ATTRIBUTES, name, value);
            }
        };
        put("service.name", SERVICE_NAME);
        put("service.instance.id", &target.name);
        put("host.name", facts.host);
        put("os.type", facts.os_type);
        put("os.version", facts.os_version);
        for (name, value) in &target.labels {
            put(name, value);
        }
        let mut labels = target.labels.clone();
        labels.push(("target".to_owned(), target.name.clone()));
        Self { message, labels }
    }

    /// Whether the resource has this label with this value.
    pub(super) fn says(&self, name: &str, value: &str) -> bool {
        self.labels.iter().any(|(own, own_value)| own == name && own_value == value)
    }
}

/// A plugin as an `InstrumentationScope`, in bytes.
#[derive(Debug)]
pub struct Scope {
    pub(super) message: Vec<u8>,
}

impl Scope {
    /// The scope of a plugin.
    #[must_use]
    pub fn new(plugin: &str, version: &str) -> Self {
        let mut message = Vec::new();
        put_text(&mut message, key(1, BYTES) /* name */, plugin);
        put_text(&mut message, key(2, BYTES) /* version */, version);
        Self { message }
    }
}

/// Field 1 of `ResourceMetrics` and `ResourceLogs`, or of `ScopeMetrics` and `ScopeLogs`: whose it is. Names are those of the
/// semantic conventions if `is_conventional`.
pub(super) fn put_owner(out: &mut Vec<u8>, message: &[u8], is_conventional: bool) {
    put_bytes(out, key(1, BYTES), message);
    if is_conventional {
        put_text(out, key(3, BYTES) /* schema_url */, SCHEMA_URL);
    }
}

/// The version of the semantic conventions that names are of: those of resources, and of metrics by the profile `otel`.
const SCHEMA_URL: &str = "https://opentelemetry.io/schemas/1.40.0";

const ATTRIBUTES: u8 = key(1, BYTES);
const SERVICE_NAME: &str = "perfmon-exporter";
