//! The plugin's own families: `perfmon_pcq_…`.
//!
//! A series appears when there is something to report, and stays from then on.

use counter_poll::{LeftOut, Missing, Provider};
use plugin_sdk::{Display, DisplayRule, FamilyDef, FamilyId, Kind, Output, SeriesDef, SeriesId, ValueKind};

use super::missing::Unlisted;

/// The plugin's own families of one instance.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    left_out: Option<FamilyId>,
    unknown_types: Option<FamilyId>,
    provider: Option<FamilyId>,
    absent_family: Option<FamilyId>,
    series: Vec<Note>,
    /// Of earlier settings; they have to be ended.
    outdated: Vec<SeriesId>,
    /// What is optional and was not there in the last collection.
    absent: Vec<String>,
    /// Of each choice what was taken.
    choices: Vec<(String, String)>,
}

#[derive(Debug)]
struct Note {
    counterset: String,
    subject: Subject,
    series: Option<SeriesId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Subject {
    LeftOut(&'static str),
    UnknownTypes,
    Provider(&'static str),
    /// By which of the wanted ones.
    Absent(usize),
}

impl Notes {
    /// The families that were registered.
    pub(crate) fn families(&self) -> impl Iterator<Item = FamilyId> {
        [self.left_out, self.unknown_types, self.provider, self.absent_family].into_iter().flatten()
    }

    /// The settings have changed: what was reported may not be wanted any more.
    pub(crate) fn forget(&mut self) {
        self.outdated.extend(self.series.drain(..).filter_map(|note| note.series));
    }

    /// Ends what was reported of earlier settings.
    pub(crate) fn end_outdated(&mut self, output: &mut Output) {
        output.retire(&std::mem::take(&mut self.outdated));
    }

    /// Reports how many selected instances of a counterset are not shown, and how many of its counters have an
    /// undocumented type.
    pub(crate) fn report(
        &mut self,
        counterset: &str,
        left_out: LeftOut,
        unknown_types: u64,
        output: &mut Output,
    ) {
        let LeftOut { duplicate, top_n, limit } = left_out;
        self.set(counterset, Subject::LeftOut("duplicate"), duplicate, output);
        self.set(counterset, Subject::LeftOut("top_n"), top_n, output);
        self.set(counterset, Subject::LeftOut("limit"), limit, output);
        self.set(counterset, Subject::UnknownTypes, unknown_types, output);
    }

    /// Reports which kind of provider gives a counterset.
    pub(crate) fn report_provider(&mut self, counterset: &str, provider: Provider, output: &mut Output) {
        let now = match provider {
            Provider::V1(_) => "v1",
            Provider::V2(_) => "v2",
        };
        let is_other = |note: &Note| {
            matches!(note.subject, Subject::Provider(before) if before != now)
                && note.counterset == counterset
        };
        if let Some(place) = self.series.iter().position(is_other) {
            output.retire(self.series.swap_remove(place).series.as_slice());
        }
        self.set(counterset, Subject::Provider(now), 1, output);
    }

    /// Reports what is optional and not there; the log says it once. Of what is `missing` for another reason nobody knows whether
    /// it is there.
    pub(crate) fn report_absent(
        &mut self,
        absent: &[Missing<Unlisted>],
        missing: &[Missing<Unlisted>],
        output: &mut Output,
    ) {
        let mut names = std::mem::take(&mut self.absent);
        if !absent.iter().map(|missing| &missing.name).eq(&names) {
            for missing in absent.iter().filter(|missing| !names.contains(&missing.name)) {
                let counterset = missing.name.as_str();
                tracing::info!(counterset, reason = %missing, "Host lacks an optional counterset");
            }
            names = absent.iter().map(|missing| missing.name.clone()).collect();
        }
        for one in absent {
            self.set(&one.name, Subject::Absent(one.wanted), 1, output);
        }
        let is_there = |note: &&Note| {
            matches!(note.subject, Subject::Absent(wanted)
                if !names.contains(&note.counterset) && missing.iter().all(|one| one.wanted != wanted))
        };
        for series in self.series.iter().filter(is_there).filter_map(|note| note.series) {
            output.push_u64(series, 0);
        }
        self.absent = names;
    }

    /// Says once, and again where it changes, which of several countersets is taken.
    pub(crate) fn report_choices<'a>(&mut self, choices: impl Iterator<Item = (&'a str, &'a str)>) {
        for (first_of, taken) in choices {
            match self.choices.iter_mut().find(|(known, _)| known == first_of) {
                Some((_, before)) if before == taken => continue,
                Some((_, before)) => taken.clone_into(before),
                None => self.choices.push((first_of.to_owned(), taken.to_owned())),
            }
            tracing::info!(first_of, taken, "First counterset that the host has");
        }
    }

    fn set(&mut self, counterset: &str, subject: Subject, value: u64, output: &mut Output) {
        let is_it = |note: &Note| note.subject == subject && note.counterset == counterset;
        if let Some(note) = self.series.iter().find(|note| is_it(note)) {
            if let Some(series) = note.series {
                output.push_u64(series, value);
            }
        } else if value > 0 {
            warn_of(counterset, subject, value);
            let series = self.begin(counterset, subject, output);
            if let Some(series) = series {
                output.push_u64(series, value);
            }
            self.series.push(Note { counterset: counterset.to_owned(), subject, series });
        }
    }

    fn begin(&mut self, counterset: &str, subject: Subject, output: &mut Output) -> Option<SeriesId> {
        let (place, definition) = match subject {
            Subject::LeftOut(_) => (&mut self.left_out, LEFT_OUT),
            Subject::UnknownTypes => (&mut self.unknown_types, UNKNOWN_TYPES),
            Subject::Provider(_) => (&mut self.provider, PROVIDER),
            Subject::Absent(_) => (&mut self.absent_family, ABSENT),
        };
        if place.is_none() {
            *place = output.register_families(&[definition]).into_iter().next().flatten();
        }
        let family = (*place)?;
        let mut labels = vec![("counterset", counterset)];
        match subject {
            Subject::LeftOut(reason) => labels.push(("reason", reason)),
            Subject::Provider(provider) => labels.push(("provider", provider)),
            Subject::UnknownTypes | Subject::Absent(_) => {}
        }
        let offered = [SeriesDef { family, labels: &labels, start: None }];
        output.register_series(&offered).into_iter().next().flatten()
    }
}

/// Says what nobody asked to be left out.
fn warn_of(counterset: &str, subject: Subject, instances: u64) {
    let next_step = match subject {
        Subject::LeftOut("duplicate") => {
            "set `instance_id: true` for this counterset, or exclude these instances"
        }
        Subject::LeftOut("limit") => "select fewer instances of this counterset",
        _ => return,
    };
    let reason = match subject {
        Subject::LeftOut("duplicate") => "other instances have the same names",
        _ => "there are too many",
    };
    tracing::warn!(counterset, instances, reason, next_step, "Instances are left out");
}

/// The namespace of the plugin's own metrics.
pub(crate) const NAMESPACE: &str = "pcq";

const LEFT_OUT: FamilyDef<'_> = FamilyDef {
    namespace: NAMESPACE,
    object: "Instances",
    item: "Left Out",
    part: "",
    kind: Kind::Gauge,
    unit: "",
    help: "Selected instances that are not in the last collection: another instance has the same name (set \
           instance_id), others have larger values (top_n), or there are too many.",
    origin: "",
    value: ValueKind::U64,
    bounds: &[],
    display: Display::by(DisplayRule::Value),
};

const UNKNOWN_TYPES: FamilyDef<'_> = FamilyDef {
    item: "Of Unknown Type",
    object: "Counters",
    help: "Counters of an unknown type. Their values are exported unchanged.",
    ..LEFT_OUT
};

const PROVIDER: FamilyDef<'_> = FamilyDef {
    item: "Provider",
    object: "Counterset",
    kind: Kind::Info,
    help: "1, with the kind of provider that gives the counterset: v2 is read by MS-PCQ, v1 (classic) from the \
           performance data of the host's registry.",
    ..LEFT_OUT
};

const ABSENT: FamilyDef<'_> = FamilyDef {
    object: "Optional Counterset",
    item: "Missing",
    help: "1 if the host does not have an optional counterset, or none whose name matches an optional pattern. No \
           value while that is not known.",
    ..LEFT_OUT
};
