//! The alerts of targets, and the receivers that they are sent to: Alertmanager and webhooks.
//!
//! [`Registry`] keeps which alerts are open, from the events of plugins: each module of a target has a [`Feed`]. Receivers
//! have no queue. Each has a [`Plan`], which compares what the receiver took last with what the registry has now, and says
//! what is sent next. So a receiver that was away for a day gets the state of now, and nothing twice. A closed alert is
//! kept until every receiver took it, and at most so many of them; what goes for lack of room is counted.
//!
//! * Alertmanager gets each alert when it opens, changes and closes, and again at each `resend_interval`, with an end in
//!   the future, as Prometheus does. Alerts of an exporter that is gone end by themselves.
//! * A webhook gets a message in Alertmanager's format, version 4, for each target whose alerts change, and again at each
//!   `repeat_interval`. It may want no ends.
//!
//! The package knows neither configuration nor targets, and logic takes the time from its caller. [`Notifier`] runs all
//! receivers of a configuration.

mod annotations;
mod counts;
mod labels;
mod notifier;
mod options;
pub mod parsers;
mod payload;
mod plan;
mod receiver;
mod registry;
mod sender;
mod state;

pub use self::counts::{AllCounts, Counts, Last, Loss};
pub use self::notifier::{AlertMetrics, METRICS, Notifier};
pub use self::options::{AlertOptions, ReceiverKind, ReceiverOptions, UrlSource};
pub use self::payload::{Alert, alertmanager_body};
pub use self::plan::{Next, Plan};
pub use self::receiver::webhook_body;
pub use self::registry::{Feed, Registry};
pub use self::sender::{Connect, Verdict};
pub use self::state::{OpenAlert, ReceiverId, View};
use std::sync::Arc;

/// Where the alerts of a feed come from.
#[derive(Clone, Debug)]
pub struct Origin {
    pub target: Arc<str>,
    pub module: Arc<str>,
    pub plugin: Arc<str>,
    pub labels: Vec<(String, String)>,
}

/// The first bytes of a text, to the end of a character.
pub(crate) fn shortened(text: &str, bytes_max: usize) -> String {
    text[..text.floor_char_boundary(bytes_max)].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_between_characters() {
        assert_eq!(shortened("aé", 2), "a");
        assert_eq!(shortened("aé", 3), "aé");
    }
}
