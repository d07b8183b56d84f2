use series::pipeline::Others;

/// What the configuration says of a profile beside its name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Options {
    /// `others`. Default: what the profile says.
    pub(super) others: Option<Others>,
    /// `bug_compatible`
    pub(super) bug_compatible: bool,
}
