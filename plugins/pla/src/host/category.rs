//! The words for categories of sets.

use ms_pla::Category;
use serde::Deserialize;

/// A category of sets, as people write it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case", expecting = "a category of sets such as `user_defined`")]
#[value(rename_all = "snake_case")]
pub(crate) enum CategoryWord {
    /// sets that people made
    #[default]
    UserDefined,
    /// sets that belong to Windows
    System,
    /// traces that run now
    Session,
    /// traces that begin when the host starts
    BootSession,
}

impl CategoryWord {
    /// What the host calls it.
    pub(crate) const fn category(self) -> Category {
        match self {
            Self::UserDefined => Category::Server,
            Self::System => Category::System,
            Self::Session => Category::TraceSession,
            Self::BootSession => Category::BootTraceSession,
        }
    }

    /// The word.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::UserDefined => "user_defined",
            Self::System => "system",
            Self::Session => "session",
            Self::BootSession => "boot_session",
        }
    }
}
