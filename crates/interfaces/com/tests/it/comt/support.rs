//! A visitor that keeps what it gets as lines, and structures of [MS-COMT] 2.2.5 written by hand.

use com::comt::tracking::{Component, Container, Dropped, Limits, Process, Visitor, read};

/// The visited entries and the dropped ones, a line each.
#[derive(Default)]
pub(crate) struct Lines(pub(crate) Vec<String>);

impl<'a> Visitor<'a> for Lines {
    fn process(&mut self, process: &Process<'a>) {
        let Process { process_id, exe_name, is_paused, is_recycling, is_service } = process;
        let exe_name = exe_name.map(|name| name.to_string());
        self.0.push(format!("{process_id:?} {exe_name:?} {is_paused:?} {is_recycling:?} {is_service:?}"));
    }

    fn container(&mut self, process: Option<&Process<'a>>, container: &Container<'a>) {
        let process = process.and_then(|process| process.process_id);
        let Container { application_id, container_id, application_type, partition_id, name } = container;
        let (name, kind) = (name.map(|name| name.to_string()), application_type.map(|kind| kind.0));
        self.0.push(format!(
            "  {process:?} {application_id} {container_id:?} {kind:?} {partition_id:?} {name:?}"
        ));
    }

    fn component(&mut self, _: Option<&Process<'a>>, container: &Container<'a>, component: &Component<'a>) {
        let application = container.application_id.to_u128() & 0xff;
        let Component { clsid, name, objects, activated, pooled, in_call, call_time_ms } = component;
        let numbers = [objects, activated, pooled, in_call, call_time_ms]
            .map(|number| number.map_or("-".to_owned(), |number| number.to_string()));
        let name = name.map(|name| name.to_string());
        self.0.push(format!("    {application:x} {clsid} {name:?} {}", numbers.join(" ")));
    }

    fn dropped(&mut self, dropped: &Dropped<'a>) {
        self.0.push(format!("! {dropped}"));
    }
}

/// The lines of an event; an error is the last one.
pub(crate) fn lines(bytes: &[u8]) -> Vec<String> {
    lines_within(bytes, &Limits::default())
}

pub(crate) fn lines_within(bytes: &[u8], limits: &Limits) -> Vec<String> {
    let mut lines = Lines::default();
    match read(bytes, limits, &mut lines) {
        Ok(size) => assert!(size <= bytes.len()),
        Err(error) => lines.0.push(format!("error: {error}")),
    }
    lines.0
}

/// OBJREF_CUSTOM with a class of tracking information (its first bytes), a `reserved` that is no length, and data.
fn objref(class: u8, data: &[u8]) -> Vec<u8> {
    let mut bytes = b"MEOW\x04\0\0\0".to_vec();
    bytes.extend([0x11; 16]); // iid
    bytes.extend([class, 0xaf, 0xab, 0xec, 0x19, 0x7f, 0xd2, 0x11]);
    bytes.extend([0x97, 0x8e, 0x00, 0x00, 0xf8, 0x75, 0x7e, 0x2a]);
    bytes.extend([0, 0, 0, 0, 0xef, 0xbe, 0xad, 0xde]); // cbExtension, reserved
    bytes.extend(data);
    bytes
}

fn count<T>(elements: &[T]) -> u32 {
    elements.len().try_into().unwrap()
}

pub(crate) fn collection(kind: u32, objects: &[Vec<u8>]) -> Vec<u8> {
    let head = [0x0001_0001, kind, count(objects), 0].map(u32::to_le_bytes).concat();
    objref(0xcd, &[head, objects.concat()].concat())
}

pub(crate) fn object(properties: &[Vec<u8>]) -> Vec<u8> {
    let head = [0x0001_0001, count(properties)].map(u32::to_le_bytes).concat();
    objref(0xce, &[head, properties.concat()].concat())
}

pub(crate) fn name(text: &str) -> Vec<u8> {
    let units: Vec<u16> = text.encode_utf16().collect();
    let units_as_bytes = units.iter().flat_map(|unit| unit.to_le_bytes());
    count(&units).to_le_bytes().into_iter().chain(units_as_bytes).collect()
}

pub(crate) fn property(text: &str, vt: u16, value: &[u8]) -> Vec<u8> {
    let version = [1, 0, 1, 0];
    [&version[..], &name(text), &version, &name(text), &vt.to_le_bytes(), value].concat()
}

pub(crate) fn number(text: &str, value: u32) -> Vec<u8> {
    property(text, 0x13, &value.to_le_bytes())
}

pub(crate) fn text(text: &str, value: &str) -> Vec<u8> {
    property(text, 8, &name(value))
}

/// A GUID that ends in `n`, as a CurlyBraceGuidString.
pub(crate) fn guid(n: u8) -> String {
    format!("{{00000000-0000-0000-0000-0000000000{n:02X}}}")
}

/// A component with a CLSID and one number.
pub(crate) fn component(n: u8) -> Vec<u8> {
    object(&[text("CLSID", &guid(n)), number("InCall", n.into())])
}

/// A container with an application and components.
pub(crate) fn container(n: u8, components: &[Vec<u8>]) -> Vec<u8> {
    object(&[text("ApplicationID", &guid(n)), property("Components", 0x0d, &collection(2, components))])
}

/// A process with containers.
pub(crate) fn process(n: u32, containers: &[Vec<u8>]) -> Vec<u8> {
    object(&[number("ProcessID", n), property("Applications", 0x0d, &collection(1, containers))])
}
