use std::path::Path;

use tempfile::TempDir;

use super::*;

/// A shell that runs a script.
fn shell(script: &str, timeout: Duration) -> Program {
    let words = ["/bin/sh", "-c", script].map(str::to_owned).to_vec();
    Program { words, environment: vec![("PATH", "/usr/bin:/bin".into())], timeout }
}

async fn ended(program: Program) -> (Ended, String) {
    let (_keep, stop) = watch::channel(());
    let (ended, output) = run("web1", program, stop).await.expect("it starts");
    (ended, String::from_utf8_lossy(&output).into_owned())
}

/// Long enough for a busy machine.
const LONG: Duration = Duration::from_secs(600);
/// Long enough for a busy machine to start a program.
const SOON: Duration = Duration::from_secs(60);

fn code(ended: &Ended) -> Option<i32> {
    match ended {
        Ended::Itself(status) => status.code(),
        Ended::TimedOut | Ended::Stopped => None,
    }
}

/// Waits until no process of the group of `leader` runs any more. One that has ended and waits for being reaped runs no more.
async fn is_gone(leader: &str) {
    let runs = |process: &Path| {
        let stat = std::fs::read_to_string(process.join("stat")).unwrap_or_default();
        // State, parent and group come after the name.
        let rest: Vec<&str> = stat.rsplit(") ").next().unwrap_or_default().split(' ').collect();
        rest.len() > 2 && rest[2] == leader && rest[0] != "Z" && rest[0] != "X"
    };
    let any_runs = || {
        let processes = std::fs::read_dir("/proc").expect("it is Linux");
        processes.flatten().any(|process| runs(&process.path()))
    };
    let deadline = std::time::Instant::now() + LONG;
    while any_runs() {
        assert!(std::time::Instant::now() < deadline, "processes of the group still run");
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_program_gets_its_words_its_environment_and_nothing_else() {
    let script = r#"printf '<%s>' "$@"; echo; pwd; env | grep -v ^_= | grep -v ^PWD= | grep -v ^SHLVL= ; cat; echo err >&2; exit 3"#;
    let mut program = shell(script, LONG);
    program.words.extend(["sh", "a b", "$(touch /tmp/x)", "\n", ""].map(str::to_owned));
    let (ended, output) = ended(program).await;
    assert_eq!(code(&ended), Some(3));
    assert_eq!(output, "<a b><$(touch /tmp/x)><\n><>\n/\nPATH=/usr/bin:/bin\nerr\n");
}

#[tokio::test]
async fn a_program_that_is_not_there_is_an_error() {
    let (_keep, stop) = watch::channel(());
    let program = Program { words: vec!["/nowhere/tell".to_owned()], environment: Vec::new(), timeout: LONG };
    let error = run("web1", program, stop).await.expect_err("there is no such file");
    assert_eq!(error.kind(), io::ErrorKind::NotFound);
}

/// Runs a script that hangs until its own file appears, and returns the number of its group.
async fn with_file(script: &str, end: impl AsyncFnOnce(&str)) {
    let directory = TempDir::new().expect("a directory");
    let file = directory.path().join("pid");
    let script = format!("{script}\nsleep 1000 &\necho $$ > {0}.new; mv {0}.new {0}; wait", file.display());
    let (keep, stop) = watch::channel(());
    let running = tokio::spawn(run("web1", shell(&script, LONG), stop));
    while !file.exists() {
        assert!(!running.is_finished(), "it waits");
        tokio::task::yield_now().await;
    }
    let leader = std::fs::read_to_string(&file).expect("it was written").trim().to_owned();
    drop(keep);
    let (ended, _) = running.await.expect("it does not panic").expect("it starts");
    assert_eq!(ended, Ended::Stopped);
    end(&leader).await;
}

#[tokio::test]
async fn a_program_ends_with_all_that_it_started_when_nobody_waits_for_it() {
    with_file("sleep 1000 & (sleep 1000 & sleep 1000) &", async |leader| is_gone(leader).await).await;
}

#[tokio::test]
async fn signals_that_are_ignored_do_not_keep_a_program() {
    with_file("trap '' TERM INT HUP; (while :; do sleep 1000; done) &", async |leader| is_gone(leader).await)
        .await;
}

#[tokio::test]
async fn programs_that_start_each_other_without_end_are_ended() {
    // Each one starts the next and ends.
    let script = "next() { [ $1 = 1000000 ] || next $(($1 + 1)) & }; next 0";
    with_file(script, async |leader| is_gone(leader).await).await;
}

#[tokio::test(start_paused = true)]
async fn a_program_that_hangs_is_ended_after_its_timeout() {
    let (ended, _) = ended(shell("sleep 1000 & sleep 1000", Duration::from_secs(30))).await;
    assert_eq!(ended, Ended::TimedOut);
}

#[tokio::test]
async fn what_a_program_leaves_behind_ends_with_it() {
    let (ended, output) = ended(shell("sleep 1000 & echo $$", LONG)).await;
    assert_eq!(code(&ended), Some(0));
    is_gone(output.trim()).await;
}

#[tokio::test]
async fn a_program_that_prints_much_is_read_to_its_end_and_its_beginning_is_kept() {
    let (ended, output) = ended(shell("echo first; head -c 10000000 /dev/zero; exit 7", LONG)).await;
    assert_eq!(code(&ended), Some(7), "it did not wait for a reader");
    assert_eq!(output.len(), KEPT_BYTES_MAX);
    assert!(output.starts_with("first\n"));
}

#[tokio::test(start_paused = true)]
async fn a_program_that_prints_without_end_is_ended_after_its_timeout() {
    let (ended, output) = ended(shell("while :; do echo yes; done", Duration::from_secs(30))).await;
    assert_eq!(ended, Ended::TimedOut);
    assert!(output.len() <= KEPT_BYTES_MAX);
}

#[tokio::test]
async fn a_process_that_left_the_group_keeps_nobody_waiting() {
    // It has the pipe open for as long as it runs.
    let directory = TempDir::new().expect("a directory");
    let file = directory.path().join("left").display().to_string();
    let leave = format!("setsid sh -c 'echo $$; : > {file}; exec sleep 1000' &");
    let (ended, output) = ended(shell(&format!("{leave} while [ ! -e {file} ]; do :; done"), LONG)).await;
    assert_eq!(code(&ended), Some(0));
    let escaped = output.trim().parse().ok().and_then(Pid::from_raw).expect("its number");
    // It is ours to end.
    let _ = rustix::process::kill_process(escaped, Signal::KILL);
}

#[tokio::test]
async fn tasks_that_hang_keep_none_of_a_target_that_has_none_running() {
    let (keep, stop) = watch::channel(());
    let mut hanging = tokio::task::JoinSet::new();
    for target in 0..16 {
        for _ in 0..4 {
            let (target, stop) = (format!("hangs{target}"), stop.clone());
            hanging.spawn(async move { run(&target, shell("exec sleep 1000", LONG), stop).await });
        }
    }
    // Each of them takes what it can get.
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    let done = tokio::time::timeout(SOON, ended(shell("exit 0", LONG))).await;
    assert_eq!(done.map(|(ended, _)| code(&ended)), Ok(Some(0)));
    drop(keep);
    while hanging.join_next().await.is_some() {}
}

/// With the clock of the machine: one that stands would leap over the wait for another test's start.
#[tokio::test]
async fn programs_in_a_folder_that_hangs_fail_after_their_timeout_and_keep_no_others() {
    let _turns = STARTS.hang(Place::Folder("/hangs".into())).await;
    let timeout = Duration::from_millis(50);
    let program = Program { words: vec!["/hangs/tell".to_owned()], environment: Vec::new(), timeout };
    let (_keep, stop) = watch::channel(());
    let error = run("web2", program, stop).await.expect_err("it does not start");
    assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    let done = tokio::time::timeout(SOON, ended(shell("exit 0", LONG))).await;
    assert_eq!(done.map(|(ended, _)| code(&ended)), Ok(Some(0)));
}
