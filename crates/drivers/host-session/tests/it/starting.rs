//! A service that starts slowly when its pipe is opened.

use std::time::Duration;

use host_session::{Options, PipeRetry, Reason, Session, SessionError, Stage, Verdict};
use tokio::time::Instant;
use wire::NtStatus;

use crate::host::PASSWORD;
use crate::world::World;

const STARTING: NtStatus = NtStatus::STATUS_PIPE_NOT_AVAILABLE;
const STOPPED: NtStatus = NtStatus::STATUS_OBJECT_NAME_NOT_FOUND;

fn refusing(statuses: &[NtStatus]) -> World {
    World::new(|rules| rules.open_refusals.lock().extend(statuses))
}

/// The outcome, how long it took, and how many refusals were left.
async fn connect(world: &World, patience: Duration) -> (Result<Session, SessionError>, Duration, usize) {
    let before = Instant::now();
    let outcome = world.connect_by(PASSWORD, Options::default(), before + patience).await;
    (outcome, before.elapsed(), world.rules.open_refusals.lock().len())
}

const LONG: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(750);

#[tokio::test(start_paused = true)]
async fn a_service_that_is_starting_is_waited_for() {
    let world = refusing(&[STARTING, STOPPED, NtStatus::STATUS_PIPE_BUSY]);
    let (outcome, elapsed, left) = connect(&world, LONG).await;
    let session = outcome.unwrap();
    assert_eq!((elapsed, left), (3 * PAUSE, 0));
    let pipe = session.stages().iter().find(|report| report.stage == Stage::Pipe).unwrap();
    assert_eq!((pipe.duration, pipe.calls), (3 * PAUSE, 5), "the tree, and four attempts");
}

#[tokio::test(start_paused = true)]
async fn a_service_that_never_starts_is_given_up_after_five_attempts() {
    for status in [STARTING, STOPPED] {
        let world = refusing(&[status; 9]);
        let (outcome, elapsed, left) = connect(&world, LONG).await;
        let error = outcome.unwrap_err();
        assert_eq!((error.stage, error.reason), (Stage::Pipe, Reason::RemoteRegistryStopped), "{error}");
        assert_eq!(error.verdict(), Verdict::Accepted);
        assert!(error.to_string().contains("RemoteRegistry"), "{error}");
        assert_eq!((elapsed, left), (4 * PAUSE, 4));
        let pipe = error.stages.last().unwrap();
        assert_eq!((pipe.stage, pipe.duration, pipe.calls), (Stage::Pipe, 4 * PAUSE, 6));
    }
}

#[tokio::test(start_paused = true)]
async fn the_deadline_ends_the_waiting_with_the_same_reason() {
    let world = refusing(&[STOPPED; 9]);
    let (outcome, elapsed, left) = connect(&world, Duration::from_secs(2)).await;
    assert_eq!(outcome.unwrap_err().reason, Reason::RemoteRegistryStopped);
    assert_eq!((elapsed, left), (2 * PAUSE, 6));
}

#[tokio::test(start_paused = true)]
async fn a_pipe_that_stays_busy_is_called_busy() {
    let world = refusing(&[NtStatus::STATUS_PIPE_BUSY; 9]);
    let (outcome, ..) = connect(&world, LONG).await;
    let error = outcome.unwrap_err();
    assert_eq!((error.stage, error.reason), (Stage::Pipe, Reason::Busy));
}

#[tokio::test(start_paused = true)]
async fn a_refusal_that_waiting_does_not_change_is_final() {
    let world = refusing(&[NtStatus::STATUS_ACCESS_DENIED; 2]);
    let (outcome, elapsed, left) = connect(&world, LONG).await;
    let error = outcome.unwrap_err();
    assert_eq!(
        (error.stage, error.reason, error.verdict()),
        (Stage::Pipe, Reason::AccessDenied, Verdict::Accepted)
    );
    assert_eq!((elapsed, left), (Duration::ZERO, 1));
}

#[tokio::test(start_paused = true)]
async fn attempts_and_pauses_can_be_set() {
    let world = refusing(&[STOPPED; 9]);
    let pipe_retry = PipeRetry { attempts_max: 3, pause: Duration::from_millis(500) };
    let before = Instant::now();
    let error = world.connect_with(PASSWORD, Options { pipe_retry, ..Options::default() }).await.unwrap_err();
    assert_eq!(error.reason, Reason::RemoteRegistryStopped);
    assert_eq!(before.elapsed(), Duration::from_secs(1));
}
