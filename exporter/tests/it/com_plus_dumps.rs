//! Dumps of processes of COM+ applications, on the command line: the whole program, the plugins beside it, a simulated host.

use windows_sim::ProcessDump;
use windows_sim::choices::ProcessDumps;

use crate::com_plus::Sim;
use crate::command_plugin::{Installed, told};

/// One run of `comt dump`: exit code, standard output, what it says, and its records for an audit.
struct Dumped {
    code: i32,
    out: String,
    err: String,
    records: Vec<String>,
}

const ALLOWED: &str = r", dump: {allow: true, directories: ['C:\Dumps', 'E:\Dumps']}";

/// Runs `comt dump` where the configuration has these settings.
fn dump_with(settings: &str, sim: &Sim, more: &[&str]) -> Dumped {
    let installed = Installed::with_com_plus();
    installed.folder.write("perfmon.yml", &sim.config_with(settings));
    let container = sim.container();
    let mut words = vec!["comt", "dump", "--config", "perfmon.yml", "--target", "web1"];
    if !more.contains(&"--container") {
        words.extend(["--container", &container]);
    }
    words.extend(more);
    let (code, out, all) = told(&installed.run(&words));
    let (records, said): (Vec<&str>, Vec<&str>) =
        all.lines().partition(|line| line.contains(r#"audit="process_dump""#));
    let records = records.into_iter().map(str::to_owned).collect();
    Dumped { code, out, err: said.join("\n"), records }
}

fn dump(sim: &Sim, more: &[&str]) -> Dumped {
    dump_with(ALLOWED, sim, more)
}

const DIRECTORY: [&str; 2] = ["--directory", r"c:\dumps\"];

#[test]
fn a_dump_is_written_where_the_configuration_allows_it_and_is_recorded() {
    let sim = Sim::new();
    let dumped = dump(&sim, &DIRECTORY);
    assert_eq!((dumped.code, dumped.err.as_str()), (0, ""));
    let path = r"C:\Dumps\{A911CA70-0000-4000-8000-000000000001}-2026_01_01_00_07_07";
    assert_eq!(dumped.out, format!("{path}\n"), "the directory is that of the list");
    let dumps: Vec<String> = sim.host.dumps().iter().map(ProcessDump::path).collect();
    assert_eq!(dumps, [path]);
    let [requested, ended] = &dumped.records[..] else { panic!("{:?}", dumped.records) };
    assert!(requested.contains("Process dump requested"), "{requested}");
    let uid = std::os::unix::fs::MetadataExt::uid(&std::fs::metadata("/proc/self").unwrap()).to_string();
    for part in ["Process dump ended", &uid, "127.0.0.1", &sim.container(), "written: C:", "c:"] {
        assert!(ended.contains(part), "{part}: {ended}");
    }
    // The oldest of more than were asked for is deleted.
    for _ in 0..2 {
        sim.clock.advance(std::time::Duration::from_secs(1));
        assert_eq!(
            dump(&sim, &[&DIRECTORY[..], &["--max-files", "2", "--log.level", "off"]].concat()).code,
            0
        );
    }
    let seconds: Vec<String> =
        sim.host.dumps().iter().map(|dump| dump.path()[path.len() - 2..].into()).collect();
    assert_eq!(seconds, ["08", "09"]);
}

#[test]
fn a_dump_that_is_not_allowed_never_reaches_the_host() {
    let sim = Sim::new();
    let refused: [(&str, &[&str], &str); 9] = [
        ("", &DIRECTORY, "allows no process dumps of 127.0.0.1"),
        (r", dump: {directories: ['C:\Dumps']}", &DIRECTORY, "allows no process dumps"),
        (r", dump: {allow: true, application_directory: true}", &DIRECTORY, "does not name the directory"),
        (ALLOWED, &["--directory", r"C:\Dumps\inside"], "does not name the directory"),
        (ALLOWED, &["--directory", r"\\files\dumps"], "network or device path"),
        (ALLOWED, &["--directory", r"C:\Dumps\..\Windows"], "it contains `.` or `..`"),
        (ALLOWED, &["--directory", "Dumps"], "not absolute"),
        (ALLOWED, &["--directory", "C:/Dumps"], "backslashes"),
        (ALLOWED, &[], "application's own directory"),
    ];
    for (settings, more, reason) in refused {
        let dumped = dump_with(settings, &sim, more);
        assert_eq!((dumped.code, dumped.out.as_str()), (1, ""), "{}", dumped.err);
        assert!(dumped.err.contains(reason), "{reason}: {}", dumped.err);
        assert!(dumped.err.contains("\nnext: "), "{}", dumped.err);
        let [record] = &dumped.records[..] else { panic!("{:?}", dumped.records) };
        assert!(record.contains("refused: ") && record.contains(&sim.container()), "{record}");
    }
    // Nor without a configuration, which could allow it.
    let installed = Installed::with_com_plus();
    let (port, container) = (sim.ports().1.to_string(), sim.container());
    let words = ["comt", "dump", "--target", "127.0.0.1", "--port", &port, "--username", r"CORP\svc"];
    let more = ["--password-file", "password", "--container", &container, "--directory", r"C:\Dumps"];
    let (code, _, err) = told(&installed.run(&[&words[..], &more].concat()));
    assert!(code == 1 && err.contains("allows no process dumps"), "{err}");
    assert_eq!((sim.host.dumps(), sim.dump_calls()), (vec![], (0, 0)));
    assert!(sim.host.accounts().attempts().is_empty(), "nobody logged on");
}

#[test]
fn the_directory_of_the_application_is_used_only_where_that_is_allowed() {
    let sim = Sim::new();
    let dumped = dump_with(", dump: {allow: true, application_directory: true}", &sim, &[]);
    assert!(dumped.out.starts_with(r"C:\Windows\System32\com\dmp\{A911CA70"), "{}{}", dumped.out, dumped.err);
    assert!(dumped.records[1].contains("of the application"), "{:?}", dumped.records);
}

#[test]
fn what_a_host_refuses_is_recorded_and_says_what_to_change() {
    let nobody = "11111111-2222-4333-8444-555555555555";
    let unsupported = |sim: &Sim| {
        sim.host.change_behaviour(|behaviour| {
            behaviour.choices.com_plus.process_dumps = ProcessDumps::Unsupported;
        });
    };
    let rule = |rule: &'static str| {
        move |sim: &Sim| {
            sim.host.change_behaviour(|behaviour| behaviour.rules = vec![rule.parse().unwrap()]);
        }
    };
    type Change = Box<dyn Fn(&Sim)>;

    let cases: [(Change, &[&str], &str, &str); 6] = [
        (Box::new(unsupported), &DIRECTORY, "dump_not_supported", "on the host itself"),
        (
            Box::new(rule("process-dump/8=status:0x80070005")),
            &DIRECTORY,
            "dump_access_denied",
            "role Administrator",
        ),
        (
            Box::new(rule("activator/4=status:0x80070005")),
            &DIRECTORY,
            "com_access_denied",
            "COM+ Network Access",
        ),
        (
            Box::new(|_: &Sim| {}),
            &["--container", nobody, "--directory", r"C:\Dumps"],
            "container_not_found",
            "comt list",
        ),
        (Box::new(|_: &Sim| {}), &["--directory", r"E:\Dumps"], "directory_refused", "Create the directory"),
        (Box::new(rule("process-dump/8=status:0x80004001")), &DIRECTORY, "dump_not_supported", "on the host"),
    ];
    for (change, more, reason, advice) in cases {
        let sim = Sim::new();
        change(&sim);
        let dumped = dump(&sim, more);
        assert_eq!((dumped.code, dumped.out.as_str()), (1, ""), "{reason}: {}", dumped.err);
        assert!(dumped.err.contains(reason) && dumped.err.contains(advice), "{reason}: {}", dumped.err);
        let ended = dumped.records.last().unwrap();
        assert!(ended.contains("failed: ") && ended.contains(reason), "{ended}");
    }
}
