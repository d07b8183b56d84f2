//! When targets are asked, on a clock that is an argument.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use targets::schedule::{Ending, JobId, JobSpec, Limits, Missed, Planner, TargetId};

const INTERVAL: Duration = Duration::from_secs(30);
const WIDE: Limits = Limits { running_max: 1000, connecting_max: 1000, connect_rate: RUSH };
/// As good as no limit.
const RUSH: u32 = 1_000_000;
const GONE: Ending = Ending::Unreachable { retry_after: None };

/// `targets` targets with `jobs` jobs each; jobs are numbered through.
fn specs(targets: u64, jobs: u64) -> Vec<JobSpec> {
    let specs = (0..targets).flat_map(|target| {
        (0..jobs).map(move |job| JobSpec {
            job: JobId(target * jobs + job),
            target: TargetId(target),
            key: format!("web{target}/{job}"),
            interval: INTERVAL,
        })
    });
    specs.collect()
}

fn planner(targets: u64, jobs: u64, limits: Limits, start: Instant) -> Planner {
    let mut planner = Planner::new(limits, 1, start);
    planner.add(&specs(targets, jobs), start);
    planner
}

/// Runs the plan for `span`, every collection taking no time and ending as `ending` says; answers who began when.
fn play(
    planner: &mut Planner,
    start: Instant,
    span: Duration,
    ending: impl Fn(JobId) -> Ending,
) -> Vec<(Duration, JobId)> {
    let mut began = Vec::new();
    let mut now = start;
    loop {
        while let Some(job) = planner.poll(now) {
            began.push((now - start, job));
            planner.finished(job, ending(job), now);
        }
        match planner.next_wake().filter(|wake| *wake <= start + span) {
            Some(wake) => now = wake.max(now),
            None => return began,
        }
    }
}

fn of(began: &[(Duration, JobId)], job: u64) -> Vec<Duration> {
    began.iter().filter(|(_, id)| id.0 == job).map(|(at, _)| *at).collect()
}

#[test]
fn every_job_runs_once_an_interval_at_its_own_place() {
    let start = Instant::now();
    let mut planner = planner(100, 1, WIDE, start);
    let began = play(&mut planner, start, Duration::from_secs(3600), |_| Ending::Good);
    for job in 0..100 {
        let times = of(&began, job);
        assert!(times[0] < Duration::from_secs(2), "the first round is quick: {:?}", times[0]);
        let first_gap = times[1] - times[0];
        assert!(first_gap >= INTERVAL / 2 && first_gap <= INTERVAL * 3 / 2, "{first_gap:?}");
        assert!(times.windows(2).skip(1).all(|pair| pair[1] - pair[0] == INTERVAL), "{times:?}");
    }
    // Spread: no second of the interval holds more than a tenth of them.
    let mut seconds = [0; 30];
    (0..100).for_each(|job| {
        let at = of(&began, job)[1].as_secs() % 30;
        seconds[usize::try_from(at).unwrap()] += 1;
    });
    assert!(seconds.iter().all(|count| *count <= 12), "{seconds:?}");
}

#[test]
fn the_same_seed_gives_the_same_plan_and_another_seed_another() {
    let start = Instant::now();
    let plan = |seed| {
        let mut planner = Planner::new(WIDE, seed, start);
        planner.add(&specs(10, 1), start);
        play(&mut planner, start, Duration::from_secs(120), |_| Ending::Good)
    };
    assert_eq!(plan(7), plan(7));
    assert_ne!(plan(7), plan(8));
}

#[test]
fn one_job_of_a_target_runs_at_a_time() {
    let start = Instant::now();
    let mut planner = planner(1, 3, WIDE, start);
    let now = start + Duration::from_secs(1);
    let first = planner.poll(now).unwrap();
    assert_eq!(planner.poll(now), None);
    planner.finished(first, Ending::Good, now);
    let second = planner.poll(now).unwrap();
    assert_ne!(first, second);
    assert_eq!(planner.poll(now), None);
    assert_eq!(planner.running(), 1);
}

