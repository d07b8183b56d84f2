//! Violations of the contract: they are counted, and too many lead to quarantine.

use super::{InstanceShared, State};
use crate::state::QuarantineCause;
use crate::violation::Violation;

impl InstanceShared {
    /// Counts a violation here and for the library; too many within a collection are a fault.
    pub(crate) fn violation(&self, violation: Violation, n: u64) {
        if n == 0 {
            return;
        }
        self.violations.add(violation, n);
        self.library.violations.add(violation, n);
        let mut state = self.state.lock();
        state.violations = state.violations.saturating_add(1);
        if state.violations == self.library.limits().violations_max {
            self.quarantine(&mut state, QuarantineCause::Violations);
        }
    }

    /// The call of an async source has not returned in time, or that of a blocking one is past its deadline.
    pub(super) fn overran(&self, collection: u64) {
        if !self.is_async() {
            return;
        }
        let mut state = self.state.lock();
        if state.slow.replace(collection) == Some(collection) {
            return;
        }
        self.fault(&mut state, QuarantineCause::SlowCalls);
        drop(state);
        self.violation(Violation::SlowCall, 1);
    }

    pub(super) fn fault(&self, state: &mut State, cause: QuarantineCause) {
        state.faults += 1;
        state.clean = false;
        if state.faults >= self.library.limits().faults_max {
            self.quarantine(state, cause);
        }
    }

    pub(super) fn quarantine(&self, state: &mut State, cause: QuarantineCause) {
        let limits = self.library.limits();
        let factor = 1_u64.checked_shl(state.quarantines).unwrap_or(u64::MAX);
        let pause_s = limits.quarantine_s.saturating_mul(factor).min(limits.quarantine_s_max);
        state.quarantine = Some((self.library.now_ns().saturating_add(pause_s * 1_000_000_000), cause));
        state.quarantines = state.quarantines.saturating_add(1);
        state.faults = 0;
        state.clean = false;
        let target = &state.config.target.name;
        tracing::warn!(plugin = %self.library.info.name, %target, %cause, pause_s, "Plugin instance is in quarantine");
    }
}
