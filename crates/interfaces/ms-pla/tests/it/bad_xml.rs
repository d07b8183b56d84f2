//! Documents that are made to take time or memory: entities that grow, depth, floods of names, attributes and text. Each is
//! refused, or read in memory that is in proportion to it.

use std::fmt::Write;

use ms_pla::xml::{DataCollectorSet, Element, Error, Limits};

const LIMITS: Limits = Limits { bytes_max: 8 << 20, names_max: 200_000, depth_max: 64 };

/// What reading a document answers, and the bytes that it held at one time.
fn measured(bytes: &[u8]) -> (Result<DataCollectorSet, Error>, usize) {
    let mut read = None;
    let used = allocation_counter::measure(|| read = Some(DataCollectorSet::read(bytes, &LIMITS)));
    (read.unwrap(), usize::try_from(used.bytes_max).unwrap())
}

fn utf16(text: &str) -> Vec<u8> {
    format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect()
}

/// Entities of which each is ten of the one before.
fn billion_laughs() -> String {
    let mut text = "<!DOCTYPE lolz [<!ENTITY lol0 \"lol\">".to_owned();
    for level in 1..10 {
        let ten = format!("&lol{};", level - 1).repeat(10);
        write!(text, "<!ENTITY lol{level} \"{ten}\">").unwrap();
    }
    text + "]><DataCollectorSet><Description>&lol9;</Description></DataCollectorSet>"
}

/// One long entity, many times.
fn quadratic() -> String {
    let (long, many) = ("a".repeat(100_000), "&a;".repeat(100_000));
    format!("<!DOCTYPE x [<!ENTITY a \"{long}\">]><DataCollectorSet><Name>{many}</Name></DataCollectorSet>")
}

#[test]
fn entities_that_grow_are_refused_before_any_is_expanded() {
    let tricks = [
        billion_laughs(),
        quadratic(),
        "<!DOCTYPE x [<!ENTITY % p SYSTEM 'http://127.0.0.1/x'> %p;]><DataCollectorSet/>".to_owned(),
        "<!DOCTYPE x [<!ENTITY e SYSTEM 'file:///etc/passwd'>]><DataCollectorSet>&e;</DataCollectorSet>"
            .to_owned(),
        "<!DOCTYPE x PUBLIC 'p' 'http://127.0.0.1/x'><DataCollectorSet/>".to_owned(),
        "<?xml version='1.0'?><!-- before --><!DOCTYPE DataCollectorSet><DataCollectorSet/>".to_owned(),
        "<DataCollectorSet><!DOCTYPE x [<!ENTITY a 'b'>]></DataCollectorSet>".to_owned(),
    ];
    for text in tricks {
        for bytes in [text.as_bytes().to_vec(), utf16(&text)] {
            let (read, used) = measured(&bytes);
            let error = read.unwrap_err();
            assert!(error.reason.contains("a document type declaration is refused"), "{error}");
            assert!(used <= 2 * bytes.len() + (16 << 10), "{used} bytes for {}", bytes.len());
        }
    }
}

#[test]
fn a_set_of_100_mb_is_refused_without_being_read() {
    let line = r"<Counter>\Process(*)\% Processor Time</Counter>";
    let inner = line.repeat((100 << 20) / line.len());
    let text = format!("<DataCollectorSet><PerformanceCounterDataCollector>{inner}");
    let bytes = text + "</PerformanceCounterDataCollector></DataCollectorSet>";
    let (read, used) = measured(bytes.as_bytes());
    assert!(read.unwrap_err().reason.contains("above the limit of 8388608"));
    assert!(used < 4 << 10, "{used} bytes");
}

