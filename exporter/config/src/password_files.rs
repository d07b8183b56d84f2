//! Which readers see the paths of files with secrets.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::Identity;

/// Paths of files with passwords, keys or tickets. Messages about one that cannot be read name them; readers of pages who gave neither
/// password nor certificate see these messages without them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PasswordFiles(BTreeSet<String>);

impl PasswordFiles {
    /// Adds the files of these identities.
    pub fn add(&mut self, identities: &BTreeMap<String, Identity>) {
        let files = identities.values().filter_map(|identity| identity.secret.file());
        self.0.extend(files.map(|path| path.display().to_string()));
    }

    /// `text` without the paths.
    #[must_use]
    pub fn hide<'a>(&self, text: &'a str) -> Cow<'a, str> {
        const PREFIXES: [&str; 3] = ["password file ", "keytab ", "credential cache "];
        let mut hidden = Cow::Borrowed(text);
        // A path that another one begins with comes after it.
        for prefix in PREFIXES.iter().filter(|prefix| text.contains(*prefix)) {
            for path in self.0.iter().rev() {
                let named = format!("{prefix}{path}");
                if hidden.contains(&named) {
                    hidden = Cow::Owned(hidden.replace(&named, prefix.trim_end()));
                }
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
