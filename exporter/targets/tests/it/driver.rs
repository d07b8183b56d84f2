//! The driver with collectors that do as the test says, on a clock that jumps.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use targets::schedule::{
    Collector, Deadlines, Drained, Driver, Ending, JobId, JobSpec, Limits, NewJob, NotStarted, Planner,
    Schedule, TargetId,
};
use tokio::time::Instant;

/// What a fake target does.
#[derive(Clone, Copy)]
enum Manner {
    Answers,
    AnswersRarely,
    EndsWhenCancelled,
    NeverEnds,
    CannotStart,
}

struct Fake {
    job: JobId,
    manner: Manner,
    schedule: Schedule,
    starts: AtomicUsize,
    /// When the collection in flight is over its time.
    over: Arc<Mutex<Vec<Option<Instant>>>>,
}

impl Fake {
    fn place(&self) -> usize {
        usize::try_from(self.job.0).unwrap()
    }

    fn end(&self, ending: Ending) {
        self.over.lock()[self.place()] = None;
        self.schedule.ended(self.job, ending);
    }
}

impl Collector for Fake {
    fn start(&self, deadline: Duration) -> Result<(), NotStarted> {
        self.starts.fetch_add(1, Ordering::SeqCst);
        self.over.lock()[self.place()] = Some(Instant::now() + deadline);
        match self.manner {
            Manner::Answers | Manner::AnswersRarely => self.end(Ending::Good),
            Manner::CannotStart => return Err(NotStarted { retry_after: None }),
            Manner::EndsWhenCancelled | Manner::NeverEnds => {}
        }
        Ok(())
    }

    fn min_interval(&self) -> Option<Duration> {
        matches!(self.manner, Manner::AnswersRarely).then_some(Duration::from_secs(60))
    }

    fn cancel(&self) {
        if matches!(self.manner, Manner::EndsWhenCancelled) {
            self.end(Ending::Unreachable { retry_after: None });
        }
    }
}

/// Gives up what is over its time, as the plugin host does.
struct Keeper {
    fakes: Arc<Mutex<Vec<Arc<Fake>>>>,
    over: Arc<Mutex<Vec<Option<Instant>>>>,
}

impl Deadlines for Keeper {
    fn keep(&self) -> Option<Duration> {
        let now = Instant::now();
        let over = self.over.lock().clone();
        let late = over.iter().enumerate().filter(|(_, at)| at.is_some_and(|at| at <= now));
        let fakes = self.fakes.lock();
        late.for_each(|(job, _)| fakes[job].end(Ending::Unreachable { retry_after: None }));
        over.iter().flatten().filter(|at| **at > now).min().map(|at| *at - now)
    }
}

struct World {
    driver: Driver,
    schedule: Schedule,
    fakes: Vec<Arc<Fake>>,
}

/// One target for each manner, every 10 s, deadline 4 s.
fn world(manners: &[Manner], keeps_deadlines: bool) -> World {
    let over = Arc::new(Mutex::new(vec![None; manners.len()]));
    let limits = Limits { running_max: 100, connecting_max: 100, connect_rate: 1000 };
    let planner = Planner::new(limits, 1, Instant::now().into_std());
    let kept = Arc::new(Mutex::new(Vec::new()));
    let watched = if keeps_deadlines { Arc::clone(&over) } else { Arc::default() };
    let (driver, schedule) =
        Driver::new(planner, Arc::new(Keeper { fakes: Arc::clone(&kept), over: watched }));
    let fakes: Vec<Arc<Fake>> = (0..)
        .zip(manners)
        .map(|(job, manner)| {
            let (schedule, starts) = (schedule.clone(), AtomicUsize::new(0));
            Arc::new(Fake { job: JobId(job), manner: *manner, schedule, starts, over: Arc::clone(&over) })
        })
        .collect();
    if keeps_deadlines {
        *kept.lock() = fakes.clone();
    }
    schedule.add(fakes.iter().map(job).collect());
    World { driver, schedule, fakes }
}

fn job(fake: &Arc<Fake>) -> NewJob {
    let (job, target) = (fake.job, TargetId(fake.job.0));
    let spec = JobSpec { job, target, key: format!("t{}", job.0), interval: Duration::from_secs(10) };
    NewJob { spec, collector: Arc::clone(fake) as Arc<dyn Collector>, deadline: Duration::from_secs(4) }
}

/// A stop after `time` that leaves `grace`.
async fn after(time: Duration, grace: Duration) -> Duration {
    tokio::time::sleep(time).await;
    grace
}

