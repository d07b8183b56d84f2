//! What a configuration that chooses counters and instances means.

use counter_types::{
    Choice, Filter, NamePattern, PatternError, PatternText, Selection, SelectionRules, Totals, same_name,
};
use counters::pcq::types::DetailLevel;
use proptest::prelude::*;

fn plain(text: &str) -> PatternText {
    PatternText::Plain(text.to_owned())
}

fn filter(include: &[&str], exclude: &[&str]) -> Filter {
    let plain = |names: &[&str]| names.iter().map(|name| plain(name)).collect();
    Filter { include: plain(include), exclude: plain(exclude) }
}

fn instances(include: &[&str], exclude: &[&str]) -> Selection {
    Selection::new(&SelectionRules { instances: filter(include, exclude), ..SelectionRules::default() })
        .unwrap()
}

fn matches(text: &PatternText, name: &str) -> bool {
    NamePattern::new(text).unwrap().matches(name)
}

const NOVICE: DetailLevel = DetailLevel::NOVICE;

#[test]
fn nothing_said_wants_everything() {
    let all = Selection::default();
    assert!(all.wants_instance("_Total") && all.wants_instance("") && all.wants_counter(None, NOVICE));
    assert!(all.wants_counter(Some("x"), DetailLevel(u32::MAX)));
}

#[test]
fn the_example_of_the_configuration_keeps_the_grand_total() {
    let selection = instances(&[], &[".*,_Total"]);
    assert!(selection.wants_instance("0,0") && selection.wants_instance("_Total"));
    assert!(!selection.wants_instance("0,_Total") && !selection.wants_instance("1,_Total"));
}

#[test]
fn expressions_match_whole_names() {
    let selection = instances(&["C:|D", "[0-9]+"], &["13"]);
    let wanted = ["C:", "D", "7", "130"];
    let unwanted = ["D:", "AC:", "C:\\", "7a", "13", ""];
    assert!(wanted.iter().all(|name| selection.wants_instance(name)));
    assert!(!unwanted.iter().any(|name| selection.wants_instance(name)));
}

#[test]
fn a_rule_that_is_no_expression_says_where_it_stands() {
    let error = |include: &[&str], exclude: &[&str]| {
        let rules = SelectionRules { instances: filter(include, exclude), ..SelectionRules::default() };
        Selection::new(&rules).unwrap_err()
    };
    let include = error(&["ok", "a)(b"], &[]);
    assert!(
        include.to_string().starts_with("instances.include[1]: `a)(b` is not a valid regular expression: "),
        "{include}"
    );
    assert_eq!(include.place.pointer(), "/instances/include/1");
    assert_eq!(
        error(&[], &["svchost(:.*"]).to_string(),
        "instances.exclude[0]: `svchost(:.*` is not a valid regular expression: unclosed group"
    );
    assert!(error(&["\\w{1000}{1000}"], &[]).to_string().contains("size limit"));
    let counters = SelectionRules { counters: filter(&[], &["("]), ..SelectionRules::default() };
    assert_eq!(Selection::new(&counters).unwrap_err().place.pointer(), "/counters/exclude/0");
}

#[test]
fn what_was_meant_is_suggested() {
    let suggestion = |text| {
        let PatternError { suggestion, .. } = NamePattern::new(&plain(text)).unwrap_err();
        suggestion.unwrap()
    };
    assert_eq!(suggestion("*"), "write {wildcard: '*'}");
    assert_eq!(suggestion("*,_Total"), "write {wildcard: '*,_Total'}");
    assert_eq!(suggestion("Bob's ("), "write {exact: 'Bob''s ('}");
    assert_eq!(
        suggestion("svchost(:.*"),
        r"write `\` before a special character to match it literally, such as `\(`"
    );
}

#[test]
fn plain_names_are_themselves_whatever_they_mean_as_expressions() {
    for name in ["Avg. Disk sec/Read", "Average Wait Time (ms)", "% Processor Time", "a|b", "C++"] {
        assert!(matches(&plain(name), name), "{name}");
    }
    assert!(matches(&plain("Avg. Disk"), "avg: disk") && !matches(&plain("Avg. Disk"), "avg disk"));
    assert!(matches(&plain("disk [0-9]"), "Disk 7") && matches(&plain("disk [0-9]"), "DISK [0-9]"));
}

#[test]
fn exact_names_mean_nothing_else() {
    let exact = |name| matches(&PatternText::Exact("a.*".to_owned()), name);
    assert!(exact("A.*") && !exact("ab") && !exact("a.*b"));
    assert!(matches(&PatternText::Exact("(".to_owned()), "("));
}

#[test]
fn wildcards_stand_for_characters_and_everything_else_for_itself() {
    let wild = |text: &str, name| matches(&PatternText::Wildcard(text.to_owned()), name);
    assert!(wild("Hyper-V *", "hyper-v Hypervisor") && !wild("Hyper-V *", "My Hyper-V x"));
    assert!(wild("?,_Total", "0,_Total") && !wild("?,_Total", "10,_Total") && !wild("?,_Total", ",_Total"));
    assert!(wild("a.b*", "a.bc") && !wild("a.b*", "axbc"));
    assert!(wild("--?-d:*(*)", "--?-d:x\n(1)"), "a name may hold any character");
    assert!(
        wild("*a*b?", "xaxxbxbc") && !wild("*a*b?", "xaxxbxb") && wild("a**", "a") && !wild("a*b", "ab c")
    );
    assert!(wild("*AB", "aab") && wild("*aab*", "aaab") && !wild("?", "") && !wild("a", ""));
    assert!(wild("*", "") && wild("[x]", "[X]") && !wild("[x]", "x"));
    let long = PatternText::Wildcard("x*".repeat(2_000));
    assert!(NamePattern::new(&long).unwrap_err().reason.contains("2048 are allowed"));
}

