//! The limit of log bytes per second.

use std::sync::Mutex;

use crate::sync::lock;

/// What an instance, or the library itself, has logged in the current second.
#[derive(Default)]
pub(crate) struct LogBudget(Mutex<Spent>);

#[derive(Default)]
struct Spent {
    second: u64,
    bytes: u64,
}

impl LogBudget {
    /// Takes bytes of a second; false if not as many are left.
    pub(crate) fn take(&self, bytes: usize, second: u64, bytes_max: u64) -> bool {
        let mut spent = lock(&self.0);
        if spent.second != second {
            *spent = Spent { second, bytes: 0 };
        }
        spent.bytes = spent.bytes.saturating_add(bytes as u64);
        spent.bytes <= bytes_max
    }
}
