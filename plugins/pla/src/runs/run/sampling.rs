//! The samples of a run.

use std::time::Duration;

use counter_poll::Pace;
use counter_poll::paths::Frame;
use pla_engine::{Moment, Written};

use super::super::active_collector::ActiveCollector;
use super::{Run, Segment};
use crate::counters::{Found, Kinds};
use crate::logs::HeaderContext;
use crate::model::COLUMNS_MAX;

impl Run {
    /// Whether its collectors are at work.
    fn segment_in_work(&self) -> Option<&Segment> {
        self.segment.as_ref().filter(|segment| segment.is_ready)
    }

    /// Which replies are needed for what is due.
    pub(in crate::runs) fn due(&self, found: &Found, now: Duration) -> Kinds {
        if self.segment_in_work().is_none() {
            return Kinds::default();
        }
        let due = self.collectors.iter().filter(|one| one.recorder.is_due(now));
        due.fold(Kinds::default(), |all, one| all.or(one.recorder.needs(found)))
    }

    /// Takes the samples that are due.
    pub(in crate::runs) async fn sample(
        &mut self,
        (found, frame, replied): (&Found, &Frame, Kinds),
        now: Duration,
        moment: Moment,
        pace: &mut Pace,
    ) {
        for index in 0..self.collectors.len() {
            // A segment may end with any sample.
            let Some(segment) = self.segment.as_mut().filter(|segment| segment.is_ready) else { return };
            let active = &mut self.collectors[index];
            if !active.recorder.is_due(now) {
                continue;
            }
            let opening = HeaderContext {
                machine: &self.log_factory.machine,
                zone: &self.logs.zone,
                description: &self.logs.description,
            };
            let had_all = active.recorder.without_column == 0;
            if let Some(header) = active.recorder.begin(found, frame, replied, now, &opening, pace).await {
                let left_out = active.recorder.without_column;
                if had_all && left_out > 0 {
                    tracing::warn!(
                        set = &*self.name,
                        log = active.name(),
                        columns_max = COLUMNS_MAX,
                        left_out,
                        next_step = "name fewer counters or instances, or make several logs of it",
                        "A log has no room for all of its counters"
                    );
                }
                let parts = (
                    segment.serial_number,
                    &*segment.folder,
                    segment.began.wall,
                    self.logs.segment.bytes_max,
                );
                let log = self.log_factory.open(
                    self.state.as_ref(),
                    (&self.logs.zone, &active.recorder.collector),
                    parts,
                    &mut segment.files,
                    header,
                );
                let Some(log) = log else { continue };
                active.begin(log);
            }
            let ActiveCollector { recorder, log: Some(log), .. } = active else { continue };
            let sampled = recorder.sample(found, frame, replied, (now, moment.wall), pace).await;
            let Some((time, samples)) = sampled else { continue };
            log.push(time, samples);
            // [MS-PLA] 2.2.2.11: a circular file that is full goes on with its oldest records.
            let bytes = if recorder.collector.is_circular() { 0 } else { log.bytes() };
            let written = Written { serial_number: segment.serial_number, records: log.records, bytes };
            if let Some(state_machine) = &mut self.state_machine {
                state_machine.handle_written(index, written, moment);
            }
            self.act(moment);
        }
    }
}
