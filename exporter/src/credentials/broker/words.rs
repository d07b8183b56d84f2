//! Log records and messages to requesters.

use config::Identity;
use tracing::{error, info, warn};

use super::Lent;
use crate::credentials::guard::{Change, Refused};

/// One line per change, never one per target.
pub(super) fn log_change(lent: &Lent, change: &Change) {
    let Lent { identity, account, target, .. } = lent;
    match change {
        Change::Accepted => info!(target, identity, account, "Credential accepted"),
        Change::Doubted(refused) => warn!(
            target,
            identity,
            account,
            host = refused.host.name(),
            verdict = refused.refusal.as_str(),
            next_step = "check why this host does not know the account; if the password was changed, \
                         correct the secret",
            "Credential refused by one host and accepted by others; only this host is skipped"
        ),
        Change::Refused(refused) => error!(
            target,
            identity,
            account,
            host = refused.host.name(),
            verdict = refused.refusal.as_str(),
            next_step = next_step(lent),
            "Credential refused; it is withheld from every target until it changes"
        ),
    }
}

/// What to look at where a host refuses a secret.
fn next_step(lent: &Lent) -> String {
    let odd = input::secret::oddity(&lent.secret).map(|odd| format!(", which {odd}")).unwrap_or_default();
    format!("correct the secret{odd}; it is reloaded automatically")
}

/// Why a refused secret is withheld.
pub(super) fn withheld(identity: &Identity, refused: &Refused) -> String {
    format!(
        "the secret of {} was {} by `{}` and is not tried again until it changes",
        account_name(identity),
        refused.refusal.as_str(),
        refused.host
    )
}

/// Why this host does not get a secret that others accept.
pub(super) fn left_out(identity: &Identity, refused: &Refused) -> String {
    format!(
        "the secret of {} was {} by `{}` and accepted by other hosts; `{}` is skipped until \
         `credentials.cooldown` has passed",
        account_name(identity),
        refused.refusal.as_str(),
        refused.host,
        refused.host
    )
}

/// The account as Windows writes it.
pub(super) fn account_name(identity: &Identity) -> String {
    match identity.domain.as_str() {
        "" => identity.username.clone(),
        domain => format!("{domain}\\{}", identity.username),
    }
}
