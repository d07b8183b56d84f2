//! Counters whose value is a text: series whose label it is.

use counter_types::{Kind, Value};

use super::CountersetPoller;
use crate::reading::InstanceReading;
use crate::sink::{NewSeries, SeriesIds, SeriesSink};
use crate::text::{self, TextBytes};

impl<I: SeriesIds> CountersetPoller<I> {
    /// A text is a label, so a new text is a new series.
    pub(super) fn emit_texts<S: SeriesSink<I>>(
        &mut self,
        index: usize,
        seen: &InstanceReading<'_>,
        output: &mut S,
    ) {
        let Some(instance) = self.instances.get_mut(index) else { return };
        let is_total = instance.visibility == super::Visibility::Total;
        for (column, cell) in self.columns.iter().zip(&mut instance.cells) {
            let family = if is_total { column.total } else { column.id };
            let (Some(family), Some(source)) = (family, column.source) else { continue };
            if column.family.exposition.kind != Kind::Info {
                continue;
            }
            let Some(value) = seen.values.clone().nth(source) else { continue };
            let bytes = TextBytes::of(&value);
            if cell.text.as_deref() != Some(bytes.as_slice()) {
                output.retire(cell.series.as_slice());
                let (name, number) = (seen.name.to_string(), seen.id.0.to_string());
                let owner = seen.owner.0.to_string();
                let told = text::decode(bytes.as_slice());
                let mut labels = self.labelling.labels(&name, &number, &owner);
                labels.push((TEXT_LABEL, &told));
                let offered = [NewSeries { family, labels: &labels, start: None }];
                cell.series = output.register_series(&offered).into_iter().next().flatten();
                cell.text = Some(bytes.as_slice().into());
            }
            if let Some(series) = cell.series {
                output.push(series, Value::U64(1), 0);
            }
        }
    }
}

const TEXT_LABEL: &str = "text";
