//! What one exporter served, sent and wrote, as files of lines, and how two of these differ.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use regex::Regex;

use crate::Result;

/// Texts by names such as `metrics/text`.
#[derive(Default)]
pub(super) struct Recording {
    pub(super) parts: BTreeMap<String, String>,
}

/// How two recordings differ.
pub(crate) struct Comparison {
    /// A unified diff; empty where nothing differs.
    pub(crate) diff: String,
    /// How many lines of both were compared.
    pub(crate) lines: usize,
    /// How many lines of either side were left out because they may differ.
    pub(crate) allowed: usize,
}

impl Recording {
    /// Compares all lines but those that may differ; both recordings are kept in `folder`, as they were compared.
    pub(super) fn compare(&self, new: &Self, allowed: &[Regex], folder: &Path) -> Result<Comparison> {
        let mut left_out = 0;
        for (recording, name) in [(self, "old"), (new, "new")] {
            left_out += recording.write(&folder.join(name), allowed)?;
        }
        let mut git = Command::new("git");
        git.current_dir(folder).args([
            "--no-pager",
            "diff",
            "--no-index",
            "--no-color",
            "--unified=1",
            "old",
            "new",
        ]);
        let output = git.stdin(Stdio::null()).output().map_err(|error| format!("git: {error}"))?;
        // 1 is a difference.
        if output.status.code().is_none_or(|code| code > 1) {
            return Err(format!("git diff: {}", String::from_utf8_lossy(&output.stderr)).into());
        }
        let lines = self.parts.values().chain(new.parts.values());
        let lines = lines.map(|text| text.lines().count()).sum();
        let diff = String::from_utf8_lossy(&output.stdout).into_owned();
        Ok(Comparison { diff, lines, allowed: left_out })
    }

    fn write(&self, folder: &Path, allowed: &[Regex]) -> Result<usize> {
        let mut left_out = 0;
        for (name, text) in &self.parts {
            let file = folder.join(name);
            fs::create_dir_all(file.parent().unwrap_or(folder))?;
            let mut kept = String::new();
            for line in text.lines() {
                if allowed.iter().any(|pattern| pattern.is_match(line)) {
                    left_out += 1;
                } else {
                    kept.push_str(line);
                    kept.push('\n');
                }
            }
            fs::write(file, kept)?;
        }
        Ok(left_out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "# HELP perfmon_system_processes Processes.\n# TYPE perfmon_system_processes gauge\n\
                        perfmon_system_processes{target=\"a\"} 61\n";

    fn recording(page: &str) -> Recording {
        Recording { parts: [("metrics/text".to_owned(), page.to_owned())].into() }
    }

    fn check(new: &Recording, allowed: &[&str]) -> Comparison {
        let allowed: Vec<Regex> = allowed.iter().map(|pattern| Regex::new(pattern).unwrap()).collect();
        let folder = tempfile::tempdir().unwrap();
        recording(PAGE).compare(new, &allowed, folder.path()).unwrap()
    }

    #[test]
    fn equal_recordings_have_no_difference() {
        let found = check(&recording(PAGE), &[]);
        assert_eq!((found.diff.as_str(), found.lines, found.allowed), ("", 6, 0));
    }

    #[test]
    fn one_sample_and_one_word_of_help_are_differences_unless_they_are_allowed() {
        let sample = recording(&PAGE.replace("} 61", "} 62"));
        let found = check(&sample, &[]).diff;
        assert!(
            found.contains("-perfmon_system_processes{target=\"a\"} 61\n+perfmon_system_processes"),
            "{found}"
        );
        let help = recording(&PAGE.replace("Processes.", "processes."));
        let found = check(&help, &[]).diff;
        assert!(found.contains("+# HELP perfmon_system_processes processes.\n"), "{found}");
        let found = check(&help, &["^# HELP perfmon_system_"]);
        assert_eq!((found.diff.as_str(), found.allowed), ("", 2));
        assert_ne!(check(&sample, &["^# HELP perfmon_system_"]).diff, "");
    }

    #[test]
    fn a_part_that_only_one_of_them_has_is_a_difference() {
        let mut more = recording(PAGE);
        more.parts.insert("sd".to_owned(), "[]\n".to_owned());
        let found = check(&more, &[]).diff;
        assert!(found.contains("new file") && found.contains("+[]"), "{found}");
    }
}
