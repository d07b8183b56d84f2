use std::fs;
use std::os::unix::fs::MetadataExt as _;

/// Who runs this process, and who logged on to this machine if that is another user: after `sudo`, for example.
#[must_use]
pub fn user() -> String {
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
