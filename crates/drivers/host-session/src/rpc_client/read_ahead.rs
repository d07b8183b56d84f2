//! How many READs of a pipe are in flight, and the order of their results.

use std::collections::VecDeque;

use dcerpc::pdu::{PfcFlags, ResponseFragment};

/// How many READs of a pipe may be in flight, and in which order their results are returned.
///
/// A server gives each READ one message of the pipe, which holds one fragment; but it may process several READs at
/// the same time, so fragments can arrive out of order. `alloc_hint` identifies the next one: most servers set it
/// to the remaining bytes of the response. READs overlap only after the server's hints have decreased by exactly
/// the stub data of each fragment; the results are then sorted by their hints. A server with other hints gets one
/// READ at a time from then on.
///
/// The calling order: [`begin`](Self::begin) for each call, then for each result [`push`](Self::push), and take the
/// results of [`pop`](Self::pop) before the next READ. [`wanted`](Self::wanted) says how many READs should be in
/// flight.
#[derive(Debug, Default)]
pub(crate) struct ReadAhead {
    hints: Hints,
    /// The `alloc_hint` that the next fragment should have, if that is known.
    next: Option<Expected>,
    /// Fragments that arrived before the expected one, in the order of their READs. INVARIANT: fewer than
    /// `READS_MAX`, and empty where `next` is none.
    held: Vec<(ResponseFragment, Vec<u8>)>,
    ready: VecDeque<Vec<u8>>,
}

/// The meaning of `alloc_hint` of this pipe's server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
enum Hints {
    /// No response of several fragments came yet.
    #[default]
    Unknown,
    /// The remaining bytes of the response.
    CountDown,
    Meaningless,
}

#[derive(Clone, Copy, Debug)]
struct Expected {
    alloc_hint: u32,
    /// Bytes in the fragment before it. All fragments but the last are of one size.
    // INVARIANT: not zero.
    stub_bytes: u32,
}

impl ReadAhead {
    /// Maximum READs of one pipe in flight: more gain little, and each may hold 64 KiB.
    pub(crate) const READS_MAX: usize = 16;

    /// Starts a new call: the state of the last response is dropped.
    pub(crate) fn begin(&mut self) {
        self.give_up_order();
    }

    /// How many READs should be in flight, including the one that is awaited.
    pub(crate) fn wanted(&self) -> usize {
        let Some(next) = self.next.filter(|_| self.hints == Hints::CountDown) else { return 1 };
        let fragments = usize::try_from(next.alloc_hint.div_ceil(next.stub_bytes)).unwrap_or(usize::MAX);
        fragments.saturating_sub(self.held.len()).clamp(1, Self::READS_MAX)
    }

    /// Whether reading ahead is useless: the response is complete, or its rest is unknown.
    pub(crate) const fn is_over(&self) -> bool {
        self.next.is_none()
    }

    /// READs are left over: the server announced more than it sent.
    pub(crate) const fn distrust(&mut self) {
        self.hints = Hints::Meaningless;
    }

    /// Takes the result of the oldest READ. `others` are in flight after it.
    pub(crate) fn push(&mut self, message: Vec<u8>, others: usize) {
        let fragment = ResponseFragment::peek(&message);
        match (self.next, fragment) {
            (None, Some(fragment)) => self.accept(fragment, message),
            (Some(next), Some(fragment)) if fragment.alloc_hint == next.alloc_hint => {
                self.hints = Hints::CountDown;
                self.accept(fragment, message);
                self.release();
            }
            (Some(next), Some(fragment)) if self.may_hold(next, fragment, others) => {
                self.held.push((fragment, message));
            }
            (next, _) => {
                if next.is_some() {
                    self.distrust();
                }
                self.give_up_order();
                self.ready.push_back(message);
            }
        }
    }

    /// The next part of the response, in its order.
    pub(crate) fn pop(&mut self) -> Option<Vec<u8>> {
        self.ready.pop_front()
    }

    fn accept(&mut self, fragment: ResponseFragment, message: Vec<u8>) {
        let rest = fragment.alloc_hint.checked_sub(fragment.stub_bytes).filter(|&rest| rest > 0);
        let is_last = fragment.flags.contains(PfcFlags::LAST_FRAG);
        self.next = match rest {
            Some(alloc_hint) if !is_last && self.hints != Hints::Meaningless && fragment.stub_bytes > 0 => {
                Some(Expected { alloc_hint, stub_bytes: fragment.stub_bytes })
            }
            _ => None,
        };
        self.ready.push_back(message);
    }

    /// Returns held fragments that are expected now.
    fn release(&mut self) {
        while let Some(next) = self.next
            && let Some(at) = self.held.iter().position(|(held, _)| held.alloc_hint == next.alloc_hint)
        {
            let (fragment, message) = self.held.remove(at);
            self.accept(fragment, message);
        }
        if self.next.is_none() {
            self.give_up_order();
        }
    }

