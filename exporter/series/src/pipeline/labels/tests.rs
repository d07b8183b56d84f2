use expect_test::{Expect, expect};

use super::*;

fn check(target: &Target, labels: &[(&str, &str)], expected: &Expect) {
    let mut out = Vec::new();
    let limits = Limits { label_value_bytes_max: 20, ..Limits::default() };
    match PrefixWriter::new(target, false).write(Kind::Gauge, "m", labels, &limits, &mut out) {
        Ok(()) => expected.assert_eq(&String::from_utf8(out).unwrap()),
        Err(refusal) => expected.assert_eq(refusal.as_str()),
    }
}

#[test]
fn target_comes_first_then_configuration_then_the_series() {
    let target = Target::new("web1").with_label("env", "prod").with_label("zone", "b");
    check(
        &target,
        &[("instance_id", "4"), ("counter_instance", "0,_Total")],
        &expect![[r#"m{target="web1",env="prod",zone="b",counter_instance="0,_Total",instance_id="4"} "#]],
    );
}

#[test]
fn the_plugins_label_keeps_its_name_and_the_configured_one_is_renamed() {
    let target = Target::new("web1").with_label("counter_instance", "mine").with_label("env", "prod");
    check(
        &target,
        &[("counter_instance", "C:")],
        &expect![[r#"m{target="web1",exported_counter_instance="mine",env="prod",counter_instance="C:"} "#]],
    );
    check(
        &target,
        &[("counter_instance", "C:"), ("exported_counter_instance", "x")],
        &expect![[
            r#"m{target="web1",exported_exported_counter_instance="mine",env="prod",counter_instance="C:",exported_counter_instance="x"} "#
        ]],
    );
}

#[test]
fn renamed_labels_stay_distinct() {
    let target = Target { labelled: false, ..Target::new("web1") };
    let target = target.with_label("a", "1").with_label("exported_a", "2");
    check(
        &target,
        &[("a", "3"), ("exported_a", "4")],
        &expect![[r#"m{exported_exported_a="1",exported_exported_exported_a="2",a="3",exported_a="4"} "#]],
    );
}

#[test]
fn a_value_is_as_long_as_it_is_shown() {
    let target = Target::new("web1");
    check(&target, &[("a", "\0\0\0\0\0\0")], &expect![[r#"m{target="web1",a="������"} "#]]);
    check(&target, &[("a", "\0\0\0\0\0\0\0")], &expect![["label_too_long"]]);
    check(&target, &[("a", "\n\t\n\t\n\t\n")], &expect![[r#"m{target="web1",a="\n	\n	\n	\n"} "#]]);
    let writer = PrefixWriter::new(&target, false);
    let limits = Limits { label_value_bytes_max: 20, ..Limits::default() };
    let ruled = |value: &str| {
        let labels = [("a", value)];
        let mut ruled = writer.label_set(Kind::Gauge, "m", &labels).unwrap();
        writer.write_ruled(Kind::Gauge, &mut ruled, &limits, &mut Vec::new())
    };
    assert_eq!(ruled(&"\0".repeat(6)), Ok(()));
    assert_eq!(ruled(&"\0".repeat(7)), Err(Refusal::LabelTooLong));
}

#[test]
fn nobody_else_says_target() {
    let target = Target::new("web1").with_label("target", "mine");
    check(&target, &[], &expect![[r#"m{target="web1",exported_target="mine"} "#]]);
    check(
        &target,
        &[("target", "theirs")],
        &expect![[r#"m{target="web1",exported_exported_target="mine",exported_target="theirs"} "#]],
    );
}

#[test]
fn a_probe_without_labels_has_no_braces() {
    let target = Target { labelled: false, ..Target::new("web1") };
    check(&target, &[], &expect!["m "]);
    check(&target, &[("a", "")], &expect!["m "]);
    check(&target, &[("a", "b")], &expect![[r#"m{a="b"} "#]]);
}

#[test]
fn label_names_are_made_valid_and_stay_distinct() {
    let target = Target { labelled: false, ..Target::new("web1") };
    check(
        &target,
        &[("9lives", "1"), ("a-b", "2"), ("a_b", "3"), ("__name__", "4"), ("", "5"), ("é", "6")],
        &expect![[r#"m{_="6",_9lives="1",a_b="2",exported_a_b="3",label="5",name__="4"} "#]],
    );
}

#[test]
fn no_label_is_ever_read_as_the_metrics_name() {
    let mut out = Vec::new();
    let labels = [("..name..", "1"), ("é", "2"), ("__x", "3")];
    PrefixWriter::new(&Target::new("web1"), true)
        .write(Kind::Gauge, "m", &labels, &Limits::default(), &mut out)
        .unwrap();
    expect![[r#"m{target="web1","exported_..name.."="1",x="3","é"="2"} "#]]
        .assert_eq(&String::from_utf8(out).unwrap());
}

#[test]
fn values_are_escaped_or_refused() {
    let target = Target::new("web\"1\n");
    check(&target, &[("path", r"C:\x")], &expect![[r#"m{target="web\"1\n",path="C:\\x"} "#]]);
    check(&target, &[("path", "longer than twenty bytes")], &expect!["label_too_long"]);
}
