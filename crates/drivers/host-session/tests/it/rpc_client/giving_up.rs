//! Deadlines and dropped calls: nothing hangs, and no answer is taken for that of another call.

use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use host_session::rpc_client::{ErrorKind, NamedPipe, SmbConnection, SmbOptions, Stage, Transport};
use ms_smb2::client::Encryption;
use parking_lot::Mutex;
use ssp::Mechanism;
use tokio::time::{Instant, timeout};
use transport::{Direction, Endpoint, FaultPlan, Faulty, PcapFile};

use crate::host::PASSWORD;
use crate::rpc_client::calls::{
    HANG_UP, RAW, REVERSE, SILENCE, bind, call, connect, credentials, dial, let_the_host_work, log_on,
    pattern, rules, soon,
};

#[tokio::test(start_paused = true)]
async fn a_call_without_an_answer_ends_at_its_deadline_and_another_pipe_works() {
    let smb = log_on(dial(&Arc::new(rules())), SmbOptions::default()).await.unwrap();
    let mut association = bind(&smb, Mechanism::Negotiate).await.unwrap();
    let before = Instant::now();
    let deadline = before + Duration::from_secs(4);
    let error = association.call(call(SILENCE, &[]), deadline).await.unwrap_err();
    assert_eq!((error.kind(), error.stage()), (ErrorKind::Timeout, Stage::Query));
    assert_eq!(before.elapsed(), Duration::from_secs(4));

    assert!(!association.is_usable());
    let refused = association.call(call(REVERSE, &[1]), soon()).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Timeout, "the first reason stays");
    assert!(smb.lock().await.is_usable());
    let mut another = bind(&smb, Mechanism::Negotiate).await.unwrap();
    assert_eq!(another.call(call(REVERSE, &[1, 2, 3, 4]), soon()).await.unwrap(), [4, 3, 2, 1]);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_dropped_half_way_leaves_an_association_that_refuses() {
    let smb = log_on(dial(&Arc::new(rules())), SmbOptions::default()).await.unwrap();
    let mut association = bind(&smb, Mechanism::Negotiate).await.unwrap();
    let dropped = timeout(Duration::from_millis(5), association.call(call(SILENCE, &[]), soon())).await;
    assert!(dropped.is_err());
    let refused = association.call(call(REVERSE, &[1]), soon()).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Abandoned);
    let refused = association
        .into_transport()
        .receive(host_session::rpc_client::Operation::Read, soon())
        .await
        .unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Abandoned, "the pipe refuses too");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_dropped_anywhere_does_not_disturb_the_other_pipes() {
    // A slow stream makes the calls end in the middle of a write, of a read, and between the two.
    let plan =
        FaultPlan { split_bytes_max: Some(64), delay_max: Duration::from_millis(2), ..FaultPlan::default() };
    let stream = Box::new(Faulty::new(dial(&Arc::new(rules())), plan));
    let smb = log_on(stream, SmbOptions::default()).await.unwrap();
    let mut steady = bind(&smb, Mechanism::Ntlm).await.unwrap();
    for step in 0..40 {
        let mut victim = bind(&smb, Mechanism::Ntlm).await.unwrap();
        let stub = pattern(2000);
        let patience = Duration::from_millis(step * 5);
        let _cut_off = timeout(patience, victim.call(call(REVERSE, &stub), soon())).await;
        let ours = [7, u8::try_from(step).unwrap(), 9, 11];
        let mut answer = steady.call(call(REVERSE, &ours), soon()).await.unwrap();
        answer.reverse();
        assert_eq!(answer, ours, "step {step}");
    }
}

/// How often the client sent the SMB command `CANCEL`, counted on the wire.
fn cancels(wire: &Mutex<Vec<u8>>) -> usize {
    const CANCEL: [u8; 2] = [0x0c, 0];
    let wire = wire.lock();
    wire.windows(14).filter(|bytes| bytes.starts_with(b"\xfeSMB") && bytes[12..] == CANCEL).count()
}

