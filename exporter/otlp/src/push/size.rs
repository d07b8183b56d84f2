//! How large a request may be, as far as a collector is known to take it.

/// Found by halving what is too large, and grown again by what is taken.
///
/// A collector may refuse a request for something else than its size: one huge point in it, or a proxy before it that
/// is being replaced. What was learnt from that must not stay for ever, or each point would go out alone.
#[derive(Debug)]
pub(super) struct RequestBytes {
    configured: usize,
    now: usize,
    /// The largest that was taken.
    taken: usize,
    /// The smallest that was too large, until that is doubted.
    refused: Option<usize>,
    /// Requests that were taken since.
    taken_since: u32,
}

/// Number of requests after which a larger one is tried again.
const DOUBT_AFTER: u32 = 100;

impl RequestBytes {
    pub(super) fn new(configured: usize) -> Self {
        Self { configured, now: configured, taken: 0, refused: None, taken_since: 0 }
    }

    /// Of the next request.
    pub(super) fn get(&self) -> usize {
        self.now
    }

    /// A request with more than one point in it was too large.
    pub(super) fn too_large(&mut self, bytes: usize) {
        let known = if self.taken < bytes { self.taken } else { 0 };
        self.taken = known;
        self.now = known.max(bytes.min(self.now) / 2);
        (self.refused, self.taken_since) = (Some(bytes), 0);
    }

    /// A single point was too large, which says nothing about others.
    pub(super) fn too_large_alone(&mut self) {
        self.refused = None;
    }

    pub(super) fn take(&mut self, bytes: usize) {
        self.taken = self.taken.max(bytes);
        self.taken_since += 1;
        if self.taken_since >= DOUBT_AFTER {
            self.refused = None;
        }
        // A small one says nothing about larger ones.
        if bytes < self.now / 2 {
            return;
        }
        self.now = match self.refused {
            None => self.now.saturating_mul(2),
            // Half-way, until that is hardly worth a refusal.
            Some(refused) if refused.saturating_sub(self.now) > refused / 4 => self.now.midpoint(refused),
            Some(_) => self.now,
        }
        .clamp(1, self.configured);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends full requests to a collector that takes so many bytes; answers how many it refused.
    fn send(size: &mut RequestBytes, requests: u32, bytes_max: usize) -> u32 {
        let mut refused = 0;
        for _ in 0..requests {
            let bytes = size.get();
            if bytes > bytes_max {
                size.too_large(bytes);
                refused += 1;
            } else {
                size.take(bytes);
            }
        }
        refused
    }

    #[test]
    fn a_limit_is_found_soon_and_seldom_tried_again() {
        for limit in [1_000, 4_100, 5_000, 700_000, 1_048_576, 3_000_000] {
            let mut size = RequestBytes::new(3 << 20);
            let refused = send(&mut size, 100, limit);
            assert!(refused < 16, "{limit}: {refused}");
            assert!(size.get() * 2 > limit, "{limit}: {}", size.get());
            let refused = send(&mut size, 1_000, limit);
            assert!(refused < 60, "{limit}: {refused}");
            assert!(size.get() * 2 > limit, "{limit}: {}", size.get());
        }
    }

    #[test]
    fn what_was_small_for_no_lasting_reason_grows_again() {
        for until in [0, 1, 300, 2_000] {
            let mut size = RequestBytes::new(3 << 20);
            while size.get() > until {
                size.too_large(size.get());
            }
            send(&mut size, 200, usize::MAX);
            assert_eq!(size.get(), 3 << 20, "{until}");
        }
        let mut size = RequestBytes::new(3 << 20);
        send(&mut size, 12, 500);
        size.too_large_alone();
        send(&mut size, 20, usize::MAX);
        assert_eq!(size.get(), 3 << 20);
    }

    #[test]
    fn small_requests_tell_nothing_about_larger_ones() {
        let mut size = RequestBytes::new(1_000);
        size.too_large(1_000);
        (0..50).for_each(|_| size.take(10));
        assert_eq!(size.get(), 500);
    }
}
