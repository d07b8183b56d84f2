//! Catches panics, with the place where they occurred.
//!
//! By default a panic prints to the standard error, where no operator sees it. Inside of [`caught`] it is kept
//! instead, with file and line, so that the caller can write it to the host's log.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::pin::pin;
use std::sync::Once;
use std::task::Poll;

/// A panic that was caught.
pub(crate) struct Panic {
    message: String,
    place: Option<String>,
}

impl fmt::Display for Panic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        self.place.as_ref().map_or(Ok(()), |place| write!(f, " (at {place})"))
    }
}

/// Runs `action`, and catches its panic.
pub(crate) fn caught<R>(action: impl FnOnce() -> R) -> Result<R, Panic> {
    install_hook();
    let depth = DEPTH.get();
    DEPTH.set(depth + 1);
    let result = catch_unwind(AssertUnwindSafe(action));
    DEPTH.set(depth);
    result.map_err(Panic::of)
}

/// Polls `work`, and catches its panic.
pub(crate) async fn caught_future<F: Future>(work: F) -> Result<F::Output, Panic> {
    let mut work = pin!(work);
    poll_fn(|context| match caught(|| work.as_mut().poll(context)) {
        Ok(Poll::Pending) => Poll::Pending,
        Ok(Poll::Ready(output)) => Poll::Ready(Ok(output)),
        Err(panic) => Poll::Ready(Err(panic)),
    })
    .await
}

impl Panic {
    /// The payload is leaked, because its destructor could panic.
    fn of(payload: Box<dyn Any + Send>) -> Self {
        let message = payload
            .downcast_ref::<&str>()
            .map(|text| (*text).to_owned())
            .or_else(|| payload.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "no message".to_owned());
        std::mem::forget(payload);
        Self { message, place: PLACE.take() }
    }
}

thread_local! {
    /// How many calls of [`caught`] this thread is in.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    /// The place of its last panic inside of one.
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

fn install_hook() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if DEPTH.get() == 0 || !keep_place(info) {
                before(info);
            }
        }));
    });
}

/// Whether the place could be kept. A panic while another one is being kept goes to the previous hook.
fn keep_place(info: &PanicHookInfo<'_>) -> bool {
    let place = info.location().map(ToString::to_string);
    PLACE.with(|kept| kept.try_borrow_mut().map(|mut kept| *kept = place).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_told_with_its_place() {
        let panic = caught(|| panic!("no disk {}", 7)).unwrap_err().to_string();
        let place = panic.strip_prefix("no disk 7 (at ").expect("the message comes first");
        assert!(place.contains("caught.rs:") && place.ends_with(')'), "{place}");
    }

    #[test]
    fn a_panic_inside_of_another_call_is_told_once() {
        let outer = caught(|| {
            let inner = caught(|| panic!("inner")).unwrap_err().to_string();
            assert!(inner.starts_with("inner (at "), "{inner}");
            panic!("outer");
        });
        assert!(outer.unwrap_err().to_string().starts_with("outer (at "));
        assert_eq!(caught(|| 1).ok(), Some(1));
    }
}
