//! The structs of the header, in its order, with the size and the offsets that a C compiler gives them.
//!
//! Meaning, ownership and lifetime of the members are documented only in `include/perfmon_plugin.h`.

#![expect(unsafe_code, reason = "promises which types are plain data")]
// UNSAFETY: `Plain` is a promise about types; each is made beside the definition that it is about.

use core::ffi::c_void;
use core::mem::{MaybeUninit, offset_of, size_of};

/// A struct as the C compiler sees it, for the test that asks one.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Its name in the header.
    pub name: &'static str,
    pub size: usize,
    /// Name and offset of each member.
    pub members: &'static [(&'static str, usize)],
}

/// Structs that may be filled with zeros and whose bytes may be copied from any pointer that is long enough.
///
/// # Safety
/// Every member is an integer, a raw pointer, an optional function pointer, or such a struct.
pub unsafe trait Plain: Copy + 'static {
    /// Its size in version 1.0, the minimum size on the other side.
    const FIRST_SIZE: usize = size_of::<Self>();

    /// All members zero, which is their value if the other side's version lacks them.
    const ZERO: Self = {
        let zeros = MaybeUninit::<Self>::zeroed();
        // SAFETY: by the contract of this trait it may be filled with zeros.
        unsafe { zeros.assume_init() }
    };
}

// SAFETY: an integer.
unsafe impl Plain for u32 {}
// SAFETY: an integer.
unsafe impl Plain for u64 {}
// SAFETY: an integer.
unsafe impl Plain for i64 {}
// SAFETY: every bit pattern is a number.
unsafe impl Plain for f64 {}

