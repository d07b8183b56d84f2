//! The properties of an entry in a tracker event.

use wire::{Guid, WideStr};

use super::Reason;
use super::layout::{Value, text, vt};

/// [MS-COMT] 3.2.5.1.1: a process with COM+ applications. A property that is missing, or that the host does not track
/// (0xFFFFFFFF), is `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Process<'a> {
    /// ProcessID. A process without one is read for its applications.
    pub process_id: Option<u32>,
    /// ExeName: the file name of the process' program.
    pub exe_name: Option<WideStr<'a>>,
    /// Paused: the distinguished container creates no components for now.
    pub is_paused: Option<bool>,
    /// Recycling: the distinguished container creates no components any more.
    pub is_recycling: Option<bool>,
    /// IsService: the process is a Windows service.
    pub is_service: Option<bool>,
}

/// [MS-COMT] 3.2.5.1.1: an instance container, which is an instance of a COM+ application in a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Container<'a> {
    /// ApplicationID: the conglomeration identifier.
    pub application_id: Guid,
    /// ApplInstanceID, which older texts call AppInstanceID: the container identifier.
    pub container_id: Option<Guid>,
    pub application_type: Option<ApplicationType>,
    pub partition_id: Option<Guid>,
    /// Name of the application.
    pub name: Option<WideStr<'a>>,
}

/// [MS-COMT] footnote 27: the kind of a COM+ application.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ApplicationType(pub u32);

impl ApplicationType {
    /// A library application, which runs in the processes of its clients.
    pub const LIBRARY: Self = Self(0);
    /// A server application, which has a process of its own.
    pub const SERVER: Self = Self(1);
    /// Services that have no components.
    pub const SERVICES_WITHOUT_COMPONENTS: Self = Self(2);
}

/// [MS-COMT] 3.2.5.1.1: a component that is instantiated in a container. A number that is missing, or that the host
/// does not track (0xFFFFFFFF), is `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Component<'a> {
    pub clsid: Guid,
    /// Name: the component's ProgID.
    pub name: Option<WideStr<'a>>,
    pub objects: Option<u32>,
    /// Activated: active component instances.
    pub activated: Option<u32>,
    /// Pooled: component instances in the pool.
    pub pooled: Option<u32>,
    /// InCall: component instances that perform a call now.
    pub in_call: Option<u32>,
    /// CallTime: average time of a call in milliseconds; Windows reports the slowest instance's average of its last four
    /// seconds.
    pub call_time_ms: Option<u32>,
}

/// An entry while it is read: its properties, each with a slot of its own.
pub(super) trait Slots<'a>: Default {
    /// What the entry is read into.
    type Entry;

    /// Names in UTF-16LE, their types and their slots.
    const PROPERTIES: &'static [Listed];

    /// Keeps the value of a slot, whose type was checked.
    fn set(&mut self, slot: u8, value: Value<'a>) -> Result<(), Reason>;

    /// The entry, unless the property that identifies it is missing.
    fn finish(self) -> Result<Self::Entry, Reason>;
}

/// A property of [MS-COMT] 3.2.5.1.1.
pub(super) struct Listed {
    pub(super) name: &'static [u8],
    pub(super) vt: u16,
    pub(super) slot: u8,
}

macro_rules! listed {
    ($($slot:literal $name:literal $vt:ident,)*) => {
        &[$(Listed {
            name: {
                const BYTES: [u8; $name.len() * 2] = wide($name);
                &BYTES
            },
            vt: vt::$vt,
            slot: $slot,
        }),*]
    };
}

const fn wide<const N: usize>(text: &str) -> [u8; N] {
    let mut bytes = [0; N];
    let mut at = 0;
    while at < text.len() {
        bytes[at * 2] = text.as_bytes()[at];
        at += 1;
    }
    bytes
}

impl<'a> Slots<'a> for Process<'a> {
    type Entry = Self;

    const PROPERTIES: &'static [Listed] = listed! {
        0 "ProcessID" NUMBER,
        1 "ExeName" TEXT,
        2 "Paused" NUMBER,
        3 "Recycling" NUMBER,
        4 "IsService" NUMBER,
        5 "Applications" OBJECT,
    };

    fn set(&mut self, slot: u8, value: Value<'a>) -> Result<(), Reason> {
        match slot {
            0 => self.process_id = number(value),
            1 => self.exe_name = some_text(value),
            2 => self.is_paused = flag(value)?,
            3 => self.is_recycling = flag(value)?,
            _ => self.is_service = flag(value)?,
        }
        Ok(())
    }

    fn finish(self) -> Result<Self, Reason> {
        Ok(self)
    }
}

