use crate::Secret;

/// The account database of a server.
pub trait Accounts: Send + Sync {
    /// The password of an account, or `None` where there is no such account.
    ///
    /// Names are given as the client wrote them; whether case matters, and which domains are ours, is decided here.
    fn password(&self, domain: &str, user: &str) -> Option<Secret>;

    /// Called once for every logon that names an account, to count attempts and lock accounts.
    fn attempted(&self, domain: &str, user: &str, outcome: Outcome);
}

/// How a logon ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Outcome {
    /// The password is right.
    Accepted,
    /// There is no such account.
    UnknownAccount,
    /// The password is wrong.
    BadPassword,
    /// The client names an account, and the rest of its message is unusable.
    Malformed,
}
