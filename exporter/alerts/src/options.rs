//! The options of receivers.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use support::http_client::{ClientTls, HeaderSource, HttpUrl};

/// `alerts:`, who gets the alerts of targets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlertOptions {
    /// `alertmanagers` and `webhooks`. Their names are unique.
    pub receivers: Vec<Arc<ReceiverOptions>>,
    /// `labels`: added to alerts that have no label of the same name.
    pub labels: Vec<(String, String)>,
    /// `max_alerts`: maximum open alerts of all targets. Default 10,000.
    pub alerts_max: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceiverOptions {
    /// `name`: unique; the URL where it is not given. In logs and metrics.
    pub name: String,
    /// What it is sent, and when.
    pub kind: ReceiverKind,
    /// `url` or `url_file`: where requests go.
    pub url: UrlSource,
    /// `timeout`: of one attempt, the connection included. Default 10 s.
    pub timeout: Duration,
    /// `headers`: sent with each request.
    pub headers: Vec<(String, HeaderSource)>,
    pub tls: ClientTls,
}

/// Where the URL of a receiver comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UrlSource {
    /// `url`: it is no secret.
    Plain(HttpUrl),
    /// `url_file`: it is one, in this file, which is read for each request. It is never shown.
    File(PathBuf),
}

/// What a receiver is sent, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiverKind {
    /// Alerts, as Prometheus sends them.
    Alertmanager {
        /// `resend_interval`: open alerts are sent again so often. Default 1 min.
        resend_interval: Duration,
    },
    /// A message for each target, as Alertmanager sends it.
    Webhook {
        /// `repeat_interval`: a target with open alerts is sent again so often. Default 4 h.
        repeat_interval: Duration,
        /// `send_resolved`: whether it hears of alerts that closed. Default true.
        send_resolved: bool,
    },
}

impl ReceiverKind {
    /// The word for pages.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Alertmanager { .. } => "Alertmanager",
            Self::Webhook { .. } => "Webhook",
        }
    }

    /// How long an attempt that failed may be put off, whatever the receiver asks for: an alert that is not sent again ends in
    /// Alertmanager after four intervals, and somebody waits for what a webhook tells.
    pub(crate) fn retry_max(self) -> Duration {
        match self {
            Self::Alertmanager { resend_interval } => resend_interval,
            Self::Webhook { repeat_interval, .. } => repeat_interval.min(WEBHOOK_RETRY_MAX),
        }
    }

    /// Whether it hears of alerts that closed.
    pub(crate) const fn wants_ends(self) -> bool {
        match self {
            Self::Alertmanager { .. } => true,
            Self::Webhook { send_resolved, .. } => send_resolved,
        }
    }
}

const WEBHOOK_RETRY_MAX: Duration = Duration::from_secs(300);

impl Default for AlertOptions {
    fn default() -> Self {
        Self { receivers: Vec::new(), labels: Vec::new(), alerts_max: 10_000 }
    }
}
