use std::fmt;
use std::fs;
use std::io;

use crate::error::Error;

/// A process, told apart from all others that this machine has run or will run: process ids are used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ProcessIdentity {
    pub pid: u32,
    /// When it was started, in clock ticks after boot: field `starttime` of `/proc/PID/stat`.
    pub start_ticks: u64,
    /// The boot of the machine: the first half of `/proc/sys/kernel/random/boot_id`.
    pub boot_id: u64,
}

impl ProcessIdentity {
    /// This process.
    ///
    /// # Errors
    /// When `/proc` does not tell.
    pub fn current() -> Result<Self, Error> {
        let pid = std::process::id();
        let start_ticks = start_ticks(pid).map_err(|error| Error::Proc { pid, error })?;
        let boot_id = boot_id().map_err(|error| Error::Proc { pid, error })?;
        Ok(Self { pid, start_ticks, boot_id })
    }

    /// Whether it runs, as far as `/proc` tells. A process of another PID namespace does not.
    #[must_use]
    pub fn is_running(&self) -> bool {
        boot_id().is_ok_and(|boot_id| boot_id == self.boot_id)
            && start_ticks(self.pid).is_ok_and(|ticks| ticks == self.start_ticks)
    }

    /// The inverse of `Display`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('-');
        let identity = Self {
            pid: parts.next()?.parse().ok()?,
            start_ticks: parts.next()?.parse().ok()?,
            boot_id: u64::from_str_radix(parts.next()?, 16).ok()?,
        };
        // Only what `Display` writes: no signs, no leading zeros.
        (identity.to_string() == text).then_some(identity)
    }
}

impl fmt::Display for ProcessIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}-{:016x}", self.pid, self.start_ticks, self.boot_id)
    }
}

fn start_ticks(pid: u32) -> io::Result<u64> {
    let stat = fs::read(format!("/proc/{pid}/stat"))?;
    parse_start_ticks(&stat).ok_or_else(|| io::Error::other("field `starttime` is missing"))
}

/// The second field is the name of the program in parentheses, which may contain anything, parentheses too.
fn parse_start_ticks(stat: &[u8]) -> Option<u64> {
    let end = stat.iter().rposition(|&byte| byte == b')')?;
    let fields = std::str::from_utf8(&stat[end + 1..]).ok()?;
    fields.split_ascii_whitespace().nth(START_TIME - FIELDS_BEFORE)?.parse().ok()
}

/// proc_pid_stat(5) counts the fields from 1.
const START_TIME: usize = 22;
const FIELDS_BEFORE: usize = 3;

fn boot_id() -> io::Result<u64> {
    let text = fs::read_to_string("/proc/sys/kernel/random/boot_id")?;
    parse_boot_id(&text).ok_or_else(|| io::Error::other("the boot id is not a UUID"))
}

fn parse_boot_id(text: &str) -> Option<u64> {
    let digits: String = text.trim().chars().filter(|c| *c != '-').collect();
    u64::from_str_radix(digits.get(..16)?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_program_cannot_move_the_fields_of_its_process() {
        let rest = "S 1 7 7 0 -1 4194560 1 0 0 0 1 1 0 0 20 0 1 0 98765 1 1";
        for name in ["cat", "a b", ") S 1 1 (", "((", "1 2 3 4 5)"] {
            let stat = format!("7 ({name}) {rest}");
            assert_eq!(parse_start_ticks(stat.as_bytes()), Some(98765), "{name}");
        }
        for bad in ["", "7 cat S 1", "7 (cat) S 1 2 3", "7 (cat)"] {
            assert_eq!(parse_start_ticks(bad.as_bytes()), None, "{bad}");
        }
    }

    #[test]
    fn an_identity_is_read_only_as_it_is_written() {
        let identity = ProcessIdentity { pid: 77, start_ticks: 98765, boot_id: 0xab };
        assert_eq!(identity.to_string(), "77-98765-00000000000000ab");
        assert_eq!(ProcessIdentity::parse("77-98765-00000000000000ab"), Some(identity));
        for bad in ["", "77", "077-98765-00000000000000ab", "77-98765-ab", "+7-98765-00000000000000ab"] {
            assert_eq!(ProcessIdentity::parse(bad), None, "{bad}");
        }
        assert_eq!(parse_boot_id("01234567-89ab-cdef-0123-456789abcdef\n"), Some(0x0123_4567_89ab_cdef));
        assert_eq!(parse_boot_id("0123\n"), None);
    }

    #[test]
    fn a_process_runs_until_another_start_or_boot_has_its_number() {
        let own = ProcessIdentity::current().expect("/proc is there");
        assert!(own.is_running());
        assert!(!ProcessIdentity { start_ticks: own.start_ticks + 1, ..own }.is_running());
        assert!(!ProcessIdentity { boot_id: !own.boot_id, ..own }.is_running());
        assert!(!ProcessIdentity { pid: u32::MAX, ..own }.is_running());
    }
}
