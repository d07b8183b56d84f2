//! A plugin's violations of the contract: a closed list, counted for metrics.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

macro_rules! violations {
    ($($variant:ident = $word:literal, $doc:literal;)*) => {
        /// One kind of violation.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Violation {
            $(#[doc = $doc] $variant,)*
        }

        impl Violation {
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The word for labels.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }
        }
    };
}

violations! {
    NullPointer = "null_pointer", "A null pointer with a length, or a missing argument.";
    Misaligned = "misaligned", "A column that is not aligned for its type.";
    BadSize = "bad_size", "A struct or element size below what the version has.";
    TooLong = "too_long", "A length above its limit.";
    LengthMismatch = "length_mismatch", "Columns of one batch with different lengths.";
    NotUtf8 = "not_utf8", "Text that is not UTF-8.";
    BadName = "bad_name", "A name outside its alphabet, or twice where it must be unique.";
    BadEnum = "bad_enum", "A value that the enumeration does not have.";
    BadBase = "bad_base", "A family that is shown by means of a base, and names none or itself.";
    BadHistogram = "bad_histogram", "A histogram whose bounds, counts or sum cannot be.";
    IdOutOfRange = "id_out_of_range", "An id that was never handed out.";
    RetiredId = "retired_id", "A value for a retired series.";
    WrongValueKind = "wrong_value_kind", "A value of another type than the family's, or a histogram of another family.";
    OverLimit = "over_limit", "More families, series, leases or problems than allowed.";
    LogOverflow = "log_overflow", "More log bytes a second than allowed.";
    DoubleCompletion = "double_completion", "A collection completed again.";
    LateCompletion = "late_completion", "A collection completed after it was given up.";
    UnknownToken = "unknown_token", "A call with a token that is not valid (any more).";
    AfterDestroy = "after_destroy", "A call for an instance that is being destroyed.";
    SlowCall = "slow_call", "A call that must return at once did not.";
    Hang = "hang", "A collection that did not end within its deadline and the grace behind it.";
    SlowEnd = "slow_end", "An instance that did not end by its deadline.";
    Panic = "panic", "A panic that the plugin's guard caught.";
    FailedCall = "failed_call", "A call that answered a failure of the plugin itself.";
    HostPanic = "host_panic", "A panic on the host's side of a call, caught at the border.";
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A counter for each kind.
#[derive(Debug, Default)]
pub struct Violations([AtomicU64; Violation::ALL.len()]);

impl Violations {
    pub(crate) fn count(&self, violation: Violation) {
        self.add(violation, 1);
    }

    pub(crate) fn add(&self, violation: Violation, n: u64) {
        self.0[violation as usize].fetch_add(n, Ordering::Relaxed);
    }

    /// How often it happened.
    #[must_use]
    pub fn of(&self, violation: Violation) -> u64 {
        self.0[violation as usize].load(Ordering::Relaxed)
    }

    /// All kinds with their counts.
    pub fn iter(&self) -> impl Iterator<Item = (Violation, u64)> + '_ {
        Violation::ALL.iter().map(|&violation| (violation, self.of(violation)))
    }
}
