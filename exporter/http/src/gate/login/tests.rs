use std::path::Path;
use std::str::FromStr;

use config::web_file::WebFile;
use tokio::time::Instant;

use super::{LoginPermit, WAITING_PER_PEER, *};

/// From the table of OpenBSD's and jBCrypt's test vectors: the password `abc`, cost 6, and `a`, cost 8.
const ABC: &str = "$2a$06$If6bvum7DFjUnE9p2uDeDu0YHzrHM6tf.iqN8.yx.jNN1ILEf7h0i";

fn users(hash: &str) -> Users {
    let text = format!("basic_auth_users: {{alice: {hash}}}\n");
    WebFile::parse("web.yml", &text, Path::new(".")).unwrap().users
}

fn basic(credentials: &str) -> Vec<u8> {
    format!("Basic {}", STANDARD.encode(credentials)).into_bytes()
}

fn peer(number: u8) -> PeerKey {
    PeerKey::of(std::net::Ipv4Addr::new(192, 0, 2, number).into())
}

async fn judge(login: &Login, users: &Users, header: &[u8]) -> Verdict {
    login.judge(users, Some(header), peer(1)).await
}

#[tokio::test]
async fn the_right_password_of_the_right_user_is_accepted_and_nothing_else() {
    let (login, users) = (Login::default(), users(ABC));
    for _ in 0..2 {
        // The second round is answered from what was kept.
        for (credentials, verdict) in [
            ("alice:abc", Verdict::Accepted),
            ("alice:abd", Verdict::Rejected),
            ("alice:", Verdict::Rejected),
            ("bob:abc", Verdict::Rejected),
            (":abc", Verdict::Rejected),
            ("alice", Verdict::Missing),
        ] {
            assert_eq!(judge(&login, &users, &basic(credentials)).await, verdict, "{credentials}");
        }
    }
    assert_eq!(judge(&login, &users, b"Bearer abc").await, Verdict::Missing);
    assert_eq!(judge(&login, &users, b"Basic *").await, Verdict::Missing);
    assert_eq!(login.judge(&users, None, peer(1)).await, Verdict::Missing);
    let shouted = String::from_utf8(basic("alice:abc")).unwrap().replace("Basic", "bAsIC");
    assert_eq!(judge(&login, &users, shouted.as_bytes()).await, Verdict::Accepted);
}

#[tokio::test]
async fn an_accepted_password_ends_with_its_hash() {
    let login = Login::default();
    assert_eq!(judge(&login, &users(ABC), &basic("alice:abc")).await, Verdict::Accepted);
    // The same table: the password `a`, cost 6.
    let changed = users("$2a$06$m0CrhHm10qJ3lXRY.5zDGO3rS2KdeeWLuGmsfGlMfOxih58VYVfxe");
    assert_eq!(judge(&login, &changed, &basic("alice:abc")).await, Verdict::Rejected);
    assert_eq!(judge(&login, &changed, &basic("alice:a")).await, Verdict::Accepted);
}

#[tokio::test]
async fn wrong_passwords_push_no_accepted_one_out() {
    let login = Login::default();
    let good = [7; 32];
    login.kept().keep(good, true);
    for number in 0..3 * VERDICTS_MAX as u64 {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&number.to_be_bytes());
        login.kept().keep(key, false);
    }
    assert_eq!(login.kept().verdict(&good), Some(Verdict::Accepted));
    assert_eq!(login.kept().rejected.keys.len(), VERDICTS_MAX);
}

#[tokio::test(start_paused = true)]
async fn a_peer_whose_turn_is_taken_is_told_to_come_again() {
    let (login, users) = (Login::default(), users(ABC));
    let _taken = login.queue.acquire(peer(1)).await;
    assert_eq!(judge(&login, &users, &basic("alice:x")).await, Verdict::Busy);
}

#[tokio::test]
async fn a_first_login_goes_before_those_of_peers_with_wrong_passwords() {
    let (login, users) = (Arc::new(Login::default()), users(ABC));
    let guess = |number| format!("alice:guess {number}");
    for guesser in 1..=10 {
        let verdict = login.judge(&users, Some(&basic(&guess(guesser))), peer(guesser)).await;
        assert_eq!(verdict, Verdict::Rejected);
    }
    // One comparison at a time, so that there is an order; and for now none.
    let (_held, held) = (login.queue.acquire(peer(101)).await, login.queue.acquire(peer(102)).await);
    // Permits, not verdicts: comparisons have threads of their own, so one that began later may end earlier.
    let (granted, mut order) = tokio::sync::mpsc::unbounded_channel();
    let ask = |from: PeerKey| {
        let (login, granted) = (Arc::clone(&login), granted.clone());
        tokio::spawn(async move {
            let permit = login.queue.acquire(from).await;
            granted.send(from).unwrap();
            drop(permit);
        });
    };
    // Two guesses each wait already when somebody else asks for the first time.
    (11..=30).for_each(|number| ask(peer(1 + number % 10)));
    tokio::task::yield_now().await;
    ask(peer(100));
    tokio::task::yield_now().await;
    drop(held);
    assert_eq!(order.recv().await, Some(peer(100)));
    for _ in 11..=30 {
        assert!(order.recv().await.is_some_and(|next| next != peer(100)));
    }
    assert_eq!(login.judge(&users, Some(&basic("alice:abc")), peer(100)).await, Verdict::Accepted);
}

