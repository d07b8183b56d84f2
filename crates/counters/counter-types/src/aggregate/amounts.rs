/// Sum, count, minimum and maximum of amounts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Amounts {
    pub(super) count: u64,
    pub(super) sum: u128,
    pub(super) least: u64,
    pub(super) greatest: u64,
    pub(super) real: Reals,
}

/// The same for numbers in IEEE 754.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reals {
    pub(super) sum: f64,
    pub(super) least: f64,
    pub(super) greatest: f64,
}

impl Amounts {
    pub(super) const NONE: Self = Self {
        count: 0,
        sum: 0,
        least: u64::MAX,
        greatest: 0,
        real: Reals { sum: 0.0, least: f64::INFINITY, greatest: f64::NEG_INFINITY },
    };

    pub(super) fn add(&mut self, amount: u64) {
        self.count += 1;
        // No host has 2⁶⁴ instances.
        self.sum += u128::from(amount);
        self.least = self.least.min(amount);
        self.greatest = self.greatest.max(amount);
    }

    pub(super) fn add_real(&mut self, amount: f64) {
        self.count += 1;
        self.real.sum += amount;
        self.real.least = self.real.least.min(amount);
        self.real.greatest = self.real.greatest.max(amount);
    }

    pub(super) fn and(&self, other: &Self) -> Self {
        let (one, two) = (self.real, other.real);
        Self {
            count: self.count + other.count,
            sum: self.sum + other.sum,
            least: self.least.min(other.least),
            greatest: self.greatest.max(other.greatest),
            real: Reals {
                sum: one.sum + two.sum,
                least: one.least.min(two.least),
                greatest: one.greatest.max(two.greatest),
            },
        }
    }
}
