//! The functions that the host calls, each behind the panic guard.
#![expect(unsafe_code, reason = "reads what the host hands over")]
// UNSAFETY: every exported function follows pointers of the host, whose header promises for each of them a struct as
// long as it says, valid until the call returns. What is kept is copied.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use plugin_abi::raw::{
    ABI_MAJOR, ABI_MINOR, Array, Collect, Configure, FAILED, Family, HostApi, INVALID, Malformed, OK,
    PANICKED, PluginApi, Run, STALE, Str, Text, UNSUPPORTED, VERSION, read_struct, struct_size, write_plugin,
    write_text,
};

use super::handle::Handle;
use super::slot::caught;
use crate::declared::Tables;
use crate::plugin::{Plugin, PluginDef};
use crate::slot::NO_INSTANCE;
use crate::source::{End, EndReason, Setup};
use crate::state::State;
use crate::{Target, command, host, log};
use plugin_abi::{FamilyKey, Problem, Selects};

/// The entry of a plugin. Called by the code that [`crate::export_plugin`] generates.
///
/// # Safety
/// The pointers are those of the header's `perfmon_plugin_entry_v1`.
pub unsafe fn entry<P: PluginDef>(
    host: *const HostApi,
    plugin_host: *mut PluginApi,
    error_host: *mut Text,
) -> i32 {
    guard("entry", || {
        // SAFETY: the caller hands over the host's table.
        let table = match unsafe { read_struct(host) } {
            Ok(table) => table,
            Err(error) => {
                // SAFETY: the caller hands over the host's room for a message.
                unsafe { write_text(error_host, &format!("the host's table is {error}")) };
                return FAILED;
            }
        };
        if table.abi_major != ABI_MAJOR {
            return VERSION;
        }
        host::install(table);
        log::install();
        // SAFETY: the caller hands over the host's room for the table.
        unsafe { write_plugin(plugin_host, &declaration::<P>()) };
        OK
    })
}

fn declaration<P: PluginDef>() -> PluginApi {
    let plugin = P::plugin();
    let tables = Tables::of(plugin);
    PluginApi {
        size: struct_size::<PluginApi>(),
        abi_major: ABI_MAJOR,
        abi_minor: ABI_MINOR,
        name: Str::of(plugin.name),
        version: Str::of(plugin.version),
        description: Str::of(plugin.description),
        sources: Array::of(tables.sources),
        commands: Array::of(tables.commands),
        validate: Some(validate::<P>),
        create: Some(create::<P>),
        reconfigure: Some(reconfigure::<P>),
        collect: Some(collect::<P>),
        cancel: Some(cancel::<P>),
        destroy: Some(destroy::<P>),
        wake: Some(wake::<P>),
        run: Some(run::<P>),
        configure: plugin.settings.map(|_| configure::<P> as _),
        end: Some(end::<P>),
        selects: Some(selects::<P>),
    }
}

unsafe extern "C" fn validate<P: PluginDef>(request: *const Configure) -> i32 {
    // SAFETY: passed on from the host.
    unsafe {
        configured::<P>("validate", request, |plugin, _, call| {
            let problems = match (plugin.sources.get(call.source), plugin.settings) {
                (Some(source), _) => (source.validate)(&call.settings, &call.target),
                (None, Some(settings)) if call.source == OF_LIBRARY => (settings.validate)(&call.settings),
                _ => return Err(unknown_source()),
            };
            if problems.is_empty() { Ok(()) } else { Err(problems) }
        })
    }
}

unsafe extern "C" fn selects<P: PluginDef>(request: *const Configure) -> i32 {
    // SAFETY: passed on from the host, with the family that it points to.
    let Ok(family) = (unsafe { read_family(request) }) else { return INVALID };
    let mut is_known = true;
    // SAFETY: passed on from the host.
    let status = unsafe {
        configured::<P>("selects", request, |plugin, _, call| {
            let Some(source) = plugin.sources.get(call.source) else { return Err(unknown_source()) };
            match (source.selects)(&call.settings, &family)? {
                Selects::Yes => Ok(()),
                Selects::No(problems) => Err(problems),
                Selects::Unknown => {
                    is_known = false;
                    Ok(())
                }
            }
        })
    };
    if is_known { status } else { UNSUPPORTED }
}

unsafe extern "C" fn configure<P: PluginDef>(request: *const Configure) -> i32 {
    // SAFETY: passed on from the host.
    unsafe {
        configured::<P>("configure", request, |plugin, _, call| match plugin.settings {
            Some(settings) if call.source == OF_LIBRARY => (settings.configure)(&call.settings),
            _ => Err(unknown_source()),
        })
    }
}

