//! Bad input, one fault at a time: what is dropped, what is still read, and where an event ends.

use com::comt::tracking::Limits;

use crate::comt::support::{
    collection, component, container, guid, lines, lines_within, number, object, process, property, text,
};

const CONTAINER_1: &str = "  Some(1) 00000000-0000-0000-0000-000000000001 None None None None";

fn line(application: u8, n: u8) -> String {
    format!("    {application:x} 00000000-0000-0000-0000-0000000000{n:02x} None - - - {n} -")
}

/// The lines of an event with `middle` between two components.
fn between(middle: Vec<u8>) -> Vec<String> {
    let event = collection(0, &[process(1, &[container(1, &[component(5), middle, component(6)])])]);
    let mut lines = lines(&event);
    assert_eq!(lines[1], CONTAINER_1);
    lines.drain(..2);
    lines
}

/// A component with the number 9 as CLSID, and another property.
fn with(property: Vec<u8>) -> Vec<u8> {
    object(&[text("CLSID", &guid(9)), property, number("InCall", 9)])
}

/// What is said of the component in the middle, without the offset.
fn said(lines: &[String]) -> &str {
    let line = lines.iter().find_map(|line| line.strip_prefix("! process 0, container 0, component 1: "));
    line.unwrap_or("").split(" (offset").next().unwrap_or("")
}

#[test]
fn a_bad_property_costs_itself() {
    for (bad, expected) in [
        (number("Colour", 1), "`Colour`: unknown property"),
        (number("", 1), "property without a name"),
        (text("CLSID", &guid(8)), "`CLSID`: repeated property"),
        (text("Objects", "7"), "`Objects`: unexpected type 0x0008"),
        (number("Name", 7), "`Name`: unexpected type 0x0013"),
        (property("Objects", 3, &[7, 0, 0, 0]), "`Objects`: unexpected type 0x0003"),
        (property("Objects", 0x14, &[7; 8]), "`Objects`: unexpected type 0x0014"),
        (property("Objects", 0x0d, &collection(2, &[component(1)])), "`Objects`: unexpected type 0x000d"),
        (property("Colour", 0x0d, &object(&[])), "`Colour`: unknown property"),
        (text("Name", &"x".repeat(1_025)), "`Name`: text is too long"),
    ] {
        let lines = between(with(bad));
        assert_eq!(said(&lines), expected);
        let read: Vec<&String> = lines.iter().filter(|line| !line.starts_with('!')).collect();
        assert_eq!(read, [&line(1, 5), &line(1, 9), &line(1, 6)], "{expected}");
    }
}

#[test]
fn a_property_whose_name_stands_in_its_value_only_is_read() {
    let mut named_once = number("Objects", 7);
    named_once.drain(8..8 + 2 * "Objects".len());
    named_once[4] = 0;
    let lines = between(with(named_once));
    assert!(
        lines.contains(&"    1 00000000-0000-0000-0000-000000000009 None 7 - - 9 -".to_owned()),
        "{lines:?}"
    );
}

#[test]
fn an_entry_without_what_identifies_it_costs_itself_and_says_where() {
    for (bad, expected) in [
        (object(&[number("InCall", 3)]), "entry without `CLSID`"),
        (object(&[text("CLSID", "{00000000}"), number("InCall", 3)]), "`CLSID`: value without a meaning"),
        (object(&[text("CLSID", &"é".repeat(38))]), "`CLSID`: value without a meaning"),
        (collection(2, &[component(7)]), "unexpected class of object"),
    ] {
        let lines = between(bad);
        assert_eq!(said(&lines), expected);
        let read: Vec<&String> = lines.iter().filter(|line| !line.starts_with('!')).collect();
        assert_eq!(read, [&line(1, 5), &line(1, 6)], "{expected}");
    }
}

#[test]
fn a_container_without_an_application_is_dropped_with_its_components() {
    let nameless = object(&[property("Components", 0x0d, &collection(2, &[component(3)]))]);
    let event = collection(0, &[process(1, &[nameless, container(1, &[component(5)])])]);
    assert_eq!(
        lines(&event)[1..],
        [
            "! process 0, container 0: entry without `ApplicationID` (offset 308)".to_owned(),
            CONTAINER_1.to_owned(),
            line(1, 5)
        ]
    );
}

