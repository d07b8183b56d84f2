//! Leases of secrets.
#![expect(unsafe_code, reason = "reads what plugins hand over")]
// UNSAFETY: as in the module above.

use std::sync::Arc;

use plugin_abi::raw::{self, Bytes, DENIED, FULL, OK, Str, WAIT, read_struct};
use plugin_abi::{CredentialKind, CredentialRequest, CredentialVerdict, TargetInfo};

use super::{admitted, guarded, refuse, unknown};
use crate::instance::{Admission, INSTANCES};
use crate::lease::{self, LeaseAnswer, Leases};
use crate::library::LibraryShared;
use crate::read;
use crate::run::RUNS;

pub(super) unsafe extern "C" fn credential_acquire(
    owner: u64,
    request: *const raw::CredentialRequest,
    lease_plugin: *mut raw::CredentialLease,
) -> i32 {
    guarded(owner, || {
        let Owner { library, leases, target } = match owner_of(owner) {
            Ok(found) => found,
            Err(status) => return status,
        };
        // SAFETY: the plugin's struct, valid until the call returns.
        let raw = unsafe { read_struct(request) };
        // SAFETY: the plugin's room for the answer, valid until the call returns.
        let room = unsafe { read_struct(lease_plugin.cast_const()) };
        let (raw, mut answer) = match (raw, room) {
            (Ok(raw), Ok(room)) => (raw, empty_lease(room.size)),
            (Err(malformed), _) | (_, Err(malformed)) => return refuse(&library, malformed.into()),
        };
        // SAFETY: the strings of the request, valid until the call returns.
        let (host, identity) = match unsafe { read::host_and_identity(&raw, library.limits()) } {
            Ok(read) => read,
            Err(violation) => return refuse(&library, violation),
        };
        let request = CredentialRequest { configured: target.as_ref(), host, identity };
        let status = lend(&mut answer, lease::acquire(&library, owner, &leases, &request));
        // SAFETY: `read_struct` saw a struct that is at least as long as version 1.0 has it.
        unsafe { lease_plugin.write(answer) };
        status
    })
}

/// The instance or run that requests a secret.
struct Owner {
    library: Arc<LibraryShared>,
    leases: Arc<Leases>,
    /// The target of an instance, as configured.
    target: Option<TargetInfo>,
}

/// The instance or run of a token, or the status for an unknown token.
fn owner_of(owner: u64) -> Result<Owner, i32> {
    if let Some(it) = INSTANCES.find(owner) {
        return match it.admits(owner) {
            Admission::Stopped if !it.is_ending(owner) => Err(admitted(Admission::Stopped, false)),
            Admission::Stale => Err(admitted(Admission::Stale, false)),
            Admission::Open | Admission::Stopped => {
                let target = Some(it.target());
                Ok(Owner { library: Arc::clone(&it.library), leases: Arc::clone(&it.leases), target })
            }
        };
    }
    match RUNS.find(owner) {
        Some(it) => {
            Ok(Owner { library: Arc::clone(&it.library), leases: Arc::clone(&it.leases), target: None })
        }
        None => Err(unknown(owner)),
    }
}

/// Fills the answer. The strings belong to the lease, which stays in `lease::LEASES` until it ends.
fn lend(answer: &mut raw::CredentialLease, answer_of_host: LeaseAnswer) -> i32 {
    match answer_of_host {
        LeaseAnswer::Lease { token, lease } => {
            answer.lease = token;
            answer.kind = match lease.lease.kind {
                CredentialKind::Password => raw::CREDENTIAL_KIND_PASSWORD,
                CredentialKind::Kerberos => raw::CREDENTIAL_KIND_KERBEROS,
                CredentialKind::KerberosPassword => raw::CREDENTIAL_KIND_KERBEROS_PASSWORD,
                CredentialKind::KerberosKey => raw::CREDENTIAL_KIND_KERBEROS_KEY,
            };
            answer.domain_host = Str::of(&lease.lease.domain);
            answer.username_host = Str::of(&lease.lease.username);
            answer.service_host = lease.lease.service.as_deref().map_or(Str::EMPTY, Str::of);
            answer.flags = if lease.lease.allows_rc4 { raw::CREDENTIAL_ALLOWS_RC4 } else { 0 };
            answer.secret_host = Bytes::of(lease.lease.secret.expose());
            OK
        }
        LeaseAnswer::Wait { retry_after_ms } => {
            answer.retry_after_ms = retry_after_ms;
            WAIT
        }
        LeaseAnswer::Denied { reason } => {
            answer.reason = reason;
            DENIED
        }
        LeaseAnswer::OverLimit => FULL,
    }
}

fn empty_lease(size: u32) -> raw::CredentialLease {
    raw::CredentialLease {
        size,
        kind: 0,
        lease: 0,
        domain_host: Str::EMPTY,
        username_host: Str::EMPTY,
        secret_host: Bytes::EMPTY,
        reason: 0,
        retry_after_ms: 0,
        service_host: Str::EMPTY,
        flags: 0,
        reserved: 0,
    }
}

pub(super) unsafe extern "C" fn credential_result(lease: u64, verdict: u32) -> i32 {
    guarded(lease, || {
        let verdict = CredentialVerdict::from_code(verdict);
        if lease::end(lease, verdict) { OK } else { unknown(lease) }
    })
}