macro_rules! abi_structs {
    ($($(#[$meta:meta])* pub struct $name:ident as $c_name:literal, size $size:literal {
        $($offset:literal => $member:ident: $type:ty,)*
    })*) => {
        $(
            $(#[$meta])*
            #[repr(C)]
            #[derive(Clone, Copy, Debug)]
            pub struct $name {
                $(#[doc = "As in the header."] pub $member: $type,)*
            }

            const _: () = {
                assert!(size_of::<$name>() == $size);
                $(assert!(offset_of!($name, $member) == $offset);)*
            };

            // SAFETY: the members are integers, raw pointers, optional function pointers, or structs of this macro.
            unsafe impl Plain for $name {}
        )*

        /// All structs of the header.
        pub const LAYOUTS: &[Layout] = &[$(Layout {
            name: $c_name,
            size: $size,
            members: &[$((stringify!($member), $offset),)*],
        },)*];
    };
}

abi_structs! {
    /// `perfmon_str`: text: UTF-8, not terminated.
    pub struct Str as "perfmon_str", size 16 {
        0 => ptr: *const u8,
        8 => len: u64,
    }

    pub struct Bytes as "perfmon_bytes", size 16 {
        0 => ptr: *const u8,
        8 => len: u64,
    }

    /// `perfmon_label`: name and value of a label, or key and value of a field.
    pub struct Label as "perfmon_label", size 32 {
        0 => name: Str,
        16 => value: Str,
    }

    /// `perfmon_verdict`: the host's answer for one family or series.
    pub struct Verdict as "perfmon_verdict", size 8 {
        0 => id: u32,
        4 => verdict: u32,
    }

    /// `perfmon_array`: an array to read.
    pub struct Array as "perfmon_array", size 24 {
        0 => ptr: *const c_void,
        8 => len: u64,
        16 => element_size: u32,
        20 => reserved: u32,
    }

    /// `perfmon_array_mut`: an array that the callee writes; the caller owns it.
    pub struct ArrayMut as "perfmon_array_mut", size 24 {
        0 => ptr: *mut c_void,
        8 => len: u64,
        16 => element_size: u32,
        20 => reserved: u32,
    }

    /// `perfmon_text`: a buffer of the host for a message from the plugin.
    pub struct Text as "perfmon_text", size 32 {
        0 => size: u32,
        4 => reserved: u32,
        8 => ptr: *mut u8,
        16 => capacity: u64,
        24 => len: u64,
    }

    /// `perfmon_reason`: a failure reason that a source declares.
    pub struct Reason as "perfmon_reason", size 56 {
        0 => size: u32,
        4 => reserved: u32,
        8 => word: Str,
        24 => sentence: Str,
        40 => next_step: Str,
    }

    /// `perfmon_setting`: a setting of a transport.
    pub struct Setting as "perfmon_setting", size 104 {
        0 => size: u32,
        4 => kind: u32,
        8 => flags: u32,
        12 => reserved: u32,
        16 => key: Str,
        32 => help: Str,
        48 => default_value: Str,
        64 => words: Array,
        88 => min: i64,
        96 => max: i64,
    }

    /// `perfmon_transport`: a way to reach a target.
    pub struct Transport as "perfmon_transport", size 64 {
        0 => size: u32,
        4 => reserved: u32,
        8 => kind: Str,
        24 => help: Str,
        40 => settings: Array,
    }

    /// `perfmon_source`: a kind of thing to collect.
    pub struct Source as "perfmon_source", size 120 {
        0 => size: u32,
        4 => mode: u32,
        8 => name: Str,
        24 => help: Str,
        40 => reasons: Array,
        64 => shown: Array,
        88 => transports: Array,
        112 => flags: u32,
        116 => reserved: u32,
    }

    /// `perfmon_option`: an option of a command, for its help; the command parses its arguments itself.
    pub struct CommandOption as "perfmon_option", size 56 {
        0 => size: u32,
        4 => flags: u32,
        8 => name: Str,
        24 => value_name: Str,
        40 => help: Str,
    }

    /// `perfmon_command`: `perfmon-exporter PLUGIN COMMAND`.
    pub struct Command as "perfmon_command", size 88 {
        0 => size: u32,
        4 => reserved: u32,
        8 => name: Str,
        24 => help: Str,
        40 => aliases: Array,
        64 => options: Array,
    }

    /// `perfmon_configure`: settings for validate(), create() and reconfigure().
    pub struct Configure as "perfmon_configure", size 112 {
        0 => size: u32,
        4 => source: u32,
        8 => instance: u64,
        16 => report: u64,
        24 => target: Str,
        40 => host: Str,
        56 => port: u32,
        60 => flags: u32,
        64 => identity: Str,
        80 => settings: Str,
        96 => error_host: *mut Text,
        104 => family: *const Family,
    }

    pub struct Collect as "perfmon_collect", size 40 {
        0 => size: u32,
        4 => reserved: u32,
        8 => instance: u64,
        16 => collection: u64,
        24 => now_ns: u64,
        32 => deadline_ns: u64,
    }

    /// `perfmon_end`: the end of an instance.
    pub struct End as "perfmon_end", size 32 {
        0 => size: u32,
        4 => reason: u32,
        8 => instance: u64,
        16 => now_ns: u64,
        24 => deadline_ns: u64,
    }

    /// `perfmon_run`: one run of a command.
    pub struct Run as "perfmon_run", size 72 {
        0 => size: u32,
        4 => command: u32,
        8 => run: u64,
        16 => args: Array,
        40 => terminal_width: u32,
        44 => reserved: u32,
        48 => configured: Array,
    }

    /// `perfmon_problem`: a problem with settings.
    pub struct Problem as "perfmon_problem", size 56 {
        0 => size: u32,
        4 => severity: u32,
        8 => pointer: Str,
        24 => message: Str,
        40 => suggestion: Str,
    }

    /// `perfmon_family`: a family. The exporter makes a metric from it.
    pub struct Family as "perfmon_family", size 176 {
        0 => size: u32,
        4 => kind: u32,
        8 => value_kind: u32,
        12 => reserved: u32,
        16 => space: Str,
        32 => object: Str,
        48 => item: Str,
        64 => part: Str,
        80 => unit: Str,
        96 => help: Str,
        112 => origin: Str,
        128 => base: Str,
        144 => display: u32,
        148 => reserved2: u32,
        152 => bounds: Array,
    }

    /// `perfmon_series`: a series of a family.
    pub struct Series as "perfmon_series", size 48 {
        0 => size: u32,
        4 => family: u32,
        8 => labels: Array,
        32 => start_time_unix_ns: i64,
        40 => start_time_kind: u32,
        44 => reserved: u32,
    }

    /// `perfmon_batch`: values by series.
    pub struct Batch as "perfmon_batch", size 104 {
        0 => size: u32,
        4 => value_kind: u32,
        8 => ids: Array,
        32 => values: Array,
        56 => timestamps: Array,
        80 => start_times: Array,
    }

    /// `perfmon_histogram_batch`: histograms by series, all of one family.
    pub struct HistogramBatch as "perfmon_histogram_batch", size 128 {
        0 => size: u32,
        4 => family: u32,
        8 => ids: Array,
        32 => counts: Array,
        56 => sums: Array,
        80 => timestamps: Array,
        104 => start_times: Array,
    }

    /// `perfmon_stage`: duration and traffic of a stage of a collection.
    pub struct StageCost as "perfmon_stage", size 48 {
        0 => size: u32,
        4 => stage: u32,
        8 => start_ns: u64,
        16 => duration_ns: u64,
        24 => calls: u64,
        32 => bytes_in: u64,
        40 => bytes_out: u64,
    }

    /// `perfmon_completion`: how a collection ended.
    pub struct Completion as "perfmon_completion", size 88 {
        0 => size: u32,
        4 => outcome: u32,
        8 => families: Array,
        32 => stages: Array,
        56 => failure_stage: u32,
        60 => failure_reason: u32,
        64 => message: Str,
        80 => retry_after_ms: u64,
    }

    /// `perfmon_log`: a log record.
    pub struct Log as "perfmon_log", size 48 {
        0 => size: u32,
        4 => level: u32,
        8 => message: Str,
        24 => fields: Array,
    }

    /// `perfmon_alert`: an alert and its state.
    pub struct Alert as "perfmon_alert", size 88 {
        0 => size: u32,
        4 => state: u32,
        8 => id: Str,
        24 => labels: Array,
        48 => comparison: u32,
        52 => reserved: u32,
        56 => value: f64,
        64 => threshold: f64,
        72 => interval_ns: u64,
        80 => hold_ns: u64,
    }

    /// `perfmon_event`: something that happened on the target, such as an alert that fired.
    pub struct Event as "perfmon_event", size 80 {
        0 => size: u32,
        4 => level: u32,
        8 => name: Str,
        24 => time_unix_ns: i64,
        32 => body: Str,
        48 => fields: Array,
        72 => alert: *const Alert,
    }

    /// `perfmon_credential_request`: a request for a secret.
    pub struct CredentialRequest as "perfmon_credential_request", size 40 {
        0 => size: u32,
        4 => reserved: u32,
        8 => host: Str,
        24 => identity: Str,
    }

    /// `perfmon_credential_lease`: a secret that is leased for one authentication.
    pub struct CredentialLease as "perfmon_credential_lease", size 96 {
        0 => size: u32,
        4 => kind: u32,
        8 => lease: u64,
        16 => domain_host: Str,
        32 => username_host: Str,
        48 => secret_host: Bytes,
        64 => reason: u32,
        68 => retry_after_ms: u32,
        72 => service_host: Str,
        88 => flags: u32,
        92 => reserved: u32,
    }

    /// `perfmon_cell_memory`: memory for the state of a library's RPC run time.
    pub struct CellMemory as "perfmon_cell_memory", size 32 {
        0 => size: u32,
        4 => level: u32,
        8 => words_host: *mut u64,
        16 => words_len: u64,
        24 => sections: u32,
        28 => reserved: u32,
    }

    /// `perfmon_host`: what the host offers.
    pub struct HostApi as "perfmon_host", size 200 {
        0 => size: u32,
        4 => abi_major: u16,
        6 => abi_minor: u16,
        8 => library: u64,
        16 => worker_threads: u32,
        20 => reserved: u32,
        24 => program: Str,
        40 => now_ns: Option<unsafe extern "C" fn() -> u64>,
        48 => register_families: Option<unsafe extern "C" fn(instance: u64, families: *const Array, verdicts_plugin: *const ArrayMut, taken_plugin: *mut u64) -> i32>,
        56 => register_series: Option<unsafe extern "C" fn(instance: u64, series: *const Array, verdicts_plugin: *const ArrayMut, taken_plugin: *mut u64) -> i32>,
        64 => retire: Option<unsafe extern "C" fn(instance: u64, ids: *const Array) -> i32>,
        72 => batch: Option<unsafe extern "C" fn(instance: u64, batch: *const Batch, taken_plugin: *mut u64) -> i32>,
        80 => complete: Option<unsafe extern "C" fn(instance: u64, collection: u64, completion: *const Completion) -> i32>,
        88 => destroyed: Option<unsafe extern "C" fn(instance: u64) -> i32>,
        96 => problem: Option<unsafe extern "C" fn(report: u64, problem: *const Problem) -> i32>,
        104 => log_enabled: Option<unsafe extern "C" fn(owner: u64, level: u32) -> u8>,
        112 => log: Option<unsafe extern "C" fn(owner: u64, record: *const Log) -> i32>,
        120 => event: Option<unsafe extern "C" fn(instance: u64, event: *const Event) -> i32>,
        128 => credential_acquire: Option<unsafe extern "C" fn(owner: u64, request: *const CredentialRequest, lease_plugin: *mut CredentialLease) -> i32>,
        136 => credential_result: Option<unsafe extern "C" fn(lease: u64, verdict: u32) -> i32>,
        144 => output: Option<unsafe extern "C" fn(run: u64, stream: u32, bytes: *const Bytes) -> i32>,
        152 => fact: Option<unsafe extern "C" fn(instance: u64, fact: *const Label) -> i32>,
        160 => min_interval: Option<unsafe extern "C" fn(instance: u64, interval_ms: u64) -> i32>,
        168 => metric_name: Option<unsafe extern "C" fn(run: u64, configured: u32, family: *const Family, name_plugin: *mut Text) -> i32>,
        176 => listening_socket: Option<unsafe extern "C" fn(library: u64, name: *const Str, descriptor_plugin: *mut i32) -> i32>,
        184 => histograms: Option<unsafe extern "C" fn(instance: u64, batch: *const HistogramBatch, taken_plugin: *mut u64) -> i32>,
        192 => cell_memory: Option<unsafe extern "C" fn(library: u64, sections: u32, memory_plugin: *mut CellMemory) -> i32>,
    }

    /// `perfmon_plugin`: what a plugin offers.
    pub struct PluginApi as "perfmon_plugin", size 192 {
        0 => size: u32,
        4 => abi_major: u16,
        6 => abi_minor: u16,
        8 => name: Str,
        24 => version: Str,
        40 => description: Str,
        56 => sources: Array,
        80 => commands: Array,
        104 => validate: Option<unsafe extern "C" fn(request: *const Configure) -> i32>,
        112 => create: Option<unsafe extern "C" fn(request: *const Configure) -> i32>,
        120 => reconfigure: Option<unsafe extern "C" fn(request: *const Configure) -> i32>,
        128 => collect: Option<unsafe extern "C" fn(request: *const Collect) -> i32>,
        136 => cancel: Option<unsafe extern "C" fn(token: u64)>,
        144 => destroy: Option<unsafe extern "C" fn(instance: u64)>,
        152 => wake: Option<unsafe extern "C" fn(owner: u64)>,
        160 => run: Option<unsafe extern "C" fn(request: *const Run) -> i32>,
        168 => configure: Option<unsafe extern "C" fn(request: *const Configure) -> i32>,
        176 => end: Option<unsafe extern "C" fn(request: *const End)>,
        184 => selects: Option<unsafe extern "C" fn(request: *const Configure) -> i32>,
    }
}