    /// Whether a fragment belongs further back in the response: whole fragments fit before it, and a READ in flight
    /// may return them.
    fn may_hold(&self, next: Expected, fragment: ResponseFragment, others: usize) -> bool {
        let gap = next.alloc_hint.saturating_sub(fragment.alloc_hint);
        self.hints == Hints::CountDown && others > 0 && gap > 0 && gap.is_multiple_of(next.stub_bytes)
    }

    /// Returns everything in the order of the READs.
    fn give_up_order(&mut self) {
        self.next = None;
        self.ready.extend(self.held.drain(..).map(|(_, message)| message));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STUB_BYTES: u32 = 8;

    /// C706 12.6.4.10: a fragment with these remaining bytes of its response, `STUB_BYTES` of them in it.
    fn fragment(alloc_hint: u32, flags: u8, name: u8) -> Vec<u8> {
        let mut pdu = vec![5, 0, 2, flags, 0x10, 0, 0, 0, 32, 0, 0, 0, 1, 0, 0, 0];
        pdu.extend(alloc_hint.to_le_bytes());
        pdu.extend([0; 4]);
        pdu.extend([name; STUB_BYTES as usize]);
        pdu
    }

    const FIRST: u8 = 1;
    const LAST: u8 = 2;

    fn names(ahead: &mut ReadAhead) -> Vec<u8> {
        std::iter::from_fn(|| ahead.pop()).map(|pdu| pdu[31]).collect()
    }

    /// After two fragments of a response of `count`.
    fn proven(count: u32) -> ReadAhead {
        let mut ahead = ReadAhead::default();
        ahead.begin();
        ahead.push(fragment(count * STUB_BYTES, FIRST, 0), 0);
        assert_eq!(ahead.wanted(), 1, "nothing is known of the server yet");
        ahead.push(fragment((count - 1) * STUB_BYTES, 0, 1), 0);
        assert_eq!(names(&mut ahead), [0, 1]);
        ahead
    }

    #[test]
    fn as_many_reads_are_wanted_as_fragments_follow_up_to_a_limit() {
        assert_eq!(proven(5).wanted(), 3);
        assert_eq!(proven(3).wanted(), 1);
        assert_eq!(proven(500).wanted(), ReadAhead::READS_MAX);
    }

    #[test]
    fn the_next_response_overlaps_from_its_first_fragment_on() {
        let mut ahead = proven(3);
        ahead.push(fragment(STUB_BYTES, LAST, 2), 0);
        assert!(ahead.is_over());
        ahead.begin();
        ahead.push(fragment(4 * STUB_BYTES, FIRST, 0), 0);
        assert_eq!(ahead.wanted(), 3);
    }

    #[test]
    fn exchanged_fragments_are_put_into_their_order() {
        let mut ahead = proven(6);
        ahead.push(fragment(2 * STUB_BYTES, 0, 4), 3);
        ahead.push(fragment(STUB_BYTES, LAST, 5), 2);
        assert_eq!(names(&mut ahead), [0; 0]);
        assert_eq!(ahead.wanted(), 2, "two are held already");
        ahead.push(fragment(4 * STUB_BYTES, 0, 2), 1);
        assert_eq!(names(&mut ahead), [2]);
        ahead.push(fragment(3 * STUB_BYTES, 0, 3), 0);
        assert_eq!(names(&mut ahead), [3, 4, 5]);
        assert!(ahead.is_over());
    }

    #[test]
    fn hints_that_do_not_count_down_keep_the_order_of_the_reads_and_end_the_overlap() {
        for second in [0, 1, 5 * STUB_BYTES, 100 * STUB_BYTES, u32::MAX] {
            let mut ahead = ReadAhead::default();
            ahead.push(fragment(5 * STUB_BYTES, FIRST, 0), 0);
            ahead.push(fragment(second, 0, 1), 0);
            assert_eq!((names(&mut ahead), ahead.wanted()), (vec![0, 1], 1), "{second}");
            ahead.begin();
            ahead.push(fragment(5 * STUB_BYTES, FIRST, 0), 0);
            assert_eq!(ahead.wanted(), 1, "{second}");
        }
    }

    #[test]
    fn a_gap_that_no_read_can_fill_is_no_reason_to_wait() {
        let mut ahead = proven(6);
        ahead.push(fragment(2 * STUB_BYTES, 0, 4), 1);
        ahead.push(fragment(STUB_BYTES, 0, 5), 0);
        assert_eq!(names(&mut ahead), [4, 5]);
        assert_eq!(ahead.wanted(), 1);
    }

    #[test]
    fn anything_but_a_fragment_is_handed_on_with_what_was_held() {
        let mut ahead = proven(6);
        ahead.push(fragment(2 * STUB_BYTES, 0, 4), 1);
        ahead.push(vec![9; 32], 1);
        assert_eq!(names(&mut ahead), [4, 9]);
        assert!(ahead.is_over());
    }
}
