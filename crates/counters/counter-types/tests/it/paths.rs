//! The meaning of counter paths, and the errors for invalid ones.

use counter_types::{CounterPath, InstanceIndex, InstancePath, NamePattern, PATH_CHARS_MAX, PatternText};
use expect_test::{Expect, expect};
use proptest::prelude::*;

fn parse(text: &str) -> CounterPath {
    let path: CounterPath = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
    assert_eq!(path.to_string(), text, "a path is written as it was");
    path
}

fn check(text: &str, expected: &Expect) {
    let CounterPath { machine, counterset, instance, counter } = parse(text);
    let mut shown = format!("{counterset} | {counter}");
    if let Some(machine) = machine {
        shown += &format!(" | at {machine}");
    }
    if let Some(InstancePath { parent, name, index }) = instance {
        shown += &format!(" | {name}");
        if let Some(parent) = parent {
            shown += &format!(" of {parent}");
        }
        match index {
            Some(InstanceIndex::Number(number)) => shown += &format!(", number {number}"),
            Some(InstanceIndex::Any) => shown += ", any",
            None => {}
        }
    }
    expected.assert_eq(&shown);
}

// [MS-PLA] 2.2.10 and the Win32 pages on counter paths.
#[test]
fn the_examples_of_the_documents_are_read() {
    check(
        r"\\Computer\PerfObject(ParentInstance/ObjectInstance#1)\Counter",
        &expect!["PerfObject | Counter | at Computer | ObjectInstance of ParentInstance, number 1"],
    );
    check(r"\Process(Explorer)\ID Process", &expect!["Process | ID Process | Explorer"]);
    check(r"\Thread(Explorer/0)\ID Thread", &expect!["Thread | ID Thread | 0 of Explorer"]);
    check(r"\Process(Explorer#1)\ID Process", &expect!["Process | ID Process | Explorer, number 1"]);
    check(r"\LogicalDisk(*/*#*)\*", &expect!["LogicalDisk | * | * of *, any"]);
    check(r"\Memory\Available Bytes", &expect!["Memory | Available Bytes"]);
}

#[test]
fn names_may_contain_the_signs_of_paths() {
    check(
        r"\SQLServer:Locks(_Total)\Average Wait Time (ms)",
        &expect!["SQLServer:Locks | Average Wait Time (ms) | _Total"],
    );
    check(r"\Web(pid_4(x))\Bytes/sec", &expect!["Web | Bytes/sec | pid_4(x)"]);
    check(r"\HTTP Service Url Groups(a)(b)\Rate", &expect!["HTTP Service Url Groups | Rate | a)(b"]);
    check(r"\Disk(C:\Mount\Point)\% Free Space", &expect![r"Disk | % Free Space | C:\Mount\Point"]);
    check(r"\Set(http://+:80/)\Rate", &expect!["Set | Rate | /+:80/ of http:"]);
    check(r"\Set(/x)\Rate", &expect!["Set | Rate | /x"]);
    check(r"\Set(C# app)\Rate", &expect!["Set | Rate | C# app"]);
    check(r"\Set(a#01)\Rate", &expect!["Set | Rate | a#01"]);
    check(r"\Set(a#1#2)\Rate", &expect!["Set | Rate | a#1, number 2"]);
    check(r"\Set(#1)\Rate", &expect!["Set | Rate | #1"]);
    check(r"\Set(a#4294967296)\Rate", &expect!["Set | Rate | a#4294967296"]);
    check(r"\\10.0.0.1\Zähler(ä)\Größe/s", &expect!["Zähler | Größe/s | at 10.0.0.1 | ä"]);
    check(r"\Set\)", &expect!["Set | )"]);
}

// As typeperf and Get-Counter are called, and as templates of data collector sets have them.
#[test]
fn the_first_backslash_may_be_left_out() {
    for text in [
        r"Memory\*",
        r"Process(*)\*",
        r"System\Context Switches/sec",
        r"Disk(C:\Mount\Point)\% Free Space",
        r"Set(a#1)\x",
    ] {
        let path: CounterPath = text.parse().unwrap();
        assert_eq!(path, parse(&format!(r"\{text}")));
        assert_eq!(path.to_string(), format!(r"\{text}"), "it is written in full");
    }
    let longest = format!(r"ä\{}", "ö".repeat(PATH_CHARS_MAX - 3));
    assert!(longest.parse::<CounterPath>().is_ok() && format!("{longest}ö").parse::<CounterPath>().is_err());
}

