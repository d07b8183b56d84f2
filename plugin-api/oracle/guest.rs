//! The plugin: it keeps the host's table and its instance's token, and does nothing by itself.
#![expect(unsafe_code, reason = "is a plugin, which reads what the host hands it")]
// UNSAFETY: the host's table lives as long as the process, a request as long as its call, as the header says.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use plugin_abi::raw::{
    ABI_MAJOR, ABI_MINOR, Array, Collect, Configure, HostApi, MODE_ASYNC, OK, Plain as _, PluginApi, Reason,
    Source, Str, Text, struct_size, write_plugin,
};
use plugin_host::{Host, HostOptions, Library, Limits};

/// Small, so that small inputs reach them.
pub(crate) const LIMITS: Limits = Limits {
    families_max: 12,
    series_max: 16,
    labels_max: 3,
    name_bytes_max: 24,
    label_value_bytes_max: 32,
    text_bytes_max: 64,
    register_rows_max: 6,
    batch_rows_max: 8,
    fields_max: 3,
    log_bytes_per_second_max: 512,
    command_output_bytes_max: 1 << 10,
    leases_max: 2,
    problems_max: 4,
    sources_max: 4,
    commands_max: 4,
    instances_max: 1_000,
    // Limits of time are not reached: only the handling of data is tested.
    async_call_ms_max: 600_000,
    configure_ms_max: 600_000,
    deadline_grace_ms: 600_000,
    blocking_threads_max: 1,
    lost_threads_max: 1,
    faults_max: u32::MAX,
    violations_max: u32::MAX,
    quarantine_s: 1,
    quarantine_s_max: 1,
    collections_per_target_max: 1_000,
    end_ms_max: 600_000,
    min_interval_ms_max: 1_000,
    retry_after_ms_max: 1_000,
};

static HOST: OnceLock<&'static HostApi> = OnceLock::new();
static INSTANCE: AtomicU64 = AtomicU64::new(0);

/// The plugin, loaded once: a host never unloads libraries.
pub(crate) fn library() -> &'static Library {
    static LIBRARY: OnceLock<Library> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        // The clock stands still, so that an input means the same at any time.
        let options =
            HostOptions { limits: LIMITS, clock: std::sync::Arc::new(|| NOW_NS), ..HostOptions::default() };
        Host::new(options).link(NAME, entry).expect("the plugin is right so far")
    })
}

/// The functions that plugins call.
pub(crate) fn host() -> &'static HostApi {
    HOST.get().expect("the plugin was loaded")
}

/// The token of the instance that was made last.
pub(crate) fn instance() -> u64 {
    INSTANCE.load(Ordering::SeqCst)
}

pub(crate) const NAME: &str = "bytes";
pub(crate) const NOW_NS: u64 = 1_000_000_000_000;

unsafe extern "C" fn entry(host: *const HostApi, plugin_host: *mut PluginApi, _error_host: *mut Text) -> i32 {
    // SAFETY: the host's table, which lives as long as the process.
    if let Some(host) = unsafe { host.as_ref() } {
        HOST.get_or_init(|| host);
    }
    let reason = Reason {
        size: struct_size::<Reason>(),
        reserved: 0,
        word: Str::of("made_up"),
        sentence: Str::of("It is made up."),
        next_step: Str::of("Look elsewhere."),
    };
    let source = Source {
        size: struct_size::<Source>(),
        mode: MODE_ASYNC,
        name: Str::of(NAME),
        help: Str::EMPTY,
        reasons: Array::of(Box::leak(Box::new([reason]))),
        ..Source::ZERO
    };
    let table = PluginApi {
        size: struct_size::<PluginApi>(),
        abi_major: ABI_MAJOR,
        abi_minor: ABI_MINOR,
        name: Str::of(NAME),
        version: Str::of("1"),
        description: Str::EMPTY,
        sources: Array::of(Box::leak(Box::new([source]))),
        commands: Array::EMPTY,
        validate: None,
        create: Some(create),
        reconfigure: None,
        collect: Some(collect),
        cancel: Some(cancel),
        destroy: Some(destroy),
        wake: None,
        run: None,
        configure: None,
        end: None,
        selects: None,
    };
    // SAFETY: the host's room for the table, which says how large it is.
    unsafe { write_plugin(plugin_host, &table) };
    OK
}

unsafe extern "C" fn create(request: *const Configure) -> i32 {
    // SAFETY: the host's request, valid until the call returns.
    let instance = unsafe { request.as_ref() }.map_or(0, |request| request.instance);
    INSTANCE.store(instance, Ordering::SeqCst);
    OK
}

unsafe extern "C" fn collect(_request: *const Collect) -> i32 {
    OK
}

unsafe extern "C" fn cancel(_token: u64) {}

unsafe extern "C" fn destroy(instance: u64) {
    if let Some(destroyed) = host().destroyed {
        // SAFETY: takes a number.
        unsafe { destroyed(instance) };
    }
}
