//! Sets of our own with the shapes that exports of hosts, tools and people have: `data/exports/`. A conformance check lets
//! another parser compare them with what is written.

use ms_pla::xml::{DataCollectorSet, Date, Limits, Time};
use ms_pla::{ChosenValue, FileFormat, ValueMapType, WeekDays};

const EXPORTS: [(&str, &str); 4] = [
    ("counters", include_str!("../data/exports/counters.xml")),
    ("trace", include_str!("../data/exports/trace.xml")),
    ("report", include_str!("../data/exports/report.xml")),
    ("by_hand", include_str!("../data/exports/by_hand.xml")),
];

fn read(bytes: &[u8]) -> DataCollectorSet {
    DataCollectorSet::read(bytes, &Limits::default()).unwrap()
}

fn export(name: &str) -> DataCollectorSet {
    let (_, text) = EXPORTS.into_iter().find(|(known, _)| *known == name).unwrap();
    read(text.as_bytes())
}

#[test]
fn each_shape_is_read_alike_in_each_encoding_and_is_what_it_was_when_it_was_written() {
    for (name, text) in EXPORTS {
        let set = read(text.as_bytes());
        let windows = text.replace('\n', "\r\n");
        for units in [format!("\u{feff}{text}"), windows] {
            let little: Vec<u8> = units.encode_utf16().flat_map(u16::to_le_bytes).collect();
            assert_eq!(read(&little), set, "{name}");
        }
        let written = set.to_xml().unwrap();
        assert_eq!(read(written.as_bytes()), set, "{name}");
        assert_eq!(read(written.as_bytes()).to_xml().unwrap(), written, "{name}");
    }
}

#[test]
fn a_set_of_counters_has_a_name_for_people_for_each_counter() {
    let set = export("counters");
    let [counters] = &set.counters[..] else { panic!("{set:?}") };
    assert_eq!(counters.counters, counters.counter_display_names);
    assert_eq!(counters.counters[3], r"\Network Interface(Realtek[R] 8111_8168)\Bytes Total/sec");
    assert_eq!((counters.is_circular, counters.log_file_format), (Some(true), Some(FileFormat::BINARY)));
    assert_eq!((set.is_segmented, set.duration_s), (Some(true), Some(86_400)));
    assert_eq!(set.display_name_unresolved.as_deref(), Some("@%systemroot%\\shop.dll,#17"));
}

#[test]
fn the_value_maps_of_a_trace_have_their_values_and_those_of_their_items() {
    let set = export("trace");
    let provider = &set.traces[0].providers[0];
    let keywords = provider.keywords_any.as_ref().unwrap();
    assert_eq!((keywords.kind, keywords.value.as_deref()), (Some(ValueMapType::FLAG), Some("0x10303")));
    let number = |text: &Option<String>| u64::from_str_radix(text.as_deref()?.strip_prefix("0x")?, 16).ok();
    let map = ms_pla::ValueMap {
        kind: ValueMapType::FLAG,
        items: keywords
            .items
            .iter()
            .map(|item| ms_pla::ValueMapItem {
                is_enabled: item.is_enabled == Some(true),
                value: number(&item.value).unwrap(),
                ..ms_pla::ValueMapItem::default()
            })
            .collect(),
    };
    assert_eq!(map.value(), ChosenValue::Flags(0x10303));
    let level = provider.level.as_ref().unwrap();
    assert_eq!((level.kind, level.items.len()), (Some(ValueMapType::INDEX), 1));
    assert!(provider.keywords_all.as_ref().unwrap().items.is_empty());
    assert_eq!(provider.properties.as_ref().unwrap().rest[0].text(), Some("x"));
}

#[test]
fn schedules_of_an_american_host_and_reports_of_two_kinds_are_understood() {
    let set = export("report");
    let [first, second] = &set.schedules[..] else { panic!("{set:?}") };
    assert_eq!(first.start_date, Some(Date { year: 2026, month: 9, day: 14 }));
    assert_eq!(first.start_time, Some(Time { hour: 0, minute: 5, second: 9 }));
    assert_eq!(first.end_date, Some(Date { year: 2026, month: 12, day: 1 }));
    assert_eq!((second.days, second.rest[1].text()), (Some(WeekDays::RUN_ONCE), Some("11:59:00 PM")));
    assert_eq!(second.start_time, Some(Time { hour: 23, minute: 30, second: 0 }));
    let imports = set.data_manager.unwrap().imports().join(" ");
    assert!(imports.ends_with(r"\Report.System.Summary.xml"), "{imports}");
    assert_eq!(export("by_hand").data_manager.unwrap().imports(), ["a.xml"]);
}

#[test]
fn a_set_that_people_wrote_has_its_elements_in_their_order() {
    let set = export("by_hand");
    let [alert] = &set.alerts[..] else { panic!("{set:?}") };
    assert_eq!(alert.alerts, [r"\Shop Orders(*)\Open Orders>100", r"\Memory\Available MBytes<500"]);
    assert_eq!((alert.sample_interval_s, alert.logs_events), (Some(30), Some(true)));
    assert_eq!(alert.name.as_deref(), Some("Too many \u{f6}rders"));
    assert_eq!((set.keywords.len(), set.api_traces.len()), (2, 1));
}
