//! [MS-PLA] 3.2.1: classes, and the categories of sets. The identifiers of interfaces are with their declarations.

use wire::Guid;

/// Classes have the last twelve bytes of the interfaces.
const fn class(first: u128) -> Guid {
    Guid::from_u128(first << 96 | 0x098b_11d8_9414_5050_5450_3030)
}

/// A set of any category, which is named by category and name: [`IDataCollectorSet`](crate::IDataCollectorSet).
#[doc(alias = "CLSID_DataCollectorSet")]
pub const DATA_COLLECTOR_SET: Guid = class(0x0383_7521);
/// The sets of all categories: [`IDataCollectorSetCollection`](crate::IDataCollectorSetCollection).
#[doc(alias = "CLSID_DataCollectorSetCollection")]
pub const DATA_COLLECTOR_SET_COLLECTION: Guid = class(0x0383_7525);
/// A set of a Windows before Vista.
#[doc(alias = "CLSID_LegacyDataCollectorSet")]
pub const LEGACY_DATA_COLLECTOR_SET: Guid = class(0x0383_7526);
/// The sets of a Windows before Vista.
#[doc(alias = "CLSID_LegacyDataCollectorSetCollection")]
pub const LEGACY_DATA_COLLECTOR_SET_COLLECTION: Guid = class(0x0383_7527);
/// A trace session of a Windows before Vista.
#[doc(alias = "CLSID_LegacyTraceSession")]
pub const LEGACY_TRACE_SESSION: Guid = class(0x0383_7528);
/// The trace sessions of a Windows before Vista.
#[doc(alias = "CLSID_LegacyTraceSessionCollection")]
pub const LEGACY_TRACE_SESSION_COLLECTION: Guid = class(0x0383_7529);
/// A provider of events: [`ITraceDataProvider`](crate::ITraceDataProvider).
#[doc(alias = "CLSID_TraceDataProvider")]
pub const TRACE_DATA_PROVIDER: Guid = class(0x0383_7513);
/// Providers of events: [`ITraceDataProviderCollection`](crate::ITraceDataProviderCollection).
#[doc(alias = "CLSID_TraceDataProviderCollection")]
pub const TRACE_DATA_PROVIDER_COLLECTION: Guid = class(0x0383_7511);

/// [MS-PLA] 3.2.1: a category of sets, which says what can be done with them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Category {
    /// Sets that clients make, change, run and remove.
    Server,
    /// Sets that belong to the system: they can be run, and not changed.
    System,
    /// Traces that run now, and are gone after a restart of the host.
    TraceSession,
    /// Traces that begin when the host starts: they can be made and removed, and not run.
    BootTraceSession,
}

impl Category {
    pub const ALL: [Self; 4] = [Self::Server, Self::System, Self::TraceSession, Self::BootTraceSession];

    /// The class of one of its sets: [`IDataCollectorSet`](crate::IDataCollectorSet).
    #[must_use]
    pub const fn set_class(self) -> Guid {
        match self {
            Self::Server => class(0x0383_7531),
            Self::System => class(0x0383_7546),
            Self::TraceSession => class(0x0383_751c),
            Self::BootTraceSession => class(0x0383_7538),
        }
    }

    /// The class of all of its sets: [`IDataCollectorSetCollection`](crate::IDataCollectorSetCollection).
    #[must_use]
    pub const fn collection_class(self) -> Guid {
        match self {
            Self::Server => class(0x0383_7532),
            Self::System => class(0x0383_7547),
            Self::TraceSession => class(0x0383_7530),
            Self::BootTraceSession => class(0x0383_7539),
        }
    }

    /// The category of a class of sets or of collections.
    #[must_use]
    pub fn of_class(class: Guid) -> Option<Self> {
        Self::ALL.into_iter().find(|&one| class == one.set_class() || class == one.collection_class())
    }

    /// Whether sets can be committed. Otherwise it is answered with E_NOTIMPL.
    #[must_use]
    pub const fn can_commit(self) -> bool {
        !matches!(self, Self::System)
    }

    /// Whether sets can be started and stopped. Otherwise it is answered with E_NOTIMPL.
    #[must_use]
    pub const fn can_start(self) -> bool {
        !matches!(self, Self::BootTraceSession)
    }
}
