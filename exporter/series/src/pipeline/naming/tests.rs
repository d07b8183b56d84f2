use expect_test::{Expect, expect};

use super::*;

fn check(family: &Nameable<'_>, expected: &Expect) {
    let FamilyName { name, unit } = native(family);
    let unit = if unit.is_empty() { String::new() } else { format!(" in {unit}") };
    expected.assert_eq(&format!("{name}{}{unit}", family.kind.sample_suffix()));
}

fn counter<'a>(object: &'a str, item: &'a str, part: &'a str, unit: &'a str) -> Nameable<'a> {
    Nameable { namespace: "", object, item, part, kind: Kind::Counter, unit }
}

fn gauge<'a>(object: &'a str, item: &'a str, part: &'a str, unit: &'a str) -> Nameable<'a> {
    Nameable { kind: Kind::Gauge, ..counter(object, item, part, unit) }
}

#[test]
fn counters_of_every_kind_get_names_that_say_what_is_counted() {
    for (family, expected) in [
        // PERF_100NSEC_TIMER_INV: what is counted is the time in which nothing happened.
        (
            counter("Processor Information", "% Processor Time", "inactive", "seconds"),
            expect!["perfmon_processor_information_processor_time_inactive_seconds_total in seconds"],
        ),
        // PERF_100NSEC_TIMER
        (
            counter("Processor Information", "% User Time", "", "seconds"),
            expect!["perfmon_processor_information_user_time_seconds_total in seconds"],
        ),
        // PERF_RAW_FRACTION and PERF_RAW_BASE
        (gauge("LogicalDisk", "% Free Space", "", ""), expect!["perfmon_logical_disk_free_space"]),
        (gauge("LogicalDisk", "% Free Space", "base", ""), expect!["perfmon_logical_disk_free_space_base"]),
        (
            gauge("Memory", "% Committed Bytes In Use", "", ""),
            expect!["perfmon_memory_committed_bytes_in_use"],
        ),
        (
            gauge("Memory", "% Committed Bytes In Use", "base", ""),
            expect!["perfmon_memory_committed_bytes_in_use_base"],
        ),
        // PERF_AVERAGE_TIMER and PERF_AVERAGE_BASE
        (
            counter("PhysicalDisk", "Avg. Disk sec/Read", "", "seconds"),
            expect!["perfmon_physical_disk_avg_disk_read_seconds_total in seconds"],
        ),
        (
            counter("PhysicalDisk", "Avg. Disk sec/Read", "base", ""),
            expect!["perfmon_physical_disk_avg_disk_read_base_total"],
        ),
        // PERF_AVERAGE_BULK
        (
            counter("PhysicalDisk", "Avg. Disk Bytes/Read", "", "bytes"),
            expect!["perfmon_physical_disk_avg_disk_read_bytes_total in bytes"],
        ),
        // PERF_COUNTER_100NS_QUEUELEN_TYPE
        (
            counter("PhysicalDisk", "Avg. Disk Queue Length", "", "seconds"),
            expect!["perfmon_physical_disk_avg_disk_queue_length_seconds_total in seconds"],
        ),
        // PERF_COUNTER_RAWCOUNT
        (
            gauge("PhysicalDisk", "Current Disk Queue Length", "", ""),
            expect!["perfmon_physical_disk_current_disk_queue_length"],
        ),
        // PERF_ELAPSED_TIME
        (
            gauge("Process V2", "Elapsed Time", "", "seconds"),
            expect!["perfmon_process_v2_elapsed_time_seconds in seconds"],
        ),
        // PERF_COUNTER_COUNTER, 32 bits
        (counter("System", "Context Switches/sec", "", ""), expect!["perfmon_system_context_switches_total"]),
        // PERF_COUNTER_BULK_COUNT in bytes, already said
        (
            counter("Network Interface", "Bytes Received/sec", "", "bytes"),
            expect!["perfmon_network_interface_received_bytes_total in bytes"],
        ),
        (
            counter("Network Interface", "Bytes Total/sec", "", "bytes"),
            expect!["perfmon_network_interface_bytes_total in bytes"],
        ),
        (gauge("Memory", "Free Megabytes", "", "bytes"), expect!["perfmon_memory_free_bytes in bytes"]),
    ] {
        check(&family, &expected);
    }
}

