//! `normalize:` in the configuration.

use std::path::Path;

use config::target_files::parse_target_file;
use config::{Config, Target, parse};
use expect_test::{Expect, expect};
use series::pipeline::Profile;

fn config(normalize: &str, module: &str, target: &str) -> String {
    format!(
        "plugins: {{load: [pcq]}}\nnormalize: {normalize}\nmodules:\n  os: {{plugin: pcq, x: 1, normalize: {module}}}\n\
         targets:\n  - {{host: a, modules: [os], max_series: 7, normalize: {target}}}\n"
    )
}

fn good(text: &str) -> Config {
    parse("perfmon.yml", text, Path::new("/")).unwrap_or_else(|report| panic!("{report}"))
}

fn check(normalize: &str, expected: &Expect) {
    let report = parse("perfmon.yml", &config(normalize, "{}", "{}"), Path::new("/")).expect_err("a report");
    expected.assert_eq(&report.to_string());
}

#[test]
fn the_narrower_section_comes_first_and_wins() {
    let rules = "metric_relabel_configs: [{regex: a, action: labeldrop}]";
    let text = config(
        &format!("{{naming: verbatim, {rules}, limits: {{max_labels: 3, max_series: 5}}}}"),
        &format!("{{{rules}, limits: {{max_labels: 4}}}}"),
        "{naming: native, limits: {max_labels: 5, max_name_bytes: 99}}",
    );
    let read = good(&text);
    let normalize = read.normalize(&read.targets[0], "os");
    assert_eq!(normalize.profile, Profile::Native);
    let limits = normalize.limits;
    assert_eq!((limits.series_max, limits.instance_series_max), (7, 5));
    assert_eq!((limits.labels_max, limits.name_bytes_max, limits.label_value_bytes_max), (4, 99, 1_024));
    let written = format!("{:?}", normalize.rules);
    assert_eq!(written.matches("LabelDrop").count(), 2, "{written}");
    assert_eq!(read.modules["os"].settings.len(), 1, "what is ours is not the plugin's");
}

#[test]
fn targets_without_a_section_have_that_of_target_defaults_and_others_their_own_instead() {
    let read = good(
        "plugins: {load: [pcq]}\nnormalize: {naming: native, drop: [every]}\nmodules: {os: {plugin: pcq}}\n\
         target_defaults: {modules: [os], normalize: {naming: verbatim, drop: [most], limits: {max_labels: 9}}}\n\
         targets: [{host: a}, {host: b, normalize: {drop: [one]}}, {host: c, normalize: {}}]\n",
    );
    let from_file = parse_target_file("t.yml", "- targets: [d]\n", &read).unwrap();
    let of = |target: &Target| {
        let normalize = read.normalize(target, "os");
        let rules = format!("{:?}", normalize.rules);
        let words = ["most", "one", "every"].into_iter().filter(|word| rules.contains(word));
        (normalize.profile, words.collect::<Vec<_>>(), normalize.limits.labels_max)
    };
    let defaults = (Profile::Verbatim, vec!["most", "every"], 9);
    assert_eq!((of(&read.targets[0]), of(&from_file.targets[0])), (defaults.clone(), defaults));
    assert_eq!(of(&read.targets[1]), (Profile::Native, vec!["one", "every"], 16));
    assert_eq!(of(&read.targets[2]), (Profile::Native, vec!["every"], 16));
    let wrong = "plugins: {load: [pcq]}\ntarget_defaults: {normalize: {drop: ['(']}}\n";
    let report = parse("perfmon.yml", wrong, Path::new("/")).expect_err("a report").to_string();
    assert!(
        report.contains("target_defaults.normalize.drop[0]: `(` is not a valid regular expression"),
        "{report}"
    );
}

#[test]
fn a_section_is_the_same_as_long_as_it_says_the_same() {
    let of = |rule: &str| {
        let read = good(&config(
            &format!("{{metric_relabel_configs: [{rule}], rename: [{{from: a, to: b}}]}}"),
            "{}",
            "{}",
        ));
        read.normalize
    };
    let rule = "{source_labels: [a], regex: '(.*)b', target_label: c}";
    assert_eq!(of(rule), of(&rule.replace(", ", ",   ")));
    for other in
        [rule.replace("'(.*)b'", "'(.*)c'"), rule.replace("[a]", "[b]"), rule.replace("label: c", "label: d")]
    {
        assert_ne!(of(rule), of(&other));
    }
    let target = |normalize: &str| good(&config("{}", "{}", normalize)).targets.remove(0);
    assert!(target("{naming: native}").is_like(&target("{naming:   native}")));
    assert!(!target("{naming: native}").is_like(&target("{naming: verbatim}")));
}

#[test]
fn what_prometheus_takes_is_taken() {
    good(&config(
        r"{metric_relabel_configs: [
            {source_labels: [__name__, a], separator: '', regex: '(?i)x{2}\w+', target_label: 'a_${1}', replacement: '$1', action: Replace},
            {source_labels: [a], modulus: 18446744073709551615, target_label: shard, action: hashmod},
            {source_labels: [a], regex: 5, action: keep}, {regex: '', action: labeldrop}, {action: labelmap, regex: 'a(.)'},
            {source_labels: [a], target_label: target, action: keepequal}, {target_label: a, replacement: 1}]}",
        "{}",
        "{}",
    ));
    good(&config(
        "{naming: verbatim, metric_relabel_configs: [{source_labels: [a], target_label: host.name}]}",
        "{}",
        "{}",
    ));
}

