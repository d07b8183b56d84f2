//! Limits on work that may wait for a disk, by its kind, so that no kind takes the threads of another one. A library has 48 threads
//! for such work. Files of logs take up to 8 of them, files of SQLite up to 4, and those that are here up to 25.
//!
//! Each place has a share of a kind's threads, so that one that does not answer, such as a mount that is dead, leaves some for others.

use std::path::{Path, PathBuf};

use safe_files::WeakMap;
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore, SemaphorePermit};
use tokio::task::spawn_blocking;

/// What work may wait for. Shares are taken in the order of the variants, so that no two works wait for each other.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Place {
    /// The folder of a target, which may be a mount of its own. It takes one thread.
    Target(PathBuf),
    /// The folder for cabinet files of several targets. It leaves two threads: one is for targets that are in the same folder and
    /// send none.
    Cabinets(PathBuf),
    /// Another folder that targets share. It leaves one thread.
    Folder(PathBuf),
}

impl Place {
    /// The folder of a file.
    pub(crate) fn of_file(path: &Path) -> Self {
        Self::Folder(path.parent().unwrap_or(path).to_owned())
    }
}

/// Threads for one kind of work.
#[derive(Debug)]
pub(crate) struct Threads {
    threads_max: usize,
    threads: Semaphore,
    shares: WeakMap<Place, Semaphore>,
}

/// The permission to use a thread, until it is dropped.
#[derive(Debug)]
pub(crate) struct Turn {
    _shares: Vec<OwnedSemaphorePermit>,
    _thread: SemaphorePermit<'static>,
}

impl Threads {
    /// At most so many at a time.
    const fn new(threads_max: usize) -> Self {
        Self { threads_max, threads: Semaphore::const_new(threads_max), shares: WeakMap::new() }
    }

    /// Does work in these places when a thread is free. If nobody waits for that any more, work that has begun goes on.
    ///
    /// # Errors
    /// When it has panicked.
    pub(crate) async fn run<T: Send + 'static>(
        &'static self,
        places: Vec<Place>,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, String> {
        let turn = self.take(places).await.map_err(|error| error.to_string())?;
        let done = spawn_blocking(move || {
            let done = work();
            drop(turn);
            done
        });
        done.await.map_err(|error| error.to_string())
    }

    /// Waits for a thread. The shares come first, so that those that wait for one take no thread from others.
    pub(crate) async fn take(&'static self, mut places: Vec<Place>) -> Result<Turn, AcquireError> {
        places.sort_unstable();
        let mut shares = Vec::with_capacity(places.len());
        for place in places {
            let permits = self.share(&place);
            let share = self.shares.get_or_insert_with(place, || Semaphore::new(permits));
            shares.push(share.acquire_owned().await?);
        }
        Ok(Turn { _shares: shares, _thread: self.threads.acquire().await? })
    }

    /// The threads that work in a place may take.
    const fn share(&self, place: &Place) -> usize {
        match place {
            Place::Target(_) => 1,
            Place::Cabinets(_) => self.threads_max - 2,
            Place::Folder(_) => self.threads_max - 1,
        }
    }

    /// All turns that a place gets, as those of work that hangs.
    #[cfg(test)]
    pub(crate) async fn hang(&'static self, place: Place) -> Vec<Turn> {
        let mut turns = Vec::new();
        for _ in 0..self.share(&place) {
            turns.push(self.take(vec![place.clone()]).await.expect("it is never closed"));
        }
        turns
    }
}

/// Data managers, which may take minutes, with their reports.
pub(crate) static DATA_MANAGERS: Threads = Threads::new(4);
/// Checks of limits before a run, which a start waits for.
pub(crate) static CHECKS: Threads = Threads::new(3);
/// Reports of sets that end, which have no time to wait for data managers.
pub(crate) static LAST_REPORTS: Threads = Threads::new(3);
/// Sets that begin: their states are read, and logs of earlier processes are brought to an end.
pub(crate) static LOADS: Threads = Threads::new(3);
/// States that are stored.
pub(crate) static STORES: Threads = Threads::new(3);
pub(crate) static PASSWORDS: Threads = Threads::new(2);
/// Files of sets, which may be on network drives.
pub(crate) static SET_FILES: Threads = Threads::new(3);
/// Programs of tasks that are started.
pub(crate) static STARTS: Threads = Threads::new(4);

