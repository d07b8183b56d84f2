//! Which labels a series carries, and in which order.
//!
//! `target` first, then the target's labels from the configuration, then the series' own by name. Where two want
//! one name:
//!
//! * the plugin's label keeps it, because it tells series apart; the configured one becomes `exported_<name>`,
//!   on this series only;
//! * `target` is always ours: a plugin's or the configuration's becomes `exported_target`;
//! * a name that is still taken gets `exported_` once more.
//!
//! A label without a value goes, since Prometheus takes it for absent. Names are sanitised: what they may not
//! hold becomes `_`, and leading `__`, which Prometheus keeps for itself, goes.

use std::borrow::Cow;

use super::limits::Refusal;
use crate::model::{Target, escape_label_value};

/// Writes prefixes for one store.
#[derive(Debug)]
pub(super) struct PrefixWriter {
    /// The target's name and its labels by name.
    target: Vec<(String, String)>,
    /// The same as it stands on a page.
    rendered: Vec<u8>,
}

impl PrefixWriter {
    pub(super) fn new(target: &Target) -> Self {
        let mut labels: Vec<(String, String)> = Vec::new();
        if target.labelled {
            labels.push((TARGET.to_owned(), target.name.clone()));
        }
        for (name, value) in target.labels.iter().filter(|(_, value)| !value.is_empty()) {
            let name = free_name(sanitised(name), |name| {
                name == TARGET || labels.iter().any(|(other, _)| other == name)
            });
            labels.push((name.into_owned(), value.clone()));
        }
        let mut rendered = Vec::new();
        for (name, value) in &labels {
            push_label(&mut rendered, name, value);
        }
        Self { target: labels, rendered }
    }

    /// Writes `name{labels} ` into `out`, which is emptied first.
    pub(super) fn write(
        &self,
        sample_name: &str,
        labels: &[(&str, &str)],
        label_value_bytes_max: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), Refusal> {
        let mut own: Vec<(Cow<'_, str>, &str)> = Vec::with_capacity(labels.len());
        for &(name, value) in labels.iter().filter(|(_, value)| !value.is_empty()) {
            if value.len() > label_value_bytes_max {
                return Err(Refusal::LabelTooLong);
            }
            let name = free_name(sanitised(name), |name| {
                name == TARGET || own.iter().any(|(other, _)| other == name)
            });
            own.push((name, value));
        }
        own.sort_unstable_by(|left, right| left.0.cmp(&right.0));

        out.clear();
        out.extend_from_slice(sample_name.as_bytes());
        let open = out.len();
        self.write_target(&own, out);
        for (name, value) in &own {
            push_label(out, name, value);
        }
        if out.len() > open {
            out[open] = b'{';
            out.push(b'}');
        }
        out.push(b' ');
        Ok(())
    }

    fn write_target(&self, own: &[(Cow<'_, str>, &str)], out: &mut Vec<u8>) {
        let is_own = |name: &str| own.iter().any(|(other, _)| other == name);
        if !self.target.iter().any(|(name, _)| is_own(name)) {
            out.extend_from_slice(&self.rendered);
            return;
        }
        let mut renamed: Vec<String> = Vec::new();
        for (name, value) in &self.target {
            if !is_own(name) {
                push_label(out, name, value);
                continue;
            }
            let name = free_name(Cow::Borrowed(name), |name| {
                let is_target = self.target.iter().any(|(other, _)| other == name);
                is_own(name) || is_target || renamed.iter().any(|other| other == name)
            });
            push_label(out, &name, value);
            renamed.push(name.into_owned());
        }
    }
}

/// Appends `,name="value"`; the comma of the first label is where the brace will stand.
fn push_label(out: &mut Vec<u8>, name: &str, value: &str) {
    out.push(b',');
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"=\"");
    escape_label_value(value, out);
    out.push(b'"');
}

fn free_name(mut name: Cow<'_, str>, taken: impl Fn(&str) -> bool) -> Cow<'_, str> {
    while taken(&name) {
        name.to_mut().insert_str(0, RENAMED);
    }
    name
}

/// The name as `[a-zA-Z_][a-zA-Z0-9_]*`, without a leading `__`.
fn sanitised(name: &str) -> Cow<'_, str> {
    let valid = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let starts_well =
        name.bytes().next().is_some_and(|first| !first.is_ascii_digit()) && !name.starts_with("__");
    if starts_well && name.bytes().all(valid) {
        return Cow::Borrowed(name);
    }
    let replaced: String =
        name.chars().map(|char| if char.is_ascii_alphanumeric() { char } else { '_' }).collect();
    let stem = if replaced.starts_with("__") { replaced.trim_start_matches('_') } else { &replaced };
    match stem.bytes().next() {
        None => Cow::Borrowed("label"),
        Some(first) if first.is_ascii_digit() => Cow::Owned(format!("_{stem}")),
        Some(_) => Cow::Owned(stem.to_owned()),
    }
}

const TARGET: &str = "target";
const RENAMED: &str = "exported_";

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(target: &Target, labels: &[(&str, &str)], expected: &Expect) {
        let mut out = Vec::new();
        match PrefixWriter::new(target).write("m", labels, 20, &mut out) {
            Ok(()) => expected.assert_eq(&String::from_utf8(out).unwrap()),
            Err(refusal) => expected.assert_eq(refusal.word()),
        }
    }

    #[test]
    fn target_comes_first_then_configuration_then_the_series() {
        let target = Target::new("web1").with_label("env", "prod").with_label("zone", "b");
        check(
            &target,
            &[("instance_id", "4"), ("counter_instance", "0,_Total")],
            &expect![[
                r#"m{target="web1",env="prod",zone="b",counter_instance="0,_Total",instance_id="4"} "#
            ]],
        );
    }

    #[test]
    fn the_plugins_label_keeps_its_name_and_the_configured_one_is_renamed() {
        let target = Target::new("web1").with_label("counter_instance", "mine").with_label("env", "prod");
        check(
            &target,
            &[("counter_instance", "C:")],
            &expect![[
                r#"m{target="web1",exported_counter_instance="mine",env="prod",counter_instance="C:"} "#
            ]],
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
            &expect![[
                r#"m{exported_exported_a="1",exported_exported_exported_a="2",a="3",exported_a="4"} "#
            ]],
        );
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
    fn values_are_escaped_or_refused() {
        let target = Target::new("web\"1\n");
        check(&target, &[("path", r"C:\x")], &expect![[r#"m{target="web\"1\n",path="C:\\x"} "#]]);
        check(&target, &[("path", "longer than twenty bytes")], &expect!["label_too_long"]);
    }
}
