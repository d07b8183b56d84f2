use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use dcerpc::client::{CallRequest, ClientConfig};
use dcerpc::server::IncomingCall;
use dcerpc::{AuthLevel, FaultStatus, SyntaxId};
use host_session::rpc_client::{
    Association, Error, ErrorKind, NamedPipe, Security, SharedSmbConnection, SmbConnection, SmbOptions, Stage,
};
use ms_smb2::client::Encryption;
use ssp::{Credentials, Mechanism, Secret};
use tokio::sync::Mutex;
use tokio::time::Instant;
use transport::{BoxStream, FaultPlan, Faulty};
use windows_sim::smb::Encryption as ServerEncryption;
use wire::Guid;

use crate::host::{Answer, PASSWORD, Rules, USER, serve};

pub(crate) const ECHO: SyntaxId = SyntaxId::new(Guid::from_u128(0x0ec0), 1, 0);
/// Returns its stub, reversed.
pub(crate) const REVERSE: u16 = 0;
pub(crate) const FAULT: u16 = 1;
pub(crate) const SILENCE: u16 = 2;
pub(crate) const HANG_UP: u16 = 3;
/// Answers with a response without first or last fragment.
pub(crate) const RAW: u16 = 4;
/// Answers with a fault with an invalid signature.
const FORGED_FAULT: u16 = 5;

pub(crate) fn echo(call: &IncomingCall) -> Answer {
    assert_eq!(call.auth_level, AuthLevel::PKT_PRIVACY);
    match call.opnum {
        REVERSE => Answer::Response(call.stub.iter().rev().copied().collect()),
        FAULT => Answer::Fault(FaultStatus::RPC_X_BAD_STUB_DATA),
        SILENCE => Answer::Silence,
        HANG_UP => Answer::HangUp,
        FORGED_FAULT => Answer::Raw(forged_fault(call)),
        _ => Answer::Raw(vec![0xff; 64]),
    }
}

/// [MS-RPCE] 2.2.2.8 and 2.2.2.11: the fault of an unknown context handle, which claims to be sealed by SPNEGO.
fn forged_fault(call: &IncomingCall) -> Vec<u8> {
    let mut pdu = vec![5, 0, 3, 3, 0x10, 0, 0, 0, 56, 0, 16, 0];
    pdu.extend(call.call_id.0.to_le_bytes());
    pdu.extend([0; 8]);
    pdu.extend(FaultStatus::NCA_S_FAULT_CONTEXT_MISMATCH.0.to_le_bytes());
    pdu.extend([0; 4]);
    pdu.extend([9, 6, 0, 0, 1, 0, 0, 0]);
    pdu.extend([0x5a; 16]);
    pdu
}

pub(crate) fn rules() -> Rules {
    Rules::new(ECHO, echo)
}

pub(crate) fn soon() -> Instant {
    Instant::now() + Duration::from_secs(10)
}

pub(crate) fn credentials(password: &str) -> Credentials {
    Credentials::new("CORP", USER, Secret::new(password))
}

/// The client's end of a connection to a host with `rules`.
pub(crate) fn dial(rules: &Arc<Rules>) -> BoxStream {
    let (near, far) = tokio::io::duplex(64 * 1024);
    tokio::spawn(serve(Box::new(far), Arc::clone(rules)));
    Box::new(near)
}

/// Everything up to the tree, over `stream`.
pub(crate) async fn log_on(stream: BoxStream, options: SmbOptions) -> Result<SharedSmbConnection, Error> {
    let mut smb = SmbConnection::negotiate(stream, "web1", options, soon()).await?;
    smb.authenticate(credentials(PASSWORD), soon()).await?;
    smb.connect_ipc(soon()).await?;
    Ok(Arc::new(Mutex::new(smb)))
}

pub(crate) async fn bind(
    smb: &SharedSmbConnection,
    mechanism: Mechanism,
) -> Result<Association<NamedPipe>, Error> {
    let pipe = NamedPipe::open(smb, "echo", soon()).await?;
    let security = Security { mechanism, ..Security::sealed(credentials(PASSWORD), "cifs/web1") };
    Association::bind(pipe, &[ECHO], Some(&security), ClientConfig::default(), soon()).await
}

pub(crate) async fn connect(stream: BoxStream) -> Result<Association<NamedPipe>, Error> {
    bind(&log_on(stream, SmbOptions::default()).await?, Mechanism::Negotiate).await
}

pub(crate) const fn call(opnum: u16, stub: &[u8]) -> CallRequest<'_> {
    CallRequest { context_id: 0, opnum, object: None, stub }
}

/// Lets the host's task read what was written and answer it.
pub(crate) async fn let_the_host_work() {
    for _ in 0..8 {
        tokio::task::yield_now().await;
    }
}

pub(crate) async fn poll_once<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
    std::future::poll_fn(|cx| match Pin::new(&mut *future).poll(cx) {
        Poll::Ready(output) => Poll::Ready(Some(output)),
        Poll::Pending => Poll::Ready(None),
    })
    .await
}

/// Bytes without equal neighbours or equal blocks. If a verification trailer follows, a server sees stub data
/// padded to a multiple of four.
pub(crate) fn pattern(len: usize) -> Vec<u8> {
    (0..len).map(|i| u8::try_from((i * 7 + i / 251) % 256).unwrap()).collect()
}

async fn reverses(association: &mut Association<NamedPipe>, len: usize) {
    let stub = pattern(len);
    let mut answer = association.call(call(REVERSE, &stub), soon()).await.unwrap();
    answer.reverse();
    assert_eq!(answer, stub, "{len} bytes come back");
}

