use super::*;

const A: &str = "192.0.2.1";
const B: &str = "192.0.2.2";
const C: &str = "192.0.2.3";

/// Permits that peers ask for by their addresses.
struct Fixture(Arc<PagePermits>);

impl Fixture {
    fn new(permits_max: usize) -> Self {
        Self(PagePermits::new(permits_max))
    }

    async fn acquire(&self, peer: &str) -> Result<PagePermit, NoPermit> {
        self.0.acquire(PeerKey::of(peer.parse().unwrap()), Arc::default()).await
    }

    /// Takes `count` permits of a peer, which are available at once.
    async fn take(&self, peer: &str, count: usize) -> Vec<PagePermit> {
        let (mut permits, began) = (Vec::new(), Instant::now());
        for _ in 0..count {
            permits.push(self.acquire(peer).await.unwrap());
        }
        assert_eq!(began.elapsed(), Duration::ZERO);
        permits
    }
}

/// Time goes on while these pages are read.
async fn read_for(time: Duration, pages: impl Iterator<Item = &PagePermit> + Clone) {
    let end = Instant::now() + time;
    while Instant::now() < end {
        tokio::time::advance(STALLED_AFTER / 2).await;
        pages.clone().for_each(|page| page.wrote(PROGRESS_BYTES));
    }
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_takes_all_it_gets_leaves_permits_to_others() {
    let permits = Fixture::new(8);
    let all = permits.take(A, 6).await;
    let (seventh, ()) = tokio::join!(permits.acquire(A), read_for(WAIT_MAX, all.iter()));
    assert_eq!(seventh.map(drop), Err(NoPermit));
    permits.take(B, 2).await;
}

#[tokio::test(start_paused = true)]
async fn a_page_that_nobody_reads_is_ended_for_another_and_one_that_is_read_is_not() {
    let permits = Fixture::new(2);
    let (stuck, read) = (permits.take(A, 1).await, permits.take(A, 1).await);
    let began = Instant::now();
    let (newcomer, ()) = tokio::join!(permits.acquire(B), read_for(STALLED_AFTER, read.iter()));
    assert!(newcomer.is_ok() && stuck[0].is_ended() && !read[0].is_ended());
    assert_eq!(began.elapsed(), STALLED_AFTER);
    // A byte now and then is no progress.
    stuck[0].wrote(1);
    assert!(stuck[0].is_ended());
    // The page's end is signalled even if nothing waits for it yet.
    stuck[0].page.end.notified().await;
}

#[tokio::test(start_paused = true)]
async fn few_bytes_are_no_progress() {
    let permits = Fixture::new(1);
    let drip = permits.take(A, 1).await;
    let dripping = async {
        for _ in 0..10 {
            tokio::time::sleep(STALLED_AFTER / 10).await;
            drip[0].wrote(PROGRESS_BYTES / 20);
        }
    };
    let (newcomer, ()) = tokio::join!(permits.acquire(B), dripping);
    assert!(newcomer.is_ok() && drip[0].is_ended());
}

#[tokio::test(start_paused = true)]
async fn a_page_of_long_ago_gives_way_to_a_peer_that_has_fewer_and_to_no_other() {
    let permits = Fixture::new(4);
    let (old, other) = (permits.take(A, 2).await, permits.take(B, 2).await);
    read_for(LONG, old.iter().chain(&other)).await;
    // One more of B would be unjust, however long the pages of A take.
    let (third, ()) = tokio::join!(permits.acquire(B), read_for(WAIT_MAX, old.iter().chain(&other)));
    assert_eq!(third.map(drop), Err(NoPermit));
    assert!(permits.acquire(C).await.is_ok());
    assert!(old.iter().chain(&other).any(PagePermit::is_ended));
}

#[tokio::test(start_paused = true)]
async fn the_peer_with_the_fewest_pages_comes_first_whoever_else_waits() {
    let permits = Fixture::new(2);
    let mut held = permits.take(A, 1).await;
    let others = permits.take(B, 1).await;
    let order = Mutex::new(Vec::new());
    let wait = async |peer: &'static str| {
        let permit = permits.acquire(peer).await.unwrap();
        order.lock().push(peer);
        permit
    };
    let releasing = async {
        tokio::task::yield_now().await;
        held.clear();
        while order.lock().is_empty() {
            tokio::task::yield_now().await;
        }
        drop(others);
    };
    let (first, second, ()) = tokio::join!(wait(B), wait(C), releasing);
    assert_eq!(*order.lock(), [C, B]);
    drop((first, second));
}

#[tokio::test(start_paused = true)]
async fn requests_that_wait_are_counted_too() {
    let permits = Fixture::new(0);
    let waiting: Vec<_> = (0..WAITING_PER_PEER)
        .map(|_| permits.0.enter(PeerKey::of(A.parse().unwrap()), Arc::default()))
        .collect();
    assert!(waiting.iter().all(Result::is_ok));
    let began = Instant::now();
    assert_eq!(permits.acquire(A).await.map(drop), Err(NoPermit));
    assert_eq!(began.elapsed(), Duration::ZERO);
    assert_eq!(permits.acquire(B).await.map(drop), Err(NoPermit));
    assert_eq!(began.elapsed(), WAIT_MAX);
    // Waiters that are gone are removed.
    drop(waiting);
    assert!(permits.0.state().waiting.is_empty());
}
