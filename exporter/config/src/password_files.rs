//! Which readers see the paths of password files.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use support::input::secret::SecretSource;

use super::Identity;

/// Paths of password files. Messages about a password that cannot be read name them; readers of pages who gave neither
/// password nor certificate see these messages without them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PasswordFiles(BTreeSet<String>);

impl PasswordFiles {
    /// Adds the files of these identities.
    pub fn add(&mut self, identities: &BTreeMap<String, Identity>) {
        let paths = identities.values().filter_map(|identity| match &identity.secret {
            SecretSource::File(path) => Some(path.display().to_string()),
            SecretSource::Environment(_) => None,
        });
        self.0.extend(paths);
    }

    /// `text` without the paths.
    #[must_use]
    pub fn hide<'a>(&self, text: &'a str) -> Cow<'a, str> {
        const PREFIX: &str = "password file ";
        let mut hidden = Cow::Borrowed(text);
        // A path that another one begins with comes after it.
        for path in self.0.iter().rev().filter(|_| text.contains(PREFIX)) {
            let named = format!("{PREFIX}{path}");
            if hidden.contains(&named) {
                hidden = Cow::Owned(hidden.replace(&named, PREFIX.trim_end()));
            }
        }
        hidden
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_hidden_as_a_whole_and_nothing_else() {
        let files = PasswordFiles(["/run/pw", "/run/pw2"].map(str::to_owned).into());
        let text = "a: password file /run/pw2 is empty; password file /run/pw is empty; /run/pw";
        assert_eq!(files.hide(text), "a: password file is empty; password file is empty; /run/pw");
        assert_eq!(files.hide("password file"), "password file");
    }
}
