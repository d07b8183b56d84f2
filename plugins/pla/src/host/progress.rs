//! How far the sets of a category were read. A host that is not near takes more time for them than one collection has.

use std::time::Duration;

use tokio::time::Instant;

/// The place of a reading. It outlives an attempt: the next one goes on there.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    /// Sets of the list that the object has now; nothing before it is filled.
    count: Option<u32>,
    /// How many of them had their turn.
    asked: u32,
    /// The index of the next one. It also goes on over a list that is filled again, so that a set at which connections are lost
    /// costs itself alone.
    next: u32,
    /// Bytes of the texts of these sets.
    bytes: usize,
    /// Why sets are missing whose names are not known.
    unread: Option<String>,
    /// The longest time of one set in this attempt.
    slowest: Duration,
    began: Option<Instant>,
}

impl Progress {
    pub(super) const fn is_filled(&self) -> bool {
        self.count.is_some()
    }

    /// The list is filled. All of its sets are to be read.
    pub(super) fn fill(&mut self, count: u32) {
        let next = if self.next < count { self.next } else { 0 };
        *self = Self { count: Some(count), next, ..Self::default() };
    }

    pub(super) fn begin(&mut self) {
        (self.began, self.slowest) = (None, Duration::ZERO);
    }

    /// The object with the list is gone, or shall be filled again.
    pub(crate) fn forget_list(&mut self) {
        self.count = None;
    }

    /// The index of the set that is to be read now. Nothing if all were, or if another one would take longer than until
    /// `deadline`: a call that is cut off costs the connection.
    pub(super) fn next(&mut self, now: Instant, deadline: Instant) -> Option<u32> {
        if let Some(began) = self.began.replace(now) {
            self.slowest = self.slowest.max(now - began);
        }
        let count = self.count.filter(|count| self.asked < *count && self.bytes < XML_BYTES_MAX);
        let is_late = self.slowest > Duration::ZERO && now + 2 * self.slowest >= deadline;
        let count = count.filter(|_| !is_late)?;
        let index = self.next;
        (self.next, self.asked) = ((index + 1) % count, self.asked + 1);
        Some(index)
    }

    pub(super) fn add_bytes(&mut self, bytes: usize) {
        self.bytes += bytes;
    }

    /// The set at `index` could not be read.
    pub(super) fn miss(&mut self, index: u32, why: &str) {
        let count = self.count.unwrap_or_default();
        self.unread.get_or_insert_with(|| format!("set {} of {count}: {why}", index + 1));
    }

    /// Why sets are missing whose names are not known, if some are.
    pub(crate) fn unread(&self) -> Option<String> {
        let Self { asked, bytes, unread, .. } = self;
        match self.count {
            Some(count) if *bytes >= XML_BYTES_MAX && *asked < count => Some(format!(
                "{asked} of {count} sets were read: together they have more than {} MiB of XML; write fewer names in `host`",
                XML_BYTES_MAX >> 20
            )),
            _ => unread.clone(),
        }
    }

    /// Whether all sets were read, or all that are.
    pub(crate) fn is_complete(&self) -> bool {
        self.count.is_some_and(|count| self.asked >= count) || self.bytes >= XML_BYTES_MAX
    }

    /// Whether it is above a limit.
    pub(crate) const fn is_cut(&self) -> bool {
        self.bytes >= XML_BYTES_MAX
    }

    /// What is said where the time was too short.
    pub(crate) fn in_the_time(&self) -> String {
        let (asked, count) = (self.asked, self.count.unwrap_or_default());
        format!("{asked} of {count} sets in the time that there was")
    }
}

/// Texts of the sets of one list.
const XML_BYTES_MAX: usize = 64 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    /// An attempt over a host that takes `per_set` for each: the indexes that were read.
    fn attempt(progress: &mut Progress, now: &mut Instant, time: Duration, per_set: Duration) -> Vec<u32> {
        let deadline = *now + time;
        let mut read = Vec::new();
        progress.begin();
        while let Some(index) = progress.next(*now, deadline) {
            *now += per_set;
            assert!(*now < deadline, "a call that the deadline cuts off costs the connection");
            read.push(index);
        }
        read
    }

    #[test]
    fn sets_that_take_longer_than_a_collection_are_read_in_several() {
        let (mut progress, mut now) = (Progress::default(), Instant::now());
        progress.fill(60);
        let mut read = Vec::new();
        for _ in 0..20 {
            // Two calls of 30 ms each, in a third of a second.
            read.push(attempt(
                &mut progress,
                &mut now,
                Duration::from_millis(333),
                Duration::from_millis(60),
            ));
            if progress.is_complete() {
                break;
            }
            assert_eq!(
                progress.in_the_time(),
                format!("{} of 60 sets in the time that there was", read.concat().len())
            );
            now += Duration::from_secs(1);
        }
        assert!((2..=20).contains(&read.len()), "{read:?}");
        assert_eq!(read.concat(), (0..60).collect::<Vec<_>>(), "each once, and in order");
    }

    #[test]
    fn however_slow_a_host_is_each_attempt_reads_a_set() {
        let (mut progress, now) = (Progress::default(), Instant::now());
        progress.fill(3);
        for expected in 0..3 {
            progress.begin();
            assert_eq!(progress.next(now, now), Some(expected));
            assert_eq!(progress.next(now + Duration::from_secs(9), now), None);
        }
        assert!(progress.is_complete());
    }

    #[test]
    fn a_set_at_which_the_connection_is_lost_does_not_keep_the_others_away() {
        let (mut progress, now) = (Progress::default(), Instant::now());
        let deadline = now + Duration::from_secs(9);
        progress.fill(4);
        assert_eq!((progress.next(now, deadline), progress.next(now, deadline)), (Some(0), Some(1)));
        // The call of set 1 is lost.
        progress.forget_list();
        progress.fill(4);
        let rest: Vec<u32> = std::iter::from_fn(|| progress.next(now, deadline)).collect();
        assert_eq!(rest, [2, 3, 0, 1]);
        // The host has fewer now.
        progress.forget_list();
        progress.fill(1);
        assert_eq!((progress.next(now, deadline), progress.is_complete()), (Some(0), true));
    }

    #[test]
    fn texts_above_the_limit_end_the_reading_and_are_said() {
        let (mut progress, now) = (Progress::default(), Instant::now());
        let deadline = now + Duration::from_secs(9);
        progress.fill(4_096);
        let mut read = 0;
        while progress.next(now, deadline).is_some() {
            progress.add_bytes(8 << 20);
            read += 1;
        }
        assert_eq!((read, progress.is_complete(), progress.is_cut()), (8, true, true));
        let said = progress.unread().expect("sets are missing");
        assert!(said.contains("8 of 4096") && said.contains("64 MiB") && said.contains("`host`"), "{said}");
    }
}