#[test]
fn a_target_that_is_not_reached_is_tried_less_and_less_often_up_to_five_minutes() {
    let start = Instant::now();
    let mut planner = planner(1, 1, WIDE, start);
    let times = of(&play(&mut planner, start, Duration::from_secs(3600), |_| GONE), 0);
    let gaps: Vec<u64> = times.windows(2).map(|pair| (pair[1] - pair[0]).as_secs()).collect();
    assert!(gaps[0] <= 45, "{gaps:?}");
    // Doubling, less a tenth of jitter, and at the next free place at the earliest.
    assert!((54..=90).contains(&gaps[1]), "{gaps:?}");
    assert!((108..=120).contains(&gaps[2]), "{gaps:?}");
    assert!(gaps[4..].iter().all(|gap| (270..=300).contains(gap)), "{gaps:?}");
}

#[test]
fn a_target_that_answers_again_is_back_at_its_interval() {
    let start = Instant::now();
    let mut planner = planner(1, 1, WIDE, start);
    let mut now = start;
    for round in 0..6 {
        now = planner.next_wake().unwrap().max(now);
        let job = planner.poll(now).unwrap();
        let next = planner.finished(job, if round < 5 { GONE } else { Ending::Good }, now).unwrap();
        if round == 5 {
            assert!(next - now <= INTERVAL);
        }
    }
}

#[test]
fn a_reason_may_say_when_the_next_try_comes() {
    let start = Instant::now();
    let mut planner = planner(1, 2, WIDE, start);
    let now = start + Duration::from_secs(1);
    let job = planner.poll(now).unwrap();
    let five_minutes = Duration::from_secs(300);
    let next = planner.finished(job, Ending::Unreachable { retry_after: Some(five_minutes) }, now).unwrap();
    assert_eq!(next, now + five_minutes);
    // The target's other job does not come before either.
    assert_eq!(planner.poll(now + five_minutes - Duration::from_millis(1)), None);
    assert!(planner.poll(now + five_minutes).is_some());
}

#[test]
fn a_job_that_wants_to_run_more_rarely_does_within_the_bounds() {
    let start = Instant::now();
    for (wanted, got) in [(10, 30), (90, 90), (86_400, 3_600)] {
        let mut planner = planner(1, 1, WIDE, start);
        let mut now = start + Duration::from_secs(1);
        let mut begun = Vec::new();
        for _ in 0..4 {
            let job = planner.poll(now).unwrap();
            begun.push(now);
            planner.set_min_interval(job, Some(Duration::from_secs(wanted)));
            now = planner.finished(job, Ending::Good, now).unwrap();
        }
        let apart: Vec<_> = begun.windows(2).skip(1).map(|pair| (pair[1] - pair[0]).as_secs()).collect();
        assert_eq!(apart, [got, got], "{wanted}");
        let job = planner.poll(now).unwrap();
        planner.set_min_interval(job, None);
        let next = planner.finished(job, Ending::Good, now).unwrap();
        assert!(next <= now + INTERVAL, "it was taken back");
    }
}

#[test]
fn a_job_that_asks_for_a_pause_gets_it_within_the_bounds_and_its_neighbour_goes_on() {
    let start = Instant::now();
    for (asked, got) in [(1, None), (100, Some(100)), (86_400, Some(300))] {
        let mut planner = planner(1, 2, WIDE, start);
        let now = start + Duration::from_secs(1);
        let job = planner.poll(now).unwrap();
        let ending = Ending::Bad { retry_after: Some(Duration::from_secs(asked)) };
        let next = planner.finished(job, ending, now).unwrap();
        match got {
            Some(pause) => assert_eq!(next, now + Duration::from_secs(pause), "{asked}"),
            None => assert!(next <= now + INTERVAL * 3 / 2, "its own interval is longer"),
        }
        assert!(planner.poll(now).is_some(), "the target's other job goes on");
    }
}

