use std::time::Duration;

use tokio::time::timeout;

use super::super::logged::logged;
use super::*;

fn job(serial_number: u32, upkeep: &Arc<Upkeep>) -> Job {
    Job {
        target: "web1".to_owned(),
        set: "Nightly".into(),
        serial_number,
        folder: None,
        cabinets: None,
        manager: xml::DataManager::default(),
        ended: None,
        cut_off: None,
        now: Timestamp::UNIX_EPOCH,
        upkeep: Arc::clone(upkeep),
    }
}

#[test]
fn a_data_manager_without_its_folder_says_so_with_its_target_and_its_set() {
    let folder = SetFolder::new("/nonexistent/files/web1".into(), "Nightly");
    let job = Job { folder: Some(folder), ..job(7, &Arc::default()) };
    let mut compiled = Compiled::default();
    let lines = logged(|| compiled = run(&job, &[]));
    assert_eq!(compiled.failures, 1);
    let [line] = &lines[..] else { panic!("{lines:?}") };
    assert!(line.contains(r#"target="web1""#) && line.contains(r#"set="Nightly""#), "{line}");
}

#[test]
fn a_reason_is_said_once_until_it_is_over() {
    let place = tempfile::tempdir().expect("a folder");
    let away = SetFolder::new(place.path().join("away/web1"), "Nightly");
    let there = SetFolder::new(place.path().join("web1"), "Nightly");
    let upkeep = Arc::default();
    let mut failures = 0;
    let said = logged(|| {
        let folders = [&away; 10].into_iter().chain([&there, &there, &away]);
        for (serial_number, folder) in (1..).zip(folders) {
            let job = Job { folder: Some(folder.clone()), ..job(serial_number, &upkeep) };
            failures += run(&job, &[]).failures;
        }
    });
    assert_eq!(failures, 11, "all of them are counted");
    let cannot = "The folder of a set cannot be opened for its data manager";
    let expected = [cannot, "The data manager of a set has done all again", cannot];
    let of_managers: Vec<_> = said.iter().filter(|line| line.contains("data manager")).collect();
    assert_eq!(of_managers.len(), expected.len(), "{said:?}");
    assert!(of_managers.iter().zip(expected).all(|(said, begins)| said.starts_with(begins)), "{said:?}");
}

#[tokio::test]
async fn logs_that_panicked_are_a_failure_of_the_data_manager() {
    let closing: JoinHandle<Vec<ClosedLog>> = tokio::spawn(std::future::pending());
    // As a panic, without its noise.
    closing.abort();
    let (events, mut ended) = tokio::sync::mpsc::unbounded_channel();
    compile(job(7, &Arc::default()), Some(closing), events);
    let event = ended.recv().await;
    let Some(Event::Compiled { serial_number, compiled }) = event else { panic!("{event:?}") };
    assert_eq!((serial_number, compiled.failures), (7, 1));
}

#[test]
fn a_data_manager_waits_until_the_one_before_it_is_done() {
    // One thread has what blocks, in turn: what is begun here ends before the marker that follows it.
    let runtime = tokio::runtime::Builder::new_current_thread().max_blocking_threads(1).build();
    runtime.expect("a runtime without a driver").block_on(async {
        let upkeep = Arc::<Upkeep>::default();
        let (events, mut ended) = tokio::sync::mpsc::unbounded_channel();
        let works = upkeep.turn.lock().await;
        compile(job(8, &upkeep), None, events);
        tokio::task::yield_now().await;
        tokio::task::spawn_blocking(|| ()).await.expect("nothing panics");
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
        assert!(ended.try_recv().is_err(), "another one works on the same folder");
        drop(works);
        assert!(matches!(ended.recv().await, Some(Event::Compiled { serial_number: 8, .. })));
    });
}

#[tokio::test]
async fn the_folder_of_a_segment_that_is_written_is_spared() {
    let place = tempfile::tempdir().expect("a folder");
    let (folder, upkeep) = (SetFolder::new(place.path().to_owned(), "Nightly"), Arc::default());
    for (number, name, bytes) in [(1, "000001", 1), (2, "000002", 1_000)] {
        let run = folder.run(name).expect("a folder");
        run.write("counters.csv", vec![b'1'; bytes]).expect("a file");
        Upkeep::begin(&upkeep, number, name);
    }
    let manager = xml::DataManager {
        is_enabled: Some(true),
        folders_max: Some(1),
        resource_policy: Some(ms_pla::ResourcePolicy::DELETE_LARGEST),
        ..xml::DataManager::default()
    };
    let (events, mut ended) = tokio::sync::mpsc::unbounded_channel();
    compile(Job { folder: Some(folder.clone()), manager, ..job(1, &upkeep) }, None, events);
    let event = ended.recv().await;
    let Some(Event::Compiled { compiled, .. }) = event else { panic!("{event:?}") };
    assert_eq!((compiled.removed, compiled.failures), (vec![("folder_count", 1)], 0));
    assert!(folder.earlier_run("000001").expect("it can be read").is_none());
    assert!(folder.earlier_run("000002").expect("it can be read").is_some(), "it is the largest one");
}

#[test]
fn reasons_above_the_limit_are_counted_and_said_once_until_that_is_over() {
    let upkeep = Arc::default();
    let said = logged(|| {
        for failures in [130, 120, 0, 101] {
            let job = job(7, &upkeep);
            for reason in 0..failures {
                job.upkeep.is_new(&reason.to_string());
            }
            run(&job, &[]);
        }
    });
    let counts: Vec<_> = said.iter().filter_map(|line| line.split("and ").nth(1)).collect();
    assert!(
        counts.len() == 2 && counts[0].starts_with("30 more") && counts[1].starts_with("1 more"),
        "{said:?}"
    );
}

/// Begins work in the folder of a target, and then in that of another one; the first one waits for a thread as long as all that its
/// target has are taken.
async fn check_waits(
    threads: &'static crate::threads::Threads,
    hangs: &SetFolder,
    begin: impl Fn(SetFolder, u32, UnboundedSender<Event>),
) {
    let turns = threads.hang(hangs.places()[0].clone()).await;
    let (events, mut ended) = tokio::sync::mpsc::unbounded_channel();
    let mut next = async || {
        let event = timeout(Duration::from_secs(30), ended.recv()).await;
        match event {
            Ok(Some(Event::Checked { serial_number, .. } | Event::Compiled { serial_number, .. })) => {
                serial_number
            }
            event => panic!("{event:?}"),
        }
    };
    begin(hangs.clone(), 1, events.clone());
    let place = tempfile::tempdir().expect("a folder");
    for number in 2..10 {
        begin(SetFolder::new(place.path().join("other"), "Nightly"), number, events.clone());
        assert_eq!(next().await, number, "it is of another folder");
    }
    drop(turns);
    assert_eq!(next().await, 1);
}

#[tokio::test]
async fn checks_and_data_managers_of_a_target_that_hangs_keep_none_of_others() {
    let place = tempfile::tempdir().expect("a folder");
    let hangs = SetFolder::new(place.path().join("hangs"), "Nightly");
    check_waits(&CHECKS, &hangs, |folder, number, events| {
        check(folder, &xml::DataManager::default(), number, events);
    })
    .await;
    check_waits(&DATA_MANAGERS, &hangs, |folder, number, events| {
        compile(Job { folder: Some(folder), ..job(number, &Arc::default()) }, None, events);
    })
    .await;
}

#[tokio::test]
async fn last_reports_of_a_target_that_hangs_keep_none_of_others() {
    let place = tempfile::tempdir().expect("a folder");
    let of = |target: &str| {
        let folder = SetFolder::new(place.path().join(target), "Nightly");
        Job { folder: Some(folder), ..job(1, &Arc::default()) }
    };
    let hangs = of("hangs");
    let turns = LAST_REPORTS.hang(hangs.places()[0].clone()).await;
    let waiting = tokio::spawn(report(hangs, Vec::new()));
    for _ in 0..10 {
        let other = timeout(Duration::from_secs(30), report(of("other"), Vec::new())).await;
        other.expect("it is of another folder");
    }
    assert!(!waiting.is_finished(), "it waits for its folder");
    drop(turns);
    waiting.await.expect("no panic");
}

#[test]
fn a_data_manager_waits_for_cabinets_only_if_it_sends_some() {
    let at = |directory: &str| Some(SetFolder::new(directory.into(), "Nightly"));
    let job = Job { folder: at("/var/web1"), cabinets: at("/mnt/web1"), ..job(1, &Arc::default()) };
    let own = vec![Place::Target("/var/web1".into()), Place::Folder("/var".into())];
    assert_eq!(job.places(), own);
    let sends = xml::FolderAction {
        actions: Some(FolderActionSteps::CREATE_CAB | FolderActionSteps::SEND_CAB),
        ..xml::FolderAction::default()
    };
    let manager = xml::DataManager { folder_actions: vec![sends], ..xml::DataManager::default() };
    let places = Job { manager, ..job }.places();
    assert_eq!(places, [own, vec![Place::Cabinets("/mnt".into())]].concat());
}