#[test]
fn each_mistake_has_its_place_and_a_way_out() {
    check(
        r"{nameing: native, naming: nativ, relabel: [], metric_relabel_configs: [
            {source_label: [a]},
            {source_labels: [a-b], target_label: c},
            {source_labels: a, target_label: c},
            {action: lablemap},
            {action: hashmod, target_label: a},
            {target_label: a-b},
            {target_label: '$(1)'},
            {target_label: target},
            {regex: '(', action: labeldrop},
            {action: labelkeep, regex: a, source_labels: [a]},
            {action: dropequal, target_label: a, regex: b},
            {action: lowercase, target_label: a, replacement: b},
            {action: labelmap, replacement: 'a b'},
            {regex: 'a(?=b)', target_label: c}]}",
        &expect![[r#"
            perfmon.yml:2:13: normalize: unknown key `nameing`; did you mean `naming`?
            perfmon.yml:2:38: normalize.naming: `nativ` is not a choice; did you mean `native`?
            perfmon.yml:2:45: normalize: unknown key `relabel`; Prometheus' rules are `metric_relabel_configs`
            perfmon.yml:3:13: normalize.metric_relabel_configs[0]: `replace` needs a `target_label`
            perfmon.yml:3:14: normalize.metric_relabel_configs[0]: unknown key `source_label`; did you mean `source_labels`?
            perfmon.yml:4:29: normalize.metric_relabel_configs[1].source_labels: `a-b` is not a valid label name
            perfmon.yml:5:29: normalize.metric_relabel_configs[2].source_labels: expected a list, found text; write `[a]`
            perfmon.yml:6:22: normalize.metric_relabel_configs[3].action: there is no action `lablemap`; did you mean `labelmap`?
            perfmon.yml:7:13: normalize.metric_relabel_configs[4]: `hashmod` needs a `modulus` above zero
            perfmon.yml:8:28: normalize.metric_relabel_configs[5].target_label: `a-b` is not a valid label name
            perfmon.yml:9:28: normalize.metric_relabel_configs[6].target_label: `$(1)` is not a valid label name
            perfmon.yml:10:28: normalize.metric_relabel_configs[7].target_label: `target` tells the targets apart and stays as it is; write another label; rules may read `target`
            perfmon.yml:11:21: normalize.metric_relabel_configs[8].regex: is not a valid regular expression: unclosed group
            perfmon.yml:12:58: normalize.metric_relabel_configs[9].source_labels: means nothing to `labelkeep`; `labelkeep` takes `regex`
            perfmon.yml:13:57: normalize.metric_relabel_configs[10].regex: means nothing to `dropequal`; `dropequal` takes `source_labels`, `target_label`
            perfmon.yml:14:63: normalize.metric_relabel_configs[11].replacement: means nothing to `lowercase`; `lowercase` takes `source_labels`, `target_label`, `regex`, `modulus`, `separator`
            perfmon.yml:15:45: normalize.metric_relabel_configs[12].replacement: `a b` is not a valid label name
            perfmon.yml:16:21: normalize.metric_relabel_configs[13].regex: is not a valid regular expression: `(?=` is not supported"#]],
    );
    check(
        "{drop: ['[', {}, {name: '('}, {labels: {a: '*'}}, 7], rename: [{from: a}, {from: ')', to: b}, {from: '(a)', to: $1_b}], limits: {max_labels: 0, max_serie: 1}}",
        &expect![[r#"
            perfmon.yml:2:20: normalize.drop[0]: `[` is not a valid regular expression: a `[` is not closed
            perfmon.yml:2:25: normalize.drop[1]: says neither `name` nor `labels`; it would drop everything
            perfmon.yml:2:36: normalize.drop[2].name: `(` is not a valid regular expression: unclosed group
            perfmon.yml:2:51: normalize.drop[3].labels: `*` is not a valid regular expression: repetition operator missing expression
            perfmon.yml:2:62: normalize.drop[4]: expected a mapping, found a number
            perfmon.yml:2:75: normalize.rename[0]: `to` is missing; write the new name
            perfmon.yml:2:93: normalize.rename[1].from: is not a valid regular expression: unopened group
            perfmon.yml:2:124: normalize.rename[2].to: asks for `1_b`, and `from` has no such group; write `${1}` where a letter, digit or `_` follows
            perfmon.yml:2:153: normalize.limits.max_labels: 0 is outside 1 to 64
            perfmon.yml:2:156: normalize.limits: unknown key `max_serie`; did you mean `max_series`?"#]],
    );
}

#[test]
fn the_example_of_the_documents_is_one() {
    let page = include_str!("../../../../docs/naming.md");
    let section = page.split("## Rename, relabel, drop").nth(1).expect("the section is there");
    let yaml = section
        .split("```yaml keys\n")
        .nth(1)
        .and_then(|rest| rest.split("```").next())
        .expect("it has an example");
    let read = good(&format!(
        "{yaml}plugins: {{load: [pcq]}}\nmodules: {{os: {{plugin: pcq}}}}\ntargets: [{{host: a, modules: [os]}}]\n"
    ));
    let written = format!("{:?}", read.normalize(&read.targets[0], "os").rules);
    let order = ["DropSeries", "DropSeries", "Rename", "Replace"].map(|rule| written.matches(rule).count());
    assert_eq!(order, [2, 2, 1, 1], "{written}");
}

#[test]
fn who_looks_for_rules_elsewhere_is_shown_the_way() {
    let text = "naming: verbatim\ntargets:\n  - {host: a, modules: [b], metric_relabel_configs: []}\n";
    let report = parse("perfmon.yml", text, Path::new("/")).expect_err("a report").to_string();
    for line in [
        "perfmon.yml:1:1: unknown key `naming`; write `normalize: {naming: …}`",
        "perfmon.yml:3:29: targets[0]: unknown key `metric_relabel_configs`; write `normalize: {metric_relabel_configs: …}`",
    ] {
        assert!(report.lines().any(|told| told == line), "{report}");
    }
}
