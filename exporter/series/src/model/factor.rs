/// What the values of a family are multiplied with before anybody sees them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Factor {
    times: f64,
    /// The same where it is a whole number: integers stay exact.
    whole: Option<u64>,
}

impl Factor {
    /// Multiplies with a number above zero.
    #[must_use]
    pub fn times(times: f64) -> Option<Self> {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole and within range")]
        let whole = (times.fract() == 0.0 && (1.0..=WHOLE_MAX).contains(&times)).then_some(times as u64);
        (times.is_normal() && times > 0.0).then_some(Self { times, whole })
    }

    /// Divides by a number above zero.
    #[must_use]
    pub fn divided_by(divisor: f64) -> Option<Self> {
        // A quotient is divided: `x / 10` is not `x * 0.1`.
        Self::times(divisor).map(|_| Self { times: -divisor, whole: None })
    }

    /// The product of an integer, where it is one and fits.
    pub(crate) fn of_integer(self, value: u64) -> Option<u64> {
        self.whole.and_then(|whole| value.checked_mul(whole))
    }

    /// The product.
    pub(crate) fn of(self, value: f64) -> f64 {
        if self.times < 0.0 { value / -self.times } else { value * self.times }
    }
}

/// 2⁵³: below it, each whole number is a double.
const WHOLE_MAX: f64 = 9_007_199_254_740_992.0;
