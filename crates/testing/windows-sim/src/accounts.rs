use std::collections::BTreeMap;

use parking_lot::{Mutex, MutexGuard};
use ssp::{Outcome, Secret};
use wire::NtStatus;

/// An account of a host or of its domain.
#[derive(Clone, Debug)]
pub struct Account {
    /// The domain that it belongs to. Clients may leave it out.
    pub domain: String,
    pub user: String,
    pub password: Secret,
    /// Whether it may read performance counters: an administrator, or a member of Performance Monitor Users.
    pub may_read_counters: bool,
    /// The state that decides the result of a logon with the right password.
    pub state: AccountState,
    /// Number of wrong passwords after which it is locked.
    pub lock_after: Option<u32>,
}

/// Whether an account can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum AccountState {
    #[default]
    Active,
    /// Too many wrong passwords.
    Locked,
    /// Switched off by an administrator.
    Disabled,
    /// The account has expired.
    Expired,
    /// The password has expired.
    PasswordExpired,
    /// It may not log on over the network.
    Restricted,
}

impl Account {
    /// An account that may read counters.
    #[must_use]
    pub fn new(domain: impl Into<String>, user: impl Into<String>, password: Secret) -> Self {
        Self {
            domain: domain.into(),
            user: user.into(),
            password,
            may_read_counters: true,
            state: AccountState::Active,
            lock_after: None,
        }
    }

    fn is(&self, domain: &str, user: &str) -> bool {
        // Windows compares names without case; a client that knows no domain sends none, or a dot.
        let same = |a: &str, b: &str| a.to_lowercase() == b.to_lowercase();
        same(&self.user, user) && (domain.is_empty() || domain == "." || same(&self.domain, domain))
    }
}

/// How many logons an account has seen, over SMB and RPC together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Attempts {
    /// With the right password.
    pub accepted: u64,
    pub refused: u64,
}

/// The account database that hosts share.
#[derive(Debug, Default)]
pub struct Accounts(Mutex<Table>);

#[derive(Debug, Default)]
struct Table {
    accounts: Vec<Account>,
    /// By the name that the client gave, in lower case; there may be no such account.
    attempts: BTreeMap<String, Attempts>,
}

/// Names that are counted; a client that tries more is counted under none.
const NAMES_MAX: usize = 1024;

impl Accounts {
    /// A database of these accounts.
    #[must_use]
    pub fn new(accounts: Vec<Account>) -> Self {
        Self(Mutex::new(Table { accounts, attempts: BTreeMap::new() }))
    }

    /// Changes the accounts while hosts run: a lock, a new password.
    pub fn change(&self, change: impl FnOnce(&mut Vec<Account>)) {
        change(&mut self.table().accounts);
    }

    /// The logons seen so far, by `domain\user` in lower case.
    #[must_use]
    pub fn attempts(&self) -> BTreeMap<String, Attempts> {
        self.table().attempts.clone()
    }

    /// All wrong passwords so far, whatever the account.
    #[must_use]
    pub fn refused(&self) -> u64 {
        self.table().attempts.values().map(|attempts| attempts.refused).sum()
    }

    /// What a logon with this account ends in: success where it can be used.
    pub(crate) fn verdict(&self, domain: &str, user: &str) -> NtStatus {
        let table = self.table();
        match table.find(domain, user).map(|account| account.state) {
            None => NtStatus::STATUS_LOGON_FAILURE,
            Some(AccountState::Active) => NtStatus::STATUS_SUCCESS,
            Some(AccountState::Locked) => NtStatus::STATUS_ACCOUNT_LOCKED_OUT,
            Some(AccountState::Disabled) => NtStatus::STATUS_ACCOUNT_DISABLED,
            Some(AccountState::Expired) => NtStatus::STATUS_ACCOUNT_EXPIRED,
            Some(AccountState::PasswordExpired) => NtStatus::STATUS_PASSWORD_EXPIRED,
            Some(AccountState::Restricted) => NtStatus::STATUS_LOGON_TYPE_NOT_GRANTED,
        }
    }

    pub(crate) fn may_read_counters(&self, domain: &str, user: &str) -> bool {
        self.table()
            .find(domain, user)
            .is_some_and(|account| account.may_read_counters && account.state == AccountState::Active)
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.0.lock()
    }
}

impl Table {
    fn find(&self, domain: &str, user: &str) -> Option<&Account> {
        self.accounts.iter().find(|account| account.is(domain, user))
    }

    fn count(&mut self, domain: &str, user: &str, outcome: Outcome) {
        let name = match self.find(domain, user) {
            Some(account) => format!("{}\\{}", account.domain, account.user),
            None => format!("{domain}\\{user}"),
        }
        .to_lowercase();
        if self.attempts.len() >= NAMES_MAX && !self.attempts.contains_key(&name) {
            return;
        }
        let attempts = self.attempts.entry(name).or_default();
        if outcome == Outcome::Accepted {
            attempts.accepted += 1;
            return;
        }
        attempts.refused += 1;
        let refused = attempts.refused;
        let account = self.accounts.iter_mut().find(|account| account.is(domain, user));
        if let Some(account) = account
            && account.lock_after.is_some_and(|limit| refused >= u64::from(limit))
        {
            account.state = AccountState::Locked;
        }
    }
}

impl ssp::Accounts for Accounts {
    fn password(&self, domain: &str, user: &str) -> Option<Secret> {
        self.table().find(domain, user).map(|account| account.password.clone())
    }

    fn attempted(&self, domain: &str, user: &str, outcome: Outcome) {
        self.table().count(domain, user, outcome);
    }
}

#[cfg(test)]
mod tests {
    use ssp::Accounts as _;

    use super::*;

    #[test]
    fn an_account_is_locked_by_wrong_passwords_and_stays_so_for_the_right_one() {
        let mut account = Account::new("CORP", "Svc-Metrics", Secret::new("right"));
        account.lock_after = Some(2);
        let accounts = Accounts::new(vec![account]);
        accounts.attempted("corp", "svc-metrics", Outcome::BadPassword);
        assert_eq!(accounts.verdict("CORP", "svc-metrics"), NtStatus::STATUS_SUCCESS);
        accounts.attempted("", "SVC-METRICS", Outcome::BadPassword);
        accounts.attempted("CORP", "svc-metrics", Outcome::Accepted);
        assert_eq!(accounts.verdict("CORP", "svc-metrics"), NtStatus::STATUS_ACCOUNT_LOCKED_OUT);
        let seen = Attempts { accepted: 1, refused: 2 };
        assert_eq!(accounts.attempts(), BTreeMap::from([("corp\\svc-metrics".to_owned(), seen)]));
    }

    #[test]
    fn a_user_of_another_domain_is_another_user() {
        let accounts = Accounts::new(vec![Account::new("CORP", "svc", Secret::new("x"))]);
        assert!(accounts.password("OTHER", "svc").is_none());
        assert!(accounts.password(".", "SVC").is_some());
    }
}
