use core::fmt;

/// Which limit of a set's folders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Limit {
    /// `MaxFolderCount`
    FolderCount,
    /// `MaxSize`
    Size,
    /// `MinFreeDisk`
    FreeDisk,
}

impl Limit {
    /// All of them, in the order in which they are checked.
    pub const ALL: [Self; 3] = [Self::FolderCount, Self::Size, Self::FreeDisk];

    /// A word for labels.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::FolderCount => "folder_count",
            Self::Size => "size",
            Self::FreeDisk => "free_disk",
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::FolderCount => "MaxFolderCount",
            Self::Size => "MaxSize",
            Self::FreeDisk => "MinFreeDisk",
        })
    }
}
