//! Keeps the secrets: [`Broker`] lends them to plugins, one authentication at a time.
//!
//! A plugin never sees the configuration's secret sources. It requests an identity by name, and the answer is a
//! lease, "wait" or a refusal:
//!
//! - **Bound to targets.** An instance gets only the identity that its target names, for its target's own host. The
//!   host is checked against `allow_hosts` when the configuration is read and again at every lease; where
//!   `AllowHosts::needs_addresses` says so, the name is resolved at the lease, and every address must be allowed.
//!   (The plugin resolves on its own when it connects. Somebody who answers the two questions differently gets past
//!   the network list, but not past the name pattern.)
//! - **Read at the lease.** A rotated file is used without a restart.
//! - **Guarded.** [`Guard`] ensures that a wrong password costs one attempt, not one per target, and that a host
//!   that refuses a good password affects only itself.
//! - **Remembered.** With `credentials.state_dir`, what hosts said survives a restart in a file that holds a salted slow
//!   hash of the secret. Without it, a restart tries a refused secret once more, and one host can withhold an accepted
//!   one again: run it with one where a supervisor restarts the process.

mod addresses;
mod broker;
mod clock;
mod guard;
mod metrics;
mod salt;
mod verdicts;

pub use self::addresses::{Resolved, Resolver};
pub use self::broker::{Broker, IdentityState};
pub use self::clock::{Clock, Moment, SystemClock};
pub use self::guard::{
    Change, Decision, Fingerprint, Guard, Host, Outcome, Refusal, Refused, Remembered, Scope, State, Withheld,
};
pub(crate) use self::metrics::METRICS;
pub use self::salt::Salt;
pub use self::verdicts::{Stored, VerdictFile};
