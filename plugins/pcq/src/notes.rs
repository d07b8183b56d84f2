//! The plugin's own families: `perfmon_pcq_…`.
//!
//! A series appears when there is something to report, and stays from then on.

use counter_poll::{LeftOut, Provider};
use plugin_sdk::{Display, DisplayRule, Family, FamilyId, Kind, Output, Series, SeriesId, ValueKind};

/// The plugin's own families of one instance.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    left_out: Option<FamilyId>,
    unknown_types: Option<FamilyId>,
    provider: Option<FamilyId>,
    series: Vec<Note>,
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
}

impl Notes {
    /// The families that were registered.
    pub(crate) fn families(&self) -> impl Iterator<Item = FamilyId> {
        [self.left_out, self.unknown_types, self.provider].into_iter().flatten()
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

    fn set(&mut self, counterset: &str, subject: Subject, value: u64, output: &mut Output) {
        let is_it = |note: &Note| note.subject == subject && note.counterset == counterset;
        if let Some(note) = self.series.iter().find(|note| is_it(note)) {
            if let Some(series) = note.series {
                output.push_u64(series, value);
            }
        } else if value > 0 {
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
        };
        if place.is_none() {
            *place = output.register_families(&[definition]).into_iter().next().flatten();
        }
        let family = (*place)?;
        let mut labels = vec![("counterset", counterset)];
        match subject {
            Subject::LeftOut(reason) => labels.push(("reason", reason)),
            Subject::Provider(provider) => labels.push(("provider", provider)),
            Subject::UnknownTypes => {}
        }
        let offered = [Series { family, labels: &labels, start: None }];
        output.register_series(&offered).into_iter().next().flatten()
    }
}

/// The namespace of the plugin's own metrics.
pub(crate) const NAMESPACE: &str = "pcq";

const LEFT_OUT: Family<'_> = Family {
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
    display: Display::by(DisplayRule::Value),
};

const UNKNOWN_TYPES: Family<'_> = Family {
    item: "Of Unknown Type",
    object: "Counters",
    help: "Counters of an unknown type. Their values are exported unchanged.",
    ..LEFT_OUT
};

const PROVIDER: Family<'_> = Family {
    item: "Provider",
    object: "Counterset",
    kind: Kind::Info,
    help: "1, with the kind of provider that gives the counterset: v2 is read by MS-PCQ, v1 (classic) from the \
           performance data of the host's registry.",
    ..LEFT_OUT
};
