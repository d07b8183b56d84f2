//! The tables of names and of help texts that the registry has.

use std::collections::HashMap;

use wire::WideStr;

/// A table of texts by index: the value `Counter 009` or `Help 009` of `HKEY_PERFORMANCE_DATA`.
///
/// It is a `REG_MULTI_SZ` of an index, its text, the next index, and so on. Real tables are damaged: installers
/// write two texts for one index, or omit one, so that everything after it is shifted. Texts are skipped until the
/// next index.
#[derive(Clone, Debug, Default)]
pub struct NameTable {
    texts: HashMap<u32, String>,
    faults: NameTableFaults,
}

/// What is wrong with a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct NameTableFaults {
    /// Repeated indexes; the first text is used.
    pub duplicates: usize,
    /// Texts instead of an index.
    pub stray_texts: usize,
    /// Whether there were more entries than [`NameTable::ENTRIES_MAX`].
    pub is_cut: bool,
}

impl NameTable {
    /// Maximum texts. A host with all of Microsoft's servers has some 20,000.
    pub const ENTRIES_MAX: usize = 1 << 17;

    /// Reads the value's bytes.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Self {
        let mut table = Self::default();
        let mut rest = bytes;
        let mut index: Option<u32> = None;
        while rest.len() >= 2 {
            let text = WideStr::until_nul_or_end(rest);
            let taken = text.as_bytes().len() + 2 /* NUL */;
            rest = rest.get(taken..).unwrap_or_default();
            match index.take() {
                // An index whose text is empty has none; the end of the list looks like one, too.
                Some(index) => {
                    if table.texts.len() >= Self::ENTRIES_MAX {
                        table.faults.is_cut = true;
                        break;
                    }
                    table.insert(index, text);
                }
                None if text.as_bytes().is_empty() => {}
                None => {
                    index = index_of(text);
                    table.faults.stray_texts += usize::from(index.is_none());
                }
            }
        }
        table
    }

    fn insert(&mut self, index: u32, text: WideStr<'_>) {
        match self.texts.entry(index) {
            std::collections::hash_map::Entry::Occupied(_) => self.faults.duplicates += 1,
            std::collections::hash_map::Entry::Vacant(entry) => {
                entry.insert(text.chars().collect());
            }
        }
    }

    /// The text of an index.
    #[must_use]
    pub fn get(&self, index: u32) -> Option<&str> {
        self.texts.get(&index).map(String::as_str)
    }

    /// All texts, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &str)> {
        self.texts.iter().map(|(index, text)| (*index, text.as_str()))
    }

    /// How many texts there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// What is wrong with it.
    #[must_use]
    pub const fn faults(&self) -> NameTableFaults {
        self.faults
    }
}

/// Digits only: no counter is called `2`.
fn index_of(text: WideStr<'_>) -> Option<u32> {
    let mut index = 0_u32;
    for character in text.chars() {
        index = index.checked_mul(10)?.checked_add(character.to_digit(10)?)?;
    }
    Some(index)
}
