//! What the log and the account say of a target that comes and goes.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use expect_test::{Expect, expect};
use parking_lot::Mutex;
use plugin_abi::{CollectionId, Completion, Failure, GeneralReason, Outcome, Stage, StageReport};
use series::pipeline::StoreObserver;
use support::telemetry::Timings;
use targets::schedule::{Deadlines, Driver, Ending, JobId, Limits, Planner, Schedule};
use targets::{AlertLines, Costs, JobObserver, TargetHealth, TargetRegistry, TargetState, ending};

#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<u8>>>);

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// A target with these modules.
fn entry(modules: &str) -> Arc<TargetState> {
    let text = format!(
        "plugins: {{load: [pcq]}}\nmodules: {{os: {{plugin: pcq}}, iis: {{plugin: pcq}}}}\n\
         targets: [{{host: web1, modules: [{modules}]}}]\n"
    );
    let config = config::parse("perfmon.yml", &text, Path::new("/")).unwrap();
    Arc::new(TargetState::new(&config.targets[0], Some(445)))
}

/// A schedule to which nobody listens.
fn schedule() -> Schedule {
    struct NoDeadlines;
    impl Deadlines for NoDeadlines {
        fn keep(&self) -> Option<Duration> {
            None
        }
    }
    let limits = Limits { running_max: 1, connecting_max: 1, connect_rate: 1 };
    Driver::new(Planner::new(limits, 1, Instant::now()), Arc::new(NoDeadlines)).1
}

fn observer(entry: &Arc<TargetState>, module: usize) -> JobObserver {
    JobObserver {
        entry: Arc::downgrade(entry),
        module,
        job: JobId(1),
        plugin: "pcq".to_owned(),
        schedule: schedule(),
        reporter: None,
        alerts: None,
        ended: AtomicU64::default(),
        alert_lines: AlertLines::default(),
        costs: Costs::new(&Timings::default()).of("pcq"),
    }
}

fn failed(stage: Stage, reason: GeneralReason) -> Outcome<'static> {
    Outcome::Failed(Failure::new(stage, reason, "details"))
}

fn refused() -> Outcome<'static> {
    failed(Stage::Tcp, GeneralReason::ConnectionRefused)
}

/// What the log says while `work` is done.
fn log_of(work: impl FnOnce()) -> String {
    let kept = Kept::default();
    let writer = kept.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_writer(move || writer.clone())
        .without_time()
        .with_target(false)
        .with_ansi(false)
        .finish();
    tracing::subscriber::with_default(subscriber, work);
    let log = String::from_utf8(kept.0.lock().clone()).unwrap();
    // Levels are padded; lines that begin with a space would depend on how this file is indented.
    let lines: Vec<&str> = log.lines().map(str::trim).collect();
    lines.join("\n")
}

/// Ends a collection of one of the target's modules with so many series.
fn end(entry: &Arc<TargetState>, module: usize, outcome: &Outcome<'_>, series: usize) {
    entry.started(module, Duration::from_secs(5));
    let completion = Completion { outcome: outcome.clone(), stages: &[] };
    observer(entry, module).completed(CollectionId(1), &completion, series);
}

