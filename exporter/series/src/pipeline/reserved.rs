//! Names that are the exporter's own, or those of probes.

/// With what a name begins that is the exporter's own.
pub(super) fn reserved_prefix(name: &str) -> Option<&'static str> {
    RESERVED_PREFIXES.into_iter().find(|prefix| name.starts_with(prefix))
}

/// Of `process_` those that client libraries have for the process itself: others are free for metrics of processes.
const RESERVED_PREFIXES: [&str; 11] = [
    "perfmon_exporter_",
    "perfmon_probe_",
    "process_cpu_seconds",
    "process_heap_",
    "process_max_",
    "process_network_",
    "process_open_",
    "process_resident_",
    "process_start_",
    "process_threads",
    "process_virtual_",
];
