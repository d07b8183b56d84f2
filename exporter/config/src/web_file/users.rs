use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::item::Item;

pub const WEB_USERS_MAX: usize = 1_000;
/// Maximum bcrypt cost: this one takes some ten seconds, and clients do not wait longer.
const COST_MAX: u32 = 18;

/// `basic_auth_users`: names and bcrypt hashes.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Users {
    hashes: BTreeMap<String, Arc<str>>,
    cost: u32,
}

impl Users {
    /// Whether anybody is let in without a password.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.hashes.is_empty()
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.hashes.len()
    }

    /// The hash of a user's password.
    #[must_use]
    pub fn hash(&self, user: &str) -> Option<&Arc<str>> {
        self.hashes.get(user)
    }

    /// The highest cost among them.
    #[must_use]
    pub fn cost(&self) -> u32 {
        self.cost
    }
}

impl fmt::Debug for Users {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.hashes.keys().map(|name| (name, "***"))).finish()
    }
}

/// Reads `basic_auth_users`. No message shows a hash.
pub(super) fn users(item: &Item<'_>) -> Users {
    let mut users = Users::default();
    let entries = item.named();
    if entries.len() > WEB_USERS_MAX {
        item.problem(format!("has {} entries, the limit is {WEB_USERS_MAX}", entries.len()), None);
    }
    for (entry, item) in entries.iter().take(WEB_USERS_MAX) {
        let Some((hash, cost)) = hash(item) else { continue };
        if entry.key.is_empty() || entry.key.contains(':') || entry.key.contains(char::is_control) {
            let hint = "basic authentication cannot carry an empty name, a colon or a control character";
            item.problem("this user could never log in", Some(hint.to_owned()));
            continue;
        }
        users.cost = users.cost.max(cost);
        users.hashes.insert(entry.key.clone(), hash.into());
    }
    users
}

fn hash<'a>(item: &Item<'a>) -> Option<(&'a str, u32)> {
    let hint = || Some("make one with `htpasswd -nBC 10 \"\" | tr -d ':\\n'`".to_owned());
    let text = item.text()?;
    let Ok(parts) = bcrypt::HashParts::from_str(text) else {
        item.problem("is not a bcrypt hash", hint());
        return None;
    };
    match parts.get_cost() {
        cost @ 4..=COST_MAX => Some((text, cost)),
        cost => {
            item.problem(format!("the hash has the cost {cost}; only 4 to {COST_MAX} are compared"), hint());
            None
        }
    }
}
