//! The findings, put together for people and for programs.

use std::collections::{BTreeMap, BTreeSet};

use super::Found;
use super::promql::Reference;
use super::verdict::{Judge, Judgement, Verdict};
use super::view::View;

/// A place of a file: the file's name, and what is there.
pub(super) type Place = (String, String);

/// Everything that is to be said.
#[derive(Debug)]
pub(super) struct Report {
    /// By what the metrics were judged.
    pub(super) judged_by: String,
    pub(super) files: Vec<FileReport>,
    pub(super) metrics: Vec<MetricReport>,
    /// Files that cannot be read, and expressions: with an empty place, the file.
    pub(super) unreadable: Vec<(Place, String)>,
    /// What has to be collected for the metrics that are there, by namespace.
    pub(super) needs: BTreeMap<String, BTreeSet<String>>,
    /// Whether nothing was asked of a configuration.
    pub(super) is_without_config: bool,
}

/// How much of a file is there.
#[derive(Debug)]
pub(super) struct FileReport {
    pub(super) file: String,
    /// The metrics that it reads, but for those that come from somebody else.
    pub(super) metrics: usize,
    pub(super) there: usize,
    pub(super) unreadable: usize,
}

/// What becomes of a metric.
#[derive(Debug)]
pub(super) struct MetricReport {
    /// The name, or `{__name__=~"…"}`, or the variable.
    pub(super) name: String,
    pub(super) judgement: Judgement,
    pub(super) read_by: Vec<Place>,
}

impl Report {
    /// Judges what was found in files.
    pub(super) fn new(
        judged_by: String,
        is_without_config: bool,
        views: Vec<View>,
        read: &[(String, Result<Found, String>)],
    ) -> Self {
        let mut places: BTreeMap<&Reference, Vec<Place>> = BTreeMap::new();
        let mut recorded = BTreeSet::new();
        let mut unreadable = Vec::new();
        for (file, found) in read {
            match found {
                Ok(found) => {
                    recorded.extend(found.recorded.iter().cloned());
                    for (place, references) in &found.reads {
                        for reference in references {
                            let own = places.entry(reference).or_default();
                            let place = (file.clone(), place.clone());
                            if own.last() != Some(&place) {
                                own.push(place);
                            }
                        }
                    }
                    let expressions = found.unreadable.iter();
                    unreadable
                        .extend(expressions.map(|(place, why)| ((file.clone(), place.clone()), why.clone())));
                }
                Err(why) => unreadable.push(((file.clone(), String::new()), why.clone())),
            }
        }
        let judge = Judge::new(views, recorded, &places.keys().copied().collect());
        let mut judgements: BTreeMap<&Reference, Judgement> =
            places.keys().map(|reference| (*reference, judge.judge(reference))).collect();
        // Labels are told only where they are what is wrong.
        let is_told = |reference: &Reference, judgement: &Judgement| {
            !matches!(reference, Reference::Labelled(_)) || judgement.verdict.is_failure()
        };
        judgements.retain(|reference, judgement| is_told(reference, judgement));
        places.retain(|reference, _| judgements.contains_key(reference));
        let mut needs: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (reference, _) in judgements.iter().filter(|(_, own)| own.verdict == Verdict::Present) {
            for (namespace, objects) in judge.needs(reference) {
                needs.entry(namespace).or_default().extend(objects);
            }
        }
        let files = read.iter().filter_map(|(file, found)| {
            found.as_ref().ok().map(|found| FileReport::new(file, found, &judgements))
        });
        let files = files.collect();
        let metrics = places.iter().map(|(reference, places)| MetricReport {
            name: shown(reference),
            judgement: judgements[reference].clone(),
            read_by: places.clone(),
        });
        let mut metrics: Vec<MetricReport> = metrics.collect();
        metrics.sort_by(|one, other| one.name.cmp(&other.name));
        Self { judged_by, files, metrics, unreadable, needs, is_without_config }
    }

    /// Those with a verdict.
    pub(super) fn with(&self, verdict: Verdict) -> impl Iterator<Item = &MetricReport> {
        self.metrics.iter().filter(move |metric| metric.judgement.verdict == verdict)
    }

    /// Whether a file cannot be read.
    pub(super) fn lacks_file(&self) -> bool {
        self.unreadable.iter().any(|((_, place), _)| place.is_empty())
    }

    /// Whether every metric is there that should be.
    pub(super) fn is_ok(&self) -> bool {
        self.unreadable.is_empty() && !self.metrics.iter().any(|metric| metric.judgement.verdict.is_failure())
    }
}

impl FileReport {
    fn new(file: &str, found: &Found, judgements: &BTreeMap<&Reference, Judgement>) -> Self {
        let read: BTreeSet<&Reference> = found.reads.iter().flat_map(|(_, references)| references).collect();
        let lacking: BTreeSet<&str> = read
            .iter()
            .filter_map(|reference| match reference {
                Reference::Labelled(labelled) if judgements.contains_key(reference) => {
                    Some(&*labelled.metric)
                }
                _ => None,
            })
            .collect();
        let metrics = read.iter().filter(|reference| !matches!(reference, Reference::Labelled(_)));
        let verdicts: Vec<Verdict> = metrics
            .map(|reference| match judgements[reference].verdict {
                Verdict::Present if matches!(reference, Reference::Name(name) if lacking.contains(&**name)) => {
                    Verdict::Obtainable
                }
                verdict => verdict,
            })
            .collect();
        let count = |is: fn(&Verdict) -> bool| verdicts.iter().filter(|verdict| is(verdict)).count();
        Self {
            file: file.to_owned(),
            metrics: count(|verdict| *verdict != Verdict::NotOurs),
            there: count(|verdict| matches!(verdict, Verdict::Present | Verdict::Recorded)),
            unreadable: found.unreadable.len(),
        }
    }
}

fn shown(reference: &Reference) -> String {
    match reference {
        Reference::Name(name) => name.clone(),
        Reference::Matching(regex) => format!("{{__name__=~\"{regex}\"}}"),
        Reference::Variable(name) => name.clone(),
        Reference::Labelled(labelled) => format!("{}{{{labelled}}}", labelled.metric),
    }
}
