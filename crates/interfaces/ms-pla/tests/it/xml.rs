//! Data collector sets as XML: what hosts, tools and people write. `data/nightly.xml` is an invented set with what exports
//! have.

use ms_pla::xml::{DataCollectorSet, Date, Element, Error, Limits, Schedule, Time};
use ms_pla::{
    AutoPathFormat, DataCollectorType, FileFormat, FolderActionSteps, ResourcePolicy, StreamMode,
    ValueMapType, WeekDays,
};
use wire::Guid;

const NIGHTLY: &str = include_str!("../data/nightly.xml");

fn read(text: &str) -> Result<DataCollectorSet, Error> {
    DataCollectorSet::read(text.as_bytes(), &Limits::default())
}

/// A set with these elements.
fn set(inner: &str) -> DataCollectorSet {
    read(&format!("<DataCollectorSet>{inner}</DataCollectorSet>")).unwrap()
}

fn refused(inner: &str) -> String {
    read(&format!("<DataCollectorSet>{inner}</DataCollectorSet>")).unwrap_err().to_string()
}

fn utf16(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(bytes).collect()
}

#[test]
fn an_exported_set_is_read_with_all_its_parts() {
    let set = read(NIGHTLY).unwrap();
    assert_eq!(
        (set.duration_s, set.serial_number, set.are_schedules_enabled),
        (Some(900), Some(10), Some(true))
    );
    assert_eq!((set.is_segmented, set.keywords.join(" ").as_str()), (Some(false), "CPU Disk"));
    let format = AutoPathFormat::PATTERN | AutoPathFormat::COMPUTER;
    assert_eq!(
        (set.subdirectory_format, set.root_path.as_deref()),
        (Some(format), Some(r"%systemdrive%\PerfLogs\Admin\Nightly"))
    );
    let [counters] = &set.counters[..] else { panic!("{set:?}") };
    assert_eq!(
        (counters.kind, counters.log_file_format),
        (Some(DataCollectorType(0)), Some(FileFormat::BINARY))
    );
    assert_eq!(counters.counters, [r"\Processor(_Total)\% Processor Time", r"\Memory\Available MBytes"]);
    assert_eq!((counters.counter_display_names.len(), counters.sample_interval_s), (1, Some(15)));
    let [alert] = &set.alerts[..] else { panic!("{set:?}") };
    assert_eq!(alert.alerts[1], r"\Memory\Available MBytes<100");
    assert_eq!((alert.sample_interval_s, alert.logs_events), (Some(u32::MAX), Some(true)));
    let [trace] = &set.traces[..] else { panic!("{set:?}") };
    assert_eq!((trace.guid, trace.stream_mode), (Some(Guid::NULL), Some(StreamMode::FILE)));
    let keywords = trace.providers[0].keywords_any.as_ref().unwrap();
    assert_eq!((keywords.kind, keywords.value.as_deref()), (Some(ValueMapType::FLAG_ARRAY), Some("0x200")));
    assert_eq!((keywords.items[0].key.as_deref(), keywords.items[0].is_enabled), (Some("disk"), Some(true)));
    let schedule = Schedule {
        start_date: Some(Date { year: 2020, month: 9, day: 14 }),
        start_time: Some(Time { hour: 4, minute: 0, second: 0 }),
        days: Some(WeekDays::EVERYDAY),
        rest: set.schedules[0].rest.clone(),
        ..Schedule::default()
    };
    assert_eq!(set.schedules, [schedule]);
    let manager = set.data_manager.as_ref().unwrap();
    assert_eq!(
        (manager.is_enabled, manager.resource_policy),
        (Some(true), Some(ResourcePolicy::DELETE_OLDEST))
    );
    let steps = FolderActionSteps::CREATE_CAB | FolderActionSteps::DELETE_DATA;
    assert_eq!(manager.folder_actions[0].actions, Some(steps));
    let names = ["First.xml", "Second.xml"].map(|name| format!(r"%systemroot%\pla\reports\{name}"));
    assert_eq!(manager.imports(), names);
}

