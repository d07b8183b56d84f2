//! An event as [MS-COMT] 2.2.5 and 3.2.5.1.1 describe it, put together by hand from the text.

use com::comt::tracking::write::{self, Choices, EmptyText, Reserved, Untracked, encode, encode_containers};
use wire::Guid;

use crate::comt::support::{
    collection, container, guid, lines, name, number, object, process, property, text,
};

#[test]
fn all_properties_of_processes_containers_and_components_are_read() {
    let component = object(&[
        text("CLSID", "{0F5C3E7A-1111-2222-3333-444455556666}"),
        number("Objects", 5),
        number("Activated", 4),
        number("Pooled", 3),
        number("InCall", 2),
        number("CallTime", 17),
        text("Name", "Orders.Line"),
    ]);
    let container = object(&[
        text("ApplicationID", &guid(1)),
        text("ApplInstanceID", &guid(2)),
        number("ApplicationType", 1),
        text("PartitionID", &guid(3)),
        text("Name", "Größe"),
        property("Components", 0x0d, &collection(2, &[component])),
    ]);
    let process = object(&[
        number("ProcessID", 4711),
        text("ExeName", "dllhost.exe"),
        number("Paused", 0),
        number("Recycling", 1),
        number("IsService", 0),
        property("Applications", 0x0d, &collection(1, &[container])),
    ]);
    assert_eq!(
        lines(&collection(0, &[process])),
        [
            r#"Some(4711) Some("dllhost.exe") Some(false) Some(true) Some(false)"#,
            concat!(
                "  Some(4711) 00000000-0000-0000-0000-000000000001 Some(00000000-0000-0000-0000-000000000002) ",
                r#"Some(1) Some(00000000-0000-0000-0000-000000000003) Some("Größe")"#
            ),
            r#"    1 0f5c3e7a-1111-2222-3333-444455556666 Some("Orders.Line") 5 4 3 2 17"#,
        ]
    );
}

#[test]
fn numbers_that_the_host_does_not_track_and_missing_properties_are_absent() {
    let untracked = object(&[text("CLSID", &guid(7)), number("Objects", u32::MAX), number("CallTime", 0)]);
    let process = process(u32::MAX, &[container(1, &[untracked])]);
    assert_eq!(
        lines(&collection(0, &[process])),
        [
            "None None None None None",
            "  None 00000000-0000-0000-0000-000000000001 None None None None",
            "    1 00000000-0000-0000-0000-000000000007 None - - - - 0",
        ]
    );
}

#[test]
fn the_older_name_of_the_container_identifier_is_read() {
    let container = object(&[text("ApplicationID", &guid(1)), text("AppInstanceID", &guid(2))]);
    let lines = lines(&collection(1, &[container]));
    let expected = "  None 00000000-0000-0000-0000-000000000001 Some(00000000-0000-0000-0000-000000000002)";
    assert_eq!(lines, [format!("{expected} None None None")]);
}

#[test]
fn an_application_is_visited_once_for_each_container() {
    let twice = collection(0, &[process(1, &[container(1, &[])]), process(2, &[container(1, &[])])]);
    let found = lines(&twice).iter().filter(|line| line.contains("-000000000001 ")).count();
    assert_eq!(found, 2);
}

#[test]
fn a_text_ends_before_its_nul_and_an_empty_one_is_absent() {
    let terminated = object(&[text("ApplicationID", &(guid(1) + "\0")), text("Name\0", "A\0")]);
    let empty = object(&[text("ApplicationID", &guid(2)), property("Name", 8, &name(""))]);
    let without = object(&[text("ApplicationID", &guid(3)), property("Name", 0, &[])]);
    assert_eq!(
        lines(&collection(1, &[terminated, empty, without])),
        [
            r#"  None 00000000-0000-0000-0000-000000000001 None None None Some("A")"#,
            "  None 00000000-0000-0000-0000-000000000002 None None None None",
            "  None 00000000-0000-0000-0000-000000000003 None None None None",
        ]
    );
}

/// What `support` writes where the document leaves a choice.
fn choices() -> Choices {
    Choices {
        interface: Guid::from_bytes([0x11; 16]),
        reserved: Reserved::Number(0xdead_beef),
        untracked: Untracked::Omitted,
        lists_names: false,
        ..Choices::default()
    }
}

#[test]
fn the_writer_writes_what_is_put_together_by_hand() {
    let id = |n| Guid::from_u128(n);
    let component = write::Component {
        clsid: id(5),
        name: "A".to_owned(),
        in_call: Some(2),
        ..write::Component::default()
    };
    let container = write::Container {
        application_id: id(1),
        container_id: id(2),
        partition_id: id(3),
        components: vec![component],
        ..write::Container::default()
    };
    let by_hand = object(&[
        text("ApplicationID", &guid(1)),
        text("ApplInstanceID", &guid(2)),
        number("ApplicationType", 1),
        text("PartitionID", &guid(3)),
        property(
            "Components",
            0x0d,
            &collection(2, &[object(&[text("CLSID", &guid(5)), number("InCall", 2), text("Name", "A")])]),
        ),
    ]);
    let written = encode_containers(std::slice::from_ref(&container), &choices()).unwrap();
    assert_eq!(written, collection(1, std::slice::from_ref(&by_hand)));
    let process = write::Process { process_id: Some(7), is_service: true, ..write::Process::default() };
    let process = write::Process { containers: vec![container], ..process };
    let by_hand = object(&[
        number("ProcessID", 7),
        number("Paused", 0),
        number("Recycling", 0),
        number("IsService", 1),
        property("Applications", 0x0d, &collection(1, &[by_hand])),
    ]);
    assert_eq!(encode(&[process], &choices()).unwrap(), collection(0, &[by_hand]));
}

#[test]
fn each_choice_of_the_writer_changes_its_bytes() {
    let container = write::Container { components: vec![write::Component::default()], ..Default::default() };
    let processes = [
        write::Process { exe_name: "a".to_owned(), containers: vec![container], ..Default::default() },
        write::Process::default(),
    ];
    let usual = Choices::default();
    let other = [
        Choices { interface: Guid::from_u128(1), ..usual },
        Choices { has_heads: false, ..usual },
        Choices { reserved: Reserved::DataSizeAndEight, ..usual },
        Choices { reserved: Reserved::Number(0), ..usual },
        Choices { untracked: Untracked::Omitted, ..usual },
        Choices { empty_text: EmptyText::ZeroLength, ..usual },
        Choices { empty_text: EmptyText::NoValue, ..usual },
        Choices { is_terminated: true, ..usual },
        Choices { repeats_names: false, ..usual },
        Choices { collection_first: true, ..usual },
        Choices { lists_names: false, ..usual },
        Choices { container_id_name: "AppInstanceID", ..usual },
        Choices { empty_collections: false, ..usual },
    ];
    let usual = encode(&processes, &usual).unwrap();
    for choices in other {
        let bytes = encode(&processes, &choices).unwrap();
        assert_ne!(bytes, usual, "{choices:?}");
        assert_eq!(lines(&bytes), lines(&usual), "{choices:?}");
    }
}
