use std::time::Duration;

/// One of the planner's jobs. Never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobId(pub u64);

/// Whose job it is. Never used twice: a target that changed is another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TargetId(pub u64);

/// What is done again and again: the collections of one plugin on one target.
#[derive(Clone, Debug)]
pub struct JobSpec {
    pub job: JobId,
    /// The target. Its jobs never run at the same time.
    pub target: TargetId,
    /// What the job's slot in its interval is drawn from: the same key, the same slot, in every run and however
    /// often the job is removed and added again.
    pub key: String,
    pub interval: Duration,
}

/// How a job ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    Good,
    /// The target answered, but this job failed.
    Bad {
        /// The next try comes no earlier than after so long, within the planner's bounds.
        retry_after: Option<Duration>,
    },
    /// The job could not even begin, which says nothing of the target and of its other jobs.
    NotStarted {
        /// The next try comes after so long; by the back-off's rule where nothing is said.
        retry_after: Option<Duration>,
    },
    /// The target was not reached: its other jobs would fail too.
    Unreachable {
        /// The next try comes no earlier than after so long, within the planner's bounds.
        retry_after: Option<Duration>,
    },
}
