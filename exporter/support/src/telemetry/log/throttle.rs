use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

/// A line that somebody outside can cause is written so often at most.
const PERIOD: Duration = Duration::from_secs(60);

/// Lets one line through in each period, and counts those that it holds back.
#[derive(Debug, Default)]
pub struct Throttle(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    next: Option<Instant>,
    held_back: u64,
}

impl Throttle {
    /// Whether a line may be written now; then how many were held back since the last one.
    pub fn pass(&self) -> Option<u64> {
        let mut state = self.0.lock();
        let now = Instant::now();
        if state.next.is_some_and(|next| now < next) {
            state.held_back += 1;
            return None;
        }
        state.next = Some(now + PERIOD);
        Some(std::mem::take(&mut state.held_back))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn one_line_a_period_has_the_count_of_the_others() {
        let throttle = Throttle::default();
        assert_eq!((throttle.pass(), throttle.pass(), throttle.pass()), (Some(0), None, None));
        tokio::time::advance(PERIOD).await;
        assert_eq!((throttle.pass(), throttle.pass()), (Some(2), None));
        tokio::time::advance(10 * PERIOD).await;
        assert_eq!(throttle.pass(), Some(1));
    }
}