/// Ends collections of the target's modules one after the other; answers the log.
fn play(entry: &Arc<TargetState>, ends: &[(usize, Outcome<'_>)]) -> String {
    log_of(|| ends.iter().for_each(|(module, outcome)| end(entry, *module, outcome, 7)))
}

fn check(modules: &str, ends: &[(usize, Outcome<'_>)], expected: &Expect) {
    expected.assert_eq(&play(&entry(modules), ends));
}

#[test]
fn the_log_has_one_line_for_each_change_and_none_for_each_collection() {
    let ends = [
        (0, Outcome::Full),
        (0, Outcome::Full),
        (0, refused()),
        (0, refused()),
        (0, failed(Stage::Auth, GeneralReason::CredentialsWithheld)),
        (0, Outcome::Full),
        (0, Outcome::Full),
    ];
    check(
        "os",
        &ends,
        &expect![[r#"
            INFO Target is up target="web1" host="web1" port=445 series=7
            WARN Target is down target="web1" host="web1" port=445 module="os" stage=tcp reason="connection_refused" detail="details" next_step="Check that the service is started and that the host's firewall allows its port (SMB: TCP 445, rule `File and Printer Sharing (SMB-In)`)." help="perfmon-exporter explain connection_refused"
            WARN Target is down target="web1" host="web1" port=445 module="os" stage=auth reason="credentials_withheld" detail="details" next_step="Add the host to the identity's allow_hosts, or make the file of the password, keys or tickets readable." help="perfmon-exporter explain credentials_withheld"
            INFO Target is up again target="web1" host="web1" port=445 series=7 down_s=0"#]],
    );
}

#[test]
fn a_target_is_up_when_all_of_its_modules_are_and_down_when_none_is() {
    check("os, iis", &[(0, Outcome::Full)], &expect![""]);
    let bad = || failed(Stage::Query, GeneralReason::ServerFault);
    check("os, iis", &[(0, bad())], &expect![""]);
    let ends = [(0, Outcome::Full), (1, bad()), (0, bad()), (0, Outcome::Full), (1, Outcome::Full)];
    check(
        "os, iis",
        &ends,
        &expect![[r#"
            WARN Target is partial target="web1" host="web1" port=445 module="iis" stage=query reason="server_fault" detail="details" next_step="Check the host's event log; the message has the status." help="perfmon-exporter explain server_fault" series=14
            WARN Target is down target="web1" host="web1" port=445 module="os" stage=query reason="server_fault" detail="details" next_step="Check the host's event log; the message has the status." help="perfmon-exporter explain server_fault"
            WARN Target is partial target="web1" host="web1" port=445 module="iis" stage=query reason="server_fault" detail="details" next_step="Check the host's event log; the message has the status." help="perfmon-exporter explain server_fault" series=14
            INFO Target is up again target="web1" host="web1" port=445 series=14 partial_s=0"#]],
    );
    // What is not reached for one module is not for the others either, which are not tried.
    check(
        "os, iis",
        &[(1, refused())],
        &expect![[
            r#"WARN Target is down target="web1" host="web1" port=445 module="iis" stage=tcp reason="connection_refused" detail="details" next_step="Check that the service is started and that the host's firewall allows its port (SMB: TCP 445, rule `File and Printer Sharing (SMB-In)`)." help="perfmon-exporter explain connection_refused""#
        ]],
    );
}

#[test]
fn a_collection_that_covers_a_part_is_partial_and_says_so_once() {
    let part = || {
        let failure = Failure::new(Stage::Query, GeneralReason::NotFound, "no counterset `X`");
        Outcome::Partial { families: &[], failure: Some(failure) }
    };
    let ends = [(0, part()), (0, part()), (0, Outcome::Full)];
    check(
        "os",
        &ends,
        &expect![[r#"
            WARN Target is partial target="web1" host="web1" port=445 module="os" stage=query reason="not_found" detail="no counterset `X`" next_step="Compare the names in the module with what the target offers." help="perfmon-exporter explain not_found" series=7
            INFO Target is up again target="web1" host="web1" port=445 series=7 partial_s=0"#]],
    );
}

#[test]
fn the_account_counts_what_happened() {
    let entry = entry("os");
    play(&entry, &[(0, Outcome::Full), (0, refused()), (0, refused())]);
    let status = entry.status();
    assert_eq!(status.health(), TargetHealth::Down);
    let job = &status.jobs[0];
    assert_eq!((job.full, job.part, job.failed), (1, 0, 2));
    assert_eq!(job.failures[&(Stage::Tcp, "connection_refused".to_owned())], 2);
    assert!(status.last_success_unix_s().is_some());
    assert_eq!(status.down().unwrap().next_step, GeneralReason::ConnectionRefused.next_step());
}

#[test]
fn stages_are_kept_for_the_last_collection_and_summed_over_all() {
    let entry = entry("os");
    let observer = observer(&entry, 0);
    for calls in [3, 4] {
        let report = StageReport {
            stage: Stage::Query,
            start_ns: 0,
            duration_ns: 1_000,
            calls,
            bytes_in: 10,
            bytes_out: 20,
        };
        observer.completed(CollectionId(calls), &Completion { outcome: Outcome::Full, stages: &[report] }, 1);
    }
    let status = entry.status();
    let query = Stage::ALL.iter().position(|stage| *stage == Stage::Query).unwrap();
    assert_eq!(status.jobs[0].last_stages[query].calls, 4);
    assert_eq!(status.jobs[0].total_stages[query].calls, 7);
    assert_eq!(status.jobs[0].total_stages[query].bytes_in, 20);
}

#[test]
fn the_schedule_hears_whether_the_target_was_reached() {
    assert_eq!(ending(&Outcome::Full), Ending::Good);
    assert_eq!(ending(&refused()), Ending::Unreachable { retry_after: None });
    assert_eq!(ending(&failed(Stage::Query, GeneralReason::ServerFault)), Ending::Bad { retry_after: None });
    let retry_after = Some(Duration::from_secs(300));
    for (stage, expected) in
        [(Stage::Pipe, Ending::Unreachable { retry_after }), (Stage::Query, Ending::Bad { retry_after })]
    {
        let failure = Failure { retry_after, ..Failure::new(stage, GeneralReason::Busy, "") };
        assert_eq!(ending(&Outcome::Failed(failure)), expected);
    }
}

#[test]
fn a_module_that_matches_nothing_is_told_once_and_until_it_does() {
    let entry = entry("os, iis");
    let matches_nothing = |entry: &TargetState| -> Vec<bool> {
        entry.status().jobs.iter().map(|job| job.matches_nothing).collect()
    };
    let log = log_of(|| {
        end(&entry, 0, &Outcome::Full, 7);
        end(&entry, 1, &Outcome::Full, 0);
        end(&entry, 1, &Outcome::Full, 0);
        assert_eq!(matches_nothing(&entry), [false, true]);
        // Of a target that is down nothing is known; when it is back it is no news.
        end(&entry, 1, &refused(), 0);
        assert_eq!(matches_nothing(&entry), [false, false]);
        end(&entry, 1, &Outcome::Full, 0);
        end(&entry, 1, &Outcome::Full, 3);
    });
    assert_eq!(matches_nothing(&entry), [false, false]);
    let told: Vec<&str> = log.lines().filter(|line| line.contains("Module")).collect();
    expect![[r#"
        WARN Module matches nothing on the target target="web1" module="iis" next_step="compare its names and patterns with what the target offers: `perfmon-exporter --help` shows the commands that list it"
        INFO Module matches something again target="web1" module="iis" series=3"#]]
    .assert_eq(&told.join("\n"));
}

#[test]
fn of_a_target_that_was_removed_nothing_more_is_said_or_counted() {
    let entry = entry("os");
    let log = log_of(|| {
        end(&entry, 0, &Outcome::Full, 7);
        entry.end();
        end(&entry, 0, &failed(Stage::Plugin, GeneralReason::Cancelled), 0);
    });
    assert_eq!(log.lines().count(), 1, "{log}");
    assert_eq!(entry.status().jobs[0].failed, 0);
}

#[test]
fn sixty_targets_that_are_up_again_at_once_are_a_handful_of_lines_and_the_first_of_them_are_named() {
    let mut text =
        "plugins: {load: [pcq]}\nmodules: {os: {plugin: pcq}}\ntarget_defaults: {modules: [os]}\ntargets:\n"
            .to_owned();
    (0..61).for_each(|number| text += &format!("  - {{host: web{number}}}\n"));
    let config = config::parse("perfmon.yml", &text, Path::new("/")).unwrap();
    let entries: Vec<Arc<TargetState>> =
        config.targets.iter().map(|target| Arc::new(TargetState::new(target, Some(445)))).collect();
    let target_registry = TargetRegistry::default();
    target_registry.set_targets(entries.clone());
    let all =
        |outcome: &Outcome<'_>| log_of(|| entries[..60].iter().for_each(|entry| end(entry, 0, outcome, 7)));
    // Another one is down for another reason, and stays so.
    end(&entries[60], 0, &failed(Stage::Query, GeneralReason::ServerFault), 0);
    let first = all(&Outcome::Full);
    assert_eq!(first.matches("Target is up target=").count(), 60, "{first}");
    for _ in 0..2 {
        let down = all(&refused());
        assert_eq!(down.matches("Target is down target=").count(), 60, "{down}");
        let log = all(&Outcome::Full);
        let lines: Vec<&str> = log.lines().collect();
        assert_eq!(lines.len(), 11, "{log}");
        for (number, line) in lines[..9].iter().enumerate() {
            assert!(line.starts_with(&format!("INFO Target is up again target=\"web{number}\" ")), "{line}");
        }
        let of_all = |targets| {
            format!("INFO Targets are up again targets={targets} stage=tcp reason=\"connection_refused\"")
        };
        assert_eq!(lines[9..], [of_all(10), of_all(60)]);
    }
    // Pages have all of them.
    assert_eq!(target_registry.changes().len(), targets::CHANGES_MAX);
}

#[test]
fn targets_that_get_no_credential_are_counted_by_identity_and_cause() {
    let mut text = "plugins: {load: [pcq]}\nmodules: {os: {plugin: pcq}}\nidentities:\n".to_owned();
    for identity in ["corp", "lab"] {
        text += &format!(
            "  {identity}: {{kind: ntlm, username: a, password_env: B, allow_hosts: ['*.example']}}\n"
        );
    }
    text += "targets:\n";
    for number in 0..24 {
        let identity = if number < 12 { "corp" } else { "lab" };
        text += &format!("  - {{host: web{number}.example, identity: {identity}, modules: [os]}}\n");
    }
    let config = config::parse("perfmon.yml", &text, Path::new("/")).unwrap();
    let entries: Vec<_> =
        config.targets.iter().map(|target| Arc::new(TargetState::new(target, Some(445)))).collect();
    let target_registry = TargetRegistry::default();
    target_registry.set_targets(entries.clone());
    let fail = |entry: &Arc<TargetState>, message: &str| {
        let failure = Failure::new(Stage::Auth, GeneralReason::CredentialsWithheld, message);
        end(entry, 0, &Outcome::Failed(failure), 0);
    };
    let (of_corp, of_lab) = entries.split_at(12);
    let log = log_of(|| {
        of_corp.iter().for_each(|entry| fail(entry, "refused by web1"));
        // Each has a cause of its own.
        of_lab.iter().for_each(|entry| fail(entry, &format!("`{}` is not in `allow_hosts`", entry.host)));
    });
    let lines = |log: &str, part: &str| log.lines().filter(|line| line.contains(part)).count();
    assert_eq!(lines(&log, "Target is down"), 1 + 12, "{log}");
    assert_eq!(lines(&log, "Targets of one identity are down identity=\"corp\" targets=10 "), 1, "{log}");
    // Once all are well or gone, the next time is said from the first on.
    let log = log_of(|| {
        of_corp[..6].iter().for_each(|entry| end(entry, 0, &Outcome::Full, 7));
        of_corp[6..].iter().for_each(|entry| entry.end());
        fail(&of_corp[0], "refused by web1");
    });
    assert_eq!(lines(&log, "Target is down target=\"web0.example\""), 1, "{log}");
}

#[test]
fn an_end_that_is_told_twice_counts_once() {
    let entry = entry("os");
    let observer = observer(&entry, 0);
    entry.started(0, Duration::from_secs(5));
    let end = |id, outcome: Outcome<'_>| {
        observer.completed(CollectionId(id), &Completion { outcome, stages: &[] }, 1);
    };
    end(7, Outcome::Full);
    // A host that saw a panic on the way tells it again, as a failure.
    end(7, refused());
    let job = entry.status().jobs.remove(0);
    assert_eq!((job.full, job.failed), (1, 0));
    end(8, refused());
    assert_eq!(entry.status().jobs[0].failed, 1);
}
