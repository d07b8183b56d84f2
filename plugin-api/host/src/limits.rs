//! Limits for plugins.

/// Every limit of the host, with its default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Families of one instance.
    pub families_max: u32,
    /// Live series of one instance.
    pub series_max: u32,
    /// Labels of one series.
    pub labels_max: u32,
    /// Bytes of a label's name, an object, an item, a unit and the like.
    pub name_bytes_max: u32,
    /// Bytes of a label's value.
    pub label_value_bytes_max: u32,
    /// Bytes of a help text, an origin, a message, an event's body.
    pub text_bytes_max: u32,
    /// Families, series or ids in one call to register or retire.
    pub register_rows_max: u32,
    /// Rows of one batch; more are answered with FULL.
    pub batch_rows_max: u32,
    /// Fields of a log record or an event.
    pub fields_max: u32,
    /// Bytes of log records of one instance in a second; more are dropped and counted.
    pub log_bytes_per_second_max: u32,
    /// Bytes that a command may print.
    pub command_output_bytes_max: u64,
    /// Leases that one instance or command may hold.
    pub leases_max: u32,
    /// Problems that one configure call may report.
    pub problems_max: u32,
    /// Sources of one library.
    pub sources_max: u32,
    /// Commands of one library.
    pub commands_max: u32,
    /// Instances of one library.
    pub instances_max: u32,
    /// How long an async source may stay inside one call.
    pub async_call_ms_max: u64,
    /// How long validate, create and reconfigure may take.
    pub configure_ms_max: u64,
    /// Time after its deadline until a collection is aborted.
    pub deadline_grace_ms: u64,
    /// Threads for blocking sources, per library.
    pub blocking_threads_max: u32,
    /// Threads of one library that may hang before the library gets no more calls.
    pub lost_threads_max: u32,
    /// Faults in a row after which an instance is put into quarantine; a hang or a panic is enough alone.
    pub faults_max: u32,
    /// Violations within one collection that count as a fault.
    pub violations_max: u32,
    /// The first quarantine; each one that follows is twice as long.
    pub quarantine_s: u64,
    pub quarantine_s_max: u64,
    /// Collections in flight on one host name, over all plugins.
    pub collections_per_target_max: u32,
    /// How long an instance may take to end.
    pub end_ms_max: u64,
    /// Maximum interval that an instance may ask for; longer ones are refused.
    pub min_interval_ms_max: u64,
    /// Maximum pause that a failure may ask for; longer ones are reduced to it.
    pub retry_after_ms_max: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            families_max: 20_000,
            series_max: 200_000,
            labels_max: 16,
            name_bytes_max: 512,
            label_value_bytes_max: 1_024,
            text_bytes_max: 8_192,
            register_rows_max: 65_536,
            batch_rows_max: 65_536,
            fields_max: 32,
            log_bytes_per_second_max: 65_536,
            command_output_bytes_max: 1 << 30,
            leases_max: 16,
            problems_max: 100,
            sources_max: 64,
            commands_max: 64,
            instances_max: 100_000,
            async_call_ms_max: 10,
            configure_ms_max: 5_000,
            deadline_grace_ms: 250,
            blocking_threads_max: 8,
            lost_threads_max: 8,
            faults_max: 3,
            violations_max: 100,
            quarantine_s: 30,
            quarantine_s_max: 3_600,
            collections_per_target_max: 8,
            end_ms_max: 10_000,
            min_interval_ms_max: 24 * 3_600_000,
            retry_after_ms_max: 24 * 3_600_000,
        }
    }
}
