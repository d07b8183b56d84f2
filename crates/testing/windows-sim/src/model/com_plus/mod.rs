//! The COM+ applications of a host, as its tracker sees them: processes, instance containers, components.

mod applications;
mod calls;

use wire::Guid;

pub(super) use self::applications::processes;

/// A process with instance containers of COM+ applications.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComProcess {
    pub process_id: u32,
    pub exe_name: &'static str,
    /// Its application takes no new calls.
    pub is_paused: bool,
    /// Another process has taken over, and this one ends when its last call is done.
    pub is_recycling: bool,
    /// It is a Windows service.
    pub is_service: bool,
    /// What runs in it.
    pub containers: Vec<ComContainer>,
}

/// [MS-COMT] 1.1: an instance container: an application in a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComContainer {
    /// The container legacy identifier: unique on the host.
    pub legacy_id: u32,
    /// The container's own identifier.
    pub container_id: Guid,
    /// The application: its conglomeration identifier.
    pub application_id: Guid,
    /// The partition that the application is in.
    pub partition_id: Guid,
    pub name: &'static str,
    /// Whether the host keeps figures of its components.
    pub is_tracked: bool,
    /// Components that have instances.
    pub components: Vec<ComComponent>,
}

/// A component in a container, with figures of now and calls of the last four whole seconds of the host's uptime.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComComponent {
    pub clsid: Guid,
    /// Its name, a ProgID.
    pub name: &'static str,
    /// Instances that belong to clients.
    pub activated: u32,
    /// Instances that wait in the pool.
    pub pooled: u32,
    /// References to `activated` instances.
    pub bound_references: u32,
    /// Instances that perform a call. At most `activated`.
    pub in_call: u32,
    pub recent: RecentCalls,
}

/// Calls of the last four seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct RecentCalls {
    pub completed: u32,
    pub failed: u32,
    /// How long one took on average; 0 without calls.
    pub response_time_ms: u32,
}

/// The seconds over which [`RecentCalls`] are counted.
pub const CALL_SECONDS: u32 = 4;

impl ComComponent {
    #[must_use]
    pub const fn instances(&self) -> u32 {
        self.activated + self.pooled
    }
}