#[tokio::test]
async fn sealed_calls_are_answered_whatever_smb_does_and_however_rpc_authenticates() {
    let pairs = [
        (Encryption::Disabled, ServerEncryption::Allowed, false),
        (Encryption::Preferred, ServerEncryption::Disabled, false),
        (Encryption::Preferred, ServerEncryption::Allowed, true),
        (Encryption::Preferred, ServerEncryption::Required, true),
        (Encryption::Required, ServerEncryption::Allowed, true),
    ];
    for (ours, theirs, is_encrypted) in pairs {
        for mechanism in [Mechanism::Ntlm, Mechanism::Negotiate] {
            let rules = Arc::new(rules().with_encryption(theirs));
            let options = SmbOptions { encryption: ours, ..SmbOptions::default() };
            let smb = log_on(dial(&rules), options).await.unwrap();
            assert_eq!(smb.lock().await.is_encrypted(), is_encrypted, "{ours:?} meets {theirs:?}");
            let mut association = bind(&smb, mechanism).await.unwrap();
            for len in [0, 1, 100] {
                reverses(&mut association, len).await;
            }
            assert_eq!(association.calls(), 3);
            assert_eq!(rules.logons_accepted(), 2, "once in SMB, once in RPC");
        }
    }
}

#[tokio::test]
async fn requests_and_answers_of_many_fragments_arrive_whole() {
    for coalesces in [false, true] {
        for fragment_bytes_max in [1432, 4280, 5840] {
            let rules = Arc::new(Rules { coalesces, fragment_bytes_max, ..rules() });
            let mut association = connect(dial(&rules)).await.unwrap();
            for len in [1300, 1432, 6000, 70_000, 300_000] {
                reverses(&mut association, len).await;
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_comes_in_pieces_or_in_lumps_changes_nothing() {
    for seed in 0..8 {
        let split_bytes_max = if seed % 2 == 0 { Some(17) } else { None };
        let delay_max = Duration::from_millis(1);
        let plan = FaultPlan { seed, split_bytes_max, coalesce: true, delay_max, ..FaultPlan::default() };
        let rules = Arc::new(rules());
        let stream = Box::new(Faulty::new(dial(&rules), plan));
        let mut association = connect(stream).await.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        reverses(&mut association, 9000).await;
    }
}

#[tokio::test]
async fn a_fault_is_an_answer_and_the_next_call_works() {
    let mut association = connect(dial(&Arc::new(rules()))).await.unwrap();
    let error = association.call(call(FAULT, &[]), soon()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Fault(FaultStatus::RPC_X_BAD_STUB_DATA));
    assert_eq!(error.stage(), Stage::Query);
    assert_eq!(
        error.to_string(),
        "call of opnum 1: fault 0x000006f7: the server could not read the stub data"
    );
    reverses(&mut association, 10).await;
}

#[tokio::test]
async fn a_fault_whose_signature_is_not_believed_is_told_and_ends_the_association() {
    let mut association = connect(dial(&Arc::new(rules()))).await.unwrap();
    let error = association.call(call(FORGED_FAULT, &[]), soon()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Fault(FaultStatus::NCA_S_FAULT_CONTEXT_MISMATCH), "{error}");
    assert!(!association.is_usable());
    let error = association.call(call(REVERSE, &[1]), soon()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Security, "{error}");
}

#[tokio::test]
async fn several_pipes_share_a_connection() {
    let smb = log_on(dial(&Arc::new(rules())), SmbOptions::default()).await.unwrap();
    let mut first = bind(&smb, Mechanism::Ntlm).await.unwrap();
    let mut second = bind(&smb, Mechanism::Ntlm).await.unwrap();
    for _ in 0..3 {
        reverses(&mut first, 20).await;
        reverses(&mut second, 32).await;
    }
    first.into_transport().close(soon()).await.unwrap();
    reverses(&mut second, 40).await;
    smb.lock().await.echo(soon()).await.unwrap();
    smb.lock().await.log_off(soon()).await.unwrap();
    assert!(!smb.lock().await.is_usable());
}

#[tokio::test]
async fn an_interface_that_the_server_does_not_have_is_told_from_one_that_it_has() {
    let smb = log_on(dial(&Arc::new(rules())), SmbOptions::default()).await.unwrap();
    let unknown = SyntaxId::new(Guid::from_u128(0xbad), 1, 0);
    let pipe = NamedPipe::open(&smb, "echo", soon()).await.unwrap();
    let security = Security::sealed(credentials(PASSWORD), "cifs/web1");
    let config = ClientConfig::default();
    let refused = Association::bind(pipe, &[unknown], Some(&security), config, soon()).await.unwrap_err();
    assert_eq!((refused.kind(), refused.stage()), (ErrorKind::InterfaceRefused, Stage::Bind));

    let mut association = bind(&smb, Mechanism::Negotiate).await.unwrap();
    let refused = association.alter_context(unknown, soon()).await.unwrap_err();
    assert_eq!((refused.kind(), refused.stage()), (ErrorKind::InterfaceRefused, Stage::Bind));
    let context_id = association.alter_context(ECHO, soon()).await.unwrap();
    let answer =
        association.call(CallRequest { context_id, ..call(REVERSE, &[1, 2, 3, 4]) }, soon()).await.unwrap();
    assert_eq!(answer, [4, 3, 2, 1]);
}
