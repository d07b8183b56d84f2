//! What is reported when an alert begins and ends to fire: as Windows' event 2031, but once and not with each sample.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;
use std::time::Duration;

use pla_engine::{AlertState as State, Comparison, Judgement, Rule};
use plugin_sdk::{Alert, AlertState, Evaluation, Event, Handle, Level, NoRoom};

use crate::alert_table::{AlertRow, WatchedAlert};

/// Reports events, as far as there is room for them; what finds none is reported with a later collection.
#[derive(Debug)]
pub(crate) struct Reporter {
    handle: Handle,
    /// Whether an alert that opened in this collection found no room: then the others would find none.
    is_full: bool,
    /// Bytes of texts that this collection may still report; what is above waits for the next one.
    room: usize,
    /// Set and alert of each event that was reported, but for those that are repeated.
    reported: Vec<(Arc<str>, Arc<str>)>,
}

impl Reporter {
    pub(crate) const fn new(handle: Handle) -> Self {
        Self { handle, is_full: false, room: BYTES_MAX, reported: Vec::new() }
    }

    pub(crate) const fn begin(&mut self) {
        (self.room, self.is_full) = (BYTES_MAX, false);
    }

    /// Reports what changed with the instances of an alert.
    pub(crate) fn report(&mut self, alert: &mut WatchedAlert, now: Duration) {
        let mut rows = std::mem::take(&mut alert.rows);
        for (instance, row) in &mut rows {
            let fires = row.judgement.state == State::Firing && alert.logs_events;
            match (row.reported, fires) {
                (None, true) if !self.is_full && self.room > 0 => {
                    let sent = self.send(alert, instance, &row.judgement, AlertState::Opened);
                    self.is_full = sent.is_err();
                    row.reported = sent.is_ok().then_some(now);
                }
                // What begins comes first.
                (Some(at), true) if now.saturating_sub(at) >= REPEATED_AFTER && self.room > ROOM_KEPT => {
                    let sent = self.send(alert, instance, &row.judgement, AlertState::Open);
                    row.reported = Some(if sent.is_ok() { now } else { at });
                }
                (Some(_), false) => self.close(alert, instance, row),
                _ => {}
            }
        }
        alert.rows = rows;
    }

    /// An instance that is not known any more fires no more.
    pub(crate) fn close(&mut self, alert: &WatchedAlert, instance: &Arc<str>, row: &mut AlertRow) {
        if row.reported.take().is_some() {
            // The end of an alert that is open always finds room.
            let _ = self.send(alert, instance, &row.judgement, AlertState::Closed);
        }
    }

    /// Set and alert of each event that was reported since the last call. Those that only say that an alert still fires are
    /// not among them.
    pub(crate) fn take_reported(&mut self) -> Vec<(Arc<str>, Arc<str>)> {
        std::mem::take(&mut self.reported)
    }

    /// Nobody knows whether an alert still fires.
    pub(crate) fn close_all(&mut self, alert: &mut WatchedAlert) {
        let mut rows = std::mem::take(&mut alert.rows);
        rows.iter_mut().for_each(|(instance, row)| self.close(alert, instance, row));
        alert.rows = rows;
    }

    fn send(
        &mut self,
        alert: &WatchedAlert,
        instance: &str,
        judgement: &Judgement,
        state: AlertState,
    ) -> Result<(), NoRoom> {
        let Rule { threshold, interval, hold } = alert.rule();
        let body = body(alert, instance, judgement, state);
        self.room = self.room.saturating_sub(body.len());
        let labels = [
            ("set", &*alert.set),
            ("alert", &*alert.name),
            ("counter", &*alert.counter),
            ("counter_instance", instance),
        ];
        let comparison = match threshold.comparison {
            Comparison::Above => plugin_sdk::Comparison::Above,
            Comparison::Below => plugin_sdk::Comparison::Below,
        };
        let evaluation = Some(Evaluation { value: judgement.value, comparison, threshold: threshold.limit });
        // One that is sampled once has none.
        let interval = if *interval == Duration::MAX { Duration::ZERO } else { *interval };
        let hold = *hold;
        let alert_id = id(alert, instance);
        self.handle.report(&Event {
            name: "pla.alert",
            level: if state == AlertState::Closed { Level::Info } else { Level::Warn },
            time_unix_nanos: None,
            body: &body,
            fields: &[],
            alert: Some(Alert { evaluation, interval, hold, ..Alert::new(&alert_id, state, &labels) }),
        })?;
        if state != AlertState::Open {
            self.reported.push((Arc::clone(&alert.set), Arc::clone(&alert.name)));
        }
        Ok(())
    }
}

