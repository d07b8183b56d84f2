//! The rules for one family.

use std::sync::Arc;

use super::LabelSet;
use super::Rules;
use super::action::{Fate, Rule};
use crate::model::Kind;
use crate::pipeline::limits::Refusal;

/// What is left of the rules when a family's name is known: what they do to its name is done, and those that do not
/// mean it are gone.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::pipeline) struct Plan {
    /// The name with which the remaining steps begin.
    pub(in crate::pipeline) name: String,
    /// A step may give a series another name.
    pub(in crate::pipeline) moves: bool,
    steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq)]
enum Step {
    Rule(Arc<Rule>),
    Name(String),
}

impl Plan {
    /// The plan for a family; nothing for one that goes as a whole.
    pub(in crate::pipeline) fn new(
        rules: &Rules,
        sample_name: &str,
        kind: Kind,
        utf8: bool,
    ) -> Result<Option<Self>, Refusal> {
        let mut plan = Self { name: sample_name.to_owned(), ..Self::default() };
        // The name as far as it is known, and whether a step so far asks for it.
        let (mut name, mut is_read) = (Some(sample_name.to_owned()), false);
        for rule in rules.iter() {
            let known = name
                .clone()
                .filter(|_| rule.reads_name_only() && (rule.selects() || rule.writes_name_only()));
            if let Some(known) = known {
                let mut alone = LabelSet { name: known.clone().into(), labels: Vec::new() };
                if rule.apply(&mut alone, kind, utf8, &mut String::new())? == Fate::Goes {
                    return Ok(None);
                }
                let renamed = alone.name.into_owned();
                if renamed != known {
                    if is_read {
                        plan.steps.push(Step::Name(renamed.clone()));
                        plan.moves = true;
                    } else {
                        plan.name.clone_from(&renamed);
                    }
                    name = Some(renamed);
                }
                continue;
            }
            if rule.may_write_name() {
                (name, plan.moves) = (None, true);
            }
            is_read |= rule.reads_name();
            plan.steps.push(Step::Rule(Arc::clone(rule)));
        }
        Ok(Some(plan))
    }

    /// Whether there is nothing to do with a series.
    pub(in crate::pipeline) fn is_done(&self) -> bool {
        self.steps.is_empty()
    }

    /// Applies the steps to one series of the family, whose name is the plan's; whether it stays.
    pub(in crate::pipeline) fn apply<'a>(
        &'a self,
        series: &mut LabelSet<'a>,
        kind: Kind,
        utf8: bool,
        scratch: &mut String,
    ) -> Result<bool, Refusal> {
        for step in &self.steps {
            match step {
                Step::Rule(rule) => {
                    if rule.apply(series, kind, utf8, scratch)? == Fate::Goes {
                        return Ok(false);
                    }
                }
                Step::Name(name) => series.name = name.into(),
            }
        }
        Ok(true)
    }
}

/// The family to which a sample of that name belongs, which was of this kind under the name that it had: its name and
/// its kind.
///
/// * A counter stays one if its name ends in `_total`, an info if it ends in `_info`; so both page and collector get
///   what they expect. Under another name a counter's kind is unknown, and an info is a gauge that is 1.
/// * A histogram stays one; a name that ends in a suffix of another kind is none for it: see [`ends_in_suffix`].
/// * What else ends in a suffix that belongs to another kind is of unknown kind.
pub(in crate::pipeline) fn family_of(sample_name: &str, kind: Kind) -> (&str, Kind) {
    let stem = sample_name.strip_suffix(kind.sample_suffix()).filter(|stem| !stem.is_empty());
    let is_reserved = ends_in_suffix(sample_name);
    match (kind, stem) {
        (Kind::Histogram, _) => (sample_name, kind),
        (Kind::Counter | Kind::Info, Some(stem)) => (stem, kind),
        (Kind::Gauge | Kind::Info, _) if !is_reserved => (sample_name, Kind::Gauge),
        _ => (sample_name, Kind::Unknown),
    }
}