#[derive(Default)]
pub(super) struct ContainerSlots<'a> {
    application_id: Option<Guid>,
    container_id: Option<Guid>,
    application_type: Option<u32>,
    partition_id: Option<Guid>,
    name: Option<WideStr<'a>>,
}

impl<'a> Slots<'a> for ContainerSlots<'a> {
    type Entry = Container<'a>;

    const PROPERTIES: &'static [Listed] = listed! {
        0 "ApplicationID" TEXT,
        1 "ApplInstanceID" TEXT,
        1 "AppInstanceID" TEXT,
        2 "ApplicationType" NUMBER,
        3 "PartitionID" TEXT,
        4 "Name" TEXT,
        5 "Components" OBJECT,
    };

    fn set(&mut self, slot: u8, value: Value<'a>) -> Result<(), Reason> {
        match slot {
            0 => self.application_id = guid(value)?,
            1 => self.container_id = guid(value)?,
            2 => self.application_type = number(value),
            3 => self.partition_id = guid(value)?,
            _ => self.name = some_text(value),
        }
        Ok(())
    }

    fn finish(self) -> Result<Container<'a>, Reason> {
        Ok(Container {
            application_id: self.application_id.ok_or(Reason::Missing { property: "ApplicationID" })?,
            container_id: self.container_id,
            application_type: self.application_type.map(ApplicationType),
            partition_id: self.partition_id,
            name: self.name,
        })
    }
}

#[derive(Default)]
pub(super) struct ComponentSlots<'a> {
    clsid: Option<Guid>,
    name: Option<WideStr<'a>>,
    numbers: [Option<u32>; 5],
}

impl<'a> Slots<'a> for ComponentSlots<'a> {
    type Entry = Component<'a>;

    const PROPERTIES: &'static [Listed] = listed! {
        0 "Objects" NUMBER,
        1 "Activated" NUMBER,
        2 "Pooled" NUMBER,
        3 "InCall" NUMBER,
        4 "CallTime" NUMBER,
        5 "CLSID" TEXT,
        6 "Name" TEXT,
    };

    fn set(&mut self, slot: u8, value: Value<'a>) -> Result<(), Reason> {
        match slot {
            0..=4 => self.numbers[usize::from(slot)] = number(value),
            5 => self.clsid = guid(value)?,
            _ => self.name = some_text(value),
        }
        Ok(())
    }

    fn finish(self) -> Result<Component<'a>, Reason> {
        let [objects, activated, pooled, in_call, call_time_ms] = self.numbers;
        let clsid = self.clsid.ok_or(Reason::Missing { property: "CLSID" })?;
        Ok(Component { clsid, name: self.name, objects, activated, pooled, in_call, call_time_ms })
    }
}

/// A number, unless it says that the host does not track it.
const fn number(value: Value<'_>) -> Option<u32> {
    match value {
        Value::Number(u32::MAX) => None,
        Value::Number(number) => Some(number),
        _ => None,
    }
}

const fn flag(value: Value<'_>) -> Result<Option<bool>, Reason> {
    match number(value) {
        None => Ok(None),
        Some(0) => Ok(Some(false)),
        Some(1) => Ok(Some(true)),
        Some(_) => Err(Reason::WrongValue),
    }
}

/// A text, unless it is empty.
fn some_text(value: Value<'_>) -> Option<WideStr<'_>> {
    match value {
        Value::Text(bytes) => Some(text(bytes)).filter(|text| !text.as_bytes().is_empty()),
        _ => None,
    }
}

/// [MS-COMT] 2.2.1: a CurlyBraceGuidString.
fn guid(value: Value<'_>) -> Result<Option<Guid>, Reason> {
    let Some(text) = some_text(value) else { return Ok(None) };
    let mut ascii = [0; 38];
    let (units, _) = text.as_bytes().as_chunks::<2>();
    let ascii = ascii.get_mut(..units.len()).ok_or(Reason::WrongValue)?;
    for (byte, unit) in ascii.iter_mut().zip(units) {
        // Other characters become one that no GUID has.
        *byte = if unit[1] == 0 && unit[0].is_ascii() { unit[0] } else { b'?' };
    }
    let guid = str::from_utf8(ascii).ok().and_then(|text| text.parse().ok());
    guid.map(Some).ok_or(Reason::WrongValue)
}
