//! Limits on work that may wait for a disk, by its kind, so that no kind takes the threads of another one. A library has 32 threads
//! for such work. Files of logs take up to 8 of them, files of SQLite up to 4, and those that are here up to 14.

use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

/// Threads for one kind of work.
#[derive(Debug)]
pub(crate) struct Threads(Semaphore);

impl Threads {
    /// At most so many at a time.
    const fn new(threads_max: usize) -> Self {
        Self(Semaphore::const_new(threads_max))
    }

    /// Does work when a thread is free. If nobody waits for that any more, work that has begun goes on.
    ///
    /// # Errors
    /// When it has panicked.
    pub(crate) async fn run<T: Send + 'static>(
        &'static self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, String> {
        let thread = self.0.acquire().await.map_err(|error| error.to_string())?;
        let done = spawn_blocking(move || {
            let done = work();
            drop(thread);
            done
        });
        done.await.map_err(|error| error.to_string())
    }
}

/// Data managers, which may take minutes, with their reports.
pub(crate) static DATA_MANAGERS: Threads = Threads::new(3);
/// Checks of limits before a run, which a start waits for.
pub(crate) static CHECKS: Threads = Threads::new(2);
/// Reports of sets that end, which have no time to wait for data managers.
pub(crate) static LAST_REPORTS: Threads = Threads::new(2);
/// Sets that begin: their states are read, and logs of earlier processes are brought to an end.
pub(crate) static LOADS: Threads = Threads::new(2);
/// States that are stored.
pub(crate) static STORES: Threads = Threads::new(2);
/// Files of passwords.
pub(crate) static PASSWORDS: Threads = Threads::new(1);
/// Files of sets, which may be on network drives.
pub(crate) static SET_FILES: Threads = Threads::new(2);

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

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
        let released = std::sync::Arc::new(std::sync::Mutex::new(released));
        let works: Vec<_> = (0..20)
            .map(|_| {
                let (began, released) = (began.clone(), std::sync::Arc::clone(&released));
                runtime.spawn(SLOW.run(move || {
                    began.send(()).expect("the test listens");
                    // Ends when the test has dropped the other side.
                    let _ = released.lock().map(|released| released.recv());
                }))
            })
            .collect();
        (0..3).for_each(|_| begun.recv().expect("three may work"));
        let other = async { tokio::time::timeout(Duration::from_secs(30), OTHER.run(|| 7)).await };
        assert_eq!(runtime.block_on(other), Ok(Ok(7)), "the others wait, and not on threads");
        assert!(begun.try_recv().is_err(), "no fourth");
        drop(release);
        for work in works {
            runtime.block_on(work).expect("no panic").expect("no panic");
        }
        assert_eq!(begun.try_iter().count(), 17);
    }

    #[tokio::test]
    async fn work_that_panics_gives_its_thread_back() {
        static ONE: Threads = Threads::new(1);
        let failed: Result<(), String> = ONE.run(|| std::panic::resume_unwind(Box::new("a bad disk"))).await;
        assert!(failed.is_err_and(|reason| reason.contains("panic")));
        assert_eq!(ONE.run(|| 7).await, Ok(7));
    }
}