unsafe extern "C" fn create<P: PluginDef>(request: *const Configure) -> i32 {
    // SAFETY: passed on from the host.
    unsafe {
        configured::<P>("create", request, |plugin, state, call| {
            let Some(source) = plugin.sources.get(call.source) else { return Err(unknown_source()) };
            let Call { instance, settings, target, .. } = call;
            let handle = Handle { instance, wake: Arc::default() };
            let setup = Setup { settings: (), target, handle };
            let slot = (source.create)(&settings, setup)?;
            state.insert_instance(instance, slot);
            Ok(())
        })
    }
}

unsafe extern "C" fn reconfigure<P: PluginDef>(request: *const Configure) -> i32 {
    // SAFETY: passed on from the host.
    unsafe {
        configured::<P>("reconfigure", request, |_, state, call| match state.instance(call.instance) {
            Some(slot) => slot.reconfigure(&call.settings),
            None => Err(vec![Problem::new("", "there is no such instance")]),
        })
    }
}

unsafe extern "C" fn collect<P: PluginDef>(request: *const Collect) -> i32 {
    guard("collect", || {
        // SAFETY: passed on from the host.
        let Ok(request) = (unsafe { read_struct(request) }) else { return INVALID };
        let Some(state) = P::plugin().state.get() else { return NO_INSTANCE };
        match state.instance(request.instance) {
            Some(slot) => slot.collect(state, request),
            None => NO_INSTANCE,
        }
    })
}

unsafe extern "C" fn cancel<P: PluginDef>(token: u64) {
    guard("cancel", || {
        if let Some(state) = P::plugin().state.get() {
            state.cancel(token);
        }
        OK
    });
}

/// Called by hosts that have no deadline for the end.
unsafe extern "C" fn destroy<P: PluginDef>(instance: u64) {
    guard("destroy", || {
        ended::<P>(instance, End { reason: EndReason::Removed, deadline: Instant::now() + END_MAX })
    });
}

unsafe extern "C" fn end<P: PluginDef>(request: *const plugin_abi::raw::End) {
    guard("end", || {
        // SAFETY: passed on from the host.
        let Ok(request) = (unsafe { read_struct(request) }) else { return INVALID };
        let reason = match request.reason {
            plugin_abi::raw::END_PROCESS => EndReason::ProcessEnds,
            _ => EndReason::Removed,
        };
        let left = Duration::from_nanos(request.deadline_ns.saturating_sub(request.now_ns));
        ended::<P>(request.instance, End { reason, deadline: Instant::now() + left.min(END_MAX_FAR) })
    });
}

fn ended<P: PluginDef>(instance: u64, end: End) -> i32 {
    let Some(state) = P::plugin().state.get() else { return STALE };
    if let Some(slot) = state.remove_instance(instance) {
        slot.destroy(state, end);
    }
    OK
}

/// The deadline if an older host passes none.
const END_MAX: Duration = Duration::from_secs(3);
/// A time that can be added to any other.
const END_MAX_FAR: Duration = Duration::from_secs(86_400);

unsafe extern "C" fn wake<P: PluginDef>(owner: u64) {
    guard("wake", || {
        if let Some(state) = P::plugin().state.get() {
            state.wake(owner);
        }
        OK
    });
}

unsafe extern "C" fn run<P: PluginDef>(request: *const Run) -> i32 {
    guard("run", || {
        // SAFETY: passed on from the host.
        let Ok((index, run)) = (unsafe { read_run(request) }) else { return command::Exit::Usage.code() };
        let plugin = P::plugin();
        let Some(command) = plugin.commands.get(index) else { return command::Exit::Usage.code() };
        let Ok(state) = plugin.state(workers()) else { return command::Exit::Failure.code() };
        let cancel = state.cancel_for(run.token);
        state.begin_run(run.clone());
        let token = run.token;
        let exit = caught(|| (command.run)(state.runtime(), run, &cancel.cancel));
        state.end_run(token);
        match exit {
            Ok(exit) => exit.code(),
            Err(panic) => {
                let message = format!("the command panicked: {panic}\n");
                host::output(token, plugin_abi::raw::OUTPUT_ERR, message.as_bytes());
                command::Exit::Failure.code()
            }
        }
    })
}

/// A request to validate, create or reconfigure, copied.
struct Call {
    source: usize,
    instance: u64,
    target: Target,
    settings: String,
}

