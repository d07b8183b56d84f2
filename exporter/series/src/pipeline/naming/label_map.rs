//! What a profile makes of the labels of a series.

use std::borrow::Cow;
use std::sync::Arc;

use crate::pipeline::limits::Refusal;
use crate::pipeline::rules::Pattern;

/// The mapping of the labels of a metric's series. Labels of the source that no rule reads are kept.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LabelMap {
    rules: Vec<(String, LabelValue)>,
    /// Shared, as is what it needs for a search, by all metrics of a profile.
    dropped_instances: Option<Arc<Pattern>>,
    kept_instances: Option<Arc<Pattern>>,
}

/// Where the value of a label comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum LabelValue {
    /// It is always the same.
    Fixed(String),
    /// It is what the `*` in the counterset's name of the entry stands for, and this text where there is none.
    Star(String),
    /// It is that of a label of the source.
    From {
        label: String,
        /// What is taken away where the value begins with it.
        strip: String,
        /// Where any of these characters is in it: what comes after the first of them.
        after: String,
        /// Where any of these characters is in that: what comes before the first of them.
        until: String,
        /// What is no ASCII letter or digit in that becomes `_`.
        underscores: bool,
    },
    /// It is what the first group of an expression matches in a label of the source, and nothing where the expression does
    /// not match all of it.
    Group(Group),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    label: String,
    /// Shared by all metrics of an object.
    pattern: Arc<Pattern>,
}

impl Group {
    /// The first group of `regex` in the label.
    ///
    /// # Errors
    /// What is wrong with the expression.
    pub fn new(label: &str, regex: &str) -> Result<Self, String> {
        let pattern = Pattern::new(regex)?;
        if pattern.index("1").is_none() {
            return Err("it has no group, such as `(.+)`".to_owned());
        }
        Ok(Self { label: label.to_owned(), pattern: Arc::new(pattern) })
    }
}

impl LabelMap {
    /// The same instances with these labels, each of which is there once.
    #[must_use]
    pub fn with_labels(self, rules: Vec<(String, LabelValue)>) -> Self {
        Self { rules, ..self }
    }

    /// The same without the instances whose names match an expression as a whole.
    ///
    /// # Errors
    /// What is wrong with the expression.
    pub fn drop_instances(self, regex: &str) -> Result<Self, String> {
        Ok(Self { dropped_instances: Some(Arc::new(Pattern::new(regex)?)), ..self })
    }

    /// The same with no instances but those whose names match an expression as a whole.
    ///
    /// # Errors
    /// What is wrong with the expression.
    pub fn keep_instances(self, regex: &str) -> Result<Self, String> {
        Ok(Self { kept_instances: Some(Arc::new(Pattern::new(regex)?)), ..self })
    }

    /// The same, where the `*` in the counterset's name stands for this.
    #[must_use]
    pub(super) fn with_star(&self, star: &str) -> Self {
        let mut made = self.clone();
        for (_, value) in &mut made.rules {
            if let LabelValue::Star(value) = value {
                star.clone_into(value);
            }
        }
        made
    }

    /// Whether a label tells the series of both apart, whatever their instances are called.
    pub(super) fn differs(&self, other: &Self) -> bool {
        self.rules.iter().any(|(name, value)| {
            let LabelValue::Fixed(value) = value else { return false };
            match other.rules.iter().find(|(own, _)| own == name) {
                Some((_, LabelValue::Fixed(own))) => own != value,
                _ => false,
            }
        })
    }

    /// Whether an instance that is called like this in a label of the source has a label with the same value because of it,
    /// for those who ask what a profile has. `None` where the profile leaves the instance out.
    #[must_use]
    pub fn has_as(&self, source: &str, label: &str, instance: &str) -> Option<bool> {
        let is_from = match self.rules.iter().find(|(to, _)| to == label) {
            Some((_, from)) => from.source() == Some(source),
            None => label == source && !self.rules.iter().any(|(_, from)| from.source() == Some(source)),
        };
        if !is_from {
            return Some(false);
        }
        let labels = self.applied(&[(source, instance)]).ok()?;
        Some(labels.iter().any(|(name, value)| *name == label && value == instance))
    }

    /// The labels of a series that has these in the source.
    pub(in crate::pipeline) fn applied<'a>(
        &'a self,
        labels: &[(&'a str, &'a str)],
    ) -> Result<Vec<(&'a str, Cow<'a, str>)>, Refusal> {
        let value = |name: &str| labels.iter().find(|(own, _)| *own == name).map_or("", |(_, value)| value);
        let instance = INSTANCE_LABELS.iter().map(|name| value(name)).find(|value| !value.is_empty());
        let matches = |pattern: &Option<Arc<Pattern>>| {
            let pattern = pattern.as_ref()?;
            Some(instance.is_some_and(|instance| pattern.matches(instance)))
        };
        if matches(&self.dropped_instances) == Some(true) || matches(&self.kept_instances) == Some(false) {
            return Err(Refusal::DroppedByRule);
        }
        let is_read = |name: &str| {
            let mut rules = self.rules.iter();
            rules.any(|(to, from)| to == name || from.source() == Some(name))
        };
        let kept =
            labels.iter().filter(|(name, _)| !is_read(name)).map(|&(name, value)| (name, value.into()));
        let made = self.rules.iter().map(|(name, from)| (name.as_str(), from.value(value)));
        Ok(made.chain(kept).collect())
    }
}

