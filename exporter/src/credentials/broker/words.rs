//! Log records and messages to requesters.

use config::Identity;
use tracing::{error, info, warn};

use super::OpenLease;
use crate::credentials::guard::{Change, Refusal, Refused, Withheld};

/// One line per change, never one per target.
pub(super) fn log_change(open: &OpenLease, change: &Change) {
    let OpenLease { identity, account, target, .. } = open;
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
                refusal => next_step(open, refusal, true),
            },
            "Credential refused by one host and accepted by others; only this host is skipped"
        ),
        Change::Refused(Withheld { refused, may_be_retried, .. }) => error!(
            target,
            identity,
            account,
            host = refused.host.name(),
            verdict = refused.refusal.as_str(),
            next_step = next_step(open, refused.refusal, *may_be_retried),
            "Credential refused; it is withheld from every target"
        ),
    }
}

fn next_step(open: &OpenLease, refusal: Refusal, may_be_retried: bool) -> String {
    let text = match refusal {
        Refusal::Rejected => {
            let odd = support::input::secret::oddity(&open.secret)
                .map(|odd| format!(", which {odd}"))
                .unwrap_or_default();
            let retry = if may_be_retried { "; a reload tries the same one once more" } else { "" };
            return format!("correct the secret{odd}; it is read again automatically{retry}");
        }
        Refusal::Locked => "unlock the account; it is tried again after some minutes, or at a reload",
        Refusal::Disabled => "enable the account; it is tried again after some minutes, or at a reload",
        Refusal::PasswordExpired => {
            "set a new password and write it into the secret; the same one is tried again after some minutes, or at \
             a reload"
        }
    };
    text.to_owned()
}

/// What a host says of the account or the password.
fn said(identity: &Identity, refused: &Refused) -> String {
    let (account, host) = (account_name(identity), &refused.host);
    match refused.refusal {
        Refusal::Rejected => format!("the secret of {account} was rejected by `{host}`"),
        Refusal::Locked => format!("{account} is locked, as `{host}` says"),
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

/// The account as Windows writes it.
pub(super) fn account_name(identity: &Identity) -> String {
    match identity.domain.as_str() {
        "" => identity.username.clone(),
        domain => format!("{domain}\\{}", identity.username),
    }
}

#[cfg(test)]
mod tests {
    use zeroize::Zeroizing;

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
            let open = OpenLease {
                identity: "corp".to_owned(),
                account: r"CORP\svc".to_owned(),
                target: "web1".to_owned(),
                secret: Zeroizing::new(secret.as_bytes().to_vec()),
            };
            let said = next_step(&open, Refusal::Rejected, false);
            assert!(
                said.starts_with(&format!("correct the secret{odd}; it is read again automatically")),
                "{said}"
            );
            assert!(
                !said.contains("hunter") && !next_step(&open, Refusal::Locked, true).contains("white space")
            );
        }
    }
}
