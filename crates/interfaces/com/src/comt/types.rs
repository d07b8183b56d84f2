use rpc::ndr::{NdrDecode, NdrEncode};
use wire::{Guid, ParseGuidError, WideStr};

/// A number that the host may not track.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, NdrEncode, NdrDecode)]
pub struct Tracked(pub u32);

impl Tracked {
    /// [MS-COMT] 2.2.4: the host does not track it.
    pub const UNTRACKED: Self = Self(u32::MAX);

    /// The number, if the host tracks it.
    #[must_use]
    pub const fn get(self) -> Option<u32> {
        match self {
            Self::UNTRACKED => None,
            Self(number) => Some(number),
        }
    }
}

impl From<Option<u32>> for Tracked {
    fn from(number: Option<u32>) -> Self {
        number.map_or(Self::UNTRACKED, Self)
    }
}

/// `ContainerStatistics` of [MS-COMT] 2.2.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, NdrEncode, NdrDecode)]
pub struct ContainerStatistics {
    /// Calls that component instances perform.
    #[ndr(name = "cCalls")]
    pub calls: u32,
    #[ndr(name = "cComponentInstances")]
    pub instances: u32,
    /// Distinct components that are instantiated.
    #[ndr(name = "cComponents")]
    pub components: u32,
    /// Calls per second, a running average; 0 where the host does not compute it.
    #[ndr(name = "cCallsPerSecond")]
    pub calls_per_second: u32,
}

/// [MS-COMT] 2.2.3 `ContainerData`: an instance container, or an application with all of its containers, whose
/// statistics are then averages; the document says both.
#[derive(Clone, Debug, PartialEq, Eq, NdrEncode, NdrDecode)]
pub struct ContainerData {
    /// The container legacy identifier, which the other methods take. One of the containers if there are several.
    #[ndr(name = "dwLegacyId")]
    pub legacy_id: u32,
    /// The conglomeration identifier: the application.
    #[ndr(name = "wszApplicationIdentifier")]
    pub application: ApplicationIdentifier,
    /// The process that has the container; that of one of them if there are several.
    #[ndr(name = "dwProcessId")]
    pub process_id: u32,
    /// What the container does.
    pub statistics: ContainerStatistics,
}

/// [MS-COMT] 2.2.3: a CurlyBraceGuidString in 40 UTF-16 code units: 38, a NUL, and one that means nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, NdrEncode, NdrDecode)]
pub struct ApplicationIdentifier(pub [u16; 40]);

impl ApplicationIdentifier {
    /// The identifier of an application.
    #[must_use]
    pub fn new(application: Guid) -> Self {
        let mut units = [0; 40];
        for (unit, character) in
            units.iter_mut().zip(format!("{{{application}}}").to_uppercase().encode_utf16())
        {
            *unit = character;
        }
        Self(units)
    }

    /// The application.
    ///
    /// # Errors
    /// When the text before the first NUL is no GUID.
    pub fn guid(&self) -> Result<Guid, ParseGuidError> {
        let bytes = self.0.map(u16::to_le_bytes);
        let text = WideStr::until_nul_or_end(bytes.as_flattened());
        text.to_string().parse()
    }
}

/// [MS-COMT] 2.2.4 `ComponentData`: a component in a container. Numbers that the host does not track are
/// [`Tracked::UNTRACKED`].
#[derive(Clone, Debug, PartialEq, Eq, NdrEncode, NdrDecode)]
pub struct ComponentData {
    /// The class of the component.
    pub clsid: Guid,
    /// References to all component instances.
    #[ndr(name = "cTotalReferences")]
    pub total_references: Tracked,
    /// References to active component instances.
    #[ndr(name = "cBoundReferences")]
    pub bound_references: Tracked,
    /// Component instances in the pool.
    #[ndr(name = "cPooledInstances")]
    pub pooled_instances: Tracked,
    /// Component instances that perform a call.
    #[ndr(name = "cInstancesInCall")]
    pub instances_in_call: Tracked,
    /// Average time of a call, in milliseconds. Windows reports the slowest instance's average of its last four seconds.
    #[ndr(name = "dwResponseTime")]
    pub response_time_ms: Tracked,
    /// Calls that succeeded recently; on Windows in the last four seconds.
    #[ndr(name = "cCallsCompleted")]
    pub calls_completed: Tracked,
    /// Calls that failed recently; on Windows in the last four seconds.
    #[ndr(name = "cCallsFailed")]
    pub calls_failed: Tracked,
}
