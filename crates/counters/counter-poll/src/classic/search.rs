use crate::Wanted;
use crate::missing::Missing;

/// What is searched for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Search<'a> {
    pub(crate) wanted: &'a [Wanted],
    /// Which of them no version 2 counterset is.
    pub(crate) unmet: &'a [Unmet],
    /// Names of the version 2 countersets that are watched: patterns match no classic object of such a name.
    pub(crate) watched_names: &'a [String],
}

/// Something that is wanted and may be a classic object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unmet {
    /// Its place among all that is wanted.
    pub(crate) wanted: usize,
    /// Of a choice, how many names come before that of the version 2 counterset that the host has.
    pub(crate) names_max: usize,
}

/// What the replies of a collection showed.
#[derive(Debug)]
pub(crate) struct ClassicSeen<U> {
    /// Objects of which there are no values.
    pub(crate) missing: Vec<Missing<U>>,
    /// Of each object that is watched, in order, whether its values were sent.
    pub(crate) covered: Vec<bool>,
}
