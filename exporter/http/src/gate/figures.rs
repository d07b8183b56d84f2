use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use support::telemetry::Metric;
use support::words;

type Labels = [(&'static str, &'static str); 1];

words! {
    /// Why a peer was not served.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Refusal {
        /// Its address has too many connections.
        Peer = "peer_connections",
        /// It ended before the TLS handshake did.
        HandshakeClosed = "closed",
        /// The TLS handshake took too long.
        HandshakeTimeout = "timeout",
        /// It spoke HTTP where TLS is spoken, or something else.
        HandshakeNotTls = "not_tls",
        /// No version, suite or curve in common.
        HandshakeIncompatible = "incompatible",
        /// It showed no certificate.
        HandshakeNoCertificate = "no_certificate",
        /// Its certificate is not one that we trust.
        HandshakeCertificate = "certificate",
        /// Its certificate has no name that is allowed.
        HandshakeName = "certificate_name",
        /// It does not like our certificate.
        HandshakeByClient = "by_client",
        /// Whatever else went wrong in the TLS handshake.
        HandshakeOther = "other",
        /// It gave no password.
        LoginMissing = "missing",
        /// Its user or password is wrong.
        LoginRejected = "rejected",
        /// Too many passwords were being compared, or too many of its peer waited for that.
        LoginBusy = "busy",
        RateLimit = "rate_limit",
        /// It announced a body, or two lengths.
        Body = "body",
        /// Its URI was too long.
        Uri = "uri",
        /// It named no host, or several.
        Host = "host",
        /// It asked for a page by a name that is not ours.
        ForeignHost = "foreign_host",
    }
}

/// What the web server refuses, and how long its certificates are good.
#[derive(Debug)]
pub(crate) struct Figures {
    connections: Family<Labels, Counter>,
    handshakes: Family<Labels, Counter>,
    logins: Family<Labels, Counter>,
    requests: Family<Labels, Counter>,
    reads_failed: Counter,
    is_last_read_good: Gauge,
    expiry: Family<Labels, Gauge>,
}

impl Default for Figures {
    fn default() -> Self {
        let figures = Self {
            connections: Family::default(),
            handshakes: Family::default(),
            logins: Family::default(),
            requests: Family::default(),
            reads_failed: Counter::default(),
            is_last_read_good: Gauge::default(),
            expiry: Family::default(),
        };
        figures.is_last_read_good.set(1);
        // A rate needs the zero before the first.
        for refusal in Refusal::all() {
            drop(figures.family(refusal).get_or_create(&[("reason", refusal.as_str())]));
        }
        figures
    }
}

impl Figures {
    pub(crate) fn count(&self, refusal: Refusal) {
        self.family(refusal).get_or_create(&[("reason", refusal.as_str())]).inc();
    }

    pub(super) fn read_ended(&self, is_good: bool) {
        self.is_last_read_good.set(i64::from(is_good));
        if !is_good {
            self.reads_failed.inc();
        }
    }

    pub(super) fn expires(&self, key: &'static str, not_after_s: i64) {
        self.expiry.get_or_create(&[("key", key)]).set(not_after_s);
    }

    pub(super) fn register(&self, registry: &mut Registry, has_file: bool) {
        add(registry, &CONNECTIONS, self.connections.clone());
        add(registry, &REQUESTS, self.requests.clone());
        if !has_file {
            return;
        }
        add(registry, &HANDSHAKES, self.handshakes.clone());
        add(registry, &AUTH_FAILURES, self.logins.clone());
        add(registry, &READS_FAILED, self.reads_failed.clone());
        add(registry, &LAST_READ, self.is_last_read_good.clone());
        add(registry, &EXPIRY, self.expiry.clone());
    }

    fn family(&self, refusal: Refusal) -> &Family<Labels, Counter> {
        match refusal {
            Refusal::Peer => &self.connections,
            Refusal::LoginMissing | Refusal::LoginRejected | Refusal::LoginBusy => &self.logins,
            Refusal::RateLimit | Refusal::Body | Refusal::Uri | Refusal::Host | Refusal::ForeignHost => {
                &self.requests
            }
            _ => &self.handshakes,
        }
    }
}

fn add(registry: &mut Registry, metric: &'static Metric, values: impl prometheus_client::registry::Metric) {
    // The registry ends the sentence.
    registry.register(metric.name, metric.help.trim_end_matches('.'), values);
}

/// What this file shows.
/// What pages show of the server.
pub const METRICS: &[&Metric] =
    &[&CONNECTIONS, &REQUESTS, &HANDSHAKES, &AUTH_FAILURES, &READS_FAILED, &LAST_READ, &EXPIRY];

static CONNECTIONS: Metric = Metric::counter(
    "perfmon_exporter_web_connections_refused",
    REASON,
    "Connections that were refused, by reason.",
);
static REQUESTS: Metric = Metric::counter(
    "perfmon_exporter_web_requests_refused",
    REASON,
    "Requests that were refused, by reason.",
);
static HANDSHAKES: Metric = Metric::counter(
    "perfmon_exporter_web_handshakes_refused",
    REASON,
    "TLS handshakes that failed, by reason.",
);
static AUTH_FAILURES: Metric = Metric::counter(
    "perfmon_exporter_web_auth_failures",
    REASON,
    "Requests without a valid user name and password, by reason.",
);
static READS_FAILED: Metric = Metric::counter(
    "perfmon_exporter_web_config_failures",
    &[],
    "Web configurations that were refused, including certificates and keys.",
);
static LAST_READ: Metric = Metric::gauge(
    "perfmon_exporter_web_config_last_read_success",
    &[],
    "Whether the web configuration that was read last is in use.",
);
static EXPIRY: Metric = Metric::gauge(
    "perfmon_exporter_web_certificate_expiry_timestamp_seconds",
    &["key"],
    "Earliest expiry of the certificates that a key of the web configuration names.",
);

const REASON: &[&str] = &["reason"];
