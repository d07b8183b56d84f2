use wire::Guid;

use crate::comt::tracking::entry::ApplicationType;

/// A process with its containers; the properties are those of [`crate::comt::tracking::Process`].
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Process {
    /// ProcessID
    pub process_id: Option<u32>,
    /// ExeName
    pub exe_name: String,
    /// Paused
    pub is_paused: bool,
    /// Recycling
    pub is_recycling: bool,
    /// IsService
    pub is_service: bool,
    /// Applications
    pub containers: Vec<Container>,
}

/// An instance container with its components; the properties are those of [`crate::comt::tracking::Container`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Container {
    /// ApplicationID
    pub application_id: Guid,
    /// ApplInstanceID
    pub container_id: Guid,
    /// ApplicationType
    pub application_type: ApplicationType,
    /// PartitionID
    pub partition_id: Guid,
    /// Name
    pub name: String,
    /// Components
    pub components: Vec<Component>,
}

impl Default for Container {
    fn default() -> Self {
        let nil = Guid::from_u128(0);
        Self {
            application_id: nil,
            container_id: nil,
            application_type: ApplicationType::SERVER,
            partition_id: nil,
            name: String::new(),
            components: Vec::new(),
        }
    }
}

/// A component; the properties are those of [`crate::comt::tracking::Component`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Component {
    /// CLSID
    pub clsid: Guid,
    /// Name
    pub name: String,
    /// Objects
    pub objects: Option<u32>,
    /// Activated
    pub activated: Option<u32>,
    /// Pooled
    pub pooled: Option<u32>,
    /// InCall
    pub in_call: Option<u32>,
    /// CallTime in milliseconds
    pub call_time_ms: Option<u32>,
}

impl Default for Component {
    fn default() -> Self {
        Self {
            clsid: Guid::from_u128(0),
            name: String::new(),
            objects: None,
            activated: None,
            pooled: None,
            in_call: None,
            call_time_ms: None,
        }
    }
}