fn body(alert: &WatchedAlert, instance: &str, judgement: &Judgement, state: AlertState) -> String {
    let WatchedAlert { set, name, counter, .. } = alert;
    let threshold = &alert.rule().threshold;
    let of_instance = if instance.is_empty() { String::new() } else { format!(" of `{instance}`") };
    let side = match threshold.comparison {
        Comparison::Above => "above",
        Comparison::Below => "below",
    };
    let limit = threshold.limit;
    let says = match (state, judgement.state, judgement.value) {
        (AlertState::Opened, _, Some(value)) => format!("is {}, {side} {limit}", rounded(value)),
        (AlertState::Open, _, Some(value)) => format!("is {}, still {side} {limit}", rounded(value)),
        (AlertState::Closed, State::Ok, Some(value)) => {
            format!("is {}, no longer {side} {limit}", rounded(value))
        }
        (AlertState::Closed, State::Pending, _) => format!("is {side} {limit} again, and was not in between"),
        (AlertState::Closed, State::Firing, _) => "is not watched any more".to_owned(),
        _ => "has no data any more".to_owned(),
    };
    format!("Alert `{name}` of `{set}`: `{counter}`{of_instance} {says}")
}

/// A value as people read it.
fn rounded(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The name of the alert of an instance. Only the last part may have a slash without a backslash before it, so that no two
/// have the same; one that is too long ends in a digest.
fn id(alert: &WatchedAlert, instance: &str) -> String {
    let part = |text: &str| text.replace('\\', r"\\").replace('/', r"\/");
    let mut id = format!("{}/{}/{}/{}", part(&alert.set), part(&alert.name), part(instance), alert.counter);
    id.retain(|c| !c.is_control());
    if id.len() > ID_BYTES_MAX {
        let mut digest = DefaultHasher::new();
        id.hash(&mut digest);
        let mut end = ID_BYTES_MAX - DIGEST_BYTES;
        while !id.is_char_boundary(end) {
            end -= 1;
        }
        id.truncate(end);
        id += &format!("#{:016x}", digest.finish());
    }
    id
}

/// Half of what the exporter takes of one instance in a second.
const BYTES_MAX: usize = 32 << 10;
/// What alerts that go on leave to those that begin.
const ROOM_KEPT: usize = BYTES_MAX / 2;
/// For receivers that missed that an alert fires.
const REPEATED_AFTER: Duration = Duration::from_secs(300);
/// As many as the exporter takes.
const ID_BYTES_MAX: usize = 512;
/// `#` and 16 digits.
const DIGEST_BYTES: usize = 17;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alert_table::Place;
    use crate::model::{Alert, SampleInterval};

    fn alert(set: &str, name: &str) -> WatchedAlert {
        let alert = Alert {
            name: name.to_owned(),
            threshold: r"\Memory\Pages/sec>100".parse().unwrap(),
            interval: SampleInterval::DEFAULT,
            hold: Duration::ZERO,
            logs_events: true,
            task: None,
            start_set: None,
            is_optional: false,
        };
        WatchedAlert::new(set, &alert, Place::OtherHost)
    }

    #[test]
    fn no_two_alerts_have_one_name() {
        assert_eq!(id(&alert("Nightly", "High"), "C:"), r"Nightly/High/C:/\Memory\Pages/sec");
        let names =
            [("a/b", "c", ""), ("a", "b/c", ""), ("a", "b", "c"), ("a\\", "b", "c"), ("a", "\\/b", "c")];
        let ids: std::collections::HashSet<String> =
            names.iter().map(|(set, name, instance)| id(&alert(set, name), instance)).collect();
        assert_eq!(ids.len(), names.len(), "{ids:?}");
    }

    #[test]
    fn a_name_that_is_too_long_is_cut_and_stays_its_own() {
        let long = |end: &str| id(&alert(&"ä".repeat(250), &format!("{}{end}", "ö".repeat(200))), "x");
        assert!(long("1").len() <= ID_BYTES_MAX);
        assert_ne!(long("1"), long("2"));
        assert_eq!(long("1"), long("1"));
    }

    #[test]
    fn a_value_is_rounded_for_people_only() {
        assert_eq!([97.333_33, 100.0, 0.5, -2.0].map(rounded), ["97.333", "100", "0.5", "-2"]);
    }
}
