//! The words for categories of sets, and what hosts call them before a name.

use counter_types::NamePattern;
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

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::UserDefined => "user_defined",
            Self::System => "system",
            Self::Session => "session",
            Self::BootSession => "boot_session",
        }
    }
}

/// Whether a host may take what stands before the first backslash of a name for a category. Other names may have backslashes:
/// such sets are in folders.
pub(crate) fn is_behind_category(name: &str) -> bool {
    name.split_once('\\')
        .is_some_and(|(first, _)| CATEGORIES.iter().any(|category| first.eq_ignore_ascii_case(category)))
}

/// Whether these patterns let a set be started and stopped. They are about sets that people made, and `*` is not about others.
pub(crate) fn may_control(patterns: &[NamePattern], name: &str) -> bool {
    !is_behind_category(name) && patterns.iter().any(|pattern| pattern.matches(name))
}

/// What hosts call the categories.
const CATEGORIES: [&str; 4] = ["Service", "System", "Session", "Autosession"];