#[tokio::test(start_paused = true)]
async fn wrong_passwords_are_forgotten_and_who_gave_up_takes_no_permit() {
    let queue = Arc::new(LoginQueue::default());
    let failed = queue.acquire(peer(1)).await.unwrap();
    failed.count_failure();
    drop(failed);
    let _held = queue.acquire(peer(101)).await;
    for (waited, expected) in [(Duration::ZERO, [2, 1]), (Duration::from_secs(600), [1, 2])] {
        let held = queue.acquire(peer(102)).await;
        assert!(tokio::time::timeout(Duration::from_secs(1), queue.acquire(peer(3))).await.is_err());
        let (granted, mut order) = tokio::sync::mpsc::unbounded_channel();
        for number in [1, 2] {
            let (queue, granted) = (Arc::clone(&queue), granted.clone());
            tokio::spawn(async move {
                let _permit = queue.acquire(peer(number)).await;
                granted.send(number).unwrap();
            });
            tokio::task::yield_now().await;
        }
        tokio::time::advance(waited).await;
        drop(held);
        assert_eq!([order.recv().await, order.recv().await], expected.map(Some));
    }
}

/// Returns when every other task waits for something: before that, paused time stands still.
async fn all_wait() {
    tokio::time::sleep(Duration::from_millis(1)).await;
}

/// A queue in which nobody gets a permit before the second one of these is dropped, and then one at a time.
async fn held(queue: &Arc<LoginQueue>) -> [Option<LoginPermit>; 2] {
    [queue.acquire(peer(101)).await, queue.acquire(peer(102)).await]
}

#[tokio::test(start_paused = true)]
async fn a_peer_of_which_too_many_wait_is_told_at_once_and_the_others_keep_their_places() {
    let (login, users) = (Login::default(), users(ABC));
    let [_held, held] = held(&login.queue).await;
    let (granted, mut order) = tokio::sync::mpsc::unbounded_channel();
    let wait = |number| {
        let (queue, granted) = (Arc::clone(&login.queue), granted.clone());
        tokio::spawn(async move {
            let _permit = queue.acquire(peer(number)).await.unwrap();
            granted.send(number).unwrap();
        });
    };
    wait(2);
    (0..WAITING_PER_PEER).for_each(|_| wait(1));
    wait(3);
    all_wait().await;
    let began = Instant::now();
    assert_eq!(judge(&login, &users, &basic("alice:abc")).await, Verdict::Busy);
    assert_eq!(began.elapsed(), Duration::ZERO);
    // Accepted passwords do not wait.
    let header = basic("alice:abc");
    let key = Given::read(&header).unwrap().key(login.key.as_ref().unwrap(), ABC);
    login.kept().keep(key, true);
    assert_eq!(judge(&login, &users, &header).await, Verdict::Accepted);
    drop(held);
    drop(granted);
    let mut served = Vec::new();
    while let Some(number) = order.recv().await {
        served.push(number);
    }
    assert_eq!(served, [vec![2], vec![1; WAITING_PER_PEER], vec![3]].concat());
}

#[tokio::test(start_paused = true)]
async fn a_place_is_free_again_when_its_request_gives_up_or_was_served() {
    let queue = Arc::new(LoginQueue::default());
    let [_held, held] = held(&queue).await;
    let wait = || {
        let queue = Arc::clone(&queue);
        tokio::spawn(async move { queue.acquire(peer(1)).await.is_some() })
    };
    let is_full = || async {
        let waits = tokio::time::timeout(Duration::from_secs(1), queue.acquire(peer(1))).await.is_err();
        !waits
    };
    let waiting: Vec<_> = (0..WAITING_PER_PEER).map(|_| wait()).collect();
    all_wait().await;
    assert!(is_full().await);
    waiting[7].abort();
    all_wait().await;
    assert!(!is_full().await);
    drop(held);
    for (number, served) in waiting.into_iter().enumerate() {
        assert_eq!(served.await.is_ok_and(|served| served), number != 7, "{number}");
    }
    assert!(queue.acquire(peer(1)).await.is_some());
}

#[test]
fn nobody_has_a_hash_of_the_users_cost() {
    for cost in 4..=18 {
        assert_eq!(bcrypt::HashParts::from_str(&nobody(cost)).unwrap().get_cost(), cost);
    }
}

#[test]
fn parts_of_credentials_are_not_mixed_up() {
    let salt = [1; 32];
    let key = |user: &str, hash: &str, password: &str| {
        let password = Zeroizing::new(password.as_bytes().to_vec());
        Given { user: user.to_owned(), password }.key(&salt, hash)
    };
    let keys = [key("a", "bc", "d"), key("ab", "c", "d"), key("a", "b", "cd"), key("", "abc", "d")];
    assert_eq!(keys.iter().collect::<HashSet<_>>().len(), 4);
}
