//! Writes tracker events, for servers and tests. Reading never depends on this module.

use wire::{EncodeError, EncodeResult, Guid, WriteCursor, encode_utf16};

use super::layout::{CollectionType, OBJREF_CUSTOM, SIGNATURE, VERSION, vt};
use crate::comt::ids;
use crate::comt::tracking::entry::ApplicationType;

/// The OBJREF_CUSTOM of an event.
///
/// # Errors
/// When a count or a length does not fit into 32 bits.
pub fn encode(processes: &[Process], choices: &Choices) -> EncodeResult<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut writer = Writer { dst: WriteCursor::new(&mut bytes), choices };
    writer.collection(CollectionType::PROCESSES, processes, Writer::process)?;
    Ok(bytes)
}

/// The OBJREF_CUSTOM of an event that lists containers without their processes, which 3.2.5.1.1 allows.
///
/// # Errors
/// As [`encode`].
pub fn encode_containers(containers: &[Container], choices: &Choices) -> EncodeResult<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut writer = Writer { dst: WriteCursor::new(&mut bytes), choices };
    writer.collection(CollectionType::CONTAINERS, containers, Writer::container)?;
    Ok(bytes)
}

struct Writer<'a> {
    dst: WriteCursor<'a>,
    choices: &'a Choices,
}

enum Value<'a> {
    Text(String),
    Number(Option<u32>),
    Containers(&'a [Container]),
    Components(&'a [Component]),
}

impl Writer<'_> {
    fn process(&mut self, process: &Process) -> EncodeResult<()> {
        self.object(vec![
            ("ProcessID", Value::Number(process.process_id)),
            ("ExeName", Value::Text(process.exe_name.clone())),
            ("Paused", Value::Number(Some(process.is_paused.into()))),
            ("Recycling", Value::Number(Some(process.is_recycling.into()))),
            ("IsService", Value::Number(Some(process.is_service.into()))),
            ("Applications", Value::Containers(&process.containers)),
        ])
    }

    fn container(&mut self, container: &Container) -> EncodeResult<()> {
        self.object(vec![
            ("ApplicationID", braces(container.application_id)),
            (self.choices.container_id_name, braces(container.container_id)),
            ("ApplicationType", Value::Number(Some(container.application_type.0))),
            ("PartitionID", braces(container.partition_id)),
            ("Name", Value::Text(container.name.clone())),
            ("Components", Value::Components(&container.components)),
        ])
    }

    fn component(&mut self, component: &Component) -> EncodeResult<()> {
        self.object(vec![
            ("CLSID", braces(component.clsid)),
            ("Objects", Value::Number(component.objects)),
            ("Activated", Value::Number(component.activated)),
            ("Pooled", Value::Number(component.pooled)),
            ("InCall", Value::Number(component.in_call)),
            ("CallTime", Value::Number(component.call_time_ms)),
            ("Name", Value::Text(component.name.clone())),
        ])
    }

    fn collection<T>(
        &mut self,
        collection_type: CollectionType,
        objects: &[T],
        write: impl Fn(&mut Self, &T) -> EncodeResult<()>,
    ) -> EncodeResult<()> {
        self.objref(ids::COLLECTION_UNMARSHALER, |writer| {
            writer.dst.write_u32(VERSION);
            writer.dst.write_u32(collection_type.0);
            writer.dst.write_u32(count("TrackingInfoCollection", "ObjectCount", objects.len())?);
            let names: &[&str] = if writer.choices.lists_names { names_of(collection_type) } else { &[] };
            writer.dst.write_u32(count("TrackingInfoCollection", "PropertyNameCount", names.len())?);
            names.iter().try_for_each(|name| writer.text(name))?;
            objects.iter().try_for_each(|object| write(writer, object))
        })
    }

    fn object(&mut self, mut properties: Vec<(&str, Value<'_>)>) -> EncodeResult<()> {
        let choices = *self.choices;
        properties.retain(|(_, value)| match value {
            Value::Text(text) => !text.is_empty() || choices.empty_text != EmptyText::Omitted,
            Value::Number(number) => number.is_some() || choices.untracked != Untracked::Omitted,
            Value::Containers(containers) => !containers.is_empty() || choices.empty_collections,
            Value::Components(components) => !components.is_empty() || choices.empty_collections,
        });
        if choices.collection_first {
            // Stable: the others stay in their order.
            properties.sort_by_key(|(_, value)| matches!(value, Value::Text(_) | Value::Number(_)));
        }
        self.objref(ids::OBJECT_UNMARSHALER, |writer| {
            writer.dst.write_u32(VERSION);
            writer.dst.write_u32(count("TrackingInfoObject", "PropCount", properties.len())?);
            properties.iter().try_for_each(|(name, value)| writer.property(name, value))
        })
    }

    fn property(&mut self, name: &str, value: &Value<'_>) -> EncodeResult<()> {
        self.dst.write_u32(VERSION);
        self.text(name)?;
        self.dst.write_u32(VERSION);
        self.text(if self.choices.repeats_names { name } else { "" })?;
        match value {
            Value::Text(text) if text.is_empty() && self.choices.empty_text == EmptyText::NoValue => {
                self.dst.write_u16(vt::EMPTY);
                Ok(())
            }
            Value::Text(text) => {
                self.dst.write_u16(vt::TEXT);
                self.text(text)
            }
            Value::Number(number) => {
                self.dst.write_u16(vt::NUMBER);
                self.dst.write_u32(number.unwrap_or(u32::MAX));
                Ok(())
            }
            Value::Containers(containers) => {
                self.dst.write_u16(vt::OBJECT);
                self.collection(CollectionType::CONTAINERS, containers, Self::container)
            }
            Value::Components(components) => {
                self.dst.write_u16(vt::OBJECT);
                self.collection(CollectionType::COMPONENTS, components, Self::component)
            }
        }
    }

    /// An OBJREF_CUSTOM around what `data` writes.
    fn objref(&mut self, class: Guid, data: impl FnOnce(&mut Self) -> EncodeResult<()>) -> EncodeResult<()> {
        if self.choices.has_heads || self.dst.pos() == 0 {
            self.dst.write_u32(SIGNATURE);
            self.dst.write_u32(OBJREF_CUSTOM);
            self.dst.write_slice(&self.choices.interface.to_bytes());
        }
        self.dst.write_slice(&class.to_bytes());
        self.dst.write_u32(0); // cbExtension
        let reserved = self.dst.pos();
        self.dst.write_u32(0);
        let begin = self.dst.pos();
        data(self)?;
        let size = count("OBJREF_CUSTOM", "pObjectData", self.dst.pos() - begin)?;
        let value = match self.choices.reserved {
            Reserved::DataSize => size,
            Reserved::DataSizeAndEight => size.saturating_add(8),
            Reserved::Number(number) => number,
        };
        self.dst.patch_u32(reserved, value);
        Ok(())
    }

    fn text(&mut self, text: &str) -> EncodeResult<()> {
        let mut bytes = encode_utf16(text);
        if self.choices.is_terminated && !text.is_empty() {
            bytes.extend([0, 0]);
        }
        self.dst.write_u32(count("LengthPrefixedName", "Length", bytes.len() / 2)?);
        self.dst.write_slice(&bytes);
        Ok(())
    }
}

fn braces(guid: Guid) -> Value<'static> {
    Value::Text(format!("{{{guid}}}").to_uppercase())
}

