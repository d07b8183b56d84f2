use super::{Limits, Profile, Rules};

/// How the families and series of one store get their names and labels, and which of them are taken.
#[derive(Clone, Debug, Default)]
pub struct Normalize {
    /// How names are made.
    pub profile: Profile,
    /// What happens to them then.
    pub rules: Rules,
    /// How much is taken; [`Limits::series_max`] is that of the scope.
    pub limits: Limits,
}
