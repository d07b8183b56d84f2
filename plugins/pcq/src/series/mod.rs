//! Families, series and values of polled countersets for the exporter.

mod display;
mod families;
mod help;
#[cfg(test)]
mod tests;

use counter_poll::{Counterset, FamilyGroup, NewSeries, PolledFamily, SeriesIds, SeriesSink};
use counter_types::Value;
use plugin_sdk::{FamilyId, Output, SeriesDef, SeriesId, Stamp, Start};

use crate::missing::Unlisted;

pub(crate) use self::families::{kind_of, unknown_types};

#[derive(Debug)]
pub(crate) struct ExporterIds;

impl SeriesIds for ExporterIds {
    type Family = FamilyId;
    type Series = SeriesId;
    type Unlisted = Unlisted;
}

impl SeriesSink<ExporterIds> for Output {
    fn register_families(
        &mut self,
        counterset: &Counterset,
        group: FamilyGroup,
        families: &[PolledFamily],
    ) -> Vec<Option<FamilyId>> {
        families::register(counterset, group, families, self)
    }

    fn register_series(&mut self, series: &[NewSeries<'_, ExporterIds>]) -> Vec<Option<SeriesId>> {
        let offered = series.iter().map(|NewSeries { family, labels, start }| SeriesDef {
            family: *family,
            labels,
            start: start.map(|start| Start { unix_nanos: start.unix_nanos, is_inferred: start.is_inferred }),
        });
        Self::register_series(self, &offered.collect::<Vec<_>>())
    }

    fn push(&mut self, series: SeriesId, value: Value, start_unix_nanos: i64) {
        let stamp = Stamp { time_unix_nanos: 0, start_unix_nanos };
        match value {
            Value::U64(value) => self.push_u64_at(series, value, stamp),
            Value::F64(value) => self.push_f64_at(series, value, stamp),
        }
    }

    fn retire(&mut self, series: &[SeriesId]) {
        Self::retire(self, series);
    }
}
