//! What a host refused is asked for ever more rarely, whatever becomes of the connection meanwhile: each attempt takes logons, or
//! a part of the collection's time.

use std::time::Duration;

use plugin_sdk::{Failure, GeneralReason, Reason, Stage};
use rpc::Pause;

/// Remembers why something was not given, until it is tried again. Times are those of [`plugin_sdk::Collection::began`].
#[derive(Debug, Default)]
pub struct Backoff {
    failed: Option<(Pause, Failure)>,
    /// Whether the host gave it before.
    was_given: bool,
}

impl Backoff {
    /// Begins an attempt, which counts as failed until [`succeeded`](Self::succeeded) or [`forget`](Self::forget).
    ///
    /// # Errors
    /// Why the last attempt failed, when it is too early for another one.
    pub fn begin(&mut self, now: Duration) -> Result<(), Failure> {
        self.check(now)?;
        // Set before the attempt, because the collection may be aborted during it.
        let message = "the collection ended before the host answered";
        self.fail(now, &Failure::new(Stage::Bind, GeneralReason::Timeout, message));
        Ok(())
    }

    /// Whether an attempt may be made, which counts as failed only after [`fail`](Self::fail): that its collection ended before the
    /// host answered says nothing.
    ///
    /// # Errors
    /// Why the last attempt failed, when it is too early for another one.
    pub fn check(&self, now: Duration) -> Result<(), Failure> {
        match &self.failed {
            Some((pause, why)) if !pause.is_over(now) => Err(why.clone()),
            _ => Ok(()),
        }
    }

    /// The attempt failed. What the host gave before is tried again soon.
    pub fn fail(&mut self, now: Duration, why: &Failure) {
        let shortest = if self.was_given { Pause::AFTER_LOSS } else { Pause::NEVER_THERE };
        self.fail_for(now, shortest, why);
    }

    /// The attempt failed, and another one costs more than this: it is not made soon, even if the host gave it before.
    pub fn fail_with_others(&mut self, now: Duration, why: &Failure) {
        self.fail_for(now, Pause::NEVER_THERE, why);
    }

    fn fail_for(&mut self, now: Duration, shortest: Duration, why: &Failure) {
        let mut pause = self.failed.take().map(|(pause, _)| pause).unwrap_or_default();
        pause.extend(now, shortest);
        if is_guarded(why) {
            pause.cut_short();
        }
        self.failed = Some((pause, why.clone()));
    }

    /// The host gave it.
    pub fn succeeded(&mut self) {
        (self.failed, self.was_given) = (None, true);
    }

    /// The host gave a part of it.
    pub const fn gave_some(&mut self) {
        self.was_given = true;
    }

    /// Forgets the failures: somebody may have removed their cause.
    pub fn forget(&mut self) {
        self.failed = None;
    }

    /// The next attempt is made at once, because what failed with the connection says nothing of the next one. If it fails, too,
    /// pauses go on growing.
    pub const fn cut_short(&mut self) {
        if let Some((pause, _)) = &mut self.failed {
            pause.cut_short();
        }
    }

    /// Why the last attempt failed.
    #[must_use]
    pub fn failure(&self) -> Option<&Failure> {
        self.failed.as_ref().map(|(_, why)| why)
    }

    /// Until the next attempt.
    #[must_use]
    pub fn left(&self, now: Duration) -> Duration {
        self.failed.as_ref().map_or(Duration::ZERO, |(pause, _)| pause.left(now))
    }
}

/// Whether the exporter decides when this is tried again. It says until when, or that a reload tries it at once, and asking it for
/// the secret is no logon.
fn is_guarded(why: &Failure) -> bool {
    use GeneralReason::{
        AccountDisabled, AccountLocked, CredentialsWithheld, PasswordExpired, WrongCredentials,
    };
    matches!(
        why.reason,
        Reason::General(
            WrongCredentials | AccountLocked | AccountDisabled | PasswordExpired | CredentialsWithheld
        )
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The seconds at which an attempt is made that fails.
    fn attempts(backoff: &mut Backoff) -> Vec<u64> {
        let attempt = |second: &u64| backoff.begin(Duration::from_secs(*second)).is_ok();
        (0..300).filter(attempt).collect()
    }

    #[test]
    fn what_a_host_refuses_is_asked_for_ever_more_rarely() {
        let mut backoff = Backoff::default();
        assert_eq!(attempts(&mut backoff), [0, 60, 120, 180, 270]);
        backoff.forget();
        assert!(backoff.begin(Duration::ZERO).is_ok());
    }

    #[test]
    fn what_a_host_gave_a_moment_ago_is_asked_for_at_once() {
        let mut backoff = Backoff::default();
        backoff.succeeded();
        assert_eq!(attempts(&mut backoff)[..6], [0, 1, 2, 3, 5, 8]);
        let why = Failure::new(Stage::Bind, GeneralReason::AccessDenied, "no");
        backoff.fail(Duration::from_secs(300), &why);
        let said = backoff.begin(Duration::from_secs(300)).unwrap_err();
        assert_eq!(said.message, "no", "the reason of the last attempt is kept");
        assert!(backoff.left(Duration::from_secs(300)) > Duration::ZERO);
    }

    #[test]
    fn what_the_exporter_withholds_is_asked_for_each_time() {
        use GeneralReason::{AccessDenied, AccountLocked, CredentialsWithheld, WrongCredentials};
        let (mut backoff, now) = (Backoff::default(), Duration::from_secs(7));
        for (reason, is_paused) in [
            (WrongCredentials, false),
            (AccountLocked, false),
            (CredentialsWithheld, false),
            (AccessDenied, true),
        ] {
            backoff.forget();
            backoff.fail(now, &Failure::new(Stage::Auth, reason, "no"));
            assert_eq!(backoff.begin(now).is_err(), is_paused, "{reason:?}");
        }
    }

    #[test]
    fn what_ends_each_connection_is_asked_for_ever_more_rarely_even_if_it_was_given() {
        let (mut backoff, mut attempts) = (Backoff::default(), Vec::new());
        backoff.succeeded();
        let why = Failure::new(Stage::Bind, GeneralReason::AccessDenied, "no");
        for second in 0..300 {
            let now = Duration::from_secs(second);
            // The attempt over the kept connection, and another one over the next.
            if backoff.begin(now).is_ok() {
                attempts.push(second);
                backoff.cut_short();
                assert!(backoff.begin(now).is_ok());
                backoff.fail_with_others(now, &why);
            }
        }
        assert_eq!(attempts, [0, 60, 120, 180, 270]);
    }
}
