//! What is known of a host beside its counters, and the families that show it.

use plugin_sdk::{FamilyDef, Kind, ValueKind};

/// A fact of a host: one family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fact {
    Os,
    OsInstallTime,
    Name,
    PhysicalMemory,
    LogicalProcessors,
    Processor,
    ProcessorFrequency,
    TimeZone,
    TimeZoneOffset,
    PagingFile,
    Service,
    BootTime,
    ClockSkew,
}

impl Fact {
    pub(crate) const COUNT: usize = Self::ClockSkew as usize + 1;

    /// Its name as a label.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Os => "os",
            Self::OsInstallTime => "os_install_time",
            Self::Name => "name",
            Self::PhysicalMemory => "memory_physical_total",
            Self::LogicalProcessors => "processors_logical",
            Self::Processor => "processor",
            Self::ProcessorFrequency => "processor_frequency",
            Self::TimeZone => "time_zone",
            Self::TimeZoneOffset => "time_zone_offset",
            Self::PagingFile => "paging_file_max_size",
            Self::Service => "service",
            Self::BootTime => "boot_time",
            Self::ClockSkew => "clock_skew",
        }
    }

    pub(crate) const fn family(self) -> FamilyDef<'static> {
        match self {
            Self::Os => FamilyDef {
                object: "OS",
                item: "Info",
                kind: Kind::Info,
                help: "1, with product and version of the operating system, as its registry has them.",
                origin: r"HKLM\SOFTWARE\Microsoft\Windows NT\CurrentVersion",
                ..GAUGE
            },
            Self::OsInstallTime => FamilyDef {
                object: "OS",
                item: "Install Time",
                unit: "seconds",
                help: "When the operating system was installed, or upgraded last, in seconds since 1970.",
                origin: r"HKLM\SOFTWARE\Microsoft\Windows NT\CurrentVersion\InstallDate",
                ..GAUGE
            },
            Self::Name => FamilyDef {
                object: "Name",
                item: "Info",
                kind: Kind::Info,
                help: "1, with the host's DNS name, its domain, and both together.",
                origin: r"HKLM\SYSTEM\CurrentControlSet\Services\Tcpip\Parameters",
                ..GAUGE
            },
            Self::PhysicalMemory => FamilyDef {
                object: "Memory",
                item: "Physical Total",
                unit: "bytes",
                help: "Physical memory that the operating system uses, in bytes.",
                origin: r"HKLM\HARDWARE\RESOURCEMAP\System Resources\Physical Memory\.Translated",
                ..GAUGE
            },
            Self::LogicalProcessors => FamilyDef {
                object: "Processors",
                item: "Logical",
                help: "How many logical processors the host has.",
                origin: r"HKLM\HARDWARE\DESCRIPTION\System\CentralProcessor",
                ..GAUGE
            },
            Self::Processor => FamilyDef {
                object: "Processor",
                item: "Info",
                kind: Kind::Info,
                help: "1, with the name and the vendor of the host's first processor.",
                origin: r"HKLM\HARDWARE\DESCRIPTION\System\CentralProcessor\0\ProcessorNameString",
                ..GAUGE
            },
            Self::ProcessorFrequency => FamilyDef {
                object: "Processor",
                item: "Frequency",
                unit: "hertz",
                help: "The frequency of the host's first processor, as it was measured at the start of the host, in \
                       hertz.",
                origin: r"HKLM\HARDWARE\DESCRIPTION\System\CentralProcessor\0\~MHz",
                ..GAUGE
            },
            Self::TimeZone => FamilyDef {
                object: "Time Zone",
                item: "Info",
                kind: Kind::Info,
                help: "1, with Windows' name for the host's time zone.",
                origin: r"HKLM\SYSTEM\CurrentControlSet\Control\TimeZoneInformation\TimeZoneKeyName",
                ..GAUGE
            },
            Self::TimeZoneOffset => FamilyDef {
                object: "Time Zone",
                item: "Offset",
                unit: "seconds",
                help: "The host's local time now minus UTC, in seconds; positive east of Greenwich.",
                origin: r"HKLM\SYSTEM\CurrentControlSet\Control\TimeZoneInformation\ActiveTimeBias",
                value: ValueKind::I64,
                ..GAUGE
            },
            Self::PagingFile => FamilyDef {
                object: "Paging File",
                item: "Max Size",
                unit: "bytes",
                help: "The maximum size of a paging file, in bytes. There is none for files whose size Windows \
                       chooses.",
                origin: r"HKLM\SYSTEM\CurrentControlSet\Control\Session Manager\Memory Management\PagingFiles",
                ..GAUGE
            },
            Self::Service => FamilyDef {
                object: SERVICE_OBJECT,
                item: "Info",
                kind: Kind::Info,
                help: "1, with name, display name, account and start mode of a service: auto, boot, disabled, manual \
                       or system. Whether it runs is not known.",
                origin: r"HKLM\SYSTEM\CurrentControlSet\Services",
                ..GAUGE
            },
            Self::BootTime => FamilyDef {
                object: "Boot",
                item: "Time",
                unit: "seconds",
                help: "When the host was started, in seconds since 1970: its wall clock minus its performance clock. \
                       It changes when the host is started or its wall clock is set. On a virtual machine it may be \
                       too early.",
                value: ValueKind::F64,
                ..GAUGE
            },
            Self::ClockSkew => FamilyDef {
                object: "Clock",
                item: "Skew",
                unit: "seconds",
                help: "The host's wall clock minus the exporter's, in seconds; positive if the host is ahead. The \
                       error is up to half of the time that the host takes to answer.",
                value: ValueKind::F64,
                ..GAUGE
            },
        }
    }
}

