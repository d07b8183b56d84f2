//! Facts of a host that are no counters, from its registry and from the clocks of its replies.

use std::time::{Duration, SystemTime};

use plugin_host::testing::{RecordedOutcome, Value};
use serde_json::json;
use windows_sim::registry::RegistryValue;
use wire::FileTime;

use crate::world::{BOOT, Ended, NOON, Plugin, SimHost, Watch};

const CURRENT_VERSION: &str = r"SOFTWARE\Microsoft\Windows NT\CurrentVersion";
const TIME_ZONE: &str = r"SYSTEM\CurrentControlSet\Control\TimeZoneInformation";
const MEMORY: &str = r"HARDWARE\RESOURCEMAP\System Resources\Physical Memory";
const SERVICES: &str = r"SYSTEM\CurrentControlSet\Services";
/// A pipe that is not kept open for classic objects.
const V2: &str = "Processor Information";

fn watch(sim: &SimHost, counterset: &str, max_services: u32) -> Watch {
    Plugin::new().watch(sim, settings(counterset, max_services))
}

fn settings(counterset: &str, max_services: u32) -> serde_json::Value {
    json!({"countersets": [{"name": counterset}], "host_info": true, "max_services": max_services})
}

/// The series of facts that came with this collection, without the clock, whose value nobody knows.
fn facts(ended: &Ended) -> Vec<String> {
    let is_fact = |line: &String| {
        let object = line.split('|').next().unwrap();
        let own = [
            "OS",
            "Name",
            "Memory",
            "Processors",
            "Processor",
            "Time Zone",
            "Paging File",
            "Service",
            "Boot",
        ];
        own.contains(&object) || object == "Host Info"
    };
    ended.series().into_iter().filter(is_fact).collect()
}

#[track_caller]
fn assert_has(ended: &Ended, line: &str) {
    let facts = facts(ended);
    assert!(facts.iter().any(|fact| fact == line), "{line} is not among {facts:#?}");
}

/// Methods of the registry so far.
fn registry_calls(sim: &SimHost) -> u64 {
    (0..40).map(|opnum| sim.host.counts().calls("winreg", opnum)).sum()
}

fn unix(time: FileTime) -> f64 {
    (time.to_unix_nanos() / 1_000_000) as f64 / 1e3
}

#[test]
fn a_host_tells_what_it_is_and_when_it_was_started() {
    let sim = SimHost::new();
    let ended = watch(&sim, V2, 0).full();
    let installed = BOOT.to_unix_nanos() / 1_000_000_000 - 200 * 86_400;
    let expected = [
        format!("Boot|Time|{{}} = Some(F64({:?}))", unix(BOOT)),
        "Memory|Physical Total|{} = Some(U64(17179869184))".to_owned(),
        "Name|Info|{hostname=web1,domain=corp.example,fqdn=web1.corp.example} = Some(U64(1))".to_owned(),
        "OS|Info|{product=Windows Server 2022 Standard,version=10.0.20348,major_version=10,minor_version=0,\
         build_number=20348,revision=2762,installation_type=Server} = Some(U64(1))"
            .to_owned(),
        format!("OS|Install Time|{{}} = Some(U64({installed}))"),
        r"Paging File|Max Size|{file=c:\pagefile.sys} = Some(U64(2147483648))".to_owned(),
        "Processors|Logical|{} = Some(U64(4))".to_owned(),
        "Processor|Frequency|{} = Some(U64(3000000000))".to_owned(),
        "Processor|Info|{name=Intel(R) Xeon(R) Gold 6354 CPU @ 3.00GHz,vendor=GenuineIntel} = Some(U64(1))"
            .to_owned(),
        "Time Zone|Info|{time_zone=W. Europe Standard Time} = Some(U64(1))".to_owned(),
        "Time Zone|Offset|{} = Some(I64(3600))".to_owned(),
    ];
    assert_eq!(facts(&ended), expected);
}

#[test]
fn facts_are_off_unless_they_are_wanted_and_end_when_they_are_not_any_more() {
    let sim = SimHost::new();
    let off = json!({"countersets": [{"name": V2}]});
    let plugin = Plugin::new();
    let watch = plugin.watch(&sim, off.clone());
    assert_eq!(facts(&watch.full()), [""; 0]);
    assert_eq!((registry_calls(&sim), sim.logons().0), (0, 2));
    watch.reconfigure(json!({"countersets": [{"name": V2}], "host_info": true}));
    assert_has(&watch.full(), "Processors|Logical|{} = Some(U64(4))");
    watch.reconfigure(off);
    assert_eq!(facts(&watch.full()), [""; 0]);
}