/// The names of the properties that the objects of a collection have.
const fn names_of(collection_type: CollectionType) -> &'static [&'static str] {
    match collection_type {
        CollectionType::PROCESSES => {
            &["ProcessID", "ExeName", "Paused", "Recycling", "IsService", "Applications"]
        }
        CollectionType::CONTAINERS => {
            &["ApplicationID", "ApplInstanceID", "ApplicationType", "PartitionID", "Name", "Components"]
        }
        _ => &["CLSID", "Objects", "Activated", "Pooled", "InCall", "CallTime", "Name"],
    }
}

fn count(context: &'static str, field: &'static str, count: usize) -> EncodeResult<u32> {
    u32::try_from(count).map_err(|_| EncodeError::new(context, field, "does not fit into 32 bits"))
}

/// A process with its containers; the properties are those of [`crate::comt::tracking::Process`].
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Process {
    pub process_id: Option<u32>,
    pub exe_name: String,
    pub is_paused: bool,
    pub is_recycling: bool,
    pub is_service: bool,
    pub containers: Vec<Container>,
}

/// An instance container with its components; the properties are those of [`crate::comt::tracking::Container`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Container {
    pub application_id: Guid,
    pub container_id: Guid,
    pub application_type: ApplicationType,
    pub partition_id: Guid,
    pub name: String,
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
    pub clsid: Guid,
    pub name: String,
    pub objects: Option<u32>,
    pub activated: Option<u32>,
    pub pooled: Option<u32>,
    pub in_call: Option<u32>,
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

/// What [MS-COMT] leaves to the writer, or says in two ways. The default is what its current text says first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choices {
    /// The interface in each OBJREF; the document names none.
    pub interface: Guid,
    /// Whether the objects in the event have the head of an OBJREF before their OBJREF_CUSTOM. The event itself has it, as each
    /// parameter of a method.
    pub has_heads: bool,
    /// The `reserved` field of OBJREF_CUSTOM, which readers ignore.
    pub reserved: Reserved,
    /// How a number that is not tracked is written.
    pub untracked: Untracked,
    /// How an empty text is written, which LengthPrefixedName cannot express.
    pub empty_text: EmptyText,
    /// Whether texts end in a NUL, which is counted (2.2.5.1 advises against it).
    pub is_terminated: bool,
    /// Whether the name of a property is repeated in its value (2.2.5.2), or is empty there.
    pub repeats_names: bool,
    /// Whether the collection of an entry comes before its other properties, instead of after them.
    pub collection_first: bool,
    /// Whether collections have PropertyNames.
    pub lists_names: bool,
    /// The name of the container identifier: `ApplInstanceID` in the current text, `AppInstanceID` in older ones.
    pub container_id_name: &'static str,
    /// Whether a process without containers, or a container without components, has an empty collection, or no
    /// property.
    pub empty_collections: bool,
}

impl Default for Choices {
    fn default() -> Self {
        Self {
            interface: Guid::from_u128(0x0000_0000_0000_0000_c000_0000_0000_0046), // IUnknown
            has_heads: true,
            reserved: Reserved::DataSize,
            untracked: Untracked::AllOnes,
            empty_text: EmptyText::Omitted,
            is_terminated: false,
            repeats_names: true,
            collection_first: false,
            lists_names: true,
            container_id_name: "ApplInstanceID",
            empty_collections: true,
        }
    }
}

/// The `reserved` field of OBJREF_CUSTOM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reserved {
    DataSize,
    /// Bytes of `pObjectData` and eight more, as some implementations write it.
    DataSizeAndEight,
    Number(u32),
}

/// How a number that is not tracked is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Untracked {
    AllOnes,
    /// The property is missing.
    Omitted,
}

/// How an empty text is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmptyText {
    /// The property is missing.
    Omitted,
    /// The length is 0, against 2.2.5.1.
    ZeroLength,
    /// The type is VT_EMPTY, against 2.2.5.2.
    NoValue,
}