#[test]
fn a_gauge_never_ends_like_something_else() {
    for (item, expected) in [
        ("Handle Count", expect!["perfmon_process_v2_handles"]),
        ("Bytes Total", expect!["perfmon_process_v2_bytes_total_current"]),
        ("Files Created", expect!["perfmon_process_v2_files_created_current"]),
        ("Check Sum", expect!["perfmon_process_v2_check_sum_current"]),
        ("Boot Info", expect!["perfmon_process_v2_boot_info_current"]),
        ("Requests/sec", expect!["perfmon_process_v2_requests_per_second"]),
    ] {
        check(&gauge("Process V2", item, "", ""), &expected);
    }
}

#[test]
fn a_gauge_that_counts_things_is_called_by_them() {
    for (item, expected) in [
        ("Thread Count", expect!["perfmon_x_threads"]),
        ("Retry Count", expect!["perfmon_x_retries"]),
        ("Errors Count", expect!["perfmon_x_errors"]),
        ("Switch Count", expect!["perfmon_x_switches"]),
        ("Discarded Count", expect!["perfmon_x_discarded_count_current"]),
        ("Count", expect!["perfmon_x_count_current"]),
        ("Cache 2 Count", expect!["perfmon_x_cache_2_count_current"]),
    ] {
        check(&gauge("X", item, "", ""), &expected);
    }
}

#[test]
fn a_name_in_one_word_is_parted_at_its_capitals() {
    for (object, item, expected) in [
        ("HTTP Service", "UriCacheHits", expect!["perfmon_http_service_uri_cache_hits"]),
        ("LogicalDisk", "MBytes", expect!["perfmon_logical_disk_mbytes"]),
        (
            "FileSystem Disk Activity",
            "FileSystem Bits",
            expect!["perfmon_filesystem_disk_activity_filesystem_bits"],
        ),
        ("TCPv4", "IPv4Address", expect!["perfmon_tcpv4_ipv4address"]),
    ] {
        check(&gauge(object, item, "", ""), &expected);
    }
}

#[test]
fn a_word_that_says_percent_goes_where_the_values_are_in_another_unit() {
    let engine = |item, unit| counter("GPU Engine", item, "", unit);
    check(
        &engine("Utilization Percentage", "seconds"),
        &expect!["perfmon_gpu_engine_utilization_seconds_total in seconds"],
    );
    check(&engine("Utilization Percentage", ""), &expect!["perfmon_gpu_engine_utilization_percentage_total"]);
}

#[test]
fn text_becomes_an_info_without_a_unit() {
    let text = Nameable { kind: Kind::Info, ..gauge("GPU Engine", "Driver Info", "", "bytes") };
    check(&text, &expect!["perfmon_gpu_engine_driver_info"]);
}

#[test]
fn namespaces_belong_to_their_owners() {
    let complus = Nameable { namespace: "complus", ..gauge("Application", "Calls In Call", "", "") };
    check(&complus, &expect!["perfmon_complus_application_calls_in_call"]);
    check(&gauge("Exporter", "Target Up", "", ""), &expect!["perfmon_counterset_exporter_target_up"]);
    check(
        &counter("RPC/HTTP Proxy", "Requests/sec", "", ""),
        &expect!["perfmon_counterset_rpc_http_proxy_requests_total"],
    );
}

#[test]
fn signs_and_foreign_letters_become_words() {
    for (item, expected) in [
        ("# of Exceps Thrown / sec", expect!["perfmon_x_number_of_exceps_thrown_total"]),
        ("I/O Database Reads/sec", expect!["perfmon_x_io_database_reads_total"]),
        ("Größe", expect!["perfmon_x_gr_uf6_udf_e_total"]),
        ("Total", expect!["perfmon_x_total"]),
        ("\n\"{}", expect!["perfmon_x_total"]),
    ] {
        check(&counter("X", item, "", ""), &expected);
    }
    check(&counter("", "", "", ""), &expect!["perfmon_value_total"]);
}