#[test]
fn any_document_is_a_tree_of_elements_that_know_their_places() {
    let root = Element::read(NIGHTLY.as_bytes(), &Limits::default()).unwrap();
    let alerts = root.elements().filter(|element| element.local_name() == "AlertDataCollector");
    let alerts: Vec<_> = alerts.flat_map(Element::elements).filter(|it| it.local_name() == "Alert").collect();
    assert_eq!(alerts[1].position.to_string(), "line 43, column 3");
    assert_eq!(alerts[1].text(), Some(r"\Memory\Available MBytes<100"));
    assert!(Element::read(b"<a>", &Limits::default()).is_err());
}

#[test]
fn what_is_written_is_read_as_it_was_and_nothing_unknown_is_lost() {
    let first = read(NIGHTLY).unwrap();
    let text = first.to_xml().unwrap();
    let second = read(&text).unwrap();
    assert_eq!(second, first);
    assert_eq!(second.to_xml().unwrap(), text);
    let unknown = [
        r#"<NewInAVersionToCome kind="a&amp;b"><Part>1</Part>text</NewInAVersionToCome>"#,
        r#"<Report xmlns="http://example.com/report" name="Invented" version="1" threshold="100">"#,
        r#"<Import file="%systemroot%\pla\reports\First.xml"/>"#,
        "<EndDate/>",
        "<StartDate>09/14/2020</StartDate>",
        "<StartTime>04:00:00</StartTime>",
        "<SchedulesEnabled>-1</SchedulesEnabled>",
        r"<Alert>\Memory\Available MBytes&lt;100</Alert>",
        "<Guid>{9E814AAD-3204-11D2-9A82-006008A86939}</Guid>",
    ];
    for part in unknown {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn each_encoding_is_read_with_a_mark_and_without_whatever_the_declaration_says() {
    let expected = read(NIGHTLY).unwrap();
    let marked = format!("\u{feff}{NIGHTLY}");
    for text in [NIGHTLY, &marked] {
        for bytes in [utf16(text, u16::to_le_bytes), utf16(text, u16::to_be_bytes), text.as_bytes().to_vec()]
        {
            assert_eq!(DataCollectorSet::read(&bytes, &Limits::default()).unwrap(), expected);
        }
    }
}

#[test]
fn elements_stand_in_any_order_with_a_namespace_or_without() {
    assert_eq!(
        set("<Segment>0</Segment><Duration>5</Duration>"),
        set("<Duration>5</Duration><Segment>0</Segment>")
    );
    let prefixed =
        read(r#"<p:DataCollectorSet xmlns:p="urn:x"><p:Duration>5</p:Duration></p:DataCollectorSet>"#)
            .unwrap();
    assert_eq!((prefixed.duration_s, prefixed.attributes[0].value.as_str()), (Some(5), "urn:x"));
    let schema = |text: &str| {
        let set = set(&format!("<DataManager><ReportSchema>{text}</ReportSchema></DataManager>"));
        set.data_manager.unwrap().imports().join(" ")
    };
    assert_eq!(schema(r#"<Report><Import file="a"/></Report>"#), "a");
    assert_eq!(
        schema(r#"<r:Report xmlns:r="urn:r"><r:Import file="a"/><x><r:Import file="b"/></x></r:Report>"#),
        "a b"
    );
}

#[test]
fn a_boolean_is_zero_or_any_other_number_or_a_word() {
    let segment = |text: &str| set(&format!("<Segment>{text}</Segment>")).is_segmented;
    for (text, expected) in [
        ("0", false),
        ("-1", true),
        ("1", true),
        ("true", true),
        ("True", true),
        (" FALSE ", false),
        ("0x0", false),
    ] {
        assert_eq!(segment(text), Some(expected), "{text}");
    }
    assert!(
        refused("<Segment>yes</Segment>")
            .ends_with("`DataCollectorSet/Segment` has `yes`, which is no boolean")
    );
}

#[test]
fn dates_and_times_are_read_in_the_forms_that_are_common() {
    let start = |date: &str, time: &str| {
        let inner = format!("<StartDate>{date}</StartDate><StartTime>{time}</StartTime>");
        let set = set(&format!("<Schedule>{inner}</Schedule>"));
        (set.schedules[0].start_date.unwrap().to_string(), set.schedules[0].start_time.unwrap().to_string())
    };
    let of = |date: &str, time: &str| (date.to_owned(), time.to_owned());
    assert_eq!(start("9/14/2020", "4:00:00 AM"), of("09/14/2020", "04:00:00"));
    assert_eq!(start("09/14/2020", "16:00:59"), of("09/14/2020", "16:00:59"));
    assert_eq!(start("2/29/2020", "12:00:00 AM"), of("02/29/2020", "00:00:00"));
    assert_eq!(start("12/31/1999", "12:30:00 pm"), of("12/31/1999", "12:30:00"));
    // Other languages of Windows, and tools.
    for (date, expected) in [
        ("2020-09-14", "09/14/2020"),
        ("2020/9/14", "09/14/2020"),
        ("2020-09-14T00:00:00", "09/14/2020"),
        ("14.09.2020", "09/14/2020"),
        ("4.9.2020 00:00:00", "09/04/2020"),
        ("14/9/2020", "09/14/2020"),
        ("9/14/2020 12:00:00 AM", "09/14/2020"),
        ("14-9-2020", "09/14/2020"),
        ("09-14-2020", "09/14/2020"),
    ] {
        assert_eq!(start(date, "0:00").0, expected, "{date}");
    }
    for (time, expected) in [
        ("4:00", "04:00:00"),
        ("16.30.15", "16:30:15"),
        ("4:00 pm", "16:00:00"),
        ("4:00:00PM", "16:00:00"),
        ("4:00:00 p.m.", "16:00:00"),
        ("4:00:00\u{202f}AM", "04:00:00"),
    ] {
        assert_eq!(start("1/1/2020", time).1, expected, "{time}");
    }
    for date in [
        "2/29/2021",
        "13/13/2020",
        "2020-13-01",
        "1/1/2020 04:00:00",
        "1.1/2020",
        "14 Sep 2020",
        "0/1/2020",
        "1/0/2020",
        "1/1/20",
        "1/1",
        "1/1/2020/1",
        "+1/1/2020",
    ] {
        assert!(
            refused(&format!("<Schedule><StartDate>{date}</StartDate></Schedule>")).contains("is no date"),
            "{date}"
        );
    }
    for time in
        ["24:00:00", "0:60:00", "0:0:60", "0", "13:00:00 PM", "0:00:00 AM", "1:00:00 XM", "1:00:00:00"]
    {
        assert!(
            refused(&format!("<Schedule><StartTime>{time}</StartTime></Schedule>")).contains("is no time"),
            "{time}"
        );
    }
}

#[test]
fn a_value_that_cannot_be_read_costs_only_itself_and_stays() {
    let inner = "<Duration>long</Duration><Segment>perhaps</Segment><Keyword><x/></Keyword><Keyword>k</Keyword>\n\
                 <Schedule><StartDate>someday</StartDate><StartTime/><Days>127</Days></Schedule>\n\
                 <PerformanceCounterDataCollector><Name>n</Name><LogFileFormat>csv</LogFileFormat><SampleInterval>5</SampleInterval>\
                 </PerformanceCounterDataCollector>\n\
                 <TraceDataCollector><Guid>x</Guid><TraceDataProvider><Guid>y</Guid></TraceDataProvider>\
                 </TraceDataCollector><SerialNumber>7</SerialNumber><SerialNumber>x</SerialNumber><New>y</New>\
                 <DataManager><MaxSize>much</MaxSize><FolderAction><Age>old</Age></FolderAction></DataManager>";
    let text = format!("<DataCollectorSet>{inner}</DataCollectorSet>");
    let set = DataCollectorSet::read_each(text.as_bytes(), &Limits::default()).unwrap();
    let unread: Vec<String> = set.unread().iter().map(|error| error.path.clone()).collect();
    let expected = [
        "Duration",
        "Segment",
        "Keyword",
        "Schedule/StartDate",
        "PerformanceCounterDataCollector/LogFileFormat",
        "TraceDataCollector/Guid",
        "TraceDataCollector/TraceDataProvider/Guid",
        "DataManager/MaxSize",
        "DataManager/FolderAction/Age",
    ];
    assert_eq!(unread, expected.map(|path| format!("DataCollectorSet/{path}")));
    assert_eq!((set.serial_number, set.keywords.len(), set.schedules.len()), (Some(7), 1, 1));
    assert_eq!(set.counters[0].sample_interval_s, Some(5));
    let written = set.to_xml().unwrap();
    assert!(
        written.contains("<StartDate>someday</StartDate>") && written.contains("<Age>old</Age>"),
        "{written}"
    );
    let error = DataCollectorSet::read(text.as_bytes(), &Limits::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "line 1, column 19: `DataCollectorSet/Duration` has `long`, which is no number of 32 bits"
    );
}

#[test]
fn a_property_that_stands_twice_counts_where_it_stands_first_and_the_second_is_kept() {
    let set = set("<Duration>1</Duration><Duration>2</Duration>");
    assert_eq!((set.duration_s, set.rest.len()), (Some(1), 1));
    assert!(set.to_xml().unwrap().contains("<Duration>2</Duration>"));
}

#[test]
fn numbers_out_of_range_and_other_wrong_values_are_errors_with_their_place() {
    let text =
        "<DataCollectorSet>\n <TraceDataCollector>\n  <Guid>x</Guid></TraceDataCollector></DataCollectorSet>";
    let error = read(text).unwrap_err();
    assert_eq!(
        error.to_string(),
        "line 3, column 3: `DataCollectorSet/TraceDataCollector/Guid` has `x`, which is no GUID"
    );
    assert!(refused("<Duration>4294967296</Duration>").contains("no number of 32 bits"));
    assert!(refused("<SubdirectoryFormat>65536</SubdirectoryFormat>").contains("no AutoPathFormat"));
    assert!(refused("<Duration><a/></Duration>").contains("has elements, and should be text"));
    assert_eq!(set("<Duration>-1</Duration>").duration_s, Some(u32::MAX));
    assert_eq!((set("<Duration> </Duration>").duration_s, set("<Duration/>").rest.len()), (None, 1));
}

#[test]
fn text_with_sections_and_references_is_one_text() {
    let description = |text: &str| set(&format!("<Description>{text}</Description>")).description.unwrap();
    assert_eq!(description("a<![CDATA[<b>]]>&amp;&#x63;&#100;<!-- x -->e"), "a<b>&cde");
    for text in ["<&>\"'", "\r\n\t", "  ", "ü\u{1f600}"] {
        let set = DataCollectorSet { description: Some(text.to_owned()), ..DataCollectorSet::default() };
        assert_eq!(read(&set.to_xml().unwrap()).unwrap(), set, "{text:?}");
    }
    let set = DataCollectorSet { description: Some("\0".to_owned()), ..DataCollectorSet::default() };
    assert!(set.to_xml().unwrap_err().to_string().contains("character that XML does not have"));
}

#[test]
fn a_document_type_is_refused_and_so_are_entities() {
    let bomb = r#"<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]><DataCollectorSet>&b;</DataCollectorSet>"#;
    assert!(read(bomb).unwrap_err().reason.contains("document type declaration"));
    let external = r#"<!DOCTYPE x SYSTEM "file:///etc/passwd"><DataCollectorSet/>"#;
    assert!(read(external).unwrap_err().reason.contains("document type declaration"));
    assert!(refused("<Description>&b;</Description>").contains("has the entity `b`, which does not exist"));
    for text in ["&#0;", "&#xd800;", "&#x110000;", "&#x1;", "&", "&a", "\u{1}", "\u{fffe}"] {
        refused(&format!("<Description>{text}</Description>"));
        refused(&format!("<Description a='{text}'/>"));
    }
    refused("<Description a='&b;'/>");
}

#[test]
fn what_is_no_document_is_refused() {
    let bad = [
        "",
        " ",
        "x",
        "<DataCollectorSet>",
        "<DataCollectorSet></Other>",
        "<DataCollectorSet/><DataCollectorSet/>",
        "<DataCollectorSet/>x",
        "x<DataCollectorSet/>",
        "<Other/>",
        "<DataCollectorSet",
        "<DataCollectorSet a/>",
        "<DataCollectorSet a='1' a='2'/>",
        "<DataCollectorSet><1/></DataCollectorSet>",
        "</DataCollectorSet>",
        "<DataCollectorSet><!-- a -- b --></DataCollectorSet>",
        "<DataCollectorSet a=b/>",
        "<DataCollectorSet><a\u{1}/></DataCollectorSet>",
    ];
    for text in bad {
        assert!(read(text).is_err(), "{text}");
    }
    for bytes in [
        &[0xff, 0xfe, 0x3c][..],
        &[0x3c, 0, 0, 0xd8],
        &[0xc3, 0x28],
        &[0xef, 0xbb, 0xbf, 0xff],
        &[0],
        &[0, 0],
    ] {
        let error = DataCollectorSet::read(bytes, &Limits::default());
        assert!(error.is_err(), "{bytes:02x?}");
    }
}

#[test]
fn a_document_above_a_limit_is_refused_before_it_takes_memory() {
    let huge = vec![b' '; 100 << 20];
    let error = DataCollectorSet::read(&huge, &Limits::default()).unwrap_err();
    assert!(error.reason.contains("above the limit of 8388608"), "{error}");
    let deep = "<a>".repeat(1_000_000);
    let error = refused(&deep);
    assert!(error.contains("is deeper than 64"), "{error}");
    let wide = "<a/>".repeat(200_001);
    assert!(refused(&wide).contains("has more than 200000 elements and attributes"));
    let attributes: String = (0..100_000).map(|n| format!(" a{n}='1'")).collect();
    assert!(refused(&format!("<a{attributes}/>")).contains("more than 64 attributes"));
}

#[test]
fn documents_of_the_deepest_kind_that_is_allowed_are_read_and_written() {
    let inner = format!("{}{}", "<a>".repeat(63), "</a>".repeat(63));
    let set = set(&inner);
    assert_eq!(read(&set.to_xml().unwrap()).unwrap(), set);
    assert!(refused(&format!("<a>{inner}</a>")).contains("is deeper than 64"));
}

proptest::proptest! {
    #[test]
    fn damaged_documents_are_read_as_they_are_written_or_refused(
        damage in proptest::collection::vec((proptest::prelude::any::<proptest::sample::Index>(), "[<>&;/a0\"= ]"), 1..6),
    ) {
        let mut text = NIGHTLY.to_owned();
        for (at, with) in damage {
            let at = at.index(text.len());
            text.replace_range(at..=at, &with);
        }
        match read(&text) {
            Ok(set) => proptest::prop_assert_eq!(read(&set.to_xml().unwrap()).unwrap(), set),
            Err(error) => proptest::prop_assert!(error.position.line >= 1, "{}", error),
        }
    }
}

#[test]
fn a_part_of_a_set_is_a_document_of_its_own() {
    let set = DataCollectorSet::read(include_bytes!("../data/nightly.xml"), &Limits::default()).unwrap();
    let schema = set.data_manager.unwrap().report_schema.unwrap();
    let report = schema.elements().next().unwrap();
    let written = report.to_xml().unwrap();
    assert!(written.starts_with("<?xml") && written.contains("<Report xmlns="), "{written}");
    assert_eq!(Element::read(written.as_bytes(), &Limits::default()).as_ref(), Ok(report));
    assert!(Element::read(b"<a><b></a>", &Limits::default()).is_err());
}