#[tokio::test(start_paused = true)]
async fn what_reaches_its_deadline_is_cancelled_there_and_then() {
    let wire = Wire::default();
    let capture = PcapFile::with_clock(wire.clone(), || Duration::ZERO).unwrap();
    let stream = Box::new(capture.record(dial(&Arc::new(rules())), &Endpoint::new("web1", 445)));
    let in_the_clear = SmbOptions { encryption: Encryption::Disabled, ..SmbOptions::default() };
    let smb = log_on(stream, in_the_clear).await.unwrap();
    let mut association = bind(&smb, Mechanism::Ntlm).await.unwrap();
    association.call(call(SILENCE, &[]), Instant::now() + Duration::from_secs(1)).await.unwrap_err();
    assert_eq!(cancels(&wire.0), 1);
    let mut another = bind(&smb, Mechanism::Ntlm).await.unwrap();
    assert_eq!(cancels(&wire.0), 1, "once");

    assert!(timeout(Duration::from_secs(1), another.call(call(SILENCE, &[]), soon())).await.is_err());
    assert_eq!(cancels(&wire.0), 1, "nobody is there to cancel what was dropped");
    smb.lock().await.echo(soon()).await.unwrap();
    assert_eq!(cancels(&wire.0), 2, "until the next call");
}

/// The traffic of a stream, in the frames of a capture.
#[derive(Clone, Default)]
struct Wire(Arc<Mutex<Vec<u8>>>);

impl Write for Wire {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn pipes_that_nobody_holds_are_closed_at_the_server() {
    let smb = log_on(dial(&Arc::new(rules())), SmbOptions::default()).await.unwrap();
    for _ in 0..PIPES_OF_A_SESSION_MAX + 10 {
        let mut association = bind(&smb, Mechanism::Ntlm).await.unwrap();
        let moment = Instant::now() + Duration::from_millis(10);
        let error = association.call(call(SILENCE, &[]), moment).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Timeout);
    }
}

#[tokio::test(start_paused = true)]
async fn a_pipe_that_opens_for_somebody_who_has_gone_is_closed() {
    let smb = log_on(dial(&Arc::new(rules())), SmbOptions::default()).await.unwrap();
    for _ in 0..PIPES_OF_A_SESSION_MAX + 10 {
        assert!(timeout(Duration::ZERO, NamedPipe::open(&smb, "echo", soon())).await.is_err());
        let_the_host_work().await;
        smb.lock().await.echo(soon()).await.unwrap();
    }
    assert!(bind(&smb, Mechanism::Ntlm).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn an_authentication_that_is_dropped_half_way_ends_the_connection() {
    let rules = Arc::new(rules());
    let mut smb =
        SmbConnection::negotiate(dial(&rules), "web1", SmbOptions::default(), soon()).await.unwrap();
    let no_time = timeout(Duration::ZERO, smb.authenticate(credentials(PASSWORD), soon())).await;
    assert!(no_time.is_err());
    assert_eq!(smb.connect_ipc(soon()).await.unwrap_err().kind(), ErrorKind::Abandoned);
    let again = smb.authenticate(credentials(PASSWORD), soon()).await.unwrap_err();
    assert_eq!(again.kind(), ErrorKind::Abandoned);
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_stalls_anywhere_ends_at_the_deadline() {
    for offset in (0..4000).step_by(97) {
        for direction in [Direction::Received, Direction::Sent] {
            let plan = FaultPlan { stall: Some((direction, offset)), ..FaultPlan::default() };
            let stream = Box::new(Faulty::new(dial(&Arc::new(rules())), plan));
            let before = Instant::now();
            match connect(stream).await {
                Ok(mut association) => {
                    let stub = pattern(8000);
                    let error = association.call(call(REVERSE, &stub), soon()).await.unwrap_err();
                    assert_eq!(error.kind(), ErrorKind::Timeout, "{direction:?} {offset}");
                }
                Err(error) => assert_eq!(error.kind(), ErrorKind::Timeout, "{direction:?} {offset}"),
            }
            assert_eq!(before.elapsed(), Duration::from_secs(10), "{direction:?} {offset}");
        }
    }
}

#[tokio::test]
async fn a_service_that_ends_is_told_from_a_connection_that_ends() {
    let smb = log_on(dial(&Arc::new(rules())), SmbOptions::default()).await.unwrap();
    let mut association = bind(&smb, Mechanism::Negotiate).await.unwrap();
    let error = association.call(call(HANG_UP, &[]), soon()).await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Refused(_)), "{error}");
    assert!(smb.lock().await.is_usable());
    assert!(!association.is_usable());
    assert!(bind(&smb, Mechanism::Negotiate).await.is_ok());
}

#[tokio::test]
async fn an_answer_that_is_no_pdu_ends_the_association_only() {
    let smb = log_on(dial(&Arc::new(rules())), SmbOptions::default()).await.unwrap();
    let mut association = bind(&smb, Mechanism::Negotiate).await.unwrap();
    let error = association.call(call(RAW, &[]), soon()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Malformed, "{error}");
    assert!(!association.is_usable());
    assert!(smb.lock().await.is_usable());
}

/// The server's own limit.
const PIPES_OF_A_SESSION_MAX: usize = 64;
