//! Records of who had which process dumped.

use std::fs;
use std::os::unix::fs::MetadataExt as _;

use ms_dtyp::Guid;

/// An attempt to dump a process: it is recorded before a host hears of it, and when it ends, however it ends.
#[derive(Debug)]
pub(super) struct Attempt {
    user: String,
    target: String,
    container: String,
    directory: String,
    is_ended: bool,
}

/// The field by which the exporter's log finds records of this kind.
const AUDIT: &str = "process_dump";
/// Characters of an option in a record.
const FIELD_LEN_MAX: usize = 320;
/// What a record has in place of a directory that is not given.
const APPLICATION_DIRECTORY: &str = "of the application";

impl Attempt {
    pub(super) fn new(target: &str, container: Guid, directory: Option<&str>) -> Self {
        let cut = |text: &str| text.chars().take(FIELD_LEN_MAX).collect();
        Self {
            user: user(),
            target: cut(target),
            container: container.to_string(),
            directory: directory.map_or_else(|| APPLICATION_DIRECTORY.to_owned(), cut),
            is_ended: false,
        }
    }

    /// The configuration allows it, and the host is asked next.
    pub(super) fn requested(&self) {
        let Self { user, target, container, directory, .. } = self;
        tracing::warn!(audit = AUDIT, user, target, container, directory, "Process dump requested");
    }

    /// How it ended, in one line: `written: …`, `refused: …`, `failed: …`.
    pub(super) fn end(mut self, outcome: &str) {
        self.record(outcome);
    }

    fn record(&mut self, outcome: &str) {
        self.is_ended = true;
        let Self { user, target, container, directory, .. } = self;
        tracing::warn!(audit = AUDIT, user, target, container, directory, outcome, "Process dump ended");
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        if !self.is_ended {
            self.record("cancelled: the host may write it nevertheless");
        }
    }
}

/// Who runs this process, and who logged on to this machine if that is another user: after `sudo`, for example.
fn user() -> String {
    let uid = fs::metadata("/proc/self").map(|process| process.uid());
    let Ok(uid) = uid else { return "unknown".to_owned() };
    let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let login = fs::read_to_string("/proc/self/loginuid").ok().and_then(|text| text.trim().parse().ok());
    match login.filter(|login| ![uid, NOBODY].contains(login)) {
        Some(login) => format!("{}, logged on as {}", name(&users, uid), name(&users, login)),
        None => name(&users, uid),
    }
}

/// What the kernel has as the login of processes that were not started by a logon.
const NOBODY: u32 = u32::MAX;

/// `alice (1000)`, or the number alone of a user without a name.
fn name(users: &str, uid: u32) -> String {
    let found = users.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)?.parse() == Ok(uid)).then_some(name)
    });
    found.map_or_else(|| uid.to_string(), |name| format!("{name} ({uid})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_have_names_where_the_machine_knows_them() {
        let users = "root:x:0:0:root:/root:/bin/sh\nbroken\nalice:x:1000:1000::/home/alice:/bin/sh\n";
        assert_eq!(name(users, 1000), "alice (1000)");
        assert_eq!(name(users, 7), "7");
        assert!(user().contains(|c: char| c.is_ascii_digit()), "{}", user());
    }
}
