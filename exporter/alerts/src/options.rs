//! The options of receivers.

use std::sync::Arc;
use std::time::Duration;

use http_client::{ClientTls, HeaderSource, Server};

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

/// One receiver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceiverOptions {
    /// `name`: unique; the URL where it is not given. In logs and metrics.
    pub name: String,
    /// What it is sent, and when.
    pub kind: ReceiverKind,
    /// Of `url`: `https`.
    pub secure: bool,
    /// Of `url`: a name or an address, that of IPv6 in brackets.
    pub host: String,
    /// Of `url`.
    pub port: u16,
    /// Of `url`: where requests go, with what stands behind `?`.
    pub path: String,
    /// `timeout`: of one attempt, the connection included. Default 10 s.
    pub timeout: Duration,
    /// `headers`: sent with each request.
    pub headers: Vec<(String, HeaderSource)>,
    /// `tls`
    pub tls: ClientTls,
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
}

impl Default for AlertOptions {
    fn default() -> Self {
        Self { receivers: Vec::new(), labels: Vec::new(), alerts_max: 10_000 }
    }
}

impl ReceiverOptions {
    /// Where requests go.
    #[must_use]
    pub fn server(&self) -> Arc<Server> {
        Arc::new(Server {
            secure: self.secure,
            host: self.host.clone(),
            port: self.port,
            http2: false,
            tls: self.tls.clone(),
        })
    }
}
