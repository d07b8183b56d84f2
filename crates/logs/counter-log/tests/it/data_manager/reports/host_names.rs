//! A host names its instances as it likes. It does not choose by that what rules do.

use counter_log::data_manager::reports::{Limits, Options, Report, Rules};
use proptest::prelude::*;

use crate::data_manager::reports::run::{Run, column};

const RULES: &str = r#"<Rules><Group name="g"><Rule name="r">
    <Step select="//Table[@object='Process']/Item[position() = 1]">
      <Variable name="who" expression="Data[@name='instance']"/>
      <Exists><When expression="Data[@name='instance'] = '{who}' and &quot;{who}&quot; = '{who}'">
        <Insert select="../Item[Data[@name='instance']='{who}' or Data[@name='instance']=&quot;{who}&quot;]">
          <Attribute name="chosen" value="{who}"/></Insert>
        <Warning select="Data[@name='mean']" table="//Section[@name='advice']/Table" tag="{who}"><Item>
          <Data name="symptom" link="{who}" message="{who}">{who}</Data></Item></Warning>
      </When></Exists>
    </Step>
    <Step select="//Table[@object='Process']/Item[position() = 1]">
      <Variable name="who" expression="Data[@name='instance']"/>
      <Exists><Otherwise><Delete select="../Item[Data={who}]"/></Otherwise></Exists>
    </Step></Rule></Group></Rules>"#;

/// The rules on a report whose first process has this name: which rows they chose, and how many are left.
fn apply(name: &str) -> (Vec<bool>, usize, String) {
    let process = |name: &str| (column("Process", Some(name), "ID Process"), vec![4.0]);
    let run = Run::of(vec![process(name), process("other"), process("it's"), process("say \"x\"")]);
    let mut report = Report::build(None, &run.source(), &Options::default());
    let rules = Rules::read_document(RULES.as_bytes(), &Limits::default()).expect("the rules are rules");
    let mut documents = |_: &str| Err(String::new());
    rules.apply(&mut report, &mut documents, &Limits::default());
    let xml = report.to_xml();
    let rows = xml.split("<Table name=\"Process\"").nth(1).unwrap_or_default();
    let rows: Vec<&str> = rows.split("<Item").skip(1).collect();
    (rows.iter().map(|row| row.starts_with(" chosen=")).collect(), rows.len(), report.to_html())
}

#[test]
fn names_that_are_expressions_are_names() {
    for name in [
        "' or '1'='1",
        "\" or \"1\"=\"1",
        "'] | //*[.='",
        "a'b\"c",
        "'\"'\"",
        "{who}",
        "{other}",
        "$(id)",
        "//*",
        "../Item",
        "true()",
        "concat('a')",
        "\\",
        "]]>",
        "<script>",
    ] {
        let (chosen, rows, _) = apply(name);
        assert_eq!((chosen, rows), (vec![true, false, false, false], 4), "{name}");
    }
}

#[test]
fn a_name_that_is_a_number_is_a_number_where_it_stands_without_quotes() {
    // Both are equal to the value of the counter, which is 4.
    assert_eq!(apply("4").1, 0);
    assert_eq!(apply("5").1, 3);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_name_changes_which_nodes_a_rule_selects(name in "[ -~]{1,12}|['\"{}$()\\[\\]|/*@.=,a-c]{1,16}|\\PC{1,8}") {
        let is_number = name.trim().trim_start_matches('-').starts_with(|char: char| char.is_ascii_digit() || char == '.');
        let is_other = ["other", "it's", "say \"x\""].contains(&&*name);
        prop_assume!(!is_number && !is_other);
        let (chosen, rows, html) = apply(&name);
        prop_assert_eq!(chosen, vec![true, false, false, false]);
        prop_assert_eq!(rows, 4);
        prop_assert!(!html.contains("<script"));
    }
}
