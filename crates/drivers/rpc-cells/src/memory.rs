use std::sync::atomic::AtomicU64;

/// Memory that cells live in. Another process may read it at any time.
pub trait Memory: Send + Sync {
    /// All words, also of sections that are not there yet. They are always the same ones.
    fn words(&self) -> &[AtomicU64];

    /// Makes `sections` sections writable. Returns false if that is not possible.
    fn grow(&self, sections: u16) -> bool {
        let _ = sections;
        true
    }
}

/// Memory of somebody else, which lives as long as the process.
impl Memory for &'static [AtomicU64] {
    fn words(&self) -> &[AtomicU64] {
        self
    }
}

/// Memory of this process, which no other reads.
impl Memory for Box<[AtomicU64]> {
    fn words(&self) -> &[AtomicU64] {
        self
    }
}