#[cfg(test)]
mod tests {
    use std::sync::{Arc, mpsc};
    use std::time::Duration;

    use parking_lot::Mutex;
    use tokio::time::timeout;

    use super::*;

    const SOON: Duration = Duration::from_secs(30);

    #[test]
    fn work_of_one_kind_leaves_threads_for_others() {
        static SLOW: Threads = Threads::new(3);
        static OTHER: Threads = Threads::new(1);
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .max_blocking_threads(4)
            .enable_time()
            .build()
            .expect("a runtime");
        let (began, begun) = mpsc::channel();
        let (release, released) = mpsc::channel::<()>();
        let released = Arc::new(Mutex::new(released));
        let works: Vec<_> = (0..20)
            .map(|_| {
                let (began, released) = (began.clone(), Arc::clone(&released));
                runtime.spawn(SLOW.run(Vec::new(), move || {
                    began.send(()).expect("the test listens");
                    // Ends when the test has dropped the other side.
                    let _ = released.lock().recv();
                }))
            })
            .collect();
        (0..3).for_each(|_| begun.recv().expect("three may work"));
        let other = async { timeout(SOON, OTHER.run(Vec::new(), || 7)).await };
        assert_eq!(runtime.block_on(other), Ok(Ok(7)), "the others wait, and not on threads");
        assert!(begun.try_recv().is_err(), "no fourth");
        drop(release);
        for work in works {
            runtime.block_on(work).expect("no panic").expect("no panic");
        }
        assert_eq!(begun.try_iter().count(), 17);
    }

    /// Works that wait without end, in each of the places `hanging`, get all turns that they can; then work in other places is done.
    async fn check(threads: &'static Threads, hanging: &[Vec<Place>], other: Vec<Place>) {
        let mut works = tokio::task::JoinSet::new();
        for number in 0..20 {
            let turn = threads.take(hanging[number % hanging.len()].clone());
            works.spawn(async move {
                let _turn = turn.await;
                std::future::pending::<()>().await;
            });
        }
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        assert_eq!(timeout(SOON, threads.run(other, || 7)).await, Ok(Ok(7)));
    }

    fn target(target: &str, storage: &str) -> Vec<Place> {
        vec![Place::Target(format!("{storage}/{target}").into()), Place::Folder(storage.into())]
    }

    #[tokio::test]
    async fn the_folder_of_a_target_that_hangs_leaves_threads_for_other_targets() {
        static THREE: Threads = Threads::new(3);
        check(&THREE, &[target("web1", "/var")], target("web2", "/var")).await;
    }

    #[tokio::test]
    async fn a_storage_that_hangs_with_all_its_targets_leaves_threads_for_another_one() {
        static THREE: Threads = Threads::new(3);
        let targets: Vec<_> = (0..10).map(|number| target(&format!("web{number}"), "/mnt")).collect();
        check(&THREE, &targets, target("web1", "/var")).await;
    }

    #[tokio::test]
    async fn a_folder_that_hangs_leaves_a_thread_for_other_folders() {
        static TWO: Threads = Threads::new(2);
        let file = |path: &str| vec![Place::of_file(Path::new(path))];
        check(&TWO, &[file("/mnt/one"), file("/mnt/two")], file("/var/one")).await;
    }

    #[tokio::test]
    async fn cabinets_that_hang_leave_threads_for_targets_without_them() {
        static FOUR: Threads = Threads::new(4);
        let with_cabinets =
            |number| [target(&format!("web{number}"), "/var"), vec![Place::Cabinets("/mnt".into())]];
        let targets: Vec<_> = (0..10).map(|number| with_cabinets(number).concat()).collect();
        check(&FOUR, &targets, target("other", "/var")).await;
    }

    #[tokio::test]
    async fn work_that_panics_gives_its_thread_and_its_share_back() {
        static TWO: Threads = Threads::new(2);
        let places = || target("web1", "/var");
        let failed: Result<(), String> =
            TWO.run(places(), || std::panic::resume_unwind(Box::new("a bad disk"))).await;
        assert!(failed.is_err_and(|reason| reason.contains("panic")));
        assert_eq!(TWO.run(places(), || 7).await, Ok(7));
    }
}
