use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ssp::{Mechanism, Protection, Usage};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use crate::pair::{Pair, seal};

/// Counts everything that is logged, at the lowest level.
struct Counting(Arc<AtomicUsize>);

impl Subscriber for Counting {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        self.0.fetch_add(1, Ordering::Relaxed);
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

#[test]
fn neither_tokens_nor_messages_reach_a_log() {
    let logged = Arc::new(AtomicUsize::new(0));
    tracing::subscriber::with_default(Counting(Arc::clone(&logged)), || {
        let mut pair = Pair::established(Mechanism::Negotiate, Usage::Rpc);
        let mut sealed = seal(&mut *pair.client, Protection::Privacy, b"in the clear before");
        pair.server.unwrap(sealed.message()).unwrap();
        pair.client.session_key().unwrap();
        assert_eq!(logged.load(Ordering::Relaxed), 0);
        tracing::info!("Something else");
    });
    assert_eq!(logged.load(Ordering::Relaxed), 1, "the subscriber is back after each call");
}