#[test]
fn a_process_without_its_number_is_read_for_its_applications() {
    let process = object(&[property("Applications", 0x0d, &collection(1, &[container(1, &[component(5)])]))]);
    assert_eq!(lines(&collection(0, &[process])).last(), Some(&line(1, 5)));
}

#[test]
fn a_collection_of_something_else_is_dropped_and_its_neighbours_are_read() {
    let wrong = object(&[
        text("ApplicationID", &guid(2)),
        property("Components", 0x0d, &collection(1, &[container(3, &[component(4)])])),
    ]);
    let no_collection =
        object(&[text("ApplicationID", &guid(4)), property("Components", 0x0d, &component(3))]);
    let event = collection(0, &[process(1, &[wrong, no_collection, container(1, &[component(5)])])]);
    let lines = lines(&event);
    let dropped: Vec<&String> = lines.iter().filter(|line| line.starts_with('!')).collect();
    assert_eq!(dropped.len(), 2, "{lines:?}");
    assert!(dropped[0].starts_with("! process 0, container 0: collection of type 1 (offset"), "{dropped:?}");
    assert!(dropped[1].starts_with("! process 0, container 1: unexpected class of object"), "{dropped:?}");
    assert_eq!(lines.last(), Some(&line(1, 5)));
    assert!(!lines.contains(&line(3, 4)));
}

#[test]
fn a_flag_that_is_neither_false_nor_true_is_dropped() {
    let process = object(&[number("Paused", 2), number("Recycling", 1), number("IsService", u32::MAX)]);
    assert_eq!(
        lines(&collection(0, &[process])),
        ["! process 0: `Paused`: value without a meaning (offset 120)", "None None None Some(true) None"]
    );
}

#[test]
fn properties_behind_a_collection_are_read_before_it_is_visited() {
    let container = object(&[
        property("Components", 0x0d, &collection(2, &[component(5)])),
        property("Components", 0x0d, &collection(2, &[component(6)])),
        text("ApplicationID", &guid(1)),
    ]);
    let process =
        object(&[property("Applications", 0x0d, &collection(1, &[container])), number("ProcessID", 1)]);
    let lines = lines(&collection(0, &[process]));
    assert_eq!(lines[0], "Some(1) None None None None");
    assert!(lines[1].starts_with("! process 0, container 0: `Components`: repeated property"), "{lines:?}");
    assert_eq!(lines[2..], [CONTAINER_1.to_owned(), line(1, 5)]);
}

#[test]
fn entries_above_the_limits_are_counted_and_skipped() {
    let full =
        |n| process(n, &[container(1, &[component(5), component(6), component(7)]), container(2, &[])]);
    let event = collection(0, &[full(1), full(2), full(3)]);
    let limits = Limits { processes_max: 2, containers_max: 3, components_max: 4, ..Limits::default() };
    let lines = lines_within(&event, &limits);
    let dropped: Vec<&str> = lines
        .iter()
        .filter_map(|line| line.strip_prefix("! "))
        .map(|line| line.split(" (").next().unwrap())
        .collect();
    assert_eq!(
        dropped,
        [
            "process 1, container 0, component 1: 2 entries above the limit of 4",
            "process 1, container 1: 1 entries above the limit of 3",
            "process 2: 1 entries above the limit of 2",
        ]
    );
    assert_eq!(lines.iter().filter(|line| line.starts_with("    ")).count(), 4);
}

#[test]
fn what_is_no_structure_ends_the_event_and_keeps_what_came_before() {
    let honest = collection(0, &[process(1, &[container(1, &[component(5), component(6)])])]);
    let begin = honest.len() - component(6).len();
    let change = |at: usize, byte: u8| {
        let mut bytes = honest.clone();
        bytes[begin + at] = byte;
        bytes
    };
    for (at, byte, expected) in [
        (0, b'm', format!("OBJREF_CUSTOM: `signature`: is not MEOW (offset {begin})")),
        (4, 1, format!("OBJREF_CUSTOM: `flags`: unsupported value 0x1 (offset {})", begin + 4)),
        (
            24,
            0,
            format!("OBJREF_CUSTOM: `clsid`: is no class of tracking information (offset {})", begin + 24),
        ),
        (
            48,
            2,
            format!("TrackingInfoObject: `MaxVersion`: unsupported value 0x10002 (offset {})", begin + 48),
        ),
        (
            55,
            0xff,
            format!(
                "TrackingInfoObject: `PropCount`: 4278190082 is above the limit of 9 (offset {})",
                begin + 52
            ),
        ),
        (
            56,
            2,
            format!("TrackingInfoProperty: `MaxVersion`: unsupported value 0x10002 (offset {})", begin + 56),
        ),
        (
            63,
            0xff,
            format!(
                "TrackingInfoProperty: `PropertyName`: 8556380170 bytes needed at offset {}, 156 there",
                begin + 64
            ),
        ),
        (92, 0x0c, format!("TrackingInfoPropertyValue: `vt`: unsupported value 0xc (offset {})", begin + 92)),
    ] {
        let lines = lines(&change(at, byte));
        assert_eq!(lines[2..], [line(1, 5), format!("error: {expected}")], "{at}");
    }
}

