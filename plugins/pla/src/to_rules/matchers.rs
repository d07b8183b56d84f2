//! Which series the instances of a path are: matchers of labels in PromQL.

use core::fmt;

use counter_types::aggregate::Scope;
use counter_types::{InstanceIndex, InstancePath, same_name};
use counters::pcq::types::InstanceType;

use super::host::Counterset;

/// A condition on a label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Matcher {
    label: String,
    operator: &'static str,
    value: String,
}

/// The series of the instances that a path means.
#[derive(Debug, Default)]
pub(super) struct Instances {
    pub(super) matchers: Vec<Matcher>,
    /// The labels that tell several instances apart; empty where a path means one.
    pub(super) varying: Vec<&'static str>,
    /// How they differ from what Windows watches.
    pub(super) note: Option<&'static str>,
    /// Whether what they are added up to is meant.
    pub(super) is_aggregate: bool,
}

impl Matcher {
    pub(super) fn equal(label: &str, value: impl Into<String>) -> Self {
        Self { label: label.to_owned(), operator: "=", value: value.into() }
    }

    /// A name, in any case.
    pub(super) fn any_case(label: &str, name: &str) -> Self {
        Self::pattern(label, name, &[])
    }

    /// A name in any case, with these characters for any others.
    fn pattern(label: &str, text: &str, wildcards: &[(char, &str)]) -> Self {
        let mut regex = "(?i:".to_owned();
        for char in text.chars() {
            match wildcards.iter().find(|(wildcard, _)| *wildcard == char) {
                Some((_, any)) => regex.push_str(any),
                None if SIGNS.contains(char) => regex.extend(['\\', char]),
                None => regex.push(char),
            }
        }
        regex.push(')');
        Self { label: label.to_owned(), operator: "=~", value: regex }
    }

    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let (label, value) = text.split_once('=').ok_or("write LABEL=VALUE, such as target=web1")?;
        let is_label = label.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && label.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if is_label {
            Ok(Self::equal(label, value))
        } else {
            Err(format!("`{label}` is not the name of a label"))
        }
    }
}

impl fmt::Display for Matcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}{}", self.label, self.operator, string(&self.value))
    }
}

impl Instances {
    /// Those of a path in a counterset.
    ///
    /// # Errors
    /// Why no matcher says it.
    pub(super) fn of(instance: Option<&InstancePath>, counterset: &Counterset) -> Result<Self, String> {
        let name = &counterset.name;
        let instance = match (instance, counterset.instance_type) {
            (None, InstanceType::SINGLE) => return Ok(Self::default()),
            (Some(_), InstanceType::SINGLE) => {
                return Err(format!("`{name}` has no instances: write the path without one"));
            }
            (None, kind) if Scope::of(kind).is_some() => {
                return Ok(Self { is_aggregate: true, ..Self::default() });
            }
            (None, _) => {
                return Err(format!("`{name}` has instances: name one, or write `*`"));
            }
            (Some(instance), _) => instance,
        };
        let written = instance.to_string();
        if instance.index.is_some() && counterset.instances.iter().any(|known| same_name(known, &written)) {
            // Some old providers number their instances themselves.
            return Ok(Self::named(&written, counterset));
        }
        let whole = counterset.labels.shown(&instance.whole_name()).to_owned();
        let shares_names = counterset.labels.id.is_some() && !counterset.labels.id_is_in_name
            || counterset.instances.iter().filter(|known| same_name(known, &whole)).count() > 1;
        let mut found = match instance.index {
            Some(InstanceIndex::Number(number)) if number > 0 => {
                return Err(format!("`#{number}`: no label says which of the instances of one name it is"));
            }
            _ if counterset.labels.id_is_in_name => Self::with_identifier(&whole, counterset)?,
            _ => Self::named(&whole, counterset),
        };
        let is_one = instance.index != Some(InstanceIndex::Any) && !whole.contains(WILDCARDS);
        if is_one && shares_names {
            found.note =
                Some("Windows watches the first of the instances of this name, the rule each of them");
        }
        if !is_one || shares_names {
            found.varying.extend([counterset.labels.name].into_iter().chain(counterset.labels.id));
        }
        Ok(found)
    }

    /// Instances whose label is the whole name.
    fn named(name: &str, counterset: &Counterset) -> Self {
        let known = counterset.instances.iter().map(String::as_str);
        let matchers = of_name(counterset.labels.name, name, known).into_iter().collect();
        Self { matchers, ..Self::default() }
    }

    /// Instances called `NAME:ID`, with a label for each of the two.
    fn with_identifier(whole: &str, counterset: &Counterset) -> Result<Self, String> {
        let labels = counterset.labels;
        let id_label = labels.id.unwrap_or_default();
        let known = counterset.instances.iter().map(|name| name.rsplit_once(':').map_or(&**name, |it| it.0));
        let may_end_id = |c: char| c.is_ascii_digit() || WILDCARDS.contains(&c);
        let may_be_id = |text: &str| !text.is_empty() && text.chars().all(may_end_id);
        let mut matchers = Vec::new();
        let head = whole.trim_end_matches('*');
        match whole.rsplit_once(':') {
            Some((name, id)) if may_be_id(id) => {
                matchers.extend(of_name(labels.name, name, known));
                // What is called so has an identifier.
                let any = Matcher { label: id_label.to_owned(), operator: "!=", value: String::new() };
                matchers.push(of_name(id_label, id, [id].into_iter()).unwrap_or(any));
            }
            // The beginning of a name, whatever its identifier is.
            None if head != whole && !head.contains(WILDCARDS) => {
                matchers.extend(of_name(labels.name, whole, known));
            }
            // No name that ends like this has an identifier.
            split if !whole.contains(WILDCARDS) || split.is_none() && !whole.ends_with(may_end_id) => {
                matchers.extend(of_name(labels.name, whole, known));
                matchers.push(Matcher::equal(id_label, ""));
            }
            _ => {
                return Err(format!(
                    "`{whole}`: name and identifier are two labels: write the pattern as NAME:ID, such as `svchost:*`"
                ));
            }
        }
        Ok(Self { matchers, ..Self::default() })
    }
}

/// The matcher of a name with wildcards or without; none where it may be any. Windows ignores case and Prometheus does not, so
/// that a name is written as the host does.
fn of_name<'a>(label: &str, name: &str, known: impl Iterator<Item = &'a str>) -> Option<Matcher> {
    if !name.is_empty() && name.chars().all(|c| c == '*') {
        return None;
    }
    if name.contains(WILDCARDS) {
        return Some(Matcher::pattern(label, name, &[('*', ".*"), ('?', ".")]));
    }
    let mut spellings: Vec<&str> = known.filter(|known| same_name(known, name)).collect();
    spellings.sort_unstable();
    spellings.dedup();
    Some(match spellings[..] {
        [spelling] => Matcher::equal(label, spelling),
        _ => Matcher::any_case(label, name),
    })
}

/// A string of PromQL.
pub(super) fn string(text: &str) -> String {
    let mut quoted = "\"".to_owned();
    for char in text.chars() {
        match char {
            '"' | '\\' => quoted.extend(['\\', char]),
            '\n' => quoted.push_str("\\n"),
            _ if char.is_control() => quoted.push_str(&format!("\\u{:04x}", u32::from(char))),
            _ => quoted.push(char),
        }
    }
    quoted.push('"');
    quoted
}

/// What stands for other characters in a path.
const WILDCARDS: [char; 2] = ['*', '?'];
/// The characters that mean something in a regular expression.
const SIGNS: &str = r"\.+*?()|[]{}^$";
