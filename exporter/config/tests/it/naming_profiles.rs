//! Profiles of `naming`: what readers get of the families that a plugin sends, and what is said of wrong files.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use config::{BUILT_IN_PROFILES, Config, built_in_profile, parse};
use expect_test::{Expect, expect, expect_file};
use exposition::testing::plugin::{complete, family, send_column, series};
use exposition::{Format, page};
use plugin_abi::{Column, Display, DropReason, FamilyDef, Kind, Outcome, ValueKind};
use series::model::Target;
use series::pipeline::{Catalog, Limits, MappedSource, NoObserver, Scope, Store};

/// A family with its values, as the plugin for performance counters sends it.
struct Sent {
    object: &'static str,
    item: &'static str,
    part: &'static str,
    kind: Kind,
    unit: &'static str,
    /// Labels and value of each series.
    series: Vec<(Vec<(&'static str, &'static str)>, f64)>,
}

fn sent(
    (object, item, part): (&'static str, &'static str, &'static str),
    kind: Kind,
    unit: &'static str,
    series: &[(&'static str, f64)],
) -> Sent {
    let labels = |instance: &'static str| match instance.split_once('|') {
        _ if instance.is_empty() => vec![],
        Some((process, id)) => vec![("process", process), ("process_id", id)],
        None => vec![("counter_instance", instance)],
    };
    let series = series.iter().map(|&(instance, value)| (labels(instance), value)).collect();
    Sent { object, item, part, kind, unit, series }
}

const ENGINES: &[(&str, f64)] = &[("pid_4_luid_0x00000000_0x0000F78A_phys_0_eng_3_engtype_Copy", 2.5)];

fn profile(naming: &str) -> Config {
    let text = format!("{{plugins: {{load: [pcq]}}, normalize: {{naming: {naming}}}, targets: []}}");
    parse("perfmon.yml", &text, Path::new("/")).unwrap_or_else(|report| panic!("{report}"))
}

fn store(config: &Config) -> Arc<Store> {
    let normalize = config.normalize_all();
    let profile = normalize.profile.clone();
    let scope = Scope::with_profile(Catalog::new(), Target::new("web1"), Limits::default(), profile);
    scope.ruled_store(Arc::new(NoObserver), normalize)
}

fn register(store: &Store, sent: &Sent) -> Result<u32, DropReason> {
    let origin = format!("\\{}\\{}", sent.object, sent.item);
    let def = FamilyDef {
        namespace: "",
        object: sent.object,
        item: sent.item,
        part: sent.part,
        kind: sent.kind,
        unit: sent.unit,
        help: "",
        origin: &origin,
        value: if sent.unit == "seconds" { ValueKind::F64 } else { ValueKind::U64 },
        bounds: &[],
        display: Display::NONE,
    };
    family(store, &def)
}

/// Sends everything in one collection.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small whole numbers")]
fn collect(store: &Store, all: &[Sent]) {
    for sent in all {
        let Ok(family) = register(store, sent) else { continue };
        for (labels, value) in &sent.series {
            let Ok(id) = series(store, family, labels) else { continue };
            let (double, whole) = ([*value], [*value as u64]);
            let column = if sent.unit == "seconds" { Column::F64(&double) } else { Column::U64(&whole) };
            send_column(store, &[id], column);
        }
    }
    complete(store, Outcome::Full);
}

fn page_of(naming: &str, all: &[Sent]) -> String {
    let store = store(&profile(naming));
    collect(&store, all);
    page(Format::Text, vec![store.snapshot()], None)
}

/// A made-up host: of each counterset some counters, with the types and units that they have.
fn host() -> Vec<Sent> {
    use Kind::{Counter, Gauge};
    const CPUS: &[(&str, f64)] = &[("0,0", 10.5), ("0,1", 11.5), ("0,_Total", 11.0), ("_Total", 11.0)];
    const VOLUMES: &[(&str, f64)] = &[("C:", 20.0), ("HarddiskVolume1", 30.0), ("_Total", 50.0)];
    const DISKS: &[(&str, f64)] = &[("0 C: D:", 4.0), ("1", 5.0), ("_Total", 9.0)];
    const NICS: &[(&str, f64)] = &[("Microsoft Hyper-V Network Adapter _2", 1_000_000_004.0)];
    const PROCESSES: &[(&str, f64)] =
        &[("svchost|1124", 7.0), ("svchost#1|1200", 8.0), ("Idle|0", 9.0), ("_Total|0", 24.0)];
    const FILES: &[(&str, f64)] = &[(r"\??\C:\pagefile.sys", 512.0), ("_Total", 512.0)];
    let one = |names, kind, unit, value| sent(names, kind, unit, &[("", value)]);
    vec![
        sent(("Processor Information", "% Idle Time", ""), Counter, "seconds", CPUS),
        sent(("Processor Information", "% User Time", ""), Counter, "seconds", CPUS),
        sent(("Processor Information", "% Processor Time", "inactive"), Counter, "seconds", CPUS),
        sent(("Processor Information", "% C2 Time", ""), Counter, "seconds", CPUS),
        sent(("Processor Information", "% Processor Utility", ""), Counter, "", CPUS),
        sent(("Processor Information", "% Processor Utility", "base"), Counter, "", CPUS),
        sent(
            ("Processor Information", "Processor Frequency", ""),
            Gauge,
            "hertz",
            &[("0,0", 2_400_000_000.0)],
        ),
        sent(("Processor Information", "Interrupts/sec", ""), Counter, "", CPUS),
        one(("Memory", "Available Bytes", ""), Gauge, "bytes", 4096.0),
        one(("Memory", "Commit Limit", ""), Gauge, "", 8192.0),
        one(("Memory", "Page Faults/sec", ""), Counter, "", 77.0),
        one(("Memory", "Pages/sec", ""), Counter, "", 78.0),
        one(("Memory", "Pool Nonpaged Allocs", ""), Gauge, "", 79.0),
        one(("Memory", "Pool Paged Allocs", ""), Gauge, "", 80.0),
        one(("Memory", "Available MBytes", ""), Gauge, "", 3.0),
        one(("SQLServer:Buffer Manager", "Database pages", ""), Gauge, "", 5.0),
        one(("MSSQL$PROD:Buffer Manager", "Database pages", ""), Gauge, "", 6.0),
        sent(("LogicalDisk", "% Free Space", ""), Gauge, "", VOLUMES),
        sent(("LogicalDisk", "% Free Space", "base"), Gauge, "", VOLUMES),
        sent(("LogicalDisk", "Free Megabytes", ""), Gauge, "", VOLUMES),
        sent(("LogicalDisk", "Avg. Disk sec/Read", ""), Counter, "seconds", VOLUMES),
        sent(("LogicalDisk", "Avg. Disk sec/Read", "base"), Counter, "", VOLUMES),
        sent(("LogicalDisk", "Avg. Disk Read Queue Length", ""), Counter, "seconds", VOLUMES),
        sent(("LogicalDisk", "Disk Read Bytes/sec", ""), Counter, "bytes", VOLUMES),
        sent(("LogicalDisk", "Disk Write Bytes/sec", ""), Counter, "bytes", VOLUMES),
        sent(("PhysicalDisk", "% Idle Time", ""), Counter, "seconds", DISKS),
        sent(("PhysicalDisk", "Disk Reads/sec", ""), Counter, "", DISKS),
        sent(("PhysicalDisk", "Disk Read Bytes/sec", ""), Counter, "bytes", DISKS),
        sent(("Network Interface", "Bytes Received/sec", ""), Counter, "bytes", NICS),
        sent(("Network Interface", "Bytes Sent/sec", ""), Counter, "bytes", NICS),
        sent(("Network Interface", "Current Bandwidth", ""), Gauge, "", NICS),
        sent(("Network Interface", "Packets Outbound Errors", ""), Gauge, "", NICS),
        one(("System", "System Up Time", "start_time"), Gauge, "seconds", 1_767_000_000.25),
        one(("System", "Processes", ""), Gauge, "", 90.0),
        one(("System", "Context Switches/sec", ""), Counter, "", 91.0),
        sent(("Process", "% User Time", ""), Counter, "seconds", PROCESSES),
        sent(("Process", "% Privileged Time", ""), Counter, "seconds", PROCESSES),
        sent(("Process", "IO Read Bytes/sec", ""), Counter, "bytes", PROCESSES),
        sent(("Process", "Pool Paged Bytes", ""), Gauge, "bytes", PROCESSES),
        sent(("Process", "Working Set", ""), Gauge, "bytes", PROCESSES),
        sent(("Process", "Elapsed Time", "start_time"), Gauge, "seconds", PROCESSES),
        one(("TCPv4", "Connections Established", ""), Gauge, "", 5.0),
        one(("TCPv6", "Connections Established", ""), Gauge, "", 6.0),
        one(("TCPv4", "Connection Failures", ""), Gauge, "", 7.0),
        one(("UDPv4", "Datagrams Received/sec", ""), Counter, "", 8.0),
        sent(("Paging File", "% Usage", ""), Gauge, "", FILES),
        sent(("Paging File", "% Usage", "base"), Gauge, "", FILES),
        one(("Cache", "Dirty Pages", ""), Gauge, "", 12.0),
        one(("Cache", "Copy Read Hits %", ""), Counter, "", 13.0),
        sent(("GPU Engine", "Running Time", ""), Counter, "seconds", ENGINES),
        sent(("Hyper-V Hypervisor Root Partition", "GPA Pages", ""), Gauge, "", &[("Root", 7.0)]),
        sent(("Hyper-V Hypervisor Root Partition", "4K GPA pages", ""), Gauge, "", &[("Root", 8.0)]),
        sent((".NET CLR Memory", "# Gen 0 Collections", ""), Gauge, "", &[("_Global_", 9.0), ("w3wp", 5.0)]),
        sent(("VM Processor", "CPU stolen time", ""), Gauge, "", &[("_Total", 2_500.0), ("0", 600.0)]),
        sent(("Oven", "Temperature", ""), Gauge, "", &[("Kitchen", 200.0)]),
    ]
}

#[test]
fn each_profile_gives_its_names_types_labels_and_units() {
    for name in BUILT_IN_PROFILES {
        let file = format!("data/naming/{}.txt", name.replace('@', "_"));
        expect_file![file].assert_eq(&page_of(name, &host()));
    }
}

#[test]
fn the_mistakes_of_windows_exporter_are_made_only_when_asked_for() {
    let types = |naming: &str| {
        let page = page_of(naming, &host());
        let names = ["windows_memory_pool_nonpaged_allocs_total", "windows_udp_datagram_received_total"];
        let types = page.lines().filter(|line| {
            line.starts_with("# TYPE") && names.iter().any(|name| line.split(' ').nth(2) == Some(name))
        });
        types.map(|line| line.split(' ').nth(3).unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(types("windows_exporter@0.31"), ["counter", "counter"]);
    assert_eq!(types("{profile: windows_exporter@0.31, bug_compatible: true}"), ["gauge", "gauge"]);
}

#[test]
fn ratios_have_their_bases_as_second_values_by_the_names_of_windows_exporter() {
    let rows = [
        ("DirectoryServices", "DS Name Cache hit rate", "ad_name_cache_lookups_total", "counter", 4_000),
        (
            "SQLServer:Access Methods",
            "Worktables From Cache Ratio",
            "mssql_accessmethods_worktables_from_cache_lookups",
            "untyped",
            4_000,
        ),
        (
            "MSSQL$PROD:Buffer Manager",
            "Buffer cache hit ratio",
            "mssql_bufman_buffer_cache_lookups",
            "gauge",
            4_000,
        ),
        ("SQLServer:Databases", "Log Cache Hit Ratio", "mssql_databases_log_cache_lookups", "gauge", 4_000),
        // It divides both values of the mean by 1,000.
        ("SQLServer:Locks", "Average Wait Time (ms)", "mssql_locks_count", "gauge", 4),
    ];
    for (object, item, name, kind, with_bugs) in rows {
        for (naming, value) in [
            ("windows_exporter@0.31", 4_000),
            ("{profile: windows_exporter@0.31, bug_compatible: true}", with_bugs),
        ] {
            let all = [("", 3_000.0), ("base", 4_000.0)]
                .map(|(part, value)| sent((object, item, part), Kind::Gauge, "", &[("", value)]));
            let page = page_of(naming, &all);
            assert!(page.contains(&format!("# TYPE windows_{name} {kind}\n")), "{page}");
            let sample = page.lines().find(|line| line.starts_with(&format!("windows_{name}{{")));
            assert!(sample.is_some_and(|line| line.ends_with(&format!(" {value}"))), "{naming}: {page}");
        }
    }
}

#[test]
fn others_are_dropped_or_have_their_native_names() {
    let oven = |naming| register(&store(&profile(naming)), host().last().unwrap());
    assert_eq!(oven("windows_exporter@0.31"), Err(DropReason::Rule));
    let native = page_of("{profile: windows_exporter@0.31, others: native}", &host());
    assert!(
        native.contains("\nperfmon_oven_temperature{target=\"web1\",counter_instance=\"Kitchen\"} 200\n")
    );
    assert!(native.contains("\nwindows_memory_available_bytes{target=\"web1\"} 4096\n"));
}

#[test]
fn values_that_a_collection_did_not_bring_are_not_multiplied_again() {
    let store = store(&profile("windows_exporter@0.31"));
    let nic = ("Network Interface", "Current Bandwidth", "");
    let disk = ("LogicalDisk", "% Free Space", "base");
    let host =
        [sent(nic, Kind::Gauge, "", &[("a", 1_000_000_004.0)]), sent(disk, Kind::Gauge, "", &[("C:", 3.0)])];
    collect(&store, &host);
    let text = |store: &Arc<Store>| exposition::testing::plugin::samples(&[store]);
    let expected = text(&store);
    assert!(expected.contains(" 3145728\n") && expected.contains(" 125000000.5\n"), "{expected}");
    for _ in 0..2 {
        complete(&store, Outcome::Partial { families: &[], failure: None });
        assert_eq!(text(&store), expected);
    }
}

#[test]
fn what_a_plugin_says_of_its_own_work_keeps_its_name() {
    let store = store(&profile("windows_exporter@0.31"));
    let def = FamilyDef { namespace: "pcq", ..exposition::testing::plugin::gauge("Memory") };
    assert!(family(&store, &def).is_ok());
}

#[test]
fn facts_of_the_host_that_are_no_counters_have_the_profiles_names() {
    let store = store(&profile("windows_exporter@0.31"));
    let info = |object| FamilyDef {
        namespace: "host",
        object,
        kind: Kind::Info,
        ..exposition::testing::plugin::gauge("Info")
    };
    for (object, label) in [("OS", "product"), ("Name", "fqdn")] {
        let family = family(&store, &info(object)).unwrap();
        let id = series(&store, family, &[(label, "a")]).unwrap();
        send_column(&store, &[id], Column::F64(&[1.0]));
    }
    complete(&store, Outcome::Full);
    let samples = exposition::testing::plugin::samples(&[&store]);
    assert!(samples.contains("windows_os_info{target=\"web1\",product=\"a\"} 1\n"), "{samples}");
    assert!(samples.contains("windows_os_hostname{target=\"web1\",fqdn=\"a\"} 1\n"), "{samples}");
}

#[test]
fn rules_see_the_names_and_labels_of_the_profile() {
    let text = "{plugins: {load: [pcq]}, targets: [], normalize: {naming: windows_exporter@0.31,
        drop: [{name: windows_cpu_.*, labels: {mode: user}}],
        metric_relabel_configs: [{source_labels: [volume], regex: '(.):', target_label: drive}]}}";
    let store = store(&parse("perfmon.yml", text, Path::new("/")).unwrap());
    collect(&store, &host());
    let page = page(Format::Text, vec![store.snapshot()], None);
    assert!(page.contains("core=\"0,0\",mode=\"idle\"") && !page.contains("core=\"0,0\",mode=\"user\""));
    assert!(page.contains("windows_logical_disk_free_bytes{target=\"web1\",drive=\"C\",volume=\"C:\"} 20\n"));
}

/// What is said of a profile file with this text.
fn report(text: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("my.yaml"), text).unwrap();
    let config = "normalize:\n  naming: {file: my.yaml}\n";
    let report = parse("perfmon.yml", config, folder.path()).expect_err("a report");
    report.to_string().replace(&format!("{}/", folder.path().display()), "")
}

fn check(text: &str, expected: &Expect) {
    expected.assert_eq(&report(text));
}

#[test]
fn mistakes_in_a_profile_file_have_its_name_line_and_column() {
    check(
        r"other: native
drop_instances: '('
objects:
  - object: Memory
    metrics:
      - {name: a b, type: gauge, item: Available Bytes}
      - {name: faults, type: counter, item: Page Faults/sec}
      - {name: x_bytes, type: gage, item: X}
      - {name: y_bytes, type: gauge, unit: seconds, item: Y}
      - {name: z, type: gauge, item: Z, multiply: -1}
      - {name: perfmon_exporter_up, type: gauge, item: U}
      - {name: w, type: gauge, item: W, labels: {target: a, b: {form: c}}}
      - {name: v, type: gauge, items: [{item: A, part: bass}]}
  - metrics: []
  - {object: 'A*:*', metrics: []}
",
        &expect![[r#"
            perfmon.yml:2:18: normalize.naming.file: `my.yaml` has 14 mistakes
            my.yaml:1:1: unknown key `other`; did you mean `others`?
            my.yaml:2:17: drop_instances: `(` is not a valid regular expression: unclosed group
            my.yaml:6:16: objects[0].metrics[0].name: `a b` is not a valid metric name
            my.yaml:7:16: objects[0].metrics[1].name: does not end in `_total`, as one of this type does
            my.yaml:8:31: objects[0].metrics[2].type: `gage` is not a choice; did you mean `gauge`?
            my.yaml:9:44: objects[0].metrics[3].unit: `seconds` is not at the end of the name
            my.yaml:10:51: objects[0].metrics[4].multiply: is not a number above 0
            my.yaml:11:16: objects[0].metrics[5].name: names that begin with `perfmon_exporter_` are the exporter's own
            my.yaml:12:50: objects[0].metrics[6].labels: `target` is not a label's name; use letters, digits and `_`, and none of the exporter's own labels
            my.yaml:12:64: objects[0].metrics[6].labels.b: `from` is missing; name a label of the source, such as `counter_instance`
            my.yaml:12:65: objects[0].metrics[6].labels.b: unknown key `form`; did you mean `from`?
            my.yaml:13:56: objects[0].metrics[7].items[0].part: `bass` is not a choice; did you mean `base`?
            my.yaml:14:5: objects[1]: `object` is missing; name the counterset
            my.yaml:15:14: objects[2].object: `A*:*` has more than one `*`; one can be used"#]],
    );
    check(
        "objects: [",
        &expect![[r#"
        perfmon.yml:2:18: normalize.naming.file: `my.yaml` has a mistake
        my.yaml:1:10: unclosed bracket '['"#]],
    );
    check(
        "extends: windows_exporter@0.3\nwithout: [a]\n",
        &expect![[r#"
            perfmon.yml:2:18: normalize.naming.file: `my.yaml` has 2 mistakes
            my.yaml:1:10: extends: there is no profile `windows_exporter@0.3`; did you mean `windows_exporter@0.30`?
            my.yaml:2:11: without[0]: the extended profile has no metric `a`"#]],
    );
}

#[test]
fn entries_that_take_one_family_or_make_one_series_are_refused() {
    check(
        r"objects:
  - object: Memory
    metrics:
      - {name: a, type: gauge, item: A}
      - {name: b, type: gauge, item: a}
      - {name: c, type: gauge, item: C, labels: {mode: x}}
      - {name: c, type: gauge, item: D, labels: {mode: x}}
      - {name: c, type: gauge, item: E, labels: {mode: {from: counter_instance}}}
      - {name: c, type: unknown, item: F, labels: {mode: y}}
      - {name: c, type: gauge, item: G, labels: {mode: z}}
  - {object: [Disk, memory], metrics: [{name: d, type: gauge, item: C}]}
",
        &expect![[r#"
            perfmon.yml:2:18: normalize.naming.file: `my.yaml` has 6 mistakes
            my.yaml:5:9: objects[0].metrics[1]: takes the same family as the one on line 4; remove one of them
            my.yaml:7:9: objects[0].metrics[3]: makes the same series of `c` as the one on line 6; give them different values of a label
            my.yaml:8:9: objects[0].metrics[4]: makes the same series of `c` as the one on line 6; give them different values of a label
            my.yaml:9:9: objects[0].metrics[5]: has another type, unit or help than the one on line 6, which also makes `c`; write the same in both
            my.yaml:10:9: objects[0].metrics[6]: makes the same series of `c` as the one on line 8; give them different values of a label
            my.yaml:11:40: objects[1].metrics[0]: takes the same family as the one on line 6; remove one of them"#]],
    );
    check(
        "extends: windows_exporter@0.31\nobjects: [{object: X, metrics: [{name: windows_system_threads, type: gauge, item: X}]}]\n",
        &expect![[r#"
            perfmon.yml:2:18: normalize.naming.file: `my.yaml` has a mistake
            my.yaml:2:33: objects[0].metrics[0]: makes the same series of `windows_system_threads` as one of the extended profile; give them different values of a label"#]],
    );
}

#[test]
fn a_file_extends_a_profile_and_has_its_own_entries_first() {
    let folder = tempfile::tempdir().unwrap();
    let text = r"extends: windows_exporter@0.31
without: [windows_memory_commit_limit]
others: native
objects:
  - {object: Oven, labels: {room: {from: counter_instance}}, metrics: [{name: oven_celsius, type: gauge, unit: celsius, item: Temperature, help: Hot.}]}
  - {object: Memory, metrics: [{name: free_kibibytes, type: gauge, item: Available Bytes, divide: 1024}]}
";
    fs::write(folder.path().join("my.yaml"), text).unwrap();
    let config = "plugins: {load: [pcq]}\nnormalize: {naming: {file: my.yaml}}\n";
    let store = store(&parse("perfmon.yml", config, folder.path()).unwrap());
    collect(&store, &host());
    let page = page(Format::OpenMetrics, vec![store.snapshot()], None);
    for expected in [
        "# HELP oven_celsius Hot. \\\\Oven\\\\Temperature\n",
        "# UNIT oven_celsius celsius\noven_celsius{target=\"web1\",room=\"Kitchen\"} 200\n",
        "\nfree_kibibytes{target=\"web1\"} 4\n",
        "\nperfmon_memory_commit_limit{target=\"web1\"} 8192\n",
        "\nwindows_system_processes{target=\"web1\"} 90\n",
    ] {
        assert!(page.contains(expected), "{expected}: {page}");
    }
    assert!(!page.contains("windows_memory_available_bytes"));
}

#[test]
fn a_mistake_in_naming_itself_has_a_way_out() {
    let check = |naming: &str, expected: Expect| {
        let text = format!("normalize: {{naming: {naming}}}\n");
        let report = parse("perfmon.yml", &text, Path::new("/")).expect_err("a report");
        expected.assert_eq(&report.to_string());
    };
    check(
        "windows_exporter@0.32",
        expect![
            "perfmon.yml:1:21: normalize.naming: `windows_exporter@0.32` is not a choice; did you mean `windows_exporter@0.30`?"
        ],
    );
    check(
        "{profil: x}",
        expect![[r#"
        perfmon.yml:1:21: normalize.naming: has neither `profile` nor `file`; name a profile, or a file
        perfmon.yml:1:22: normalize.naming: unknown key `profil`; did you mean `profile`?"#]],
    );
    check(
        "{profile: windows_exporter@0.31, file: a.yaml, others: keep}",
        expect![[r#"
        perfmon.yml:1:60: normalize.naming.file: cannot be combined with `profile`; remove one of them
        perfmon.yml:1:76: normalize.naming.others: `keep` is not a choice; there is `drop`, `native`"#]],
    );
    check(
        "{file: missing.yaml}",
        expect![
            "perfmon.yml:1:28: normalize.naming.file: `/missing.yaml`: cannot be read: No such file or directory (os error 2)"
        ],
    );
    check("[native]", expect!["perfmon.yml:1:21: normalize.naming: expected a mapping, found a list"]);
}

/// What windows_exporter takes for a count, and what goes down again, is a share, or is of a type that says so itself.
const NO_COUNTS: &[&str] = &[
    "# of CCWs",
    "# of Stubs",
    "Bandwidth Savings Using DFS Replication",
    "CPU Wait Time Per Dispatch",
    "CPU stolen time",
    "Clock Frequency Adjustment (ppb)",
    "DS Name Cache hit rate",
    "DS Security Descriptor Propagator Runtime Queue",
    "NonSnapshot Version Transactions",
    "Pending Connections",
    "Queue Length Peak",
    "Read Count",
    "Snapshot Transactions",
    "Throughput",
    "Update Snapshot Transactions",
    "Update conflict ratio",
    "Write Count",
];

/// What windows_exporter takes for a state, and what only grows.
const NO_STATES: &[&str] = &["RejectedRequests"];

// A count is a counter whoever names it: native names and OTLP have the kind from the table, profiles from their files.
#[test]
fn what_a_profile_takes_for_a_count_is_one_by_its_native_name() {
    let is_count = |object: &str, item: &str| {
        counter_types::quantity(object, item).is_some_and(|known| known.kind == counter_types::Kind::Counter)
    };
    // Their types say that they grow.
    let is_typed = |item: &str| {
        let item = item.to_lowercase();
        ["/sec", "/ sec", "%"].iter().any(|word| item.contains(word)) || item.starts_with("avg.")
    };
    let mut seen = 0;
    for profile in BUILT_IN_PROFILES {
        let map = built_in_profile(profile, false).unwrap();
        let own = |source: &&MappedSource| source.namespace.is_empty() && source.part.is_empty();
        for MappedSource { kind, objects, item, .. } in map.sources().iter().filter(own) {
            let expected = match kind {
                Kind::Counter if is_typed(item) => continue,
                Kind::Counter => !NO_COUNTS.contains(&&**item),
                _ => NO_STATES.contains(&&**item),
            };
            seen += usize::from(expected);
            for object in objects {
                assert_eq!(is_count(object, item), expected, "{profile}: {object}, {item}");
            }
        }
    }
    assert!(seen > 500, "{seen} counts of profiles");
}
