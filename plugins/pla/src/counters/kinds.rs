use counter_poll::Provider;

/// Which of the two replies have the values of counters: each is a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Kinds {
    /// That of a query, for counters of version 2.
    pub(crate) version_2: bool,
    /// That of the registry, for classic ones.
    pub(crate) classic: bool,
}

impl Kinds {
    /// What a counterset needs.
    pub(crate) const fn of(provider: Provider) -> Self {
        match provider {
            Provider::V2(_) => Self { version_2: true, classic: false },
            Provider::V1(_) => Self { version_2: false, classic: true },
        }
    }

    /// Whether there is any.
    pub(crate) const fn any(self) -> bool {
        self.version_2 || self.classic
    }

    /// Both these and others.
    pub(crate) const fn or(self, other: Self) -> Self {
        Self { version_2: self.version_2 || other.version_2, classic: self.classic || other.classic }
    }

    /// Whether all `others` are among these.
    pub(crate) const fn have(self, others: Self) -> bool {
        (self.version_2 || !others.version_2) && (self.classic || !others.classic)
    }
}