/// Reads the request, runs `action` inside the runtime and reports its result.
///
/// # Safety
/// `request` is the host's.
unsafe fn configured<P: PluginDef>(
    what: &'static str,
    request: *const Configure,
    action: impl FnOnce(&'static Plugin, &'static State, Call) -> Result<(), Vec<Problem>>,
) -> i32 {
    let plugin = P::plugin();
    // SAFETY: the caller promises it.
    let Ok(raw) = (unsafe { read_struct(request) }) else { return INVALID };
    let say = |message: &str| {
        // SAFETY: the host's room for a message, valid until the call returns.
        unsafe { write_text(raw.error_host, message) };
    };
    let result = caught(|| {
        // SAFETY: the strings of the request are valid until the call returns.
        let call = unsafe { read_call(&raw) }.map_err(|error| vec![Problem::new("", error.to_string())])?;
        let state = plugin
            .state(workers())
            .map_err(|error| vec![Problem::new("", format!("start the async runtime: {error}"))])?;
        let _inside = state.runtime().enter();
        log::scope(call.instance, || action(plugin, state, call))
    });
    match result {
        Ok(Ok(())) => OK,
        Ok(Err(problems)) => {
            problems.iter().for_each(|problem| host::problem(raw.report, problem));
            INVALID
        }
        Err(panic) => {
            let message = panic.to_string();
            log::error(host::library(), "Call panicked", &[("call", what), ("panic", &message)]);
            say(&message);
            PANICKED
        }
    }
}

/// # Safety
/// The strings of the request are valid.
unsafe fn read_call(raw: &Configure) -> Result<Call, Malformed> {
    // SAFETY: the caller promises it.
    let name = unsafe { raw.target.read(TEXT_BYTES_MAX) }?.to_owned();
    // SAFETY: as above.
    let host = unsafe { raw.host.read(TEXT_BYTES_MAX) }?.to_owned();
    // SAFETY: as above.
    let identity = unsafe { raw.identity.read(TEXT_BYTES_MAX) }?.to_owned();
    // SAFETY: as above.
    let settings = unsafe { raw.settings.read(TEXT_BYTES_MAX) }?.to_owned();
    let port = u16::try_from(raw.port).ok().filter(|port| *port != 0);
    let source = raw.source as usize;
    let is_on_demand = raw.flags & plugin_abi::raw::CONFIGURE_ON_DEMAND != 0;
    let target = Target { name, host, port, identity, is_on_demand };
    Ok(Call { source, instance: raw.instance, target, settings })
}

/// # Safety
/// `request` is the host's, and so is the family that it points to.
unsafe fn read_family(request: *const Configure) -> Result<FamilyKey, Malformed> {
    // SAFETY: the caller promises it.
    let raw = unsafe { read_struct(request) }?;
    // SAFETY: as above.
    let family: Family = unsafe { read_struct(raw.family) }?;
    let text = |text: Str| {
        // SAFETY: the strings of the request are valid until the call returns.
        unsafe { text.read(TEXT_BYTES_MAX) }.map(str::to_owned)
    };
    let (namespace, object) = (text(family.space)?, text(family.object)?);
    Ok(FamilyKey { namespace, object, item: text(family.item)?, part: text(family.part)? })
}

/// # Safety
/// `request` is the host's.
unsafe fn read_run(request: *const Run) -> Result<(usize, command::Run), Malformed> {
    // SAFETY: the caller promises it.
    let raw = unsafe { read_struct(request) }?;
    // SAFETY: the arguments of the request are valid until the call returns.
    let rows = unsafe { raw.args.column::<Str>(ARGS_MAX) }?;
    let mut args = Vec::with_capacity(rows.len());
    for row in rows {
        // SAFETY: as above.
        args.push(unsafe { row.read(TEXT_BYTES_MAX) }?.to_owned());
    }
    // SAFETY: as above.
    let rows = unsafe { raw.configured.structs::<Configure>(ARGS_MAX) }?;
    let configured = rows.map(|row| {
        // SAFETY: as above.
        let Call { source, target, settings, .. } = unsafe { read_call(&row) }?;
        Ok(command::Configured { source, target, settings })
    });
    let configured = configured.collect::<Result<_, Malformed>>()?;
    let terminal_width = (raw.terminal_width != 0).then_some(raw.terminal_width);
    let run = command::Run { token: raw.run, args, terminal_width, configured, wake: Arc::default() };
    Ok((raw.command as usize, run))
}

/// Runs `action` so that no panic leaves the library.
fn guard(what: &'static str, action: impl FnOnce() -> i32) -> i32 {
    match caught(action) {
        Ok(status) => status,
        Err(panic) => {
            let message = panic.to_string();
            // The log goes through the host; if even that panics, nothing can be reported.
            let _ = caught(|| {
                log::error(host::library(), "Call panicked", &[("call", what), ("panic", &message)]);
            });
            PANICKED
        }
    }
}

fn workers() -> u32 {
    static WORKERS: OnceLock<u32> = OnceLock::new();
    *WORKERS.get_or_init(|| host::worker_threads().max(1))
}

fn unknown_source() -> Vec<Problem> {
    vec![Problem::new("", "the plugin has no source with this number")]
}

const OF_LIBRARY: usize = plugin_abi::raw::SOURCE_LIBRARY as usize;
const TEXT_BYTES_MAX: usize = 16 << 20;
const ARGS_MAX: usize = 4_096;