#[test]
fn once_they_are_read_there_is_no_call_until_the_connection_is_another_one() {
    let sim = SimHost::new();
    let watch = watch(&sim, V2, 500);
    let first = facts(&watch.full());
    let (calls, logons) = (registry_calls(&sim), sim.logons().0);
    assert!(calls > 100, "{calls}");
    for _ in 0..3 {
        assert_eq!(facts(&watch.full()), first);
    }
    assert_eq!((registry_calls(&sim), sim.logons().0), (calls, logons));

    sim.host.registry().set_value(CURRENT_VERSION, "UBR", RegistryValue::dword(3_000), NOON);
    assert_eq!(facts(&watch.full()), first);
    sim.cut();
    let ended = watch.full();
    let revisions: Vec<String> =
        facts(&ended).into_iter().filter(|fact| fact.starts_with("OS|Info")).collect();
    assert_eq!(revisions.len(), 1, "{revisions:?}");
    assert!(revisions[0].contains("revision=3000"), "{revisions:?}");
    let again = registry_calls(&sim) - calls;
    assert!(again < 50, "services were read, too: {again}");
}

#[test]
fn a_key_that_is_missing_costs_its_own_facts_alone() {
    let sim = SimHost::new();
    let all = facts(&watch(&sim, V2, 0).full()).len();
    assert!(sim.host.registry().remove_key(r"HARDWARE\DESCRIPTION\System\CentralProcessor", NOON));
    assert!(sim.host.registry().remove_value(TIME_ZONE, "ActiveTimeBias", NOON));
    let ended = watch(&sim, V2, 0).full();
    for fact in ["processor", "processor_frequency", "processors_logical", "time_zone_offset"] {
        assert_has(&ended, &format!("Host Info|Missing|{{fact={fact},reason=not_found}} = Some(U64(1))"));
    }
    assert_eq!(facts(&ended).len(), all, "four are missing, and as many say so");
}

#[test]
fn a_value_that_is_malformed_costs_its_own_fact_alone() {
    let sim = SimHost::new();
    let set = |path: &str, name: &str, value| sim.host.registry().set_value(path, name, value, NOON);
    let all = facts(&watch(&sim, V2, 0).full()).len();
    let mut list = sim.host.registry().key(MEMORY).unwrap().values[0].1.clone();
    list.bytes[16..20].copy_from_slice(&u32::MAX.to_le_bytes());
    set(MEMORY, ".Translated", list);
    set(CURRENT_VERSION, "InstallDate", RegistryValue::text("yesterday"));
    set(CURRENT_VERSION, "UBR", RegistryValue::qword(1));
    set(TIME_ZONE, "ActiveTimeBias", RegistryValue::dword(1_000_000));
    let ended = watch(&sim, V2, 0).full();
    for fact in ["memory_physical_total", "os", "os_install_time", "time_zone_offset"] {
        assert_has(&ended, &format!("Host Info|Missing|{{fact={fact},reason=malformed}} = Some(U64(1))"));
    }
    assert_eq!(facts(&ended).len(), all);
}

#[test]
fn a_text_without_end_and_a_value_that_is_too_large_are_bounded() {
    let sim = SimHost::new();
    let registry = sim.host.registry();
    registry.set_value(CURRENT_VERSION, "ProductName", RegistryValue::text(&"W".repeat(20_000)), NOON);
    let mut list = registry.key(MEMORY).unwrap().values[0].1.clone();
    list.bytes.resize(1 << 20, 0);
    registry.set_value(MEMORY, ".Translated", list, NOON);
    let ended = watch(&sim, V2, 0).full();
    let facts = facts(&ended);
    let os = facts.iter().find(|fact| fact.starts_with("OS|Info")).unwrap();
    assert_eq!(os.matches('W').count(), 256);
    assert_has(&ended, "Host Info|Missing|{fact=memory_physical_total,reason=limit_exceeded} = Some(U64(1))");
}

#[test]
fn a_key_that_may_not_be_read_costs_its_own_facts_and_nothing_else() {
    let sim = SimHost::new();
    // Opening a key, the third time: that of the memory.
    sim.rule("winreg/15+2x1=status:5");
    let ended = watch(&sim, V2, 0).full();
    assert_has(&ended, "Host Info|Missing|{fact=memory_physical_total,reason=access_denied} = Some(U64(1))");
    assert_has(&ended, "Processors|Logical|{} = Some(U64(4))");
}

#[test]
fn a_registry_that_is_not_opened_costs_no_counter_and_is_left_alone_for_a_while() {
    let sim = SimHost::new();
    sim.rule("winreg/2=status:5");
    let plugin = Plugin::new();
    let watch = plugin.watch(&sim, settings(V2, 500));
    let ended = watch.full();
    assert_has(&ended, "Host Info|Missing|{fact=os,reason=access_denied} = Some(U64(1))");
    assert_has(&ended, "Host Info|Missing|{fact=service,reason=access_denied} = Some(U64(1))");
    assert_has(&ended, &format!("Boot|Time|{{}} = Some(F64({:?}))", unix(BOOT)));
    assert!(ended.instances().len() > 3, "counters are there");
    let calls = registry_calls(&sim);
    for _ in 0..10 {
        watch.full();
    }
    assert_eq!(registry_calls(&sim), calls);
    sim.heal();
    plugin.advance(Duration::from_secs(60));
    let healed = facts(&watch.full());
    assert!(healed.iter().any(|fact| fact.starts_with("OS|")), "it is asked again: {healed:?}");
    assert!(!healed.iter().any(|fact| fact.starts_with("Host Info")), "{healed:?}");
}

