use std::time::Duration;

/// Where an alert is, for one instance of its counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AlertState {
    /// There was no value yet: the counter's type needs two samples.
    Waiting,
    /// The value is not across the threshold.
    Ok,
    /// The value is across, but not for as long as the rule wants.
    Pending,
    /// The value is across.
    Firing,
    /// There was a value, and none for two intervals.
    NoData,
    /// The host has no such counter, or the path names a host that is not a target.
    Unresolved,
    /// The counter has no value that a number can be compared with.
    Unsupported,
}

impl AlertState {
    pub const ALL: [Self; 7] = [
        Self::Waiting,
        Self::Ok,
        Self::Pending,
        Self::Firing,
        Self::NoData,
        Self::Unresolved,
        Self::Unsupported,
    ];

    /// Its name in metrics and on pages.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Ok => "ok",
            Self::Pending => "pending",
            Self::Firing => "firing",
            Self::NoData => "no_data",
            Self::Unresolved => "unresolved",
            Self::Unsupported => "unsupported",
        }
    }
}

/// What is known of an alert for one instance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judgement {
    pub state: AlertState,
    /// When the state was entered.
    pub since: Duration,
    /// The last value, cooked and unscaled; none before the first.
    pub value: Option<f64>,
    /// How many samples triggered.
    pub triggered: u64,
}
