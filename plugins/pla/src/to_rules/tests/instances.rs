//! Instances as matchers.

use super::{thresholds, told, told_of, translated_with};
use crate::to_rules::matchers::Matcher;

/// The matchers of a path, or why it has no rule.
fn matchers(path: &str) -> String {
    let told = told_of(&format!("{path}>1"));
    let first = &told[0];
    match (first.split_once('{'), first.split_once("left out: ")) {
        (_, Some((_, reason))) => reason.split_once("`: ").map_or(reason, |it| it.1).to_owned(),
        (Some((_, matchers)), _) => matchers.split('}').next().unwrap_or_default().to_owned(),
        _ => String::new(),
    }
}

#[test]
fn a_name_is_written_as_the_host_does_and_in_any_case_where_the_host_lacks_it() {
    let check = |instance, expected: &str| {
        assert_eq!(matchers(&format!(r"\LogicalDisk({instance})\% Free Space")), expected, "{instance}");
    };
    check("c:", r#"counter_instance="C:""#);
    check("_total", r#"counter_instance="_Total""#);
    check("E:", r#"counter_instance=~"(?i:E:)""#);
    check("*", "");
    check("Hard*", r#"counter_instance=~"(?i:Hard.*)""#);
    check("?:", r#"counter_instance=~"(?i:.:)""#);
    check("a.b|c (d)", r#"counter_instance=~"(?i:a\\.b\\|c \\(d\\))""#);
    check("a\"b", r#"counter_instance=~"(?i:a\"b)""#);
    check("parent/child", r#"counter_instance=~"(?i:parent/child)""#);
}

#[test]
fn a_name_with_an_identifier_is_two_labels() {
    let check = |instance, expected: &str| {
        assert_eq!(matchers(&format!(r"\Process V2({instance})\Working Set")), expected, "{instance}");
    };
    check("*", "");
    check("SMSS:320", r#"process="smss",process_id="320""#);
    check("svchost:*", r#"process="svchost",process_id!="""#);
    check("*:4", r#"process_id="4""#);
    check("svchost*", r#"process=~"(?i:svchost.*)""#);
    check("s*host", r#"process=~"(?i:s.*host)",process_id="""#);
    check("_Total", r#"process=~"(?i:_Total)",process_id="""#);
    let refused = "name and identifier are two labels";
    for instance in ["*4", "*4*", "s??*", "a:*b"] {
        assert!(matchers(&format!(r"\Process V2({instance})\Working Set")).contains(refused), "{instance}");
    }
}

#[test]
fn instances_that_share_a_name_are_watched_all() {
    let told = told_of(r"\Process(svchost)\Thread Count>1");
    assert_eq!(
        told,
        [
            r#"perfmon_process_threads{process="svchost"} > 1"#,
            "# Windows watches the first of the instances of this name, the rule each of them",
        ]
    );
    assert_eq!(matchers(r"\Process(svchost#*)\Thread Count"), r#"process="svchost""#);
    assert_eq!(
        matchers(r"\Process(svchost#2)\Thread Count"),
        "`#2`: no label says which of the instances of one name it is"
    );
}

#[test]
fn a_path_needs_an_instance_exactly_where_there_are_some() {
    assert_eq!(
        matchers(r"\Memory(x)\Available MBytes"),
        "`Memory` has no instances: write the path without one"
    );
    assert_eq!(matchers(r"\LogicalDisk\% Free Space"), "`LogicalDisk` has instances: name one, or write `*`");
}

#[test]
fn a_machine_and_labels_of_the_command_line_restrict_the_series() {
    let expected = r#"target=~"(?i:web-7\\.corp)""#;
    assert_eq!(matchers(r"\\web-7.corp\Memory\Available MBytes"), expected);
    let told = told(&translated_with(thresholds(&[r"\Memory\Available MBytes>1"]), |setting| {
        setting.matchers = vec![Matcher::parse("site=a\"b").unwrap()];
    }));
    assert_eq!(told, [r#"perfmon_memory_available_mbytes{site="a\"b"} > 1"#]);
    for wrong in ["site", "=x", "a-b=x", "1a=x"] {
        assert!(Matcher::parse(wrong).is_err(), "{wrong}");
    }
}