#[test]
fn a_registry_that_hangs_or_loses_the_pipe_costs_no_counter() {
    for rule in ["winreg/17+3x1=stall", "winreg/17+3x1=truncate", "winreg/17+3x1=fault:0x5"] {
        let sim = SimHost::new();
        sim.rule(rule);
        let watch = watch(&sim, V2, 0);
        let ended = watch.collect_within(Duration::from_secs(4));
        assert_eq!(ended.outcome, RecordedOutcome::Full, "{rule}");
        assert!(ended.instances().len() > 3, "{rule}: counters are there");
        assert_has(&ended, "Host Info|Missing|{fact=time_zone,reason=unavailable} = Some(U64(1))");
    }
}

#[test]
fn a_pipe_that_was_lost_since_is_opened_again_for_what_is_due() {
    let sim = SimHost::new();
    let plugin = Plugin::new();
    // The pipe is kept for classic objects.
    let watch = plugin.watch(&sim, json!({"countersets": [{"name": "System"}]}));
    watch.full();
    // The search for classic objects opens the root once before.
    sim.rule("winreg/2+1x1=truncate");
    watch.reconfigure(json!({"countersets": [{"name": "System"}], "host_info": true}));
    assert_has(&watch.full(), "Processors|Logical|{} = Some(U64(4))");
    assert_has(&watch.full(), "Processors|Logical|{} = Some(U64(4))");
}

#[test]
fn services_show_how_they_start_and_drivers_are_left_out() {
    let sim = SimHost::new();
    let set = |service: &str, name: &str, value| {
        sim.host.registry().set_value(&format!(r"{SERVICES}\{service}"), name, value, NOON);
    };
    set("Spooler", "DisplayName", RegistryValue::text(r"@%systemroot%\system32\spoolsv.exe,-1"));
    set("Winmgmt", "Start", RegistryValue::dword(7));
    let ended = watch(&sim, V2, 500).full();
    let service = |name, display_name, start_mode, run_as| {
        format!(
            "Service|Info|{{name={name},display_name={display_name},start_mode={start_mode},run_as={run_as}}} = \
             Some(U64(1))"
        )
    };
    assert_has(
        &ended,
        &service(
            "SstpSvc",
            "Secure Socket Tunneling Protocol Service",
            "disabled",
            r"NT AUTHORITY\LocalService",
        ),
    );
    assert_has(&ended, &service("wuauserv", "Windows Update", "manual", "LocalSystem"));
    assert_has(&ended, &service("Spooler", "", "auto", "LocalSystem"));
    let facts = facts(&ended);
    for absent in ["name=ACPI,", "name=Ntfs,", "name=Winmgmt,"] {
        assert!(!facts.iter().any(|fact| fact.contains(absent)), "{absent}");
    }
}

#[test]
fn more_services_than_the_limit_are_reported() {
    let sim = SimHost::new();
    let ended = watch(&sim, V2, 5).full();
    assert_eq!(facts(&ended).iter().filter(|fact| fact.starts_with("Service|")).count(), 5);
    assert_has(&ended, "Host Info|Missing|{fact=service,reason=limit_exceeded} = Some(U64(1))");
}

#[test]
fn a_slow_host_shows_its_services_after_several_collections() {
    let sim = SimHost::new();
    sim.rule("winreg/9=delay:40ms");
    let watch = watch(&sim, V2, 500);
    let count = |ended: &Ended| facts(ended).iter().filter(|fact| fact.starts_with("Service|")).count();
    let counts: Vec<usize> = (0..20).map(|_| count(&watch.collect_within(Duration::from_secs(2)))).collect();
    assert_eq!(counts[0], 0, "{counts:?}");
    assert!(counts[19] > 20, "{counts:?}");
    let not_zero = counts.iter().filter(|count| **count > 0);
    assert!(not_zero.clone().all(|count| *count == counts[19]), "all at once: {counts:?}");
}

/// Of the last collection.
fn skew(ended: &Ended) -> Option<f64> {
    let families = &ended.recorded.families;
    let is_skew = |family: u32| families[family as usize].object == "Clock";
    let series = ended.recorded.series.iter().find(|series| is_skew(series.family) && !series.retired)?;
    match series.value {
        Some(Value::F64(seconds)) => Some(seconds),
        ref other => panic!("{other:?}"),
    }
}

#[test]
fn the_skew_is_the_hosts_clock_minus_ours() {
    // One by MS-PCQ, and one classic object whose reply comes with the second collection alone.
    for counterset in [V2, "System"] {
        let sim = SimHost::new();
        let watch = watch(&sim, counterset, 0);
        watch.full();
        let ours = || SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs_f64();
        let before = ours();
        let ended = watch.full();
        let after = ours();
        let skew = skew(&ended).unwrap();
        let (least, most) = (unix(NOON) - after, unix(NOON) - before);
        assert!((least - 1e-3..=most + 1e-3).contains(&skew), "{skew} of {least} to {most}");
        assert_has(&ended, &format!("Boot|Time|{{}} = Some(F64({:?}))", unix(BOOT)));
    }
}