#[test]
fn a_flood_of_names_takes_memory_in_proportion_to_the_limit() {
    let mut names = "<DataCollectorSet>".to_owned();
    for number in 0.. {
        if names.len() > LIMITS.bytes_max - 100 {
            break;
        }
        write!(names, "<n{number}/>").unwrap();
    }
    let mut attributes = "<DataCollectorSet>".to_owned();
    while attributes.len() < LIMITS.bytes_max - 2000 {
        attributes.push_str("<a");
        (0..64).for_each(|number| write!(attributes, " b{number}=\"\"").unwrap());
        attributes.push_str("/>");
    }
    for text in [names, attributes] {
        let (read, used) = measured(text.as_bytes());
        let error = read.unwrap_err();
        assert!(error.reason.contains("more than 200000 elements and attributes"), "{error}");
        assert!(used < NAMES_BYTES_MAX, "{used} bytes");
    }
}

/// For as many elements as the limit allows.
const NAMES_BYTES_MAX: usize = 64 << 20;

#[test]
fn the_largest_document_is_read_in_memory_that_a_small_machine_has() {
    // Each element has one element, which costs most.
    let pair = "<Counter><x/></Counter>";
    let text = format!("<DataCollectorSet>{}</DataCollectorSet>", pair.repeat(LIMITS.names_max / 2 - 1));
    let (read, used) = measured(text.as_bytes());
    assert_eq!(read.unwrap().rest.len(), LIMITS.names_max / 2 - 1);
    assert!(used < 2 * NAMES_BYTES_MAX, "{used} bytes");
}

#[test]
fn text_in_a_million_pieces_is_one_text() {
    for (piece, text) in [("a<!---->", "a"), ("&amp;", "&"), ("<![CDATA[<]]>", "<"), ("&#x61;<?p q?>", "a")] {
        let count = (1 << 20) / piece.len();
        let document = format!("<DataCollectorSet><Name>{}</Name></DataCollectorSet>", piece.repeat(count));
        let (read, used) = measured(document.as_bytes());
        assert_eq!(read.unwrap().name, Some(text.repeat(count)), "{piece}");
        assert!(used < 4 * document.len(), "{piece}: {used} bytes for {}", document.len());
    }
}

#[test]
fn depth_is_limited_wherever_it_is() {
    let nested = |depth: usize| format!("{}{}", "<x>".repeat(depth), "</x>".repeat(depth));
    let within = [
        ("<DataCollectorSet>", "</DataCollectorSet>", 1),
        (
            "<DataCollectorSet><DataManager><ReportSchema>",
            "</ReportSchema></DataManager></DataCollectorSet>",
            3,
        ),
        ("<DataCollectorSet><AlertDataCollector>", "</AlertDataCollector></DataCollectorSet>", 2),
    ];
    for (before, after, outer) in within {
        let of = |depth| format!("{before}{}{after}", nested(depth));
        assert!(measured(of(64 - outer).as_bytes()).0.is_ok());
        let error = measured(of(65 - outer).as_bytes()).0.unwrap_err();
        assert!(error.reason.contains("is deeper than 64"), "{error}");
    }
    // A stack of calls for each element would end here.
    let deep = "<x>".repeat(LIMITS.bytes_max / 3);
    let no_limit = Limits { depth_max: usize::MAX, names_max: 100_000, ..LIMITS };
    assert!(Element::read(deep.as_bytes(), &no_limit).unwrap_err().reason.contains("more than 100000"));
}

#[test]
fn an_error_shows_a_part_of_what_is_long() {
    let long = "n".repeat(1 << 20);
    for text in [
        format!("<{long}/>"),
        format!("<DataCollectorSet><Duration>{long}</Duration></DataCollectorSet>"),
        format!("<DataCollectorSet><{long}"),
        format!("<DataCollectorSet>&{long};</DataCollectorSet>"),
        format!("<DataCollectorSet><{long}></x></DataCollectorSet>"),
        format!("<DataCollectorSet {long}='1' {long}='2'/>"),
    ] {
        let error = measured(text.as_bytes()).0.unwrap_err().to_string();
        assert!(error.len() < 2048, "{} bytes: {}", error.len(), &error[..200]);
    }
}
