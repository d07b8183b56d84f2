//! What the log and the account say of a target that comes and goes.

use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex};

use expect_test::{Expect, expect};
use perfmon_exporter::config;
use perfmon_exporter::pipeline::StoreObserver;
use perfmon_exporter::schedule::{Driver, Ending, JobId};
use perfmon_exporter::telemetry::{Book, JobKey, JobObserver};
use plugin_host::sink::{CollectionId, Completion, Failure, Outcome, StageReport};
use plugin_host::{GeneralReason, Stage};

#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<u8>>>);

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn book(modules: &str) -> Arc<Book> {
    let text = format!(
        "plugins: {{load: [pcq]}}\nmodules: {{os: {{plugin: pcq}}, iis: {{plugin: pcq}}}}\n\
         targets: [{{host: web1, modules: [{modules}]}}]\n"
    );
    Arc::new(Book::new(&config::parse("perfmon.yml", &text, Path::new("/")).unwrap()))
}

fn failed(stage: Stage, reason: GeneralReason) -> Outcome<'static> {
    Outcome::Failed(Failure::new(stage, reason, "details"))
}

fn refused() -> Outcome<'static> {
    failed(Stage::Tcp, GeneralReason::ConnectionRefused)
}

/// Ends collections of the target's modules one after the other; answers the log and how each ended for the schedule.
fn play(book: &Arc<Book>, ends: &[(usize, Outcome<'_>)]) -> (String, Vec<Ending>) {
    let kept = Kept::default();
    let writer = kept.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_writer(move || writer.clone())
        .without_time()
        .with_target(false)
        .with_ansi(false)
        .finish();
    let (told, mut heard) = Driver::ends();
    tracing::subscriber::with_default(subscriber, || {
        for (number, (module, outcome)) in (1..).zip(ends) {
            let observer = JobObserver {
                book: Arc::clone(book),
                key: JobKey { target: 0, module: *module },
                job: JobId(*module),
                plugin: "pcq".to_owned(),
                ends: told.clone(),
            };
            book.started(observer.key);
            let completion = Completion { outcome: outcome.clone(), stages: &[] };
            observer.completed(CollectionId(number), &completion, 7);
        }
    });
    let endings = std::iter::from_fn(|| heard.try_recv().ok()).map(|ended| ended.ending).collect();
    let log = String::from_utf8(kept.0.lock().unwrap().clone()).unwrap();
    // Levels are padded; lines that begin with a space would depend on how this file is indented.
    let lines: Vec<&str> = log.lines().map(str::trim).collect();
    (lines.join("\n"), endings)
}

fn check(modules: &str, ends: &[(usize, Outcome<'_>)], expected: &Expect) {
    expected.assert_eq(&play(&book(modules), ends).0);
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
            INFO Target is up target_name="web1" host="web1" series=7
            WARN Target is down target_name="web1" module="os" stage=tcp reason="connection_refused" detail="details" next_step="Check the port and that the service is started."
            WARN Target is down target_name="web1" module="os" stage=auth reason="credentials_withheld" detail="details" next_step="Correct the secret, or add the host to the identity's allow_hosts."
            INFO Target is up again target_name="web1" series=7 down_s=0"#]],
    );
}

#[test]
fn a_target_is_up_when_all_of_its_modules_are() {
    check("os, iis", &[(0, Outcome::Full)], &expect![""]);
    let ends = [(0, Outcome::Full), (1, refused()), (0, Outcome::Full), (1, Outcome::Full)];
    check(
        "os, iis",
        &ends,
        &expect![[r#"
            WARN Target is down target_name="web1" module="iis" stage=tcp reason="connection_refused" detail="details" next_step="Check the port and that the service is started."
            INFO Target is up again target_name="web1" series=14 down_s=0"#]],
    );
}

#[test]
fn a_collection_that_covers_a_part_is_up_and_says_so_once() {
    let part = || {
        let failure = Failure::new(Stage::Query, GeneralReason::NotFound, "no counterset `X`");
        Outcome::Partial { families: &[], failure: Some(failure) }
    };
    let ends = [(0, part()), (0, part()), (0, Outcome::Full)];
    check(
        "os",
        &ends,
        &expect![[r#"
            WARN Target is up in part target_name="web1" module="os" stage=query reason="not_found" detail="no counterset `X`" next_step="Check the names in the module against what the target offers." series=7
            INFO Target is up in full again target_name="web1" series=7"#]],
    );
}

#[test]
fn the_account_counts_what_happened() {
    let book = book("os");
    play(&book, &[(0, Outcome::Full), (0, refused()), (0, refused())]);
    let status = book.targets()[0].status();
    assert_eq!(status.is_up(), Some(false));
    let job = &status.jobs[0];
    assert_eq!((job.full, job.part, job.failed), (1, 0, 2));
    assert_eq!(job.failures[&(Stage::Tcp, "connection_refused".to_owned())], 2);
    assert!(status.last_success_unix_s().is_some());
    assert_eq!(status.down().unwrap().next_step, GeneralReason::ConnectionRefused.next_step());
}

#[test]
fn stages_are_kept_for_the_last_collection_and_summed_over_all() {
    let book = book("os");
    let (told, _heard) = Driver::ends();
    let observer = JobObserver {
        book: Arc::clone(&book),
        key: JobKey { target: 0, module: 0 },
        job: JobId(0),
        plugin: "pcq".to_owned(),
        ends: told,
    };
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
    let status = book.targets()[0].status();
    let query = Stage::ALL.iter().position(|stage| *stage == Stage::Query).unwrap();
    assert_eq!(status.jobs[0].last_stages[query].calls, 4);
    assert_eq!(status.jobs[0].total_stages[query].calls, 7);
    assert_eq!(status.jobs[0].total_stages[query].bytes_in, 20);
}

#[test]
fn the_schedule_hears_whether_the_target_was_reached() {
    let ends = [
        (0, Outcome::Full),
        (0, refused()),
        (0, failed(Stage::Query, GeneralReason::ServerFault)),
        (0, failed(Stage::Pipe, GeneralReason::RemoteRegistryStopped)),
    ];
    let five_minutes = Some(std::time::Duration::from_secs(300));
    let expected = [
        Ending::Good,
        Ending::Unreachable { retry_after: None },
        Ending::Bad,
        Ending::Unreachable { retry_after: five_minutes },
    ];
    assert_eq!(play(&book("os"), &ends).1, expected);
}
