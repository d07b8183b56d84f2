//! Several futures at a time, without tasks of their own.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;

/// Runs all futures, at most `width` at a time, and begins them in their order. All are dropped with this one.
pub(super) async fn run_all<F: Future>(futures: impl IntoIterator<Item = F>, width: usize) -> Vec<F::Output> {
    let mut waiting = futures.into_iter();
    let mut running: Vec<Pin<Box<F>>> = Vec::new();
    let mut done = Vec::new();
    loop {
        // Each of them is polled before the first wait, also those that take the place of others.
        let free = width.max(1).saturating_sub(running.len());
        running.extend(waiting.by_ref().take(free).map(Box::pin));
        if running.is_empty() {
            return done;
        }
        poll_fn(|context| {
            let before = done.len();
            running.retain_mut(|future| match future.as_mut().poll(context) {
                Poll::Ready(output) => {
                    done.push(output);
                    false
                }
                Poll::Pending => true,
            });
            if done.len() > before { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use tokio::sync::Semaphore;

    use super::*;

    #[tokio::test]
    async fn no_more_than_so_many_run_and_one_that_waits_holds_up_no_other() {
        let (gate, now, most) = (Semaphore::new(0), Cell::new(0), Cell::new(0));
        let (gate, now, most) = (&gate, &now, &most);
        let one = |number: u32| async move {
            now.set(now.get() + 1);
            most.set(most.get().max(now.get()));
            if number == 0 {
                let _opened = gate.acquire().await;
            } else {
                tokio::task::yield_now().await;
            }
            if number == 9 {
                gate.add_permits(1);
            }
            now.set(now.get() - 1);
            number
        };
        let mut done = run_all((0..10).map(one), 3).await;
        assert_eq!((done.last(), most.get()), (Some(&0), 3));
        done.sort_unstable();
        assert_eq!(done, (0..10).collect::<Vec<_>>());
    }
}
