use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use tracing::warn;
use zeroize::Zeroizing;

use super::words::account_name;
use super::{Identities, lock};
use crate::credentials::guard::{Change, Fingerprint, Guard, Scope};
use crate::credentials::secret::{self, Salt};
use crate::credentials::verdicts::{Stored, VerdictFile};

/// What outlives the process: a file of verdicts, if there is one.
pub(super) struct Memory {
    /// Written by a thread of its own, so that no caller waits for the disk; the lock keeps the order.
    file: Option<Arc<Mutex<VerdictFile>>>,
    /// Those that may still be writing.
    writers: Mutex<Vec<JoinHandle<()>>>,
}

impl Memory {
    pub(super) fn new(file: Option<VerdictFile>) -> Self {
        Self { file: file.map(|file| Arc::new(Mutex::new(file))), writers: Mutex::default() }
    }

    /// Carries the verdicts of an earlier process over, as far as they are about the secrets of today.
    pub(super) fn restore(
        &self,
        guard: &mut Guard,
        users: &mut BTreeMap<Scope, String>,
        identities: &Identities,
        salt: &Salt,
    ) {
        let Some(file) = &self.file else { return };
        let file = lock(file);
        if file.verdicts.is_empty() {
            return;
        }
        for (name, identity) in identities {
            let Ok(secret) = secret::read(&identity.secret) else { continue };
            let mut stored_now: Option<Fingerprint> = None;
            for stored in &file.verdicts {
                let scope = Scope::new(&identity.domain, &identity.username, &stored.refused.host);
                if scope != stored.scope || guard.knows(&scope) {
                    continue;
                }
                // Slow on purpose; once per identity that has a verdict.
                let now = *stored_now.get_or_insert_with(|| file.salt.stored_fingerprint(&secret));
                if now == stored.fingerprint {
                    warn!(
                        identity = name.as_str(),
                        account = account_name(identity),
                        host = stored.refused.host,
                        verdict = stored.refused.refusal.word(),
                        "Credential was refused before the restart and has not changed; it is withheld"
                    );
                    guard.restore(scope.clone(), salt.fingerprint(&secret), stored.refused.clone());
                    users.insert(scope, name.clone());
                }
            }
        }
    }

    /// Keeps a verdict, or forgets one that is no longer true.
    pub(super) fn keep(&self, scope: &Scope, change: &Change, secret: Zeroizing<Vec<u8>>) {
        let Some(file) = self.file.clone() else { return };
        let (scope, change) = (scope.clone(), change.clone());
        let write = move || {
            let mut file = lock(&file);
            let written = match change {
                Change::Refused(refused) => {
                    let fingerprint = file.salt.stored_fingerprint(&secret);
                    file.keep(Stored { scope, fingerprint, refused })
                }
                Change::Accepted | Change::Doubted(_) => file.forget(&scope),
            };
            if let Err(error) = written {
                tell_not_written(&error);
            }
        };
        match std::thread::Builder::new().name("credential-state".to_owned()).spawn(write) {
            Ok(writer) => {
                let mut writers = lock(&self.writers);
                writers.retain(|earlier| !earlier.is_finished());
                writers.push(writer);
            }
            Err(error) => tell_not_written(&error),
        }
    }

    /// Waits until every verdict so far is on the disk: a program that ends right after one would lose it.
    pub(super) fn finish_writes(&self) {
        let writers = std::mem::take(&mut *lock(&self.writers));
        for writer in writers {
            // What a thread that panicked did not write is tried once more, as if the disk had been full.
            let _ = writer.join();
        }
    }
}

fn tell_not_written(error: &io::Error) {
    warn!(%error, "Credential state not written; a restart may try a refused secret once more");
}
