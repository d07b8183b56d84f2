use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use tracing::warn;
use zeroize::Zeroizing;

use super::Identities;
use crate::credentials::Salt;
use crate::credentials::guard::{Fingerprint, Remembered, Scope};
use crate::credentials::verdicts::{Stored, VerdictFile};

/// Secrets whose slow hash is remembered.
const HASHED_MAX: usize = 256;

/// What outlives the process: a file of verdicts, if there is one.
pub(super) struct Memory {
    /// Written by a thread of its own, so that no caller waits for the disk.
    file: Option<Arc<Writing>>,
}

/// What an earlier process knew of an account's secret, which is still the same.
pub(super) struct Recalled {
    pub(super) identity: String,
    pub(super) scope: Scope,
    pub(super) fingerprint: Fingerprint,
    pub(super) remembered: Remembered,
}

struct Writing {
    file: Mutex<VerdictFile>,
    pending: Mutex<Pending>,
    /// The writer has ended.
    is_written: Condvar,
    /// The slow hash of each secret by its fingerprint in this process.
    hashed: Mutex<Vec<(Fingerprint, Fingerprint)>>,
}

/// A secret, and its fingerprint within this process.
pub(super) struct Secret {
    pub(super) fingerprint: Fingerprint,
    pub(super) bytes: Zeroizing<Vec<u8>>,
}

/// What is not written yet. Many hosts may say something while the disk is busy; the last word of each account counts.
#[derive(Default)]
struct Pending {
    changes: BTreeMap<Scope, (Remembered, Secret)>,
    has_writer: bool,
}

impl Memory {
    pub(super) fn new(file: Option<VerdictFile>) -> Self {
        let writing = |file| {
            let (pending, hashed) = (Mutex::default(), Mutex::default());
            Arc::new(Writing { file: Mutex::new(file), pending, is_written: Condvar::new(), hashed })
        };
        Self { file: file.map(writing) }
    }

    /// What an earlier process knew, as far as it is about the secrets of today. Slow on purpose: a hash of each
    /// identity's secret that it knew something of.
    pub(super) fn recall(&self, identities: &Identities, salt: &Salt) -> Vec<Recalled> {
        let Some(writing) = &self.file else { return Vec::new() };
        let (file_salt, stored) = {
            let file = writing.file.lock();
            (file.salt.clone(), file.verdicts.clone())
        };
        let mut recalled = Vec::new();
        for (name, identity) in identities {
            let of_identity = |stored: &&Stored| stored.scope.may_be(&identity.domain, &identity.username);
            let mut known = stored.iter().filter(of_identity).peekable();
            if known.peek().is_none() {
                continue;
            }
            let Ok(secret) = identity.read_secret(identities) else { continue };
            let stored_now = file_salt.stored_fingerprint(&secret);
            for stored in known.filter(|stored| stored.fingerprint == stored_now) {
                if let Some(refused) = &stored.remembered.withheld {
                    warn!(
                        identity = name.as_str(),
                        account = identity.account_name(),
                        host = refused.host.name(),
                        verdict = refused.refusal.as_str(),
                        "Credential was refused before the restart and has not changed; it is withheld"
                    );
                }
                recalled.push(Recalled {
                    identity: name.clone(),
                    scope: stored.scope.clone(),
                    fingerprint: salt.fingerprint(&secret),
                    remembered: stored.remembered.clone(),
                });
            }
        }
        recalled
    }

    /// Keeps what is known of an account's secret now.
    pub(super) fn keep(&self, scope: Scope, remembered: Remembered, secret: Secret) {
        let Some(writing) = &self.file else { return };
        let mut pending = writing.pending.lock();
        pending.changes.insert(scope, (remembered, secret));
        if pending.has_writer {
            return;
        }
        let writes = Arc::clone(writing);
        let spawned =
            std::thread::Builder::new().name("credential-state".to_owned()).spawn(move || writes.write_all());
        match spawned {
            Ok(_writer) => pending.has_writer = true,
            Err(error) => log_not_written(&error),
        }
    }

    /// Waits up to `wait_max` until everything is on disk; returns true if it is. Otherwise a program that ends
    /// right after a verdict would lose it.
    pub(super) fn finish_writes(&self, wait_max: Duration) -> bool {
        let Some(writing) = &self.file else { return true };
        let mut pending = writing.pending.lock();
        !writing.is_written.wait_while_for(&mut pending, |pending| pending.has_writer, wait_max).timed_out()
    }
}

impl Writing {
    /// Writes until nothing is left.
    fn write_all(&self) {
        loop {
            let changes = {
                let mut pending = self.pending.lock();
                let changes = std::mem::take(&mut pending.changes);
                pending.has_writer = !changes.is_empty();
                changes
            };
            if changes.is_empty() {
                self.is_written.notify_all();
                return;
            }
            let mut file = self.file.lock();
            let mut is_news = false;
            for (scope, (remembered, secret)) in changes {
                if scope.is_local && remembered.withheld.is_none() {
                    // That a host accepted its own account says nothing that its next refusal would not take back.
                    is_news |= file.forget(&scope);
                    continue;
                }
                let fingerprint = self.hash(&file.salt, &secret);
                file.put(Stored { scope, fingerprint, remembered });
                is_news = true;
            }
            if is_news && let Err(error) = file.write() {
                log_not_written(&error);
            }
        }
    }

    /// The slow hash of a secret; slow but once.
    fn hash(&self, salt: &Salt, secret: &Secret) -> Fingerprint {
        let mut hashed = self.hashed.lock();
        if let Some((_, known)) = hashed.iter().find(|(of, _)| *of == secret.fingerprint) {
            return *known;
        }
        let fingerprint = salt.stored_fingerprint(&secret.bytes);
        if hashed.len() >= HASHED_MAX {
            hashed.remove(0);
        }
        hashed.push((secret.fingerprint, fingerprint));
        fingerprint
    }
}

fn log_not_written(error: &io::Error) {
    warn!(%error, "Credential state not written; a restart may try a refused secret once more");
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;
    use crate::credentials::guard::Host;

    #[test]
    fn the_end_waits_for_the_disk_and_not_for_ever() {
        let folder = tempfile::tempdir().unwrap();
        let memory = Memory::new(Some(VerdictFile::open(folder.path()).unwrap()));
        let writing = Arc::clone(memory.file.as_ref().unwrap());
        let scope = Scope::new("CORP", "svc", &Host::new("web1", None));
        let secret = Secret { fingerprint: Fingerprint([1; 32]), bytes: Zeroizing::new(b"hunter2".to_vec()) };

        // A disk that hangs.
        let file = writing.file.lock();
        memory.keep(scope.clone(), Remembered::default(), secret);
        assert!(!memory.finish_writes(Duration::from_millis(20)));
        drop(file);
        let (begun, patience) = (Instant::now(), Duration::from_secs(60));
        assert!(memory.finish_writes(patience));
        assert!(begun.elapsed() < patience, "the writer says when it has written");
        let written = VerdictFile::open(folder.path()).unwrap().verdicts;
        assert_eq!(written.first().map(|stored| &stored.scope), Some(&scope));
        assert!(memory.finish_writes(Duration::ZERO), "nothing is left to write");
    }
}
