use std::future::{Future, poll_fn};
use std::task::Poll;
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep};

use crate::connector::BoxFuture;

/// Tries `candidates` in order until one succeeds: the next one starts when the previous one has failed, or has not
/// succeeded within `stagger`; earlier attempts continue. Returns all errors if none succeeds.
///
/// Dropping the future drops every attempt.
pub(crate) async fn first_success<'a, A, T, E>(
    candidates: &[A],
    stagger: Duration,
    attempt: impl Fn(&A) -> BoxFuture<'a, Result<T, E>>,
) -> Result<T, Vec<E>> {
    let mut waiting = candidates.iter();
    let mut running: Vec<BoxFuture<'a, Result<T, E>>> = Vec::with_capacity(candidates.len());
    let mut errors = Vec::new();
    let mut pause: std::pin::Pin<Box<Sleep>> = Box::pin(sleep(Duration::ZERO));
    poll_fn(|cx| {
        loop {
            let failed_before = errors.len();
            let mut index = 0;
            while let Some(future) = running.get_mut(index) {
                match future.as_mut().poll(cx) {
                    Poll::Ready(Ok(winner)) => return Poll::Ready(Ok(winner)),
                    Poll::Ready(Err(error)) => {
                        drop(running.swap_remove(index));
                        errors.push(error);
                    }
                    Poll::Pending => index += 1,
                }
            }
            let patience_is_over = pause.as_mut().poll(cx).is_ready();
            let start_next = running.is_empty() || errors.len() > failed_before || patience_is_over;
            match waiting.as_slice() {
                [] if running.is_empty() => return Poll::Ready(Err(std::mem::take(&mut errors))),
                [] => return Poll::Pending,
                [_, ..] if start_next => running.extend(waiting.next().map(&attempt)),
                [_, ..] => return Poll::Pending,
            }
            pause.as_mut().reset(Instant::now() + stagger);
        }
    })
    .await
}
