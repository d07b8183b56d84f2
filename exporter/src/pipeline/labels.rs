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
//! A label without a value goes, since Prometheus takes it for absent. Leading `__`, which Prometheus keeps for
//! itself, goes. Under a profile with legacy names, what other names hold becomes `_`; else they stay, and two of one
//! series differ in every way in which a reader may ask for them.

use std::borrow::Cow;

use super::Limits;
use super::limits::Refusal;
use super::rules::{LabelSet, TARGET};
use crate::model::{Escaping, Target, clean_name, escape_label_value, is_legacy_label, push_prefix};

/// Name and value.
type Label<'a> = (Cow<'a, str>, Cow<'a, str>);

/// Writes prefixes for one store.
#[derive(Debug)]
pub(super) struct PrefixWriter {
    /// The target's name and its labels by name; values are escaped.
    target: Vec<(String, String)>,
    /// The same values without escapes.
    plain: Vec<String>,
    utf8: bool,
}

impl PrefixWriter {
    /// `utf8` says whether names may be more than legacy ones.
    pub(super) fn new(target: &Target, utf8: bool) -> Self {
        let mut labels: Vec<(String, String)> = Vec::new();
        let mut plain = Vec::new();
        if target.labelled {
            labels.push((TARGET.to_owned(), escaped(&target.name)));
            plain.push(target.name.clone());
        }
        for (name, value) in target.labels.iter().filter(|(_, value)| !value.is_empty()) {
            let name = free_name(valid_name(name, utf8), |name| {
                name == TARGET || labels.iter().any(|(other, _)| same_name(other, name))
            });
            labels.push((name.into_owned(), escaped(value)));
            plain.push(value.clone());
        }
        Self { target: labels, plain, utf8 }
    }

    /// Whether names may be more than legacy ones.
    pub(super) fn is_utf8(&self) -> bool {
        self.utf8
    }

    /// Writes `name{labels} ` into `out`, which is emptied first.
    pub(super) fn write(
        &self,
        sample_name: &str,
        labels: &[(&str, &str)],
        limits: &Limits,
        out: &mut Vec<u8>,
    ) -> Result<(), Refusal> {
        if labels.len() > limits.labels_max {
            return Err(Refusal::TooManyLabels);
        }
        let is_long = |value: &str| value.len() > limits.label_value_bytes_max;
        let own = self.own(labels, |value| {
            if is_long(value) { Err(Refusal::LabelTooLong) } else { Ok(as_escaped(value)) }
        })?;

        out.clear();
        let renamed = self.renamed(&own);
        let target = self.target.iter().enumerate().map(|(index, (name, value))| {
            let name = renamed.iter().find(|(of, _)| *of == index).map_or(name, |(_, name)| name);
            (name.as_str(), value.as_str())
        });
        let own = own.iter().map(|(name, value)| (&**name, &**value));
        push_prefix(sample_name, target.chain(own), out);
        Ok(())
    }

