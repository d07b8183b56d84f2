//! The segments of a run: where their files are, and how they end.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use pla_engine::{Moment, NameParts};
use safe_text::component;
use tokio::time::Instant;

use super::super::active_collector::ActiveCollector;
use super::super::folder::SegmentState;
use super::super::open_log::ClosedLog;
use super::super::report::SegmentInfo;
use super::super::work::{self, Event};
use super::{Closing, FINISH, Run, Segment};
use crate::actions::RunEnded;

impl Run {
    /// A segment begins. `needs_check` says whether the limits have to hold, [MS-PLA] 3.2.4.2 `CheckBeforeRunning`.
    pub(super) fn begin(&mut self, serial_number: u32, needs_check: bool, moment: Moment) {
        let time = moment.wall.to_zoned_datetime(self.logs.zone.clone());
        let base = &*self.logs.folder.base;
        let parts = NameParts { computer: &self.log_factory.machine, base, serial_number, time: &time };
        // A set without folders for its runs has them here all the same: else nothing of it would ever be removed.
        let folder =
            self.logs.folder.format.component(&parts).unwrap_or_else(|| format!("{serial_number:06}"));
        // Another run, which nothing is known of, may have had this number.
        let mark = moment.wall.strftime("%Y%m%dT%H%M%SZ");
        let folder = if self.is_blind { component(&format!("{folder} {mark}")) } else { folder };
        let checked = self.folder.clone().filter(|_| needs_check);
        let is_ready = checked.is_none();
        self.upkeep.begin(serial_number, &folder);
        self.segment = Some(Segment { serial_number, folder, began: moment, files: Vec::new(), is_ready });
        for active in &mut self.collectors {
            active.recorder.begin_segment();
        }
        if let Some(folder) = checked {
            self.at_work += 1;
            work::check(folder, &self.logs.manager, serial_number, self.events.0.clone());
        }
    }

    /// Closes the logs of the segment. The task of the set follows, [MS-PLA] 3.2.4.1 `Task`; `is_running` says whether the
    /// set goes on with another segment.
    pub(super) fn close_segment(&mut self, is_running: bool) {
        let Some(segment) = self.segment.take() else { return };
        let path = self.folder.as_ref().map(|folder| folder.path_of(&segment.folder)).unwrap_or_default();
        let set = &self.name;
        let ended = |task| RunEnded { set: Arc::clone(set), task, is_running, logs: String::new() };
        let ended = self.logs.task.clone().map(ended);
        self.close(segment.serial_number, FINISH, (true, ended.map(|ended| (path, ended))));
        if let Some(closing) = self.closing.get_mut(&segment.serial_number) {
            closing.segment = Some(segment);
        }
    }

    /// Closes all logs that are open, beside the collections. The segment may go on in others; if it does not, a task may follow,
    /// which gets the files in this folder.
    pub(super) fn close(
        &mut self,
        serial_number: u32,
        time: Duration,
        (is_last, ended): (bool, Option<(PathBuf, RunEnded)>),
    ) {
        let deadline = Instant::now() + time;
        let logs: Vec<_> = self.collectors.iter_mut().filter_map(ActiveCollector::take_log).collect();
        let before = self.closing.remove(&serial_number);
        // The data manager has a report to write first.
        let is_managed = self.logs.manager.is_enabled.unwrap_or_default();
        let (upkeep, events) = (Arc::clone(&self.upkeep), self.events.0.clone());
        self.at_work += usize::from(ended.is_some());
        let logs = tokio::spawn(async move {
            let mut closed = match before {
                Some(before) => before.logs.await.unwrap_or_default(),
                None => Vec::new(),
            };
            for log in logs {
                closed.push(log.close(deadline).await);
            }
            if is_last && !is_managed {
                upkeep.end(serial_number);
            }
            if let Some((folder, ended)) = ended {
                // If nobody listens any more, the set is gone.
                let _ = events.send(Event::Closed(RunEnded { logs: paths(&folder, &closed), ..ended }));
            }
            closed
        });
        // Those of a set without a data manager are not waited for.
        self.closing.retain(|_, closing| !closing.logs.is_finished());
        self.closing.insert(serial_number, Closing { segment: None, logs });
    }

    pub(super) fn compile(&mut self, serial_number: u32, moment: Moment) {
        let closing = self.closing.remove(&serial_number);
        let (segment, logs) = closing.map(|closing| (closing.segment, closing.logs)).unzip();
        let job = self.job(serial_number, segment.flatten(), moment);
        self.at_work += 1;
        work::compile(job, logs, self.events.0.clone());
    }

    /// What there is to do for a segment that has ended; without it, for one of an earlier process.
    pub(super) fn job(&mut self, serial_number: u32, segment: Option<Segment>, moment: Moment) -> work::Job {
        let about = |began| SegmentInfo {
            set: self.name.to_string(),
            machine: self.log_factory.machine.clone(),
            began,
            ended: moment.wall,
            zone: self.logs.zone.clone(),
            serial_number,
            remarks: self.logs.remarks.clone(),
        };
        let is_it = |cut_off: &mut SegmentState| cut_off.serial_number == serial_number;
        let cut_off = self.cut_off.take_if(is_it).map(|it| (it.folder, about(it.began)));
        work::Job {
            target: self.log_factory.machine.clone(),
            set: Arc::clone(&self.name),
            serial_number,
            folder: self.folder.clone(),
            cabinets: self.log_factory.cabinets(&self.name),
            manager: self.logs.manager.clone(),
            ended: segment.map(|segment| (segment.folder, about(segment.began.wall))),
            cut_off,
            now: moment.wall,
            upkeep: Arc::clone(&self.upkeep),
        }
    }
}

/// The full paths of the files of logs, as they are named on the disk.
fn paths(folder: &Path, closed: &[ClosedLog]) -> String {
    let files = closed.iter().filter_map(|log| log.file.as_ref());
    files.map(|file| folder.join(file).display().to_string()).collect::<Vec<_>>().join(" ")
}
