//! What the log and who asks are told.

use plugin_host::GeneralReason;
use plugin_host::sink::CredentialAnswer;
use tracing::{error, info, warn};

use super::Lent;
use crate::config::Identity;
use crate::credentials::guard::{Change, Refused};

/// One line per change, never one per target.
pub(super) fn tell(lent: &Lent, change: &Change) {
    let Lent { identity, account, target, .. } = lent;
    match change {
        Change::Accepted => info!(target, identity, account, "Credential accepted"),
        Change::Doubted(refused) => warn!(
            target,
            identity,
            account,
            host = refused.host,
            verdict = refused.refusal.word(),
            "Credential refused by one host and accepted by others; this host is left out, and one more host decides"
        ),
        Change::Refused(refused) => error!(
            target,
            identity,
            account,
            host = refused.host,
            verdict = refused.refusal.word(),
            next_step = "correct the secret; it is read again by itself",
            "Credential refused; it is withheld from every target until it changes"
        ),
    }
}

/// The answer to who wants a secret that was refused.
pub(super) fn withheld(identity: &Identity, refused: &Refused) -> CredentialAnswer {
    let message = format!(
        "the secret of {} was {} by `{}` and is not tried again until it changes",
        account_name(identity),
        refused.refusal.word(),
        refused.host
    );
    CredentialAnswer::Denied { reason: GeneralReason::CredentialsWithheld, message }
}

/// The account as Windows writes it.
pub(super) fn account_name(identity: &Identity) -> String {
    match identity.domain.as_str() {
        "" => identity.username.clone(),
        domain => format!("{domain}\\{}", identity.username),
    }
}
