//! Problems with settings, log records and events.
#![expect(unsafe_code, reason = "reads what plugins hand over")]
// UNSAFETY: as in the module above.

use std::panic::{AssertUnwindSafe, catch_unwind};

use plugin_abi::raw::{self, FULL, OK, STALE, read_struct};
use plugin_abi::{Alert, AlertState, Level};

use super::{admitted, for_instance, guarded, refuse, unknown};
use crate::configure::REPORTS;
use crate::instance::{Admission, INSTANCES};
use crate::library;
use crate::read;
use crate::violation::Violation;

pub(super) unsafe extern "C" fn problem(report: u64, problem: *const raw::Problem) -> i32 {
    guarded(report, || {
        let Some(it) = REPORTS.find(report) else { return unknown(report) };
        let limits = it.library.limits();
        // SAFETY: the plugin's struct, valid until the call returns.
        let problem = unsafe { read_struct(problem) }
            .map_err(Violation::from)
            // SAFETY: its strings, valid until the call returns.
            .and_then(|raw| unsafe { read::problem(&raw, limits) });
        match problem {
            Ok(problem) if !it.is_full() => {
                it.add(problem);
                OK
            }
            Ok(_) => {
                it.library.violations.count(Violation::OverLimit);
                FULL
            }
            Err(violation) => refuse(&it.library, violation),
        }
    })
}

pub(super) unsafe extern "C" fn log_enabled(owner: u64, level: u32) -> u8 {
    let enabled = catch_unwind(AssertUnwindSafe(|| {
        let level = Level::from_code(level);
        match INSTANCES.find(owner) {
            Some(it) => it.sinks.notices.log_enabled(level),
            None => library::of_token(owner).is_some_and(|library| library.log_enabled(level)),
        }
    }));
    u8::from(enabled.unwrap_or(false))
}

pub(super) unsafe extern "C" fn log(owner: u64, record: *const raw::Log) -> i32 {
    guarded(owner, || {
        let instance = INSTANCES.find(owner);
        let Some(library) = library::of_token(owner) else { return STALE };
        // SAFETY: the plugin's struct, valid until the call returns.
        let raw = match unsafe { read_struct(record) } {
            Ok(raw) => raw,
            Err(malformed) => return refuse(&library, malformed.into()),
        };
        // SAFETY: its strings and fields, valid until the call returns.
        let (message, fields) =
            match unsafe { read::text_and_fields(raw.message, raw.fields, library.limits()) } {
                Ok(read) => read,
                Err(violation) => return refuse(&library, violation),
            };
        let level = Level::from_code(raw.level);
        let bytes = message.len() + fields.iter().map(|(key, value)| key.len() + value.len()).sum::<usize>();
        match instance {
            Some(it) if !it.may_log(bytes) => FULL,
            Some(it) => {
                it.sinks.notices.log(level, message, &fields);
                OK
            }
            // The library itself, a run, or an ended instance: logged under the library's name.
            _ => {
                // What is about one of many targets has a share of what all of them have.
                let host = HOST_FIELDS.iter().find_map(|name| fields.iter().find(|(own, _)| own == name));
                let say = |message: &str, fields: &[(&str, &str)]| library.log(Level::Warn, message, fields);
                if !library.may_log(&library.log_budget, bytes, host.map(|(_, host)| *host), say) {
                    return FULL;
                }
                library.log(level, message, &fields);
                OK
            }
        }
    })
}

pub(super) unsafe extern "C" fn event(instance: u64, event: *const raw::Event) -> i32 {
    for_instance(instance, |it| {
        // SAFETY: the plugin's struct, valid until the call returns.
        let raw = unsafe { read_struct(event) }?;
        let limits = it.library.limits();
        // SAFETY: its strings and fields, valid until the call returns.
        let (body, fields) = unsafe { read::text_and_fields(raw.body, raw.fields, limits) }?;
        // SAFETY: as above.
        let (alert, labels) = unsafe { read::alert(raw.alert, limits) }?.unzip();
        let labels = labels.unwrap_or_default();
        let alert = alert.map(|alert| Alert { labels: &labels, ..alert });
        // SAFETY: as above.
        let event = unsafe { read::event(&raw, body, &fields, alert, limits) }?;
        let admission = it.admits(instance);
        if admission != Admission::Open {
            return Ok(admitted(admission, false));
        }
        // That an alert is over is heard whatever else was logged: nobody says it again.
        let is_closed =
            |alert: &Alert<'_>| alert.state == AlertState::Closed && it.sinks.notices.is_open(alert.id);
        let is_end = event.alert.as_ref().is_some_and(is_closed);
        if !is_end && !it.may_log(body.len()) {
            return Ok(FULL);
        }
        Ok(it.sinks.notices.event(&event).map_or(FULL, |()| OK))
    })
}

/// Fields of records that are about a target, though of no instance.
const HOST_FIELDS: [&str; 2] = ["target", "host"];