#[test]
fn jobs_that_wait_after_failures_are_tried_again_on_request_and_the_others_keep_their_slots() {
    let start = Instant::now();
    let mut planner = planner(3, 1, WIDE, start);
    let (down, broken) = (JobId(0), JobId(1));
    let ending = |job: JobId| match job {
        job if job == down => GONE,
        job if job == broken => Ending::Bad { retry_after: Some(Duration::from_secs(240)) },
        _ => Ending::Good,
    };
    let began = play(&mut planner, start, Duration::from_secs(1_000), ending);
    let well = *of(&began, 2).last().unwrap();
    let asked = start + Duration::from_secs(1_001);
    planner.retry(&[TargetId(0), TargetId(1), TargetId(2), TargetId(7)], asked);
    let again = play(&mut planner, asked, Duration::from_secs(29), ending);
    assert_eq!((of(&again, 0)[0], of(&again, 1)[0]), (Duration::ZERO, Duration::ZERO));
    assert_eq!((of(&again, 0).len(), of(&again, 1).len()), (1, 1));
    let slots = of(&again, 2).into_iter().map(|at| at + Duration::from_secs(1_001));
    assert!(slots.eq([well + INTERVAL].into_iter().filter(|slot| *slot <= Duration::from_secs(1_030))));
    // As if there had been no failures: the next pause is the first one.
    let later = play(&mut planner, asked + Duration::from_secs(29), Duration::from_secs(60), ending);
    assert!(!of(&later, 0).is_empty());
}

#[test]
fn a_job_that_fails_alone_does_not_hold_its_neighbours_up() {
    let start = Instant::now();
    let mut planner = planner(1, 2, WIDE, start);
    let ending = |job: JobId| if job.0 == 0 { Ending::Bad { retry_after: None } } else { Ending::Good };
    let began = play(&mut planner, start, Duration::from_secs(3600), ending);
    assert!(of(&began, 1).len() >= 119);
    assert!(of(&began, 0).len() < 30);
}

#[test]
fn dead_targets_hold_half_of_the_connecting_places_at_most() {
    let start = Instant::now();
    let limits = Limits { running_max: 100, connecting_max: 4, connect_rate: RUSH };
    let mut planner = planner(50, 1, limits, start);
    let mut now = start + Duration::from_secs(1);
    // The first round fails everywhere, three at a time: the fourth is left to targets that answered.
    let mut batch: Vec<JobId> = std::iter::from_fn(|| planner.poll(now)).collect();
    assert_eq!(batch.len(), 3);
    let mut failed = 0;
    while failed < 50 {
        for job in batch.drain(..) {
            planner.finished(job, GONE, now);
            failed += 1;
        }
        batch = std::iter::from_fn(|| planner.poll(now)).collect();
    }
    // Now they come back, and only two may try at a time.
    now += Duration::from_secs(60);
    batch = std::iter::from_fn(|| planner.poll(now)).collect();
    assert_eq!(batch.len(), 2);
}

