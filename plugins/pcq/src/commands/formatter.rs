use counter_poll::paths::{PathPlan, Sample};

/// Writes samples as text.
pub(super) trait Formatter: Send {
    /// The text of one sample.
    fn format(&mut self, plan: &PathPlan, sample: &Sample) -> String;

    /// A note for the user, returned once.
    fn note(&mut self) -> Option<String> {
        None
    }
}
