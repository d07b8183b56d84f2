//! The end of collections and instances, and requests of instances.
#![expect(unsafe_code, reason = "reads what plugins hand over")]
// UNSAFETY: as in the module above.

use plugin_abi::raw::{self, FAILED, Label, OK, STALE, read_struct};

use super::{admitted, for_instance, guarded, unknown};
use crate::instance::{Admission, INSTANCES};
use crate::read;
use crate::violation::Violation;

pub(super) unsafe extern "C" fn complete(
    instance: u64,
    collection: u64,
    completion: *const raw::Completion,
) -> i32 {
    let status = for_instance(instance, |it| {
        // SAFETY: the plugin's struct, valid until the call returns.
        let raw = unsafe { read_struct(completion) }?;
        let source = it.source_info();
        // SAFETY: its arrays and its message, valid until the call returns.
        let completion = unsafe { read::completion(&raw, source, it.library.limits(), it.family_count()) }?;
        let taken = it.complete(instance, collection, completion.borrow());
        Ok(if taken { OK } else { STALE })
    });
    if status == FAILED {
        // The plugin has said it, and will not say it again.
        guarded(instance, || {
            INSTANCES.find(instance).into_iter().for_each(|it| it.end_panicked(collection));
            FAILED
        });
    }
    status
}

pub(super) unsafe extern "C" fn destroyed(instance: u64) -> i32 {
    guarded(instance, || {
        let Some(it) = INSTANCES.remove(instance) else { return unknown(instance) };
        it.ended(instance);
        it.library.forget(instance);
        OK
    })
}

pub(super) unsafe extern "C" fn fact(instance: u64, fact: *const Label) -> i32 {
    for_instance(instance, |it| {
        // SAFETY: null becomes nothing; else the plugin's pair, valid until the call returns.
        let raw = unsafe { fact.as_ref() }.ok_or(Violation::NullPointer)?;
        // SAFETY: its strings, valid until the call returns.
        let (name, value) = unsafe { read::fact(raw, it.library.limits()) }?;
        let admission = it.admits(instance);
        if admission == Admission::Open {
            it.sinks.notices.fact(name, value);
        }
        Ok(admitted(admission, false))
    })
}

pub(super) unsafe extern "C" fn min_interval(instance: u64, interval_ms: u64) -> i32 {
    for_instance(instance, |it| {
        if interval_ms > it.library.limits().min_interval_ms_max {
            return Err(Violation::OverLimit);
        }
        let admission = it.admits(instance);
        if admission == Admission::Open {
            it.set_min_interval(interval_ms);
        }
        Ok(admitted(admission, false))
    })
}