#[test]
fn hosts_that_hang_do_not_keep_those_waiting_that_lost_their_connection() {
    const HANGING: u64 = 200;
    const TAKES: Duration = Duration::from_secs(10);
    let limits = Limits { running_max: 1024, connecting_max: 64, connect_rate: 50 };
    let start = Instant::now();
    // All that hang are new; all failed before and are tried again at once; and they are paused as they come.
    for (new, is_retried) in [(true, false), (false, true), (false, false)] {
        let mut planner = Planner::new(limits, 1, start);
        let (all, good) = (specs(HANGING + 20, 1), |job: JobId| job.0 >= HANGING);
        let lost = start + Duration::from_secs(302);
        let (hanging, answering) = all.split_at(usize::try_from(HANGING).unwrap());
        planner.add(answering, start);
        planner.add(hanging, if new { lost } else { start });
        let mut ends: BTreeSet<(Instant, JobId)> = BTreeSet::new();
        let (mut now, mut latest, mut is_lost) = (start, Duration::ZERO, false);
        while now < lost + Duration::from_secs(120) {
            while let Some(job) = planner.poll(now) {
                let is_first = now < start + INTERVAL;
                if good(job) && !is_first {
                    latest = latest.max(planner.begun(job, now).unwrap().late);
                }
                let takes = if good(job) { Duration::ZERO } else { TAKES };
                ends.insert((now + takes, job));
            }
            let end = ends.first().map(|(at, _)| *at);
            let mut next = [end, planner.next_wake()].into_iter().flatten().min().unwrap().max(now);
            if !is_lost && next >= lost {
                (next, is_lost) = (lost, true);
                if is_retried {
                    let targets: Vec<TargetId> = (0..HANGING).map(TargetId).collect();
                    planner.retry(&targets, lost);
                }
            }
            now = next;
            while let Some(ended) = ends.first().copied().filter(|(at, _)| *at <= now) {
                ends.remove(&ended);
                let (_, job) = ended;
                // In the interval after that moment each of the good ones finds that its connection is gone.
                let is_gone = !good(job) || (now >= lost && now < lost + INTERVAL);
                planner.finished(job, if is_gone { GONE } else { Ending::Good }, now);
            }
        }
        let what = if new { "new" } else { "failing" };
        assert!(latest <= Duration::from_secs(1), "{what} hosts kept a good one waiting for {latest:?}");
    }
}

#[test]
fn connected_targets_run_past_those_that_wait_for_a_connection() {
    let start = Instant::now();
    let limits = Limits { running_max: 100, connecting_max: 1, connect_rate: RUSH };
    let mut planner = planner(3, 1, limits, start);
    let now = start + Duration::from_secs(1);
    let warm = planner.poll(now).unwrap();
    planner.finished(warm, Ending::Good, now);
    let stuck = planner.poll(now).unwrap();
    assert_eq!(planner.poll(now), None, "one connects at a time");
    assert_eq!(planner.poll(now + 2 * INTERVAL), Some(warm));
    assert_ne!(stuck, warm);
}

#[test]
fn a_collection_longer_than_its_interval_skips_places_and_counts_them() {
    let start = Instant::now();
    let mut planner = planner(1, 1, WIDE, start);
    let job = planner.poll(start + Duration::from_secs(1)).unwrap();
    let end = start + Duration::from_secs(1) + 3 * INTERVAL;
    let next = planner.finished(job, Ending::Good, end).unwrap();
    assert_eq!(planner.missed(), Missed { busy: 0, connecting: 3 });
    assert!(next > end && next <= end + INTERVAL);
}

#[test]
fn a_stopped_planner_begins_nothing() {
    let start = Instant::now();
    let mut planner = planner(2, 1, WIDE, start);
    planner.stop();
    assert_eq!(planner.poll(start + INTERVAL), None);
    assert_eq!(planner.next_wake(), None);
}

#[test]
fn places_that_a_connected_target_was_too_busy_for_are_counted_apart() {
    let start = Instant::now();
    let mut planner = planner(1, 1, WIDE, start);
    let now = start + Duration::from_secs(1);
    let job = planner.poll(now).unwrap();
    let next = planner.finished(job, Ending::Good, now).unwrap();
    assert_eq!(planner.poll(next), Some(job));
    planner.finished(job, Ending::Good, next + INTERVAL);
    assert_eq!(planner.missed(), Missed { busy: 1, connecting: 0 });
}