#[test]
fn what_is_no_path_says_where_and_why() {
    let check = |text: &str, expected: Expect| {
        expected.assert_eq(&text.parse::<CounterPath>().unwrap_err().to_string());
    };
    check("", expect![[r"counter path: `\` and a counter are missing, at character 1"]]);
    check("Memory", expect![[r"counter path: `\` and a counter are missing, at character 7"]]);
    check(
        r"web7\Memory\x",
        expect!["counter path: only a counter or an instance follows a counterset, at character 5"],
    );
    check(r"\", expect![[r"counter path: `\` and a counter are missing, at character 2"]]);
    check(r"\Memory", expect![[r"counter path: `\` and a counter are missing, at character 8"]]);
    check(r"\\web7", expect![[r"counter path: `\` and a counterset are missing, at character 7"]]);
    check(r"\\web7\Memory", expect![[r"counter path: `\` and a counter are missing, at character 14"]]);
    check(r"\\\Memory\x", expect!["counter path: the name of the machine is empty, at character 3"]);
    check(r"\Memory\", expect!["counter path: the counter is empty, at character 9"]);
    check(r"\\web7\\x", expect!["counter path: the counterset is empty, at character 8"]);
    check(r"\(a)\x", expect!["counter path: the counterset is empty, at character 2"]);
    check(r"\Process()\x", expect!["counter path: the instance is empty, at character 10"]);
    check(r"\Größe(a\x", expect!["counter path: `)` is missing before this backslash, at character 9"]);
    check(r"\Process(a)b\x", expect!["counter path: `)` is missing before this backslash, at character 13"]);
    check(
        r"\Memory\a\b",
        expect!["counter path: only a counter or an instance follows a counterset, at character 8"],
    );
    check("\\Memory\\a\0", expect!["counter path: a control character, at character 10"]);
}

#[test]
fn a_path_has_as_many_characters_as_windows_takes() {
    let of_length = |length: usize| format!(r"\ä\{}", "ö".repeat(length - 3));
    assert!(of_length(PATH_CHARS_MAX).parse::<CounterPath>().is_ok());
    let error = of_length(PATH_CHARS_MAX + 1).parse::<CounterPath>().unwrap_err();
    assert_eq!((error.position, error.reason), (2_048, "it is longer than a path may be"));
}

#[test]
fn wildcards_are_patterns_and_other_names_are_themselves() {
    let path = parse(r"\Processor *(0,*)\% Processor Time");
    assert_eq!(path.counterset_pattern(), PatternText::Wildcard("Processor *".to_owned()));
    assert_eq!(path.counter_pattern(), PatternText::Exact("% Processor Time".to_owned()));
    let pattern = NamePattern::new(&path.instance.unwrap().pattern()).unwrap();
    assert!(pattern.matches("0,_Total") && !pattern.matches("1,0"));
}

#[test]
fn an_index_counts_those_of_one_name() {
    let instance = |text: &str| parse(&format!(r"\Process({text})\x")).instance.unwrap();
    assert!(instance("svchost").matches("SvcHost", 0) && !instance("svchost").matches("svchost", 1));
    assert!(instance("svchost#1").matches("svchost", 1) && !instance("svchost#1").matches("svchost", 0));
    assert!(instance("svchost#1").matches("svchost#1", 0), "as an old provider calls it");
    assert!(instance("svchost#*").matches("svchost", 7));
    assert!(instance("svc*").matches("svchost", 7) && !instance("svc*").matches("lsass", 0));
    // Instances without parents in the protocol are one name.
    assert!(instance("http://+:80/").matches("http://+:80/", 0));
    assert!(instance("*/0").matches("explorer/0", 0));
}

/// The law: a parsed path is written as it was, with its first backslash, and parsing it again gives the same.
fn assert_round_trip(text: &str) {
    if let Ok(path) = text.parse::<CounterPath>() {
        let shown = path.to_string();
        assert_eq!(shown, if text.starts_with('\\') { text.to_owned() } else { format!("\\{text}") });
        assert_eq!(shown.parse(), Ok(path));
    }
}

proptest! {
    #[test]
    fn texts_made_of_the_signs_of_paths_are_given_back(text in r"\\{0,2}[a#/0-9*()\\]{0,24}") {
        assert_round_trip(&text);
    }

    #[test]
    fn any_text_is_a_path_or_a_mistake_within_it(text in any::<String>()) {
        assert_round_trip(&text);
        if let Err(error) = text.parse::<CounterPath>() {
            prop_assert!(error.position <= text.chars().count());
        }
    }
}
