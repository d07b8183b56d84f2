use std::collections::BTreeSet;

/// Which message ids a client may use, [MS-SMB2] 3.3.1.1: each one once.
#[derive(Debug)]
pub(super) struct Window {
    // INVARIANT: all ids below `low` were used; `low` itself was not; no id from `high` on was granted.
    low: u64,
    high: u64,
    /// Those between `low` and `high` that were used out of order.
    used: BTreeSet<u64>,
    credits_max: u16,
}

impl Window {
    /// A client begins with message id 0.
    pub(super) const fn new(credits_max: u16) -> Self {
        Self { low: 0, high: 1, used: BTreeSet::new(), credits_max }
    }

    /// After a negotiation in SMB1, which counts as message 0, clients go on with 1; some begin with 0 again.
    pub(super) fn restart_at(&mut self, message_id: u64) {
        self.low = message_id;
        self.high = message_id + 1;
        self.used.clear();
    }

    /// Takes the ids of a request, where all of them may be used.
    pub(super) fn take(&mut self, message_id: u64, charge: u16) -> bool {
        let Some(end) = message_id.checked_add(charge.into()) else { return false };
        let granted = message_id >= self.low && end <= self.high;
        if !granted || (message_id..end).any(|id| self.used.contains(&id)) {
            return false;
        }
        self.used.extend(message_id..end);
        while self.used.remove(&self.low) {
            self.low += 1;
        }
        true
    }

    /// Grants credits: what is asked for as far as the limits go, and one at least where the client has none.
    pub(super) fn grant(&mut self, wanted: u16) -> u16 {
        let width = self.high - self.low;
        let unused = width - u64::try_from(self.used.len()).unwrap_or(width);
        let limit = u64::from(self.credits_max);
        // A client that leaves one id unused for ever does not make the window grow for ever.
        let room = limit.saturating_sub(unused).min((2 * limit).saturating_sub(width));
        let granted = u64::from(wanted.max(1)).min(room).max(u64::from(unused == 0));
        self.high += granted;
        u16::try_from(granted).unwrap_or(u16::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_taken_once_and_only_where_it_was_granted() {
        let mut window = Window::new(4);
        assert!(!window.take(1, 1));
        assert!(window.take(0, 1));
        assert!(!window.take(0, 1));
        assert_eq!(window.grant(9), 4);
        assert!(window.take(3, 1));
        assert!(!window.take(2, 2));
        assert!(window.take(1, 2));
        assert!(!window.take(u64::MAX, 1));
    }

    #[test]
    fn a_client_without_credits_gets_one_and_a_rich_one_none() {
        let mut window = Window::new(2);
        assert!(window.take(0, 1));
        assert_eq!(window.grant(0), 1);
        assert_eq!(window.grant(100), 1);
        assert_eq!(window.grant(100), 0);
    }

    #[test]
    fn an_id_left_out_does_not_make_the_window_grow() {
        let mut window = Window::new(4);
        window.grant(100);
        let mut id = 1;
        while window.take(id, 1) {
            window.grant(100);
            id += 1;
        }
        assert!(window.used.len() < 8 && window.low == 0);
    }
}
