//! What is below `HKEY_LOCAL_MACHINE` of a host: keys and values that may change while it runs.
//!
//! What a host computes, such as the tables of names below `Perflib`, is not here; a value that is set here replaces it.

mod installed;
mod services;

use std::collections::BTreeMap;

use counters::rrp::types::ValueType;
use parking_lot::{Mutex, MutexGuard};
use wire::{FileTime, encode_utf16};

pub(crate) use self::installed::{install, netbios_name};

/// The keys of a host. Names are compared without case. A path has backslashes between its parts, and none in front.
#[derive(Debug, Default)]
pub struct Registry {
    root: Mutex<Key>,
}

#[derive(Debug, Default)]
struct Key {
    /// The name as it was written first.
    name: String,
    last_write: FileTime,
    /// By their names in lower case.
    values: BTreeMap<String, (String, RegistryValue)>,
    /// By their names in lower case.
    keys: BTreeMap<String, Self>,
}

/// What a key has at a moment.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct KeyContents {
    /// The names of its subkeys, by name.
    pub sub_keys: Vec<String>,
    /// Its values, by name.
    pub values: Vec<(String, RegistryValue)>,
    /// When the key, a value of it or the list of its subkeys was changed last.
    pub last_write: FileTime,
}

impl Registry {
    /// A registry without keys.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// What the key has, if it is there. An empty path is that of the root.
    #[must_use]
    pub fn key(&self, path: &str) -> Option<KeyContents> {
        let root = self.root();
        let key = parts(path).try_fold(&*root, |key, part| key.keys.get(&part.to_lowercase()))?;
        Some(KeyContents {
            sub_keys: key.keys.values().map(|key| key.name.clone()).collect(),
            values: key.values.values().cloned().collect(),
            last_write: key.last_write,
        })
    }

    /// Adds a key, with those above it that are not there.
    pub fn add_key(&self, path: &str, now: FileTime) {
        self.root().make(path, now);
    }

    /// Adds a value or replaces it, and adds its key where that is not there.
    pub fn set_value(&self, path: &str, name: &str, value: RegistryValue, now: FileTime) {
        let mut root = self.root();
        let key = root.make(path, now);
        key.values.insert(name.to_lowercase(), (name.to_owned(), value));
        key.last_write = now;
    }

    /// Removes a value. False where it was not there.
    pub fn remove_value(&self, path: &str, name: &str, now: FileTime) -> bool {
        let mut root = self.root();
        let Some(key) = root.find(path) else { return false };
        let removed = key.values.remove(&name.to_lowercase()).is_some();
        if removed {
            key.last_write = now;
        }
        removed
    }

    /// Removes a key with all below it. False where it was not there.
    pub fn remove_key(&self, path: &str, now: FileTime) -> bool {
        let (above, name) = path.rsplit_once('\\').unwrap_or(("", path));
        let mut root = self.root();
        let Some(key) = root.find(above) else { return false };
        let removed = key.keys.remove(&name.to_lowercase()).is_some();
        if removed {
            key.last_write = now;
        }
        removed
    }

    fn root(&self) -> MutexGuard<'_, Key> {
        self.root.lock()
    }
}

impl Key {
    fn find(&mut self, path: &str) -> Option<&mut Self> {
        parts(path).try_fold(self, |key, part| key.keys.get_mut(&part.to_lowercase()))
    }

    fn make(&mut self, path: &str, now: FileTime) -> &mut Self {
        parts(path).fold(self, |key, part| {
            let new = || Self { name: part.to_owned(), last_write: now, ..Self::default() };
            key.keys.entry(part.to_lowercase()).or_insert_with(new)
        })
    }
}

/// The parts of a path.
fn parts(path: &str) -> impl Iterator<Item = &str> {
    path.split('\\').filter(|part| !part.is_empty())
}

/// A value of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegistryValue {
    /// What its bytes are.
    pub value_type: ValueType,
    pub bytes: Vec<u8>,
}

impl RegistryValue {
    #[must_use]
    pub fn text(text: &str) -> Self {
        Self { value_type: ValueType::REG_SZ, bytes: with_nul(text) }
    }

    /// A text with names of environment variables.
    #[must_use]
    pub fn expandable(text: &str) -> Self {
        Self { value_type: ValueType::REG_EXPAND_SZ, bytes: with_nul(text) }
    }

    #[must_use]
    pub fn texts(texts: &[&str]) -> Self {
        let mut bytes: Vec<u8> = texts.iter().flat_map(|text| with_nul(text)).collect();
        bytes.extend([0, 0]);
        Self { value_type: ValueType::REG_MULTI_SZ, bytes }
    }

    /// A number of 32 bits.
    #[must_use]
    pub fn dword(number: u32) -> Self {
        Self { value_type: ValueType::REG_DWORD, bytes: number.to_le_bytes().into() }
    }

    /// A number of 64 bits.
    #[must_use]
    pub fn qword(number: u64) -> Self {
        Self { value_type: ValueType::REG_QWORD, bytes: number.to_le_bytes().into() }
    }
}

fn with_nul(text: &str) -> Vec<u8> {
    let mut bytes = encode_utf16(text);
    bytes.extend([0, 0]);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_says_when_it_was_changed_last_and_is_found_whatever_its_case() {
        let registry = Registry::new();
        registry.set_value(r"SOFTWARE\Vendor", "Build", RegistryValue::dword(7), FileTime(1));
        registry.set_value(r"software\VENDOR", "BUILD", RegistryValue::dword(8), FileTime(2));
        let key = registry.key(r"Software\vendor").unwrap();
        assert_eq!(key.values, [("BUILD".to_owned(), RegistryValue::dword(8))]);
        assert_eq!(key.last_write, FileTime(2));
        assert!(registry.remove_value("software\\vendor", "build", FileTime(3)));
        assert!(!registry.remove_value("software\\vendor", "build", FileTime(4)));
        assert_eq!(registry.key(r"software\vendor").unwrap().last_write, FileTime(3));
    }

    #[test]
    fn a_key_goes_with_all_below_it() {
        let registry = Registry::new();
        registry.add_key(r"A\B\C", FileTime(1));
        assert!(registry.remove_key(r"a\b", FileTime(2)));
        assert!(!registry.remove_key(r"a\b", FileTime(2)));
        assert_eq!(registry.key(r"A\B\C"), None);
        assert_eq!(registry.key("A").unwrap().last_write, FileTime(2));
    }
}
