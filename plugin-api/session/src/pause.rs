//! Pauses after failures of what a source does beside its collections, in collections: each attempt takes logons, and a part of
//! the collection's time.

/// When the next attempt is made.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pause {
    failures: u32,
    /// Collections that are let pass.
    left: u32,
}

/// The longest pause.
const COLLECTIONS_MAX: u32 = 19;

impl Pause {
    /// Another collection begins. Returns whether an attempt is made in it.
    #[must_use = "the collection is counted"]
    pub fn is_over(&mut self) -> bool {
        let is_over = self.left == 0;
        self.left = self.left.saturating_sub(1);
        is_over
    }

    /// The attempt failed. The next collection makes another; after that each pause is about twice as long.
    pub fn extend(&mut self) {
        self.left =
            1_u32.checked_shl(self.failures).map_or(COLLECTIONS_MAX, |next| (next - 1).min(COLLECTIONS_MAX));
        self.failures += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_become_rare_while_they_fail() {
        let mut pause = Pause::default();
        let mut attempts = Vec::new();
        for collection in 0..80 {
            if pause.is_over() {
                attempts.push(collection);
                pause.extend();
            }
        }
        assert_eq!(attempts, [0, 1, 3, 7, 15, 31, 51, 71]);
        for _ in 0..40 {
            pause.extend();
        }
        assert_eq!(pause.left, COLLECTIONS_MAX);
    }
}
