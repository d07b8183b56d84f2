use counter_poll::paths::{PathPlan, Sample};

/// Writes samples as text.
pub(super) trait Formatter: Send {
    /// The text of one sample.
    fn format(&mut self, plan: &PathPlan, sample: &Sample) -> String;

    /// What somebody should know beside it, once.
    fn note(&mut self) -> Option<String> {
        None
    }
}
