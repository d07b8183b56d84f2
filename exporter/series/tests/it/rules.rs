//! What rules make of names and labels, and what they cannot break.

use std::sync::Arc;

use expect_test::{Expect, expect};
use exposition::Format;
use exposition::testing::plugin::{complete, counter, failure, family, gauge, samples, send, series};
use plugin_abi::{DataSink, DropReason, FamilyDef, Kind, Outcome};
use series::model::Target;
use series::pipeline::{
    Catalog, Limits, NoObserver, Normalize, Refusal, RelabelConfig, Rule, Rules, Scope, Store,
};

/// A rule by Prometheus' keys, as JSON.
pub(crate) fn relabel(json: &str) -> Rule {
    let value: serde_json::Value = serde_json::from_str(json).unwrap();
    let text = |key: &str| value[key].as_str().map(str::to_owned);
    let sources = value["source_labels"].as_array();
    let config = RelabelConfig {
        source_labels: sources
            .map(|sources| sources.iter().map(|source| source.as_str().unwrap().to_owned()).collect()),
        separator: text("separator"),
        target_label: text("target_label"),
        regex: text("regex"),
        modulus: value["modulus"].as_u64(),
        replacement: text("replacement"),
        action: text("action"),
    };
    config.compile(false).unwrap_or_else(|bad| panic!("{json}: {bad}"))
}

fn ruled(rules: Vec<Rule>) -> Arc<Store> {
    ruled_in(&Catalog::new(), "web1", rules)
}

fn ruled_in(catalog: &Arc<Catalog>, target: &str, rules: Vec<Rule>) -> Arc<Store> {
    limited_in(catalog, target, rules, Limits::default())
}

fn limited_in(catalog: &Arc<Catalog>, target: &str, rules: Vec<Rule>, limits: Limits) -> Arc<Store> {
    let target = Target::new(target).with_label("env", "prod");
    let scope = Scope::new(Arc::clone(catalog), target, limits);
    let normalize = Normalize { rules: Rules::from_iter(rules), limits, ..Normalize::default() };
    scope.ruled_store(Arc::new(NoObserver), normalize)
}

/// Registers what is taken of these series of one family, each with the value 1.
fn register(store: &Store, def: &FamilyDef<'_>, all: &[&[(&str, &str)]]) -> Vec<Result<u32, DropReason>> {
    let id = match family(store, def) {
        Ok(id) => id,
        Err(reason) => return all.iter().map(|_| Err(reason)).collect(),
    };
    let registered: Vec<_> = all.iter().map(|labels| series(store, id, labels)).collect();
    let ids: Vec<u32> = registered.iter().filter_map(|registered| registered.ok()).collect();
    send(store, &ids, &vec![1.0; ids.len()]);
    registered
}

/// What the rules make of `perfmon_x_a_total{target="web1",env="prod",a="1",b="Two"}`.
fn check(rules: &[&str], expected: &Expect) {
    let store = ruled(rules.iter().map(|json| relabel(json)).collect());
    register(&store, &counter("A"), &[&[("a", "1"), ("b", "Two")]]);
    complete(&store, Outcome::Full);
    let refused: String =
        store.refusals().iter().map(|(refusal, count)| format!("{} {count}\n", refusal.as_str())).collect();
    expected.assert_eq(&(samples(&[&store]) + &refused));
}