#[test]
fn counts_that_the_bytes_cannot_hold_are_refused() {
    let mut bytes = collection(0, &[]);
    bytes[56..60].copy_from_slice(&u32::MAX.to_le_bytes());
    let expected = "`ObjectCount`: 4294967295 is above the limit of 0 (offset 56)";
    assert_eq!(lines(&bytes), [format!("error: TrackingInfoCollection: {expected}")]);
    let mut bytes = collection(0, &[]);
    bytes[60..64].copy_from_slice(&u32::MAX.to_le_bytes());
    let expected = "`PropertyNameCount`: 4294967295 is above the limit of 0 (offset 60)";
    assert_eq!(lines(&bytes), [format!("error: TrackingInfoCollection: {expected}")]);
}

#[test]
fn endless_nesting_is_refused_at_a_depth_that_no_event_has() {
    let mut inner = object(&[]);
    for _ in 0..1_000 {
        inner = object(&[property("Applications", 0x0d, &collection(1, &[inner]))]);
    }
    let event = collection(0, &[object(&[property("Colour", 0x0d, &inner)])]);
    let last = lines(&event).pop().unwrap();
    assert!(last.starts_with("error: OBJREF_CUSTOM: `depth`: 9 is above the limit of 8"), "{last}");
}

#[test]
fn an_event_that_is_no_collection_of_processes_or_containers_is_refused() {
    let components = "error: TrackingInfoCollection: `CollectionType`: unsupported value 0x2 (offset 52)";
    assert_eq!(lines(&collection(2, &[component(1)])), [components]);
    assert_eq!(lines(&component(1)), ["error: OBJREF_CUSTOM: `clsid`: is no collection (offset 24)"]);
    assert_eq!(lines(b""), ["error: OBJREF_CUSTOM: 24 bytes needed at offset 0, 0 there"]);
    assert_eq!(
        lines(b"MEOW with less behind it than that"),
        ["error: OBJREF_CUSTOM: 48 bytes needed at offset 0, 34 there"]
    );
    let no_event = "error: OBJREF_CUSTOM: `signature`: is not MEOW (offset 0)";
    assert_eq!(lines(&[7; 60]), [no_event]);
}

#[test]
fn a_text_that_claims_more_than_is_there_ends_the_event() {
    let named = |name: &str| object(&[text("CLSID", &guid(7)), text("Name", name)]);
    let begin = [process(1, &[container(1, &[component(5)])])];
    for claimed in [2, 0x1000, 0x7fff_ffff, 0x8000_0000, u32::MAX] {
        let mut bytes = named("x");
        let at = bytes.len() - 2 - 4;
        bytes[at..at + 4].copy_from_slice(&u32::to_le_bytes(claimed));
        let event = collection(0, &[begin[0].clone(), process(2, &[container(2, &[bytes])])]);
        let lines = lines(&event);
        assert_eq!(lines[1..3], [CONTAINER_1.to_owned(), line(1, 5)], "what came before is kept");
        let last = lines.last().unwrap();
        assert!(last.starts_with("error: TrackingInfoPropertyValue: `Value`:"), "{claimed:#x}: {last}");
    }
}

#[test]
fn a_name_is_absent_if_it_has_no_characters_and_ends_at_its_nul_or_at_its_length() {
    let named = |name: &str| object(&[text("ApplicationID", &guid(1)), text("Name", name)]);
    let names = ["", "\0", "\0\0hidden", "A\0hidden", "A"].map(named);
    let lines = lines(&collection(1, &names));
    let shown: Vec<&str> = lines.iter().map(|line| line.rsplit(' ').next().unwrap()).collect();
    assert_eq!(shown, ["None", "None", "None", "Some(\"A\")", "Some(\"A\")"]);
}
