//! The driver with collectors that do as the test says, on a clock that jumps.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use perfmon_exporter::schedule::{
    Collector, Deadlines, Drained, Driver, Ended, Ending, Ends, JobId, JobSpec, Limits, NotStarted, Planner,
};
use tokio::time::Instant;

/// What a fake target does.
#[derive(Clone, Copy)]
enum Manner {
    Answers,
    EndsWhenCancelled,
    NeverEnds,
    CannotStart,
}

struct Fake {
    job: JobId,
    manner: Manner,
    ends: Ends,
    starts: AtomicUsize,
    /// When the collection in flight is over its time.
    over: Arc<Mutex<Vec<Option<Instant>>>>,
}

impl Fake {
    fn end(&self, ending: Ending) {
        self.over.lock().unwrap()[self.job.0] = None;
        self.ends.tell(Ended { job: self.job, ending });
    }
}

impl Collector for Fake {
    fn start(&self, deadline: Duration) -> Result<(), NotStarted> {
        self.starts.fetch_add(1, Ordering::SeqCst);
        self.over.lock().unwrap()[self.job.0] = Some(Instant::now() + deadline);
        match self.manner {
            Manner::Answers => self.end(Ending::Good),
            Manner::CannotStart => return Err(NotStarted { retry_after: None }),
            Manner::EndsWhenCancelled | Manner::NeverEnds => {}
        }
        Ok(())
    }

    fn cancel(&self) {
        if matches!(self.manner, Manner::EndsWhenCancelled) {
            self.end(Ending::Unreachable { retry_after: None });
        }
    }
}

/// Gives up what is over its time, as the plugin host does.
struct Keeper {
    fakes: Vec<Arc<Fake>>,
    over: Arc<Mutex<Vec<Option<Instant>>>>,
}

impl Deadlines for Keeper {
    fn keep(&self) -> Option<Duration> {
        let now = Instant::now();
        let over = self.over.lock().unwrap().clone();
        let late = over.iter().enumerate().filter(|(_, at)| at.is_some_and(|at| at <= now));
        late.for_each(|(job, _)| self.fakes[job].end(Ending::Unreachable { retry_after: None }));
        over.iter().flatten().filter(|at| **at > now).min().map(|at| *at - now)
    }
}

struct World {
    driver: Driver,
    fakes: Vec<Arc<Fake>>,
}

/// One target for each manner, every 10 s, deadline 4 s.
fn world(manners: &[Manner], keeps_deadlines: bool) -> World {
    let (ends, ended) = Driver::ends();
    let over = Arc::new(Mutex::new(vec![None; manners.len()]));
    let fakes: Vec<Arc<Fake>> = manners
        .iter()
        .enumerate()
        .map(|(job, manner)| {
            let (job, starts) = (JobId(job), AtomicUsize::new(0));
            Arc::new(Fake { job, manner: *manner, ends: ends.clone(), starts, over: Arc::clone(&over) })
        })
        .collect();
    let specs: Vec<JobSpec> = (0..manners.len())
        .map(|target| JobSpec { target, key: format!("t{target}"), interval: Duration::from_secs(10) })
        .collect();
    let limits = Limits { running_max: 100, connecting_max: 100 };
    let planner = Planner::new(&specs, limits, 1, Instant::now().into_std());
    let collectors =
        fakes.iter().map(|fake| (Arc::clone(fake) as Arc<dyn Collector>, Duration::from_secs(4)));
    let kept = if keeps_deadlines { fakes.clone() } else { Vec::new() };
    let over = if keeps_deadlines { over } else { Arc::default() };
    let driver = Driver::new(planner, collectors.collect(), Arc::new(Keeper { fakes: kept, over }), ended);
    World { driver, fakes }
}

impl World {
    async fn run_for(self, time: Duration, grace: Duration) -> (Vec<usize>, Drained, Duration) {
        let drained = self.driver.run(tokio::time::sleep(time), grace);
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
