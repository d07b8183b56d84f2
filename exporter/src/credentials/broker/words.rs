//! Log records and messages to requesters.

use config::Identity;
use tracing::{error, info, warn};

use crate::credentials::guard::{Change, Refusal, Refused, Withheld};

/// The name of the host that all KDCs of an account count as: each of their refusals withholds the secret.
pub(super) const KDC: &str = "kdc";

/// What a log record is about.
pub(super) struct Subject<'a> {
    pub(super) identity: &'a str,
    pub(super) account: &'a str,
    pub(super) target: &'a str,
}

/// One line per change, never one per target.
pub(super) fn log_change(of: &Subject<'_>, secret: &[u8], change: &Change) {
    let Subject { identity, account, target } = of;
    match change {
        Change::Accepted => info!(target, identity, account, "Credential accepted"),
        Change::Doubted(refused) => warn!(
            target,
            identity,
            account,
            host = refused.host.name(),
            verdict = refused.refusal.as_str(),
            next_step = match refused.refusal {
                Refusal::Rejected => {
                    "check why this host does not know the account; if the password was changed, correct the secret"
                        .to_owned()
                }
                refusal => next_step(secret, refusal, true),
            },
            "Credential refused by one host and accepted by others; only this host is skipped"
        ),
        Change::Refused(Withheld { refused, may_be_retried, .. }) => error!(
            target,
            identity,
            account,
            host = refused.host.name(),
            verdict = refused.refusal.as_str(),
            next_step = next_step(secret, refused.refusal, *may_be_retried),
            "Credential refused; it is withheld from every target"
        ),
    }
}

fn next_step(secret: &[u8], refusal: Refusal, may_be_retried: bool) -> String {
    let text = match refusal {
        Refusal::Rejected => {
            let odd = support::input::secret::oddity(secret)
                .map(|odd| format!(", which {odd}"))
                .unwrap_or_default();
            let retry = if may_be_retried { "; a reload tries the same one once more" } else { "" };
            return format!("correct the secret{odd}; it is read again automatically{retry}");
        }
        Refusal::Locked => "unlock the account; it is tried again after some minutes, or at a reload",
        Refusal::Disabled => {
            "enable the account, and unlock it; it is tried again after some minutes, or at a reload"
        }
        Refusal::PasswordExpired => {
            "set a new password and write it into the secret; the same one is tried again after some minutes, or at \
             a reload"
        }
    };
    text.to_owned()
}

/// What a host says of the account or the password.
fn said(identity: &Identity, refused: &Refused) -> String {
    let (account, host) = (identity.account_name(), &refused.host);
    match refused.refusal {
        Refusal::Rejected if *host.name() == *KDC => format!("the secret of {account} was rejected by a KDC"),
        Refusal::Rejected => format!("the secret of {account} was rejected by `{host}`"),
        Refusal::Locked => format!("{account} is locked, as `{host}` says"),
        // A KDC does not say which.
        Refusal::Disabled if *host.name() == *KDC => {
            format!("{account} is locked, disabled or has expired, as a KDC says")
        }
        Refusal::Disabled => format!("{account} is disabled or has expired, as `{host}` says"),
        Refusal::PasswordExpired => {
            format!("the password of {account} has expired or must be changed, as `{host}` says")
        }
    }
}

/// When the secret is tried again.
fn until(Withheld { refused, pause, .. }: &Withheld) -> String {
    let minutes = refused.since_unix_s.saturating_add(pause.as_secs()).div_ceil(60);
    format!("withheld until {:02}:{:02} UTC", minutes / 60 % 24, minutes % 60)
}

/// Why a refused secret is withheld.
pub(super) fn withheld(identity: &Identity, withheld: &Withheld) -> String {
    let (said, until) = (said(identity, &withheld.refused), until(withheld));
    let reload =
        if withheld.may_be_retried { "a reload tries it at once" } else { "a reload has tried it already" };
    format!("{said}; {until}, or until it changes; {reload}")
}

/// Why this host does not get a secret that others accept.
pub(super) fn left_out(identity: &Identity, withheld: &Withheld) -> String {
    let (said, until) = (said(identity, &withheld.refused), until(withheld));
    format!("{said}, and others accepted it; {until} from this host")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_that_was_hardly_meant_is_told_with_what_to_do_about_a_refusal() {
        for (secret, odd) in [
            ("hunter2", ""),
            ("hunter2 ", ", which begins or ends with white space, which is a part of the secret"),
            (
                "hunter2\n",
                ", which has more than one line end, and each but the last one is a part of the secret",
            ),
        ] {
            let secret = secret.as_bytes();
            let said = next_step(secret, Refusal::Rejected, false);
            assert!(
                said.starts_with(&format!("correct the secret{odd}; it is read again automatically")),
                "{said}"
            );
            assert!(
                !said.contains("hunter") && !next_step(secret, Refusal::Locked, true).contains("white space")
            );
        }
    }
}
