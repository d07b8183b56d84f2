//! What is said of mistakes that people make while they write a configuration: spelling, kinds of values, indentation.

use expect_test::expect;

use crate::command_plugin::Installed;
use crate::messages::{check, with};

#[test]
fn a_misspelt_word_is_told_with_the_one_that_was_meant() {
    let installed = Installed::new();
    check(
        &installed,
        &with(|good| good.replace("[pcq]", "[pqc]")),
        &expect![[r#"
        perfmon.yml:1:18: plugins.load[0]: module `os` uses plugin `pcq`, and `pqc` is loaded; did you mean `pcq`?
        exit code 1
    "#]],
    );
    check(
        &installed,
        &with(|good| good.replace("plugin: pcq", "plugin: pqc")),
        &expect![[r#"
        perfmon.yml:6:8: modules.os: plugin `pqc` is not in `plugins.load`; did you mean `pcq`?
        exit code 1
    "#]],
    );
    check(
        &installed,
        &with(|good| good.replace("pcq", "pqc")),
        &expect![[r#"
            perfmon.yml:1:18: plugins.load[0]: load plugin FOLDER/libplugin_pqc.so: no such file; FOLDER holds libplugin_pcq.so; install the plugin there or correct `plugins.load` or `plugins.path`; did you mean `pcq`?
            exit code 1
        "#]],
    );
    check(
        &installed,
        &with(|good| good.replace("plugin: pcq", "plugn: pcq")),
        &expect![[r#"
        perfmon.yml:6:8: modules.os: unknown key `plugn`; did you mean `plugin`?
        exit code 1
    "#]],
    );
    check(
        &installed,
        &with(|good| good.replace("{name: Process V2}", "{nmae: Process V2}")),
        &expect![[r#"
        perfmon.yml:6:36: modules.os.countersets[0].nmae: unknown key `nmae`; did you mean `name`?
        exit code 1
    "#]],
    );
    check(
        &installed,
        &with(|good| good.replace("V2}", "V2, totals: drp}")),
        &expect![[r#"
        perfmon.yml:6:54: modules.os.countersets[0].totals: `drp` is not a choice; did you mean `drop`?
        exit code 1
    "#]],
    );
}

#[test]
fn settings_of_another_kind_are_told_without_types_of_the_program() {
    let installed = Installed::new();
    let countersets = |text: &str| with(|good| good.replace("[{name: Process V2}]", text));
    check(
        &installed,
        &countersets("Process V2"),
        &expect![[r#"
        perfmon.yml:6:21: modules.os.countersets: expected a list such as `- name: Processor Information`, found text
        exit code 1
    "#]],
    );
    check(
        &installed,
        &countersets("[Process V2]"),
        &expect![[r#"
        perfmon.yml:6:35: modules.os.countersets[0]: expected a counterset such as `name: Processor Information`, found text
        exit code 1
    "#]],
    );
    check(
        &installed,
        &countersets("[{name: {like: a}}]"),
        &expect![[r#"
            perfmon.yml:6:36: modules.os.countersets[0].name: expected a name, `{exact: NAME}`, `{wildcard: 'svchost*'}` or `{regex: 'svchost.*'}`
            exit code 1
        "#]],
    );
    // What is in brackets is no name, however short the list.
    check(
        &installed,
        &countersets("[{name: [a]}]"),
        &expect![[r#"
            perfmon.yml:6:36: modules.os.countersets[0].name: expected a name, `{exact: NAME}`, `{wildcard: 'svchost*'}` or `{regex: 'svchost.*'}`, found a list
            exit code 1
        "#]],
    );
    check(
        &installed,
        &countersets("[{name: a, instances: {include: [[b]]}}]"),
        &expect![[r#"
            perfmon.yml:6:67: modules.os.countersets[0].instances.include[0]: expected a name, `{exact: NAME}`, `{wildcard: 'svchost*'}` or `{regex: 'svchost.*'}`, found a list
            exit code 1
        "#]],
    );
    check(
        &installed,
        &countersets("[{name: {wildcard: [Memory*]}}]"),
        &expect![[r#"
            perfmon.yml:6:43: modules.os.countersets[0].name.wildcard: expected text, found a list
            exit code 1
        "#]],
    );
    check(
        &installed,
        &countersets("[{name: {wildcard: 'Memory*', regex: x}}]"),
        &expect![[r#"
            perfmon.yml:6:36: modules.os.countersets[0].name: expected a name, `{exact: NAME}`, `{wildcard: 'svchost*'}` or `{regex: 'svchost.*'}`
            exit code 1
        "#]],
    );
    check(
        &installed,
        &countersets("[{name: a, instances: [b]}]"),
        &expect![[r#"
            perfmon.yml:6:45: modules.os.countersets[0].instances: expected a mapping such as `{include: ['svchost.*']}`, found a list
            exit code 1
        "#]],
    );
    check(
        &installed,
        &countersets("[{name: a, top_n: {counter: b, n: many}}]"),
        &expect![[r#"
        perfmon.yml:6:65: modules.os.countersets[0].top_n.n: expected a whole number, found text
        exit code 1
    "#]],
    );
    check(
        &installed,
        &countersets("[{name: a, top_n: 5}]"),
        &expect![[r#"
        perfmon.yml:6:45: modules.os.countersets[0].top_n: expected a mapping such as `{counter: 'Working Set', n: 20}`, found a number
        exit code 1
    "#]],
    );
    check(
        &installed,
        &countersets("[{name: a, aggregate: none}]"),
        &expect![[r#"
        perfmon.yml:6:45: modules.os.countersets[0].aggregate: `none` is none of `true`, `false` and `only`
        exit code 1
    "#]],
    );
    check(
        &installed,
        &countersets("[{name: a, instance_id: 'yes'}]"),
        &expect![[r#"
        perfmon.yml:6:45: modules.os.countersets[0].instance_id: expected `true` or `false`, found text
        exit code 1
    "#]],
    );
    check(
        &installed,
        &countersets("[{name: a, top_n: {counter: b}}]"),
        &expect![[r#"
        perfmon.yml:6:45: modules.os.countersets[0].top_n: `n` is missing
        exit code 1
    "#]],
    );
}

#[test]
fn a_pattern_that_is_no_expression_is_shown_as_it_was_written() {
    let installed = Installed::new();
    let instances =
        |text: &str| with(|good| good.replace("V2}", &format!("V2, instances: {{include: [{text}]}}}}")));
    check(
        &installed,
        &instances("'svchost(:.*'"),
        &expect![[r#"
        perfmon.yml:6:76: modules.os.countersets[0].instances.include[0]: `svchost(:.*` is not a valid regular expression: unclosed group; write `\` before a special character to match it literally, such as `\(`
        exit code 1
    "#]],
    );
    check(
        &installed,
        &instances("'*'"),
        &expect![[r#"
        perfmon.yml:6:76: modules.os.countersets[0].instances.include[0]: `*` is not a valid regular expression: repetition operator missing expression; write {wildcard: '*'}
        exit code 1
    "#]],
    );
    check(
        &installed,
        &instances("{regex: 'a['}"),
        &expect![[r#"
        perfmon.yml:6:76: modules.os.countersets[0].instances.include[0]: `a[` is not a valid regular expression: unclosed character class; write a regular expression for the whole name, such as `.*,_Total`
        exit code 1
    "#]],
    );
}

#[test]
fn a_line_that_is_indented_wrongly_is_told_which_lines_it_could_belong_to() {
    let installed = Installed::new();
    for (file, expected) in [
        (
            "targets:\n  - host: web1\n   modules: [os]\n",
            expect![[r#"
                perfmon.yml:3:4: this line is indented by 3 spaces; indent it by 4, as line 2 is, or by 0, as line 1 is
                exit code 1
            "#]],
        ),
        (
            "identities:\n  corp:\n    kind: ntlm\n   domain: CORP\n",
            expect![[r#"
                perfmon.yml:4:4: this line is indented by 3 spaces; indent it by 4, as line 3 is, or by 2, as line 2 is
                exit code 1
            "#]],
        ),
        (
            "identities:\n  corp:\n    kind: ntlm\n      domain: CORP\n",
            expect![[r#"
            perfmon.yml:4:13: this line is indented by 6 spaces and line 3, which has a value of its own, by 4; indent both alike
            exit code 1
        "#]],
        ),
        (
            "modules:\n  os:\n    countersets:\n    - name: a\n  - name: b\n",
            expect![[r#"
                perfmon.yml:5:5: this line is indented by 2 spaces; indent it by 4, as line 4 is
                exit code 1
            "#]],
        ),
        (
            "modules:\n  os:\n    plugin:pcq\n    countersets: []\n",
            expect![[r#"
            perfmon.yml:4:16: a space is missing behind the `:` of `plugin:pcq` on line 3
            exit code 1
        "#]],
        ),
        (
            "plugins:\nload: [pcq]\n",
            expect![[r#"
            perfmon.yml:2:1: unknown key `load`; indent it if it belongs to `plugins`, which is empty
            exit code 1
        "#]],
        ),
        (
            "modules:\n  os:\n  plugin: pcq\n",
            expect![[r#"
            perfmon.yml:2:5: modules.os: expected a mapping, found nothing; indent what belongs to it, on the lines below
            perfmon.yml:3:11: modules.plugin: expected a mapping, found text
            exit code 1
        "#]],
        ),
        (
            "web: {listen: [a: b: c]}\n",
            expect![[r#"
            perfmon.yml:1:20: while parsing a flow mapping, did not find expected ',' or '}'
            exit code 1
        "#]],
        ),
    ] {
        check(&installed, file, &expected);
    }
}

#[test]
fn a_mistake_in_many_entries_is_one_line() {
    let installed = Installed::new();
    let targets: String =
        (0..60).map(|n| format!("  - {{host: w{n}.corp, identity: corp, modules: [oz]}}\n")).collect();
    check(
        &installed,
        &with(|good| format!("{good}{targets}  - {{host: x, identity: crp, modules: [os]}}\n")),
        &expect![[r#"
            perfmon.yml:9:47: targets[1]: there is no module `oz`; did you mean `os`? (60 times: 9:47, 10:47, 11:47, …)
            perfmon.yml:69:15: targets[61]: there is no identity `crp`; did you mean `corp`?
            exit code 1
        "#]],
    );
}
