//! Which dumps the configuration allows: none by default.

mod directory;

use plugin_sdk::Problem;
use serde::Deserialize;

pub(crate) use self::directory::Directory;

/// The section `dump` of a module's settings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(
    deny_unknown_fields,
    default,
    expecting = "a mapping such as `{allow: true, directories: ['C:\\Dumps']}`"
)]
pub(crate) struct Policy {
    /// Whether processes of the target may be dumped at all.
    allow: bool,
    /// Where the dumps may be written.
    directories: Vec<Directory>,
    /// Whether they may be written where the COM+ application has its dumps.
    application_directory: bool,
}

/// Directories in one list.
const DIRECTORIES_MAX: usize = 64;

/// Why a dump is not allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// No module of the target allows any.
    NotAllowed,
    /// The directory is not in the list, which is this.
    NotListed(Vec<String>),
    /// No directory is given, and that of the application may not be used. Those that may be are these.
    NoDirectory(Vec<String>),
}

impl Policy {
    /// What is wrong with it.
    pub(crate) fn problems(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        if self.directories.len() > DIRECTORIES_MAX {
            let message = format!("there are more than {DIRECTORIES_MAX} directories");
            problems.push(Problem::new("/dump/directories", message));
        }
        if self.allow && self.directories.is_empty() && !self.application_directory {
            let message =
                "dumps are allowed, but nowhere: name `directories`, or set `application_directory: true`";
            problems.push(Problem::new("/dump", message));
        }
        problems
    }
}

/// Where a dump may go: `None` is the application's own directory. What goes to the host is written as in the list.
///
/// # Errors
/// If none of `policies`, those of the target's modules, allows it.
pub(crate) fn permitted(
    policies: &[Policy],
    wanted: Option<&Directory>,
) -> Result<Option<Directory>, Refusal> {
    let allowing = || policies.iter().filter(|policy| policy.allow);
    if allowing().next().is_none() {
        return Err(Refusal::NotAllowed);
    }
    let listed = || allowing().flat_map(|policy| &policy.directories);
    let all = || listed().map(ToString::to_string).collect();
    match wanted {
        Some(wanted) => {
            let found = listed().find(|listed| listed.is_same(wanted));
            found.map(|listed| Some(listed.clone())).ok_or_else(|| Refusal::NotListed(all()))
        }
        None if allowing().any(|policy| policy.application_directory) => Ok(None),
        None => Err(Refusal::NoDirectory(all())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(settings: &str) -> Policy {
        let policy: Policy = plugin_sdk::parse_settings(settings).unwrap();
        assert_eq!(policy.problems(), []);
        policy
    }

    fn directory(text: &str) -> Directory {
        Directory::parse(text).unwrap()
    }

    #[test]
    fn nothing_is_allowed_unless_it_is_written() {
        let listed = policy(r#"{"directories": ["C:\\Dumps"], "application_directory": true}"#);
        for policies in [vec![], vec![Policy::default()], vec![listed]] {
            assert_eq!(permitted(&policies, Some(&directory(r"C:\Dumps"))), Err(Refusal::NotAllowed));
            assert_eq!(permitted(&policies, None), Err(Refusal::NotAllowed));
        }
    }

    #[test]
    fn a_listed_directory_goes_to_the_host_as_it_is_in_the_list() {
        let policies =
            [Policy::default(), policy(r#"{"allow": true, "directories": ["C:\\Dumps", "D:\\"]}"#)];
        assert_eq!(permitted(&policies, Some(&directory(r"c:\DUMPS\"))), Ok(Some(directory(r"C:\Dumps"))));
        let listed = vec![r"C:\Dumps".to_owned(), r"D:\".to_owned()];
        let inside = permitted(&policies, Some(&directory(r"C:\Dumps\a")));
        assert_eq!(inside, Err(Refusal::NotListed(listed.clone())));
        assert_eq!(permitted(&policies, None), Err(Refusal::NoDirectory(listed)));
    }

    #[test]
    fn the_directory_of_the_application_has_a_setting_of_its_own() {
        let policies = [policy(r#"{"allow": true, "application_directory": true}"#)];
        assert_eq!(permitted(&policies, None), Ok(None));
        assert_eq!(permitted(&policies, Some(&directory(r"D:\"))), Err(Refusal::NotListed(vec![])));
    }

    #[test]
    fn a_policy_that_allows_nothing_is_a_problem() {
        let nowhere: Policy = plugin_sdk::parse_settings(r#"{"allow": true}"#).unwrap();
        assert_eq!(nowhere.problems()[0].pointer, "/dump");
        let refused =
            plugin_sdk::parse_settings::<Policy>(r#"{"directories": ["C:\\a", "\\\\files\\dumps"]}"#);
        assert_eq!(refused.unwrap_err().pointer, "/directories/1");
    }
}
