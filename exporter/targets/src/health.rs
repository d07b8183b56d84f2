//! How a target fares, in one word: on pages, in the log, in metrics, in what `check-config --online` prints.

/// How a target, or one module on it, fares, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TargetHealth {
    Down,
    /// Something was collected, and something is missing: a module failed, covers a part only, or matches nothing.
    Partial,
    /// No collection ended yet; of a target, not that of each module.
    Waiting,
    /// Everything that is asked for was collected.
    Up,
}

impl TargetHealth {
    /// All of them, in their order.
    pub const ALL: [Self; 4] = [Self::Down, Self::Partial, Self::Waiting, Self::Up];

    /// The word for it, wherever it is shown.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Down => "down",
            Self::Partial => "partial",
            Self::Waiting => "waiting",
            Self::Up => "up",
        }
    }

    /// A target's health by its modules': down where all of them are, up where all of them are, and partial where it is
    /// neither. Modules that were not asked yet are waited for, unless it is clear without them.
    #[must_use]
    pub fn of_modules(modules: impl IntoIterator<Item = Self>) -> Self {
        let mut counts = [0_usize; Self::ALL.len()];
        modules.into_iter().for_each(|state| counts[state as usize] += 1);
        let [down, partial, waiting, up] = counts;
        match (down, partial, waiting, up) {
            (1.., 0, 0, 0) => Self::Down,
            (0, 0, 0, _) => Self::Up,
            (0, 0, 1.., _) | (_, 0, 1.., 0) => Self::Waiting,
            _ => Self::Partial,
        }
    }

    /// Whether anything was collected; nothing as long as that is not known.
    #[must_use]
    pub const fn is_up(self) -> Option<bool> {
        match self {
            Self::Down => Some(false),
            Self::Waiting => None,
            Self::Partial | Self::Up => Some(true),
        }
    }
}

/// Targets by health, in the order of [`TargetHealth::ALL`].
pub fn count_by_health(
    states: impl IntoIterator<Item = TargetHealth>,
) -> [(TargetHealth, u64); TargetHealth::ALL.len()] {
    let mut counts = TargetHealth::ALL.map(|state| (state, 0));
    states.into_iter().for_each(|state| counts[state as usize].1 += 1);
    counts
}

#[cfg(test)]
mod tests {
    use super::TargetHealth::{self, Down, Partial, Up, Waiting};

    #[test]
    fn one_dead_module_makes_a_target_partial_and_only_all_of_them_make_it_down() {
        for (modules, expected) in [
            (&[Up, Up][..], Up),
            (&[Up, Down], Partial),
            (&[Partial, Down], Partial),
            (&[Up, Partial], Partial),
            (&[Partial], Partial),
            (&[Down, Down], Down),
            (&[Waiting, Waiting], Waiting),
            (&[Up, Waiting], Waiting),
            (&[Down, Waiting], Waiting),
            (&[Partial, Waiting], Partial),
            (&[Up, Down, Waiting], Partial),
        ] {
            assert_eq!(TargetHealth::of_modules(modules.iter().copied()), expected, "{modules:?}");
        }
    }

    #[test]
    fn the_number_of_a_health_is_its_place() {
        for (place, state) in TargetHealth::ALL.into_iter().enumerate() {
            assert_eq!(state as usize, place, "{}", state.as_str());
        }
    }
}