    /// The same labels for rules to work on.
    pub(super) fn label_set<'a>(
        &'a self,
        name: &'a str,
        labels: &'a [(&'a str, &'a str)],
    ) -> Result<LabelSet<'a>, Refusal> {
        let own = self.own(labels, |value| Ok(value.into()))?;
        let mut renamed = self.renamed(&own);
        let mut labels = Vec::with_capacity(self.target.len() + own.len() + 2);
        for (index, ((name, _), value)) in self.target.iter().zip(&self.plain).enumerate() {
            let renamed =
                renamed.iter_mut().find(|(of, _)| *of == index).map(|(_, name)| std::mem::take(name));
            labels.push((renamed.map_or(Cow::Borrowed(name.as_str()), Cow::Owned), value.as_str().into()));
        }
        labels.extend(own);
        Ok(LabelSet { name: name.into(), labels })
    }

    /// Writes what rules made of them: `target` first, the others by name; those that begin with `__` go.
    pub(super) fn write_ruled(
        &self,
        ruled: &mut LabelSet<'_>,
        limits: &Limits,
        out: &mut Vec<u8>,
    ) -> Result<(), Refusal> {
        let is_target = |(name, _): &(String, String)| name == TARGET;
        let target = self.target.iter().position(is_target).map_or("", |index| &self.plain[index]);
        if ruled.value(TARGET) != target {
            return Err(Refusal::TargetLabel);
        }
        ruled.labels.retain(|(name, _)| !name.starts_with("__"));
        if ruled.labels.len() > limits.labels_max.saturating_add(self.target.len()) {
            return Err(Refusal::TooManyLabels);
        }
        ruled
            .labels
            .sort_unstable_by(|left, right| (left.0 != TARGET, &left.0).cmp(&(right.0 != TARGET, &right.0)));
        for (index, (name, value)) in ruled.labels.iter().enumerate() {
            if name.len() > limits.name_bytes_max {
                return Err(Refusal::NameTooLong);
            } else if value.len() > limits.label_value_bytes_max && name != TARGET {
                return Err(Refusal::LabelTooLong);
            } else if valid_name(name, self.utf8) != *name
                || ruled.labels[..index].iter().any(|(other, _)| same_name(other, name))
            {
                return Err(Refusal::InvalidName);
            }
        }
        out.clear();
        let escaped: Vec<_> = ruled.labels.iter().map(|(name, value)| (name, as_escaped(value))).collect();
        push_prefix(&ruled.name, escaped.iter().map(|(name, value)| (&***name, &**value)), out);
        Ok(())
    }

    /// The series' own labels by name.
    fn own<'a>(
        &self,
        labels: &[(&'a str, &'a str)],
        write: impl Fn(&'a str) -> Result<Cow<'a, str>, Refusal>,
    ) -> Result<Vec<Label<'a>>, Refusal> {
        let mut own: Vec<Label<'a>> = Vec::with_capacity(labels.len());
        for &(name, value) in labels.iter().filter(|(_, value)| !value.is_empty()) {
            let value = write(value)?;
            let name = free_name(valid_name(name, self.utf8), |name| {
                name == TARGET || own.iter().any(|(other, _)| same_name(other, name))
            });
            own.push((name, value));
        }
        own.sort_unstable_by(|left, right| left.0.cmp(&right.0));
        Ok(own)
    }

    /// The target's labels whose names the series has taken, by index, with their new names.
    fn renamed(&self, own: &[Label<'_>]) -> Vec<(usize, String)> {
        let is_own = |name: &str| own.iter().any(|(other, _)| same_name(other, name));
        let mut renamed: Vec<(usize, String)> = Vec::new();
        for (index, (name, _)) in self.target.iter().enumerate().filter(|(_, (name, _))| is_own(name)) {
            let name = free_name(Cow::Borrowed(name), |name| {
                let is_target = self.target.iter().any(|(other, _)| same_name(other, name));
                is_own(name) || is_target || renamed.iter().any(|(_, other)| same_name(other, name))
            });
            renamed.push((index, name.into_owned()));
        }
        renamed
    }
}

fn as_escaped(value: &str) -> Cow<'_, str> {
    if is_plain(value) { value.into() } else { escaped(value).into() }
}

fn escaped(value: &str) -> String {
    let mut out = Vec::with_capacity(value.len());
    escape_label_value(value, &mut out);
    String::from_utf8(out).unwrap_or_default()
}

/// Whether a value needs no escapes.
fn is_plain(value: &str) -> bool {
    value.bytes().all(|byte| byte >= 0x20 && byte != 0x7f && byte != b'"' && byte != b'\\')
}

/// Whether any reader may get both names as one.
fn same_name(left: &str, right: &str) -> bool {
    left == right
        || (!(is_legacy_label(left) && is_legacy_label(right))
            && Escaping::ALL.iter().any(|escaping| escaping.label_name(left) == escaping.label_name(right)))
}

fn free_name(mut name: Cow<'_, str>, taken: impl Fn(&str) -> bool) -> Cow<'_, str> {
    while taken(&name) {
        name.to_mut().insert_str(0, RENAMED);
    }
    name
}

fn valid_name(name: &str, utf8: bool) -> Cow<'_, str> {
    if utf8 { unreserved(name) } else { sanitised(name) }
}

/// The name, clean and without a leading `__`. Only escaping may bring that back, and never as the name that stands for
/// the metric's.
fn unreserved(name: &str) -> Cow<'_, str> {
    let name = clean_name(name);
    let stem = if name.starts_with("__") { name.trim_start_matches('_') } else { &name };
    if stem.is_empty() {
        Cow::Borrowed("label")
    } else if Escaping::ALL.iter().any(|escaping| escaping.label_name(stem) == METRIC_NAME) {
        Cow::Owned(format!("{RENAMED}{stem}"))
    } else if stem.len() == name.len() {
        name
    } else {
        Cow::Owned(stem.to_owned())
    }
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

const RENAMED: &str = "exported_";
const METRIC_NAME: &str = "__name__";

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(target: &Target, labels: &[(&str, &str)], expected: &Expect) {
        let mut out = Vec::new();
        let limits = Limits { label_value_bytes_max: 20, ..Limits::default() };
        match PrefixWriter::new(target, false).write("m", labels, &limits, &mut out) {
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
    fn no_label_is_ever_read_as_the_metrics_name() {
        let mut out = Vec::new();
        let labels = [("..name..", "1"), ("é", "2"), ("__x", "3")];
        PrefixWriter::new(&Target::new("web1"), true)
            .write("m", &labels, &Limits::default(), &mut out)
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
}