#[test]
fn a_pattern_is_shown_as_it_was_written() {
    for text in [
        plain("% Processor Time"),
        plain("Avg. .*"),
        PatternText::Exact("a.*".to_owned()),
        PatternText::Wildcard("Memory*".to_owned()),
        PatternText::Wildcard("Memory".to_owned()),
        PatternText::Regex("Mem(ory)?".to_owned()),
    ] {
        assert_eq!(NamePattern::new(&text).unwrap().as_str(), text.as_str());
    }
}

#[test]
fn upper_and_lower_case_are_one() {
    assert!(matches(&PatternText::Regex("[a-c]:".to_owned()), "B:"));
    assert!(matches(&plain("ZÄHLER"), "Zähler") && same_name("ΜΆΪΟΣ", "μάϊοσ"));
    assert!(!same_name("a", "ab"));
}

#[test]
fn a_pattern_that_means_one_name_tells_it() {
    let exact = |text| NamePattern::new(&text).unwrap().exact_name().map(str::to_owned);
    let named = |name: &str| Some(name.to_owned());
    assert_eq!(exact(plain("Average Wait Time (ms)")), named("Average Wait Time (ms)"));
    assert_eq!(exact(plain("Avg. Disk sec/Read")), named("Avg. Disk sec/Read"));
    assert_eq!(exact(plain(".*")), None);
    assert_eq!(exact(PatternText::Exact("a*".to_owned())), named("a*"));
    assert_eq!(exact(PatternText::Wildcard("abc".to_owned())), named("abc"));
    assert_eq!(exact(PatternText::Wildcard("ab?".to_owned())), None);
    assert_eq!(exact(PatternText::Regex("abc".to_owned())), None);
}

#[test]
fn totals_may_be_left_out_only_where_their_parts_are_there() {
    let rules = SelectionRules { totals: Totals::DropBesideParts, ..SelectionRules::default() };
    let selection = Selection::new(&rules).unwrap();
    assert_eq!(selection.instance_among("_Total", true), Choice::No);
    assert_eq!(selection.instance_among("0,_Total", true), Choice::No);
    assert_eq!(selection.instance_among("_Total", false), Choice::Yes);
    assert_eq!(selection.instance_among("0,0", true), Choice::Yes);
}

#[test]
fn totals_are_kept_left_out_or_told_apart() {
    let selection = |totals| Selection::new(&SelectionRules { totals, ..SelectionRules::default() }).unwrap();
    let choices = |totals| {
        let selection = selection(totals);
        ["_Total", "0,_Total", "__Total__", "_Global_", "Total", "my_Total,0"]
            .map(|name| selection.instance(name))
    };
    use Choice::{No, Total, Yes};
    assert_eq!(choices(Totals::Keep), [Yes; 6]);
    assert_eq!(choices(Totals::Drop), [No, No, No, No, Yes, Yes]);
    assert_eq!(choices(Totals::Separate), [Total, Total, Total, Total, Yes, Yes]);
}

#[test]
fn a_total_that_is_excluded_is_not_told_apart() {
    let rules = SelectionRules {
        instances: filter(&[], &["0,_Total"]),
        totals: Totals::Separate,
        ..SelectionRules::default()
    };
    let selection = Selection::new(&rules).unwrap();
    assert_eq!(selection.instance("0,_Total"), Choice::No);
    assert_eq!(selection.instance("_Total"), Choice::Total);
}

#[test]
fn counters_are_chosen_by_name() {
    let rules = SelectionRules {
        counters: filter(&["% Processor Time", "Parking Status"], &["parking status"]),
        ..SelectionRules::default()
    };
    let selection = Selection::new(&rules).unwrap();
    let wants = |name| selection.wants_counter(name, NOVICE);
    assert!(wants(Some("% processor time")));
    assert!(!wants(Some("% Processor")) && !wants(Some("Parking Status")));
    assert!(!wants(None), "a counter without a name was not chosen");
    let names: Vec<_> = selection.included_counters().iter().map(NamePattern::exact_name).collect();
    assert_eq!(names, [Some("% Processor Time"), Some("Parking Status")]);
}

#[test]
fn counters_above_a_level_are_left_out() {
    let rules = SelectionRules { detail: Some(DetailLevel::ADVANCED), ..SelectionRules::default() };
    let selection = Selection::new(&rules).unwrap();
    let wants = |level| selection.wants_counter(Some("x"), DetailLevel(level));
    assert!(wants(0) && wants(100) && wants(200));
    assert!(!wants(201) && !wants(400));
}

proptest! {
    // The equivalent regular expression is the reference.
    #[test]
    fn a_wildcard_is_what_its_regular_expression_is(text in "[abA*?]{0,12}", name in "[abAB]{0,12}") {
        let expression = text.replace('*', ".*").replace('?', ".");
        let wildcard = matches(&PatternText::Wildcard(text), &name);
        prop_assert_eq!(wildcard, matches(&PatternText::Regex(expression), &name));
    }
}
