//! Whatever rules meet whatever series, the page is one.

use std::sync::Arc;

use exposition::Escaping;
use proptest::prelude::*;
use series::model::{Snapshot, Target};
use series::pipeline::{
    ACTIONS, Catalog, Limits, NoObserver, Normalize, Profile, RelabelConfig, Rule, Rules, Scope,
};

use crate::expose_any::{collect, every_format, family, text};

/// Names that meet each other.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => prop::sample::select(vec!["__name__", "target", "a", "b", "le", "env", "exported_target", "__tmp", "a.b", "a_b"])
            .prop_map(str::to_owned),
        1 => text(),
    ]
}

fn regex() -> impl Strategy<Value = String> {
    let fragments = prop::sample::select(vec![
        "(.*)",
        ".*",
        "(.+)",
        "a",
        "(a|b)",
        "perfmon_(.*)",
        "(.*)_total",
        "perfmon_.*(_total|_info)?",
        "[a-m].*",
        "",
        "__name__|.*",
        "(?i)A",
        r"\d*",
        "(?P<n>.)(.*)",
        "target|a",
        ".*_.*",
        "{",
        "x{,2}",
        r"[^\w]*",
    ]);
    prop_oneof![9 => fragments.prop_map(str::to_owned), 1 => any::<String>()]
}

fn template() -> impl Strategy<Value = String> {
    let fragments = prop::sample::select(vec![
        "$1",
        "${1}_total",
        "x_$1",
        "$2$1",
        "${n}",
        "$$",
        "y",
        "perfmon_x_total",
        "perfmon_x",
        "a\nb",
        "",
        "perfmon_exporter_x",
        "$1_info",
        "$1$1$1$1",
        "__name__",
        "target",
        "${1}.b",
        "é",
    ]);
    prop_oneof![9 => fragments.prop_map(str::to_owned), 1 => text()]
}

/// A rule as somebody might write it; many of them are none.
fn rule() -> impl Strategy<Value = Option<(Rule, Rule)>> {
    let relabel = (
        prop::option::of(prop::collection::vec(name(), 0..3)),
        prop::option::of(prop_oneof![name(), template()]),
        prop::option::of(regex()),
        prop::option::of(template()),
        prop::sample::select(ACTIONS.to_vec()),
        prop::option::of(1..5_u64),
    );
    let relabel = relabel.prop_map(|(source_labels, target_label, regex, replacement, action, modulus)| {
        let config = RelabelConfig {
            source_labels,
            target_label,
            regex,
            replacement,
            modulus,
            separator: None,
            action: Some(action.to_owned()),
        };
        Some((config.compile(false).ok()?, config.compile(true).ok()?))
    });
    let twice = |rule: Option<Rule>| rule.map(|rule| (rule.clone(), rule));
    prop_oneof![
        6 => relabel,
        1 => (regex(), template()).prop_map(move |(from, to)| twice(Rule::rename(&from, &to).ok())),
        1 => (regex(), name(), regex()).prop_map(move |(family, label, regex)| {
            twice(Rule::drop_series(&family, &[(label, regex)]).ok())
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1_000) })]

    #[test]
    fn no_rule_breaks_a_page(
        targets in prop::collection::vec((prop::collection::vec((text(), text()), 0..3), any::<bool>()), 1..3),
        families in prop::collection::vec(family(), 1..6),
        rules in prop::collection::vec(rule(), 1..6),
        profile in prop::sample::select(vec![Profile::Native, Profile::Verbatim]),
    ) {
        let catalog = Catalog::new();
        let is_utf8 = profile == Profile::Verbatim;
        let rules: Rules =
            rules.into_iter().flatten().map(|(legacy, utf8)| if is_utf8 { utf8 } else { legacy }).collect();
        let alone = targets.len() == 1;
        let snapshots: Vec<Arc<Snapshot>> = targets.into_iter().enumerate().map(|(index, (labels, labelled))| {
            // Only a probe's page does without the label, and shows one target.
            let target = Target { labelled: labelled || !alone, labels, ..Target::new(format!("web{index}")) };
            let scope = Scope::with_profile(Arc::clone(&catalog), target, Limits::default(), profile.clone());
            let normalize = Normalize { profile: profile.clone(), rules: rules.clone(), limits: Limits::default() };
            let store = scope.ruled_store(Arc::new(NoObserver), normalize);
            collect(&store, &families);
            store.snapshot()
        }).collect();
        for escaping in Escaping::ALL {
            let samples = every_format(&snapshots, escaping).map_err(TestCaseError::fail)?;
            let series: usize = snapshots.iter().map(|snapshot| snapshot.series()).sum();
            prop_assert_eq!(samples.len(), series);
            let is_told = |labels: &std::collections::BTreeMap<String, String>| {
                labels.get("target").is_some_and(|target| target.starts_with("web"))
            };
            prop_assert!(alone || samples.keys().all(|(_, labels)| is_told(labels)));
        }
    }
}
