//! Metrics of secrets.

use std::fmt;

use support::telemetry::{Metric, Writer};

use super::{Broker, IdentityState};

impl Broker {
    pub(crate) fn write(&self, out: &mut Writer<'_, '_>) -> fmt::Result {
        let states = self.states();
        let each = |count: fn(&IdentityState) -> u64| {
            states.iter().map(move |(name, state)| ([name.as_str()], count(state)))
        };
        out.rows(&WITHHELD, each(|state| u64::from(state.refused() > 0)))?;
        let accounts = states.iter().flat_map(|(name, state)| {
            let counts = [
                ("on_trial", state.on_trial),
                ("accepted", state.accepted),
                ("rejected", state.rejected),
                ("locked", state.locked),
                ("disabled", state.disabled),
                ("password_expired", state.password_expired),
            ];
            counts.map(|(word, count)| ([name.as_str(), word], count))
        });
        out.rows(&ACCOUNTS, accounts.collect::<Vec<_>>())?;
        out.rows(&LEASES, each(|state| state.leases))?;
        out.rows(&DENIALS, each(|state| state.withheld))
    }
}

/// What this file shows.
pub(crate) const METRICS: &[&Metric] = &[&WITHHELD, &ACCOUNTS, &LEASES, &DENIALS];

static WITHHELD: Metric = Metric::gauge(
    "perfmon_exporter_credential_withheld",
    &["identity"],
    "Whether the identity's secret or account was refused and is withheld for now.",
);
static ACCOUNTS: Metric = Metric::gauge(
    "perfmon_exporter_credential_accounts",
    &["identity", "state"],
    "Accounts of an identity by the state of its secret; a local account counts once per host.",
);
static LEASES: Metric = Metric::counter(
    "perfmon_exporter_credential_leases",
    &["identity"],
    "Secrets handed out to plugins; each is at most one logon attempt.",
);
static DENIALS: Metric = Metric::counter(
    "perfmon_exporter_credential_denials",
    &["identity"],
    "Requests for a secret that were denied because it or its account was refused before.",
);