#[test]
fn thousands_of_targets_are_connected_steadily_and_connected_ones_never_wait_for_them() {
    let start = Instant::now();
    let limits = Limits { running_max: 1024, connecting_max: 64, connect_rate: 50 };
    let mut planner = planner(4_000, 1, limits, start);
    let began = play(&mut planner, start, Duration::from_secs(180), |_| Ending::Good);
    let mut firsts = vec![0; 180];
    let mut seen = vec![Vec::new(); 4_000];
    for (at, job) in &began {
        let times = &mut seen[usize::try_from(job.0).unwrap()];
        if times.is_empty() {
            firsts[usize::try_from(at.as_secs()).unwrap()] += 1;
        }
        times.push(*at);
    }
    assert!(firsts.iter().all(|count| *count <= 55), "{firsts:?}");
    assert!(firsts[1..79].iter().all(|count| *count >= 45), "{firsts:?}");
    assert_eq!(firsts[81..].iter().sum::<i32>(), 0);
    for times in &seen {
        assert!(times.windows(2).skip(1).all(|pair| pair[1] - pair[0] == INTERVAL), "{times:?}");
    }
    assert_eq!(planner.missed().busy, 0);
    assert_eq!(planner.waiting_to_connect(), 0);
}

#[test]
fn quiet_time_saves_up_no_burst_of_connections() {
    let start = Instant::now();
    let mut planner = Planner::new(Limits { connect_rate: 50, ..WIDE }, 1, start);
    let later = start + Duration::from_secs(3600);
    planner.add(&specs(100, 1), later);
    let due = later + Duration::from_secs(2);
    let batch = std::iter::from_fn(|| planner.poll(due)).count();
    assert!((1..=6).contains(&batch), "{batch}");
    assert_eq!(planner.waiting_to_connect(), 100 - batch);
    let wake = planner.next_wake().unwrap();
    assert!(wake > due && wake <= due + Duration::from_millis(20), "{:?}", wake - due);
    assert!(planner.poll(wake).is_some());
}

#[test]
fn a_removed_target_gives_its_place_back_and_its_late_end_is_passed_over() {
    let start = Instant::now();
    let limits = Limits { running_max: 1, ..WIDE };
    let mut planner = planner(3, 2, limits, start);
    let now = start + Duration::from_secs(1);
    let running = planner.poll(now).unwrap();
    assert_eq!(planner.poll(now), None);
    planner.remove(&[TargetId(running.0 / 2)]);
    assert_eq!(planner.finished(running, Ending::Good, now), None);
    let began = play(&mut planner, now, 2 * INTERVAL, |_| Ending::Good);
    assert!(began.iter().all(|(_, job)| job.0 / 2 != running.0 / 2), "{began:?}");
    assert!((0..6).filter(|job| job / 2 != running.0 / 2).all(|job| of(&began, job).len() >= 2));
    assert_eq!(planner.running(), 0);
}

#[test]
fn a_target_that_is_added_again_has_its_old_place() {
    let start = Instant::now();
    let mut planner = planner(1, 1, WIDE, start);
    let phase = |times: &[Duration]| times.last().unwrap().as_nanos() % INTERVAL.as_nanos();
    let before = phase(&of(&play(&mut planner, start, 3 * INTERVAL, |_| Ending::Good), 0));
    planner.remove(&[TargetId(0)]);
    let mut again = specs(1, 1);
    (again[0].job, again[0].target) = (JobId(7), TargetId(7));
    let now = start + Duration::from_secs(1234);
    planner.add(&again, now);
    let mut began = play(&mut planner, now, 3 * INTERVAL, |_| Ending::Good);
    began.iter_mut().for_each(|(at, _)| *at += now - start);
    assert_eq!(phase(&of(&began, 7)), before);
}

#[test]
fn a_job_that_cannot_begin_does_not_hold_its_neighbours_up() {
    let start = Instant::now();
    let mut planner = planner(1, 2, WIDE, start);
    let hour = Duration::from_secs(3600);
    let ending = |job: JobId| match job.0 {
        0 => Ending::NotStarted { retry_after: Some(hour) },
        _ => Ending::Good,
    };
    let began = play(&mut planner, start, hour, ending);
    assert_eq!(of(&began, 0).len(), 1);
    assert!(of(&began, 1).len() >= 119);
}