/// The namespace of facts.
pub(crate) const NAMESPACE: &str = "host";
/// The object of services, which have a setting of their own.
pub(crate) const SERVICE_OBJECT: &str = "Service";

const GAUGE: FamilyDef<'static> = FamilyDef::gauge(NAMESPACE, "");

/// Facts that are wanted and not known.
pub(crate) const MISSING: FamilyDef<'static> = FamilyDef {
    namespace: "pcq",
    object: "Host Info",
    item: "Missing",
    help: "1 for a fact of the host that could not be read from its registry, with the reason.",
    ..GAUGE
};

/// A value of a fact.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sample {
    pub(crate) fact: Fact,
    pub(crate) labels: Vec<(&'static str, String)>,
    pub(crate) value: Value,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Value {
    U64(u64),
    I64(i64),
    F64(f64),
}

impl Sample {
    pub(crate) const fn plain(fact: Fact, value: Value) -> Self {
        Self { fact, labels: Vec::new(), value }
    }

    /// The value 1 with labels.
    pub(crate) const fn info(fact: Fact, labels: Vec<(&'static str, String)>) -> Self {
        Self { fact, labels, value: Value::U64(1) }
    }
}

/// What was read of a group of facts: values, and why there are none of others.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) samples: Vec<Sample>,
    pub(crate) missing: Vec<(Fact, Unread)>,
}

/// Why a fact could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unread {
    NotFound,
    AccessDenied,
    Malformed,
    LimitExceeded,
    Refused,
    Unavailable,
}

impl Unread {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::NotFound => "not_found",
            Self::AccessDenied => "access_denied",
            Self::Malformed => "malformed",
            Self::LimitExceeded => "limit_exceeded",
            Self::Refused => "refused",
            Self::Unavailable => "unavailable",
        }
    }
}

impl Found {
    /// Adds a value, or why there is none.
    pub(crate) fn add(&mut self, fact: Fact, read: Result<Sample, Unread>) {
        match read {
            Ok(sample) => self.samples.push(sample),
            Err(why) => self.missing.push((fact, why)),
        }
    }
}