/// Whether a name ends in a suffix of some kind.
pub(in crate::pipeline) fn ends_in_suffix(sample_name: &str) -> bool {
    RESERVED_SUFFIXES.iter().any(|suffix| sample_name.ends_with(suffix))
}

const RESERVED_SUFFIXES: [&str; 6] = ["_count", "_sum", "_bucket", "_total", "_created", "_info"];

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::pipeline::RelabelConfig;

    /// Rules that read the name, write it, or do neither, in every mixture.
    fn rule() -> impl Strategy<Value = Rule> {
        let label = || prop::sample::select(vec!["__name__", "a", "b"]);
        let relabel = (
            prop::collection::vec(label(), 0..3),
            prop::sample::select(vec!["__name__", "a", "b", "${1}_x"]),
            prop::sample::select(vec!["(.*)", "(m)(.*)", "(.*);(.*)", "n.*|;1", "__name__|a", "[ab]"]),
            prop::sample::select(vec!["$1", "n_$2", "m_total", "$2$1", "__name__", "a"]),
            prop::sample::select(crate::pipeline::ACTIONS.to_vec()),
        );
        let relabel =
            relabel.prop_filter_map("some are none", |(sources, target, regex, replacement, action)| {
                let named = |wanted: &[&str], text: &str| wanted.contains(&action).then(|| text.to_owned());
                let config = RelabelConfig {
                    source_labels: (!action.starts_with("label"))
                        .then(|| sources.into_iter().map(str::to_owned).collect()),
                    target_label: (!action.starts_with("label") && !["keep", "drop"].contains(&action))
                        .then(|| target.to_owned()),
                    regex: (!action.ends_with("equal")).then(|| regex.to_owned()),
                    replacement: named(&["replace", "labelmap"], replacement),
                    modulus: named(&["hashmod"], "").map(|_| 3),
                    action: Some(action.to_owned()),
                    separator: None,
                };
                config.compile(false).ok()
            });
        let ours = prop::sample::select(vec![
            Rule::rename("(m|n.*)", "r_$1").unwrap(),
            Rule::drop_series("r_.*|n.*", &[("a".to_owned(), "1|m".to_owned())]).unwrap(),
            Rule::drop_series("n_.*_total", &[]).unwrap(),
        ]);
        prop_oneof![4 => relabel, 1 => ours]
    }

    fn naive<'a>(rules: &'a [Arc<Rule>], series: &mut LabelSet<'a>, kind: Kind) -> Result<bool, Refusal> {
        for rule in rules {
            if rule.apply(series, kind, false, &mut String::new())? == Fate::Goes {
                return Ok(false);
            }
        }
        Ok(true)
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000) })]

        #[test]
        fn a_plan_does_what_the_rules_do(
            rules in prop::collection::vec(rule(), 0..6),
            name in prop::sample::select(vec!["m", "m_total", "n_total", "x"]),
            labels in prop::sample::subsequence(vec![("a", "1"), ("b", "m"), ("m_x", "n")], 0..=3),
            kind in prop::sample::select(vec![Kind::Gauge, Kind::Counter]),
        ) {
            let rules = Rules::from_iter(rules);
            let set = |name: &str| LabelSet {
                name: name.to_owned().into(),
                labels: labels.iter().map(|&(name, value)| (name.into(), value.into())).collect(),
            };
            let mut expected = set(name);
            let stays = naive(&rules.0, &mut expected, kind);
            expected.labels.sort();
            match Plan::new(&rules, name, kind, false) {
                Ok(Some(plan)) => {
                    let mut planned = set(&plan.name);
                    let applied = plan.apply(&mut planned, kind, false, &mut String::new());
                    planned.labels.sort();
                    prop_assert_eq!(&applied, &stays, "{:?}", plan);
                    if applied == Ok(true) {
                        prop_assert_eq!(&planned, &expected, "{:?}", plan);
                        prop_assert!(plan.moves || planned.name == plan.name, "{:?}", plan);
                    }
                }
                // A family goes as a whole even where a rule before that would have refused some of its series.
                Ok(None) => prop_assert!(stays != Ok(true)),
                Err(refusal) => prop_assert_eq!(stays, Err(refusal)),
            }
        }
    }
}