impl LabelValue {
    /// The label of the source that it is taken from.
    fn source(&self) -> Option<&str> {
        match self {
            Self::Fixed(_) | Self::Star(_) => None,
            Self::From { label, .. } | Self::Group(Group { label, .. }) => Some(label),
        }
    }

    fn value<'a>(&'a self, of: impl Fn(&str) -> &'a str) -> Cow<'a, str> {
        match self {
            Self::Fixed(value) | Self::Star(value) => value.into(),
            Self::Group(Group { label, pattern }) => {
                pattern.groups(of(label)).map_or(Cow::default(), |groups| groups.group(1).to_owned().into())
            }
            Self::From { label, strip, after, until, underscores } => {
                let value = of(label);
                let value = value.strip_prefix(strip.as_str()).unwrap_or(value);
                let value = match value.split_once(|char| after.contains(char)) {
                    Some((_, behind)) => behind,
                    None => value,
                };
                let value = value.split(|char| until.contains(char)).next().unwrap_or_default();
                if *underscores {
                    value.replace(|char: char| !char.is_ascii_alphanumeric(), "_").into()
                } else {
                    value.into()
                }
            }
        }
    }
}

/// The labels that may hold an instance's name, the most telling first.
pub const INSTANCE_LABELS: [&str; 2] = ["counter_instance", "process"];

#[cfg(test)]
mod tests {
    use super::*;

    fn from(label: &str, after: &str, until: &str) -> LabelValue {
        LabelValue::From {
            label: label.into(),
            strip: r"\??\".into(),
            after: after.into(),
            until: until.into(),
            underscores: false,
        }
    }

    #[test]
    fn labels_are_renamed_cut_and_set_and_the_others_stay() {
        let map = LabelMap::default().with_labels(vec![
            ("disk".to_owned(), from("counter_instance", "", " ")),
            ("mode".to_owned(), LabelValue::Fixed("read".to_owned())),
        ]);
        let labels = [("instance_id", "3"), ("counter_instance", "0 C: D:")];
        let expected =
            [("disk", "0"), ("mode", "read"), ("instance_id", "3")].map(|(name, value)| (name, value.into()));
        assert_eq!(map.applied(&labels).unwrap(), expected);
    }

    #[test]
    fn a_label_has_the_name_of_an_instance_where_it_is_made_of_it_unchanged() {
        let rules = vec![
            ("disk".to_owned(), from("counter_instance", "", " ")),
            ("mode".to_owned(), LabelValue::Fixed("read".to_owned())),
        ];
        let map = LabelMap::default().with_labels(rules).drop_instances(".*_Total").unwrap();
        for (label, instance, expected) in [
            ("disk", "0", Some(true)),
            ("disk", "0 C:", Some(false)),
            ("disk", "_Total", None),
            ("mode", "read", Some(false)),
            ("mode", "_Total", Some(false)),
            ("counter_instance", "0", Some(false)),
        ] {
            assert_eq!(map.has_as("counter_instance", label, instance), expected, "{label} {instance}");
        }
        assert_eq!(LabelMap::default().has_as("counter_instance", "counter_instance", "0"), Some(true));
        assert_eq!(LabelMap::default().has_as("counter_instance", "process", "0"), Some(false));
    }

    #[test]
    fn a_group_of_an_expression_is_a_value_where_all_of_the_text_matches() {
        let value = |regex| LabelValue::Group(Group::new("a", regex).unwrap());
        let of = |regex, text| value(regex).value(|_| text).into_owned();
        let name = "pid_4_luid_0x00000000_0x0000F78A_phys_0_eng_3_engtype_Copy";
        assert_eq!(of("pid_([0-9]+)_.*", name), "4");
        assert_eq!(of(".*luid_(0x[0-9A-Fa-f]+_0x[0-9A-Fa-f]+)_.*", name), "0x00000000_0x0000F78A");
        assert_eq!(of("pid_([0-9]+)", name), "");
        assert!(Group::new("a", "pid_[0-9]+").is_err());
    }

    #[test]
    fn a_value_is_cut_at_the_first_of_several_characters() {
        let value = |after, until, value| from("a", after, until).value(|_| value).into_owned();
        assert_eq!(value("", ":#", "svchost#2"), "svchost");
        assert_eq!(value("", ":#", "svchost:1124"), "svchost");
        assert_eq!(value("_", "", "1124_Default_Pool"), "Default_Pool");
        assert_eq!(value("_", "", "plain"), "plain");
        assert_eq!(value("", "_", "1124_Default"), "1124");
        assert_eq!(value("", "", r"\??\C:\pagefile.sys"), r"C:\pagefile.sys");
    }

    #[test]
    fn instances_are_dropped_and_kept_by_their_whole_names() {
        let map = LabelMap::default().drop_instances(".*_Total").unwrap();
        assert_eq!(map.applied(&[("counter_instance", "0,_Total")]), Err(Refusal::DroppedByRule));
        assert_eq!(map.applied(&[("process", "_Total")]), Err(Refusal::DroppedByRule));
        assert!(map.applied(&[("counter_instance", "_Total 2")]).is_ok());
        assert!(map.applied(&[]).is_ok());
        let map = LabelMap::default().keep_instances("_Total").unwrap();
        assert!(map.applied(&[("counter_instance", "_Total")]).is_ok());
        assert_eq!(map.applied(&[("counter_instance", "C:")]), Err(Refusal::DroppedByRule));
    }
}
