use wire::Win32Error;

/// Whether a method says that the client's buffer is too small. The document has `ERROR_NOT_ENOUGH_MEMORY` alone; the
/// other two are what services of Windows say in the same case.
pub(super) const fn is_too_small(status: Win32Error) -> bool {
    matches!(
        status,
        Win32Error::ERROR_NOT_ENOUGH_MEMORY
            | Win32Error::ERROR_INSUFFICIENT_BUFFER
            | Win32Error::ERROR_MORE_DATA
    )
}

/// How much room a method is offered, from call to call.
pub(super) struct Room {
    /// In the next call. INVARIANT: at most the limit.
    pub(super) offered: u32,
    limit: u32,
    retries: u32,
    retries_max: u32,
}

/// What comes after a call that had too little room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Growth {
    /// Another call with more room.
    Again,
    /// The server needs more than the limit.
    AboveLimit,
    /// The server was asked often enough, or with as much as the limit allows.
    GiveUp,
}

impl Room {
    /// Offers `in_size` first, or the limit.
    pub(super) const fn new(in_size: u32, limit: u32, retries_max: u32) -> Self {
        let offered = if in_size < limit { in_size } else { limit };
        Self { offered, limit, retries: 0, retries_max }
    }

    /// Makes room after a call that was answered with `status`, and with `rtn_size` as what it needs.
    pub(super) fn grow(&mut self, status: Win32Error, rtn_size: u32) -> Growth {
        if status == Win32Error::ERROR_MORE_DATA {
            // The size that comes with it means nothing, so only the limit ends the search.
            if self.offered == self.limit {
                return Growth::GiveUp;
            }
            self.offered = self.offered.saturating_mul(2).max(GUESS_BYTES_MIN).min(self.limit);
        } else if rtn_size > self.limit {
            return Growth::AboveLimit;
        } else if self.retries == self.retries_max {
            return Growth::GiveUp;
        } else {
            self.offered = with_slack(rtn_size.max(self.offered), self.retries).min(self.limit);
            self.retries += 1;
        }
        Growth::Again
    }
}

/// A buffer size that still fits when instances have come meanwhile; each time that it did not, the slack doubles.
pub(super) fn with_slack(size: u32, attempt: u32) -> u32 {
    let slack = (size / 8).saturating_mul(1 << attempt.min(8));
    size.saturating_add(slack).saturating_add(1024)
}

/// Where a search without a size begins at least.
const GUESS_BYTES_MIN: u32 = 1024;