impl World {
    async fn run_for(self, time: Duration, grace: Duration) -> (Vec<usize>, Drained, Duration) {
        let drained = self.driver.run(after(time, grace));
        let began = Instant::now();
        let drained = drained.await;
        let starts = self.fakes.iter().map(|fake| fake.starts.load(Ordering::SeqCst)).collect();
        (starts, drained, began.elapsed().saturating_sub(time))
    }
}

const MINUTES: Duration = Duration::from_secs(600);
const GRACE: Duration = Duration::from_secs(5);

#[tokio::test(start_paused = true)]
async fn a_target_that_hangs_takes_nothing_from_the_others() {
    let manners = [Manner::NeverEnds, Manner::Answers, Manner::Answers];
    let (starts, drained, _) = world(&manners, true).run_for(MINUTES, GRACE).await;
    assert!(starts[1] >= 60 && starts[2] >= 60, "{starts:?}");
    // Given up at its deadline each time, and tried less and less often.
    assert!((4..12).contains(&starts[0]), "{starts:?}");
    assert_eq!(drained.left, 0);
}

#[tokio::test(start_paused = true)]
async fn what_wants_to_be_asked_rarely_is_asked_rarely() {
    let (starts, ..) = world(&[Manner::Answers, Manner::AnswersRarely], true).run_for(MINUTES, GRACE).await;
    assert!(starts[0] >= 60 && (10..=12).contains(&starts[1]), "{starts:?}");
}

#[tokio::test(start_paused = true)]
async fn a_collection_that_cannot_begin_is_tried_again_later() {
    let (starts, ..) = world(&[Manner::CannotStart], true).run_for(MINUTES, GRACE).await;
    assert!((4..12).contains(&starts[0]), "{starts:?}");
}

#[tokio::test(start_paused = true)]
async fn at_the_end_what_runs_gets_the_grace_and_is_cancelled_then() {
    let (starts, drained, took) =
        world(&[Manner::EndsWhenCancelled], false).run_for(Duration::from_secs(1), GRACE).await;
    assert_eq!((starts, drained.left), (vec![1], 0));
    assert_eq!(took, GRACE);
}

#[tokio::test(start_paused = true)]
async fn what_does_not_even_end_when_cancelled_is_left_behind() {
    let (_, drained, took) = world(&[Manner::NeverEnds], false).run_for(Duration::from_secs(1), GRACE).await;
    assert_eq!(drained.left, 1);
    assert_eq!(took, GRACE + Duration::from_secs(1));
}

#[tokio::test(start_paused = true)]
async fn with_nothing_running_the_end_is_at_once() {
    let (_, drained, took) = world(&[Manner::Answers], true).run_for(Duration::from_secs(1), GRACE).await;
    assert_eq!((drained.left, took), (0, Duration::ZERO));
}

#[tokio::test(start_paused = true)]
async fn a_driver_answers_while_it_works_and_not_before_or_after() {
    let World { driver, schedule, .. } = world(&[Manner::Answers], false);
    assert!(tokio::time::timeout(MINUTES, schedule.answers()).await.is_err());
    let running = tokio::spawn(driver.run(after(MINUTES, GRACE)));
    assert!(schedule.answers().await);
    running.await.unwrap();
    assert!(!schedule.answers().await);
}

#[tokio::test(start_paused = true)]
async fn targets_come_and_go_while_the_driver_runs() {
    let World { driver, schedule, fakes } =
        world(&[Manner::Answers, Manner::NeverEnds, Manner::Answers], false);
    let (goes, counts) = (Arc::downgrade(&fakes[0]), fakes);
    let running = tokio::spawn(driver.run(after(MINUTES, GRACE)));
    tokio::time::sleep(Duration::from_secs(100)).await;
    let before = counts[0].starts.load(Ordering::SeqCst);
    assert!(before >= 9, "{before}");
    schedule.remove(vec![TargetId(0), TargetId(1)]);
    let late = Arc::new(Fake {
        job: JobId(3),
        manner: Manner::Answers,
        schedule: schedule.clone(),
        starts: AtomicUsize::new(0),
        over: Arc::new(Mutex::new(vec![None; 4])),
    });
    schedule.remove(vec![TargetId(2)]);
    schedule.add(vec![job(&late)]);
    tokio::time::sleep(Duration::from_secs(100)).await;
    assert_eq!(counts[0].starts.load(Ordering::SeqCst), before);
    assert!(late.starts.load(Ordering::SeqCst) >= 9);
    assert_eq!(schedule.figures().running(), 0, "what hung is not waited for");
    // The end of what was removed changes nothing, and nobody holds the removed ones but this test.
    counts[1].end(Ending::Good);
    drop(counts);
    assert!(goes.upgrade().is_none());
    assert_eq!(running.await.unwrap().left, 0);
}
