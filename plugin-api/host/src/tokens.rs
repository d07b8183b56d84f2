//! Tokens and their values.
//!
//! A token has the number of its library in the upper 16 bits, so that calls with expired tokens are counted for
//! the right library; the rest is a serial number. INVARIANT: no token is 0 or reused.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};

use parking_lot::RwLock;

static SERIAL: AtomicU64 = AtomicU64::new(1);

const SERIAL_BITS: u32 = 48;

/// A new token of the library with this number (from 1).
pub(crate) fn new_token(library: u16) -> u64 {
    (u64::from(library) << SERIAL_BITS) | SERIAL.fetch_add(1, Ordering::Relaxed)
}

/// The number of the library that a token was made for.
pub(crate) fn library_number(token: u64) -> u64 {
    token >> SERIAL_BITS
}

/// The values of tokens of one kind.
pub(crate) struct Tokens<T>(LazyLock<RwLock<HashMap<u64, Arc<T>>>>);

impl<T> Tokens<T> {
    pub(crate) const fn new() -> Self {
        Self(LazyLock::new(RwLock::default))
    }

    pub(crate) fn insert(&self, token: u64, value: Arc<T>) {
        self.0.write().insert(token, value);
    }

    /// If two callers remove the same token, only one gets the value.
    pub(crate) fn remove(&self, token: u64) -> Option<Arc<T>> {
        self.0.write().remove(&token)
    }

    pub(crate) fn find(&self, token: u64) -> Option<Arc<T>> {
        self.0.read().get(&token).cloned()
    }
}
