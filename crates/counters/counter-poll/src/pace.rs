//! Loops over what a host sends let other tasks run in between: a host with 100,000 instances must not delay the others.

use std::future::poll_fn;
use std::task::Poll;

/// Counts the steps of loops.
#[derive(Debug, Default)]
pub struct Pace {
    steps: usize,
}

impl Pace {
    /// Counts `steps`, each of which takes as long as the value of a counter. After some thousands other tasks run first.
    #[inline]
    pub async fn step(&mut self, steps: usize) {
        self.steps += steps;
        if self.steps >= STEPS_MAX {
            self.steps = 0;
            yield_now().await;
        }
    }
}

/// By itself, because this package knows no runtime.
async fn yield_now() {
    let mut has_yielded = false;
    poll_fn(|context| {
        if std::mem::replace(&mut has_yielded, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// A fraction of a millisecond.
const STEPS_MAX: usize = 8_192;
