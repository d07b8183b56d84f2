//! Searches for counters, with synonyms for words in their names.

use super::wanted::contains;

/// Words that people search for, and the words that names of counters contain instead.
const SYNONYMS: &[(&str, &str)] = &[
    ("cpu", "processor"),
    ("core", "processor"),
    ("ram", "memory"),
    ("nic", "network"),
    ("net", "network"),
    ("ethernet", "network"),
    ("lan", "network"),
    ("hdd", "disk"),
    ("ssd", "disk"),
    ("drive", "disk"),
    ("storage", "disk"),
];

/// A search: every word, or its synonym, must be found.
pub(super) struct Search(Vec<[String; 2]>);

impl Search {
    pub(super) fn of(text: &str) -> Self {
        let words = text.split_whitespace().map(str::to_lowercase);
        Self(words.map(|word| [synonym(&word).to_owned(), word]).collect())
    }

    /// Whether every word or its synonym is in one of these texts.
    pub(super) fn finds(&self, texts: &[&str]) -> bool {
        let is_there = |word: &String| texts.iter().any(|text| contains(text, word));
        self.0.iter().all(|either| either.iter().any(is_there))
    }
}

fn synonym(word: &str) -> &str {
    SYNONYMS.iter().find(|(own, _)| *own == word).map_or(word, |(_, synonym)| synonym)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_finds_synonyms() {
        let finds = |text: &str, names: &[&str]| Search::of(text).finds(names);
        assert!(finds("cpu", &["Processor Information", "% Idle Time"]));
        assert!(finds("CPU idle", &["Processor Information", "% Idle Time"]));
        assert!(!finds("cpu user", &["Processor Information", "% Idle Time"]));
        assert!(finds("ram", &["Memory", "Available MBytes"]));
        assert!(finds("nic", &["Network Interface", "Bytes Total/sec"]));
        assert!(finds("ssd", &["PhysicalDisk", "Avg. Disk sec/Read"]));
        // The word itself is found, too.
        assert!(finds("cpu", &["Hyper-V Hypervisor", "vCPU waits"]));
        assert!(!finds("cpu", &["Process V2", "Handle Count"]));
    }
}