/// The expected sets are those of Prometheus 3.
#[test]
fn each_action_does_what_it_does_in_prometheus() {
    let same = expect![[r#"
        perfmon_x_a_total{target="web1",a="1",b="Two",env="prod"} 1
    "#]];
    check(
        &[],
        &expect![[r#"
        perfmon_x_a_total{target="web1",env="prod",a="1",b="Two"} 1
    "#]],
    );
    check(
        &[r#"{"source_labels": ["a", "b"], "target_label": "c"}"#],
        &expect![[r#"
        perfmon_x_a_total{target="web1",a="1",b="Two",c="1;Two",env="prod"} 1
    "#]],
    );
    check(
        &[
            r#"{"source_labels": ["a", "nobody", "b"], "separator": "-", "regex": "(.)-.*?(\\w+)", "target_label": "$2",
            "replacement": "${1}x$3"}"#,
        ],
        &expect![[r#"
            perfmon_x_a_total{target="web1",Two="1x",a="1",b="Two",env="prod"} 1
        "#]],
    );
    check(&[r#"{"source_labels": ["a"], "regex": "2", "target_label": "c"}"#], &same);
    check(&[r#"{"source_labels": ["a"], "target_label": "$1", "replacement": "not a label name"}"#], &same);
    check(
        &[r#"{"source_labels": ["a"], "target_label": "b", "replacement": ""}"#],
        &expect![[r#"
        perfmon_x_a_total{target="web1",a="1",env="prod"} 1
    "#]],
    );
    check(
        &[r#"{"target_label": "c", "replacement": "fixed"}"#],
        &expect![[r#"
        perfmon_x_a_total{target="web1",a="1",b="Two",c="fixed",env="prod"} 1
    "#]],
    );
    check(
        &[r#"{"source_labels": ["b"], "action": "lowercase", "target_label": "b"}"#],
        &expect![[r#"
        perfmon_x_a_total{target="web1",a="1",b="two",env="prod"} 1
    "#]],
    );
    check(
        &[r#"{"source_labels": ["b"], "action": "UpperCase", "target_label": "c"}"#],
        &expect![[r#"
        perfmon_x_a_total{target="web1",a="1",b="Two",c="TWO",env="prod"} 1
    "#]],
    );
    check(
        &[r#"{"action": "labelmap", "regex": "([ab])", "replacement": "x_$1"}"#],
        &expect![[r#"
        perfmon_x_a_total{target="web1",a="1",b="Two",env="prod",x_a="1",x_b="Two"} 1
    "#]],
    );
    check(
        &[r#"{"action": "labeldrop", "regex": "a|env|target"}"#],
        &expect![[r#"
        perfmon_x_a_total{target="web1",b="Two"} 1
    "#]],
    );
    check(
        &[r#"{"action": "labelkeep", "regex": "__name__|b"}"#],
        &expect![[r#"
        perfmon_x_a_total{target="web1",b="Two"} 1
    "#]],
    );
    let kept = &expect![[r#"
        perfmon_x_a_total{target="web1",a="1",b="Two",env="prod"} 1
    "#]];
    let dropped = &expect![[r#"
        rule 1
    "#]];
    for (rule, expected) in [
        (r#"{"source_labels": ["a"], "regex": "1", "action": "keep"}"#, kept),
        (r#"{"source_labels": ["a"], "regex": "", "action": "keep"}"#, dropped),
        (r#"{"source_labels": ["a", "b"], "regex": "1;Tw", "action": "drop"}"#, kept),
        (r#"{"source_labels": ["target", "env"], "regex": "web.;prod", "action": "drop"}"#, dropped),
        (r#"{"source_labels": ["nobody"], "regex": "", "action": "drop"}"#, dropped),
        (r#"{"source_labels": ["a"], "target_label": "b", "action": "dropequal"}"#, kept),
        (r#"{"source_labels": ["a"], "target_label": "b", "action": "keepequal"}"#, dropped),
        (r#"{"source_labels": ["c"], "target_label": "d", "action": "dropequal"}"#, dropped),
    ] {
        check(&[rule], expected);
    }
}

/// The numbers are `int(md5(text).hexdigest()[16:], 16) % modulus` by Python.
#[test]
fn hashmod_is_that_of_prometheus() {
    check(
        &[
            r#"{"source_labels": ["a"], "action": "hashmod", "modulus": 1000, "target_label": "shard"}"#,
            r#"{"source_labels": ["a", "b"], "action": "hashmod", "modulus": 18446744073709551615, "target_label": "big"}"#,
        ],
        &expect![[r#"
            perfmon_x_a_total{target="web1",a="1",b="Two",big="4480963840273543399",env="prod",shard="291"} 1
        "#]],
    );
}

#[test]
fn rules_see_what_the_rules_before_them_wrote_and_labels_of_their_own_go() {
    check(
        &[
            r#"{"source_labels": ["b"], "target_label": "__tmp"}"#,
            r#"{"source_labels": ["__tmp"], "regex": "T(.*)", "target_label": "b"}"#,
            r#"{"source_labels": ["b"], "regex": "wo", "target_label": "c", "replacement": "seen"}"#,
        ],
        &expect![[r#"
            perfmon_x_a_total{target="web1",a="1",b="wo",c="seen",env="prod"} 1
        "#]],
    );
}

#[test]
fn nothing_but_the_exporter_says_target() {
    for rule in [
        r#"{"action": "labelmap", "regex": "a|b(.*)", "replacement": "target$1"}"#,
        r#"{"source_labels": ["a"], "regex": "(.)(.*)", "target_label": "target$2"}"#,
    ] {
        check(
            &[rule],
            &expect![[r#"
            target_label 1
        "#]],
        );
    }
}

#[test]
fn a_series_without_a_valid_name_is_refused_and_costs_nothing_else() {
    for rule in [
        r#"{"action": "labeldrop", "regex": "__name__"}"#,
        r#"{"source_labels": ["b"], "target_label": "__name__", "replacement": "a-$1"}"#,
        r#"{"source_labels": ["__name__"], "target_label": "__name__", "replacement": "a b"}"#,
        r#"{"source_labels": ["__name__"], "target_label": "__name__", "replacement": ""}"#,
        r#"{"action": "labelmap", "regex": "b", "replacement": "__name__$1"}"#,
        r#"{"action": "labelmap", "regex": "a(.*)", "replacement": "$1"}"#,
        r#"{"action": "labelmap", "regex": "(a)|b", "replacement": "$1"}"#,
    ] {
        let store = ruled(vec![relabel(rule)]);
        register(&store, &gauge("A"), &[&[("a", "1"), ("b", "T-2")]]);
        complete(&store, Outcome::Full);
        let refused: Vec<_> =
            store.refusals().iter().map(|(refusal, count)| (refusal.as_str(), count)).collect();
        assert_eq!(refused, [("invalid_name", 1)], "{rule}");
        assert_eq!(samples(&[&store]), "", "{rule}");
    }
}

#[test]
fn a_family_is_told_to_stay_away_when_its_name_says_so_alone() {
    let store = ruled(vec![
        relabel(
            r#"{"source_labels": ["__name__"], "regex": "perfmon_x_(.*)", "target_label": "__name__", "replacement": "y_$1"}"#,
        ),
        Rule::drop_series("y_a", &[]).unwrap(),
        Rule::drop_series("y_.*", &[("a".into(), "1|2".into()), ("b".into(), String::new())]).unwrap(),
    ]);
    assert_eq!(family(&store, &gauge("A")), Err(DropReason::Rule));
    assert_eq!(family(&store, &counter("A")), Err(DropReason::Rule), "with its suffix or without");
    let registered =
        register(&store, &gauge("B"), &[&[("a", "1")], &[("a", "1"), ("b", "1")], &[("a", "3")]]);
    assert_eq!(registered, [Err(DropReason::Rule), Ok(0), Ok(1)]);
    complete(&store, Outcome::Full);
    expect![[r#"
        y_b{target="web1",a="1",b="1",env="prod"} 1
        y_b{target="web1",a="3",env="prod"} 1
    "#]]
    .assert_eq(&samples(&[&store]));
    assert_eq!(store.refusals().count(Refusal::DroppedByRule), 3);
    assert!(
        Refusal::ALL
            .iter()
            .filter(|refusal| refusal.is_wanted())
            .eq([&Refusal::SharedBase, &Refusal::DroppedByRule])
    );
}

#[test]
fn what_two_averages_divide_by_is_shown_once_and_nothing_is_lost() {
    let store = ruled(Vec::new());
    let base = |item| FamilyDef { part: "base", ..counter(item) };
    assert!(family(&store, &base("Avg. Disk Bytes/Read")).is_ok());
    assert_eq!(family(&store, &base("Avg. Disk sec/Read")), Err(DropReason::Duplicate));
    assert_eq!(store.refusals().count(Refusal::SharedBase), 1);
    // The same name of another object, or of what is no base, is a collision.
    assert_eq!(
        family(&store, &FamilyDef { part: "", ..counter("Avg. Disk Read Base") }),
        Err(DropReason::Duplicate)
    );
    assert_eq!(store.refusals().count(Refusal::FamilyCollision), 1);
}

fn openmetrics(stores: &[&Arc<Store>]) -> String {
    exposition::page(Format::OpenMetrics, stores.iter().map(|store| store.snapshot()).collect(), None)
}

#[test]
fn rename_keeps_the_kind_its_suffix_and_a_unit_that_still_fits() {
    let store = ruled(vec![
        Rule::rename("perfmon_x_a_(seconds)", "cpu_$1").unwrap(),
        Rule::rename("perfmon_x_b_total", "requests_total").unwrap(),
        Rule::rename("perfmon_x_(c)", "${1}_total").unwrap(),
        Rule::rename("perfmon_x_d_bytes", "d").unwrap(),
    ]);
    for def in [
        FamilyDef { unit: "seconds", help: "Time.", ..counter("A") },
        counter("B"),
        gauge("C"),
        FamilyDef { unit: "bytes", ..gauge("D") },
    ] {
        assert!(register(&store, &def, &[&[]])[0].is_ok(), "{def:?}");
    }
    complete(&store, Outcome::Full);
    expect![[r#"
        # TYPE c_total unknown
        c_total{target="web1",env="prod"} 1
        # HELP cpu_seconds Time.
        # TYPE cpu_seconds counter
        # UNIT cpu_seconds seconds
        cpu_seconds_total{target="web1",env="prod"} 1
        # TYPE d gauge
        d{target="web1",env="prod"} 1
        # TYPE requests counter
        requests_total{target="web1",env="prod"} 1
        # EOF
    "#]]
    .assert_eq(&openmetrics(&[&store]));
}

#[test]
fn a_series_that_moves_is_of_the_kind_that_its_new_name_allows() {
    let to = |name: &str| relabel(&format!(r#"{{"target_label": "__name__", "replacement": "{name}"}}"#));
    let info = FamilyDef { kind: Kind::Info, ..gauge("I") };
    for (def, name, expected) in [
        (counter("A"), "b_total", "# TYPE b counter"),
        (counter("A"), "b", "# TYPE b unknown"),
        (counter("A"), "_total", "# TYPE _total unknown"),
        (gauge("A"), "b", "# TYPE b gauge"),
        (gauge("A"), "b_info", "# TYPE b_info unknown"),
        (info, "b_info", "# TYPE b info"),
        (info, "b", "# TYPE b gauge"),
    ] {
        let store = ruled(vec![to(name)]);
        register(&store, &def, &[&[]]);
        complete(&store, Outcome::Full);
        let page = openmetrics(&[&store]);
        assert_eq!(page.lines().next(), Some(expected), "{page}");
        assert!(page.contains(&format!("\n{name}{{target=")), "{page}");
    }
}

#[test]
fn series_of_one_family_may_go_to_many_and_those_of_many_to_one() {
    let store = ruled(vec![
        relabel(
            r#"{"source_labels": ["__name__", "i"], "regex": "(perfmon_x_a);(.)", "target_label": "__name__", "replacement": "${1}_$2"}"#,
        ),
        Rule::rename("perfmon_x_[bc]", "joined").unwrap(),
    ]);
    register(&store, &gauge("A"), &[&[("i", "0")], &[("i", "1")], &[("i", "long")]]);
    let joined = register(&store, &gauge("B"), &[&[("i", "0")], &[("i", "1")]]);
    assert_eq!(register(&store, &gauge("C"), &[&[("i", "0")], &[("i", "2")]])[0], Err(DropReason::Duplicate));
    complete(&store, Outcome::Full);
    expect![[r#"
        joined{target="web1",env="prod",i="0"} 1
        joined{target="web1",env="prod",i="1"} 1
        joined{target="web1",env="prod",i="2"} 1
        perfmon_x_a{target="web1",env="prod",i="long"} 1
        perfmon_x_a_0{target="web1",env="prod",i="0"} 1
        perfmon_x_a_1{target="web1",env="prod",i="1"} 1
    "#]]
    .assert_eq(&samples(&[&store]));
    assert_eq!(store.refusals().count(Refusal::DuplicateSeries), 1);

    // A partial collection speaks for the plugin's family, wherever its series went.
    complete(&store, Outcome::Partial { families: &[0], failure: None });
    assert_eq!(samples(&[&store]).lines().count(), 3, "{}", samples(&[&store]));
    complete(&store, Outcome::Failed(failure()));
    store.retire(&[joined[0].unwrap()]);
    assert!(series(&store, 2, &[("i", "0")]).is_ok(), "the name is free again");
}

#[test]
fn series_that_become_one_are_taken_once() {
    let store = ruled(vec![relabel(r#"{"action": "labeldrop", "regex": "i"}"#)]);
    let registered = register(&store, &gauge("A"), &[&[("i", "0"), ("j", "0")], &[("i", "1"), ("j", "0")]]);
    assert_eq!(registered, [Ok(0), Err(DropReason::Duplicate)]);
    assert_eq!(store.refusals().count(Refusal::DuplicateSeries), 1);
}

#[test]
fn families_of_different_kinds_do_not_become_one() {
    let catalog = Catalog::new();
    let to_x = || {
        vec![relabel(
            r#"{"source_labels": ["m"], "regex": "1", "target_label": "__name__", "replacement": "x"}"#,
        )]
    };
    let (first, second) = (ruled_in(&catalog, "web1", to_x()), ruled_in(&catalog, "web2", to_x()));
    assert_eq!(register(&first, &gauge("A"), &[&[("m", "1")]]), [Ok(0)]);
    assert_eq!(
        register(&first, &counter("B"), &[&[("m", "1")], &[("m", "2")]]),
        [Err(DropReason::Duplicate), Ok(1)]
    );
    assert_eq!(register(&second, &gauge("C"), &[&[("m", "1")]]), [Ok(0)]);
    assert_eq!(first.refusals().count(Refusal::FamilyCollision), 1);
    let ours = ruled(vec![Rule::rename(".*", "perfmon_exporter_target_up").unwrap()]);
    assert_eq!(
        family(&ours, &gauge("A")),
        Err(DropReason::Duplicate),
        "the exporter's own names are its own"
    );
}

#[test]
fn what_rules_make_is_held_to_the_limits() {
    let long = "x".repeat(40);
    let doubles: Vec<Rule> = (0..40)
        .map(|_| relabel(r#"{"source_labels": ["a", "a"], "separator": "", "target_label": "a"}"#))
        .collect();
    let store = ruled(doubles);
    assert_eq!(register(&store, &gauge("A"), &[&[("a", "1")]]), [Err(DropReason::Invalid)]);
    assert_eq!(store.refusals().count(Refusal::LabelTooLong), 1, "and no mountain of text");
    let doubles =
        (0..40).map(|_| relabel(r#"{"action": "labelmap", "regex": "(a+)", "replacement": "$1$1"}"#));
    let store = ruled(doubles.collect());
    assert_eq!(register(&store, &gauge("A"), &[&[("a", "1")]]), [Err(DropReason::Invalid)]);
    let store = ruled((0..40).map(|_| Rule::rename("(.*)", "$1$1").unwrap()).collect());
    assert_eq!(family(&store, &gauge("A")), Err(DropReason::Invalid));
    assert_eq!(store.refusals().count(Refusal::NameTooLong), 1, "nor of names");

    let limits = Limits {
        label_value_bytes_max: 20,
        labels_max: 1,
        families_max: 2,
        name_bytes_max: 30,
        ..Limits::default()
    };
    let rules = vec![
        relabel(r#"{"source_labels": ["a"], "regex": "(x{9}).*", "target_label": "a"}"#),
        relabel(r#"{"source_labels": ["name"], "regex": "(.+)", "target_label": "__name__"}"#),
        relabel(r#"{"action": "labeldrop", "regex": "name|c"}"#),
    ];
    let store = limited_in(&Catalog::new(), "web1", rules, limits);
    let name = "n".repeat(31);
    let all: [&[(&str, &str)]; 6] = [
        &[("a", &long), ("c", "goes")],
        &[("b", &long)],
        &[("a", "1"), ("b", "2")],
        &[("name", "m1")],
        &[("name", "m2")],
        &[("name", &name)],
    ];
    register(&store, &gauge("A"), &all);
    complete(&store, Outcome::Full);
    expect![[r#"
        m1{target="web1",env="prod"} 1
        perfmon_x_a{target="web1",a="xxxxxxxxx",env="prod"} 1
    "#]]
    .assert_eq(&samples(&[&store]));
    let refused: Vec<_> = store.refusals().iter().map(|(refusal, count)| (refusal.as_str(), count)).collect();
    assert_eq!(
        refused,
        [("family_limit", 1), ("too_many_labels", 1), ("label_too_long", 1), ("name_too_long", 1)]
    );
}

#[test]
fn a_million_values_of_one_label_fill_their_family_and_harm_no_other() {
    let catalog = Catalog::new();
    let limits = Limits { family_series_max: 1_000, instance_series_max: 1_001, ..Limits::default() };
    let store = limited_in(&catalog, "web1", vec![], limits);
    let (a, b) = (family(&store, &gauge("A")).unwrap(), family(&store, &gauge("B")).unwrap());
    let taken =
        (0..1_000_000_u32).filter(|value| series(&store, a, &[("v", &value.to_string())]).is_ok()).count();
    assert_eq!(taken, 1_000);
    assert!(series(&store, b, &[("v", "1")]).is_ok(), "another family has its own room");
    assert_eq!(series(&store, b, &[("v", "2")]), Err(DropReason::Limit), "in that of the instance");
    assert_eq!(store.refusals().count(Refusal::SeriesLimit), 999_001);
    let other = ruled_in(&catalog, "web2", vec![]);
    assert_eq!(register(&other, &gauge("A"), &[&[("v", "1")]]), [Ok(0)]);
    store.retire(&[0]);
    assert!(series(&store, a, &[("v", "again")]).is_ok(), "who goes leaves room");
}

#[test]
fn rules_cost_nothing_when_samples_come() {
    let store =
        ruled(vec![relabel(r#"{"source_labels": ["i"], "regex": "(.).*", "target_label": "first"}"#)]);
    let id = family(&store, &gauge("A")).unwrap();
    let ids: Vec<u32> = (0..10_000).map(|i| series(&store, id, &[("i", &i.to_string())]).unwrap()).collect();
    let values = vec![1.5; ids.len()];
    let collect = || {
        send(&store, &ids, &values);
        complete(&store, Outcome::Full);
    };
    (0..3).for_each(|_| collect());
    let steady = allocation_counter::measure(collect);
    assert!(steady.count_total <= 4 && steady.bytes_total <= 1_024, "{steady:?}");
}

#[test]
fn names_with_a_newline_and_rules_that_write_one_leave_a_page() {
    let store =
        ruled(vec![relabel(r#"{"source_labels": ["a"], "target_label": "b", "replacement": "x\ny$1"}"#)]);
    let def = FamilyDef { object: "X\ny", item: "A\nb", help: "one\ntwo", ..gauge("") };
    register(&store, &def, &[&[("a", "1\n2"), ("c\nd", "3")]]);
    complete(&store, Outcome::Full);
    expect![[r#"
        perfmon_x_y_a_b{target="web1",a="1\n2",b="x\ny1\n2",c_d="3",env="prod"} 1
    "#]]
    .assert_eq(&samples(&[&store]));
}
