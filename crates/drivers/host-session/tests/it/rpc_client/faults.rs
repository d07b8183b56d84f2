//! One short conversation, damaged at every byte.

use std::sync::Arc;
use std::time::Duration;

use host_session::rpc_client::{Error, ErrorKind, NamedPipe};
use tokio::time::timeout;
use transport::{Counted, Direction, FaultPlan, Faulty};

use crate::rpc_client::calls::{REVERSE, call, connect, dial, rules, soon};

/// Connects, makes one call, and returns the answer.
async fn converse(plan: FaultPlan) -> Result<Vec<u8>, Error> {
    let stream = Faulty::new(dial(&Arc::new(rules())), plan);
    let mut association = connect(Box::new(stream)).await?;
    association.call(call(REVERSE, &[1, 2, 3]), soon()).await
}

/// Bytes that the undamaged conversation receives and sends.
async fn lengths() -> (u64, u64) {
    let stream = Counted::new(dial(&Arc::new(rules())));
    let counter = stream.counter();
    let mut association = connect(Box::new(stream)).await.unwrap();
    association.call(call(REVERSE, &[1, 2, 3]), soon()).await.unwrap();
    (counter.received_bytes(), counter.sent_bytes())
}

#[tokio::test(start_paused = true)]
async fn a_conversation_that_is_cut_at_any_byte_fails_at_once_and_says_so() {
    let (received, sent) = lengths().await;
    let ways = [(Direction::Received, received), (Direction::Sent, sent)];
    for (direction, end) in ways {
        for offset in 0..end {
            let plan = FaultPlan { cut: Some((direction, offset)), ..FaultPlan::default() };
            let outcome = timeout(Duration::from_secs(1), converse(plan)).await.expect("no hang");
            let error = outcome.expect_err("half a conversation is none");
            let expected = matches!(error.kind(), ErrorKind::ConnectionLost | ErrorKind::Smb1Only);
            assert!(expected, "cut {direction:?} at {offset}: {error} ({:?})", error.kind());
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_tried_over_a_lost_connection_fails_by_the_loss() {
    let (received, sent) = lengths().await;
    for cut in [(Direction::Received, received - 1), (Direction::Sent, sent - 1)] {
        let plan = FaultPlan { cut: Some(cut), ..FaultPlan::default() };
        let stream = Faulty::new(dial(&Arc::new(rules())), plan);
        let mut association = connect(Box::new(stream)).await.unwrap();
        for attempt in 0..10 {
            let error = association.call(call(REVERSE, &[1, 2, 3]), soon()).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::ConnectionLost, "call {attempt}: {error}");
        }
        let smb = association.transport().connection();
        let opened = NamedPipe::open(smb, "echo", soon()).await.unwrap_err();
        assert_eq!(opened.kind(), ErrorKind::ConnectionLost, "{opened}");
        let echoed = smb.lock().await.echo(soon()).await.unwrap_err();
        assert_eq!(echoed.kind(), ErrorKind::ConnectionLost, "{echoed}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_byte_that_is_altered_is_never_taken_for_an_answer() {
    let (received, _) = lengths().await;
    for offset in 0..received {
        let plan = FaultPlan { corrupt: Some((Direction::Received, offset)), ..FaultPlan::default() };
        match timeout(Duration::from_secs(60), converse(plan)).await.expect("no hang beyond the deadlines") {
            Ok(answer) => assert_eq!(answer, [3, 2, 1], "altered at {offset}"),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
}
