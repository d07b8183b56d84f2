//! How pages show the values of a family.

/// The rule by which pages compute a shown value from a series. N is the series, B its base, T the seconds between
/// two collections, 0 the older and 1 the newer one; the header says what happens if a formula has no result.
#[repr(u32)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum DisplayRule {
    /// Not declared: the value; for a counter, its rate.
    #[default]
    None = 0,
    Value = 1,
    /// 100 · N1, percent: N is a ratio.
    Percent = 2,
    Delta = 3,
    /// (N1 − N0) / T, per second.
    Rate = 4,
    /// (N1 − N0) / T, without a unit.
    QueueLength = 5,
    /// 100 · (N1 − N0) / T, percent.
    PercentOfTime = 6,
    /// 100 · (1 − (N1 − N0) / T), percent: inverse timers.
    PercentNotOfTime = 7,
    /// 100 · (N1 − N0) / T / B1, percent.
    PercentOfTimeOfMany = 8,
    /// 100 · (B1 − (N1 − N0) / T), percent.
    PercentNotOfTimeOfMany = 9,
    /// 100 · N1 / B1, percent.
    PercentOfBase = 10,
    /// 100 · (N1 − N0) / (B1 − B0), percent.
    PercentOfBaseDelta = 11,
    /// (N1 − N0) / (B1 − B0)
    Average = 12,
    /// now − N1, seconds.
    Elapsed = 13,
    /// A base of others: not shown by itself.
    Base = 14,
}

impl DisplayRule {
    /// All rules, in the order of their numbers.
    pub const ALL: [Self; 15] = [
        Self::None,
        Self::Value,
        Self::Percent,
        Self::Delta,
        Self::Rate,
        Self::QueueLength,
        Self::PercentOfTime,
        Self::PercentNotOfTime,
        Self::PercentOfTimeOfMany,
        Self::PercentNotOfTimeOfMany,
        Self::PercentOfBase,
        Self::PercentOfBaseDelta,
        Self::Average,
        Self::Elapsed,
        Self::Base,
    ];

    /// The number on the ABI.
    #[must_use]
    pub const fn code(self) -> u32 {
        self as u32
    }

    /// The rule with this number, if this version knows it.
    #[must_use]
    pub fn from_code(code: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|rule| rule.code() == code)
    }

    /// Whether the formula has a B.
    #[must_use]
    pub const fn needs_base(self) -> bool {
        matches!(
            self,
            Self::PercentOfTimeOfMany
                | Self::PercentNotOfTimeOfMany
                | Self::PercentOfBase
                | Self::PercentOfBaseDelta
                | Self::Average
        )
    }
}

/// A rule with the base that it computes with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Display<'a> {
    pub rule: DisplayRule,
    /// The part of the same item that is the base; empty if the rule needs none.
    pub base: &'a str,
}

impl<'a> Display<'a> {
    pub const NONE: Display<'static> = Display::by(DisplayRule::None);

    /// By a rule without a base.
    #[must_use]
    pub const fn by(rule: DisplayRule) -> Self {
        Self { rule, base: "" }
    }

    /// By a rule that computes with the part `base` of the same item.
    #[must_use]
    pub const fn over(rule: DisplayRule, base: &'a str) -> Self {
        Self { rule, base }
    }
}
