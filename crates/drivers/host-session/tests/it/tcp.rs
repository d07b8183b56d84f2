//! Sessions over TCP: sealed, without credentials, and what goes wrong.

use std::sync::Arc;

use dcerpc::server::{IncomingCall, ServerAssociation, ServerConfig, ServerEvent};
use dcerpc::{AuthLevel, Channel as _, FaultStatus, SyntaxId};
use host_session::{
    Options, Reason, SessionError, Stage, Target, TcpReached, TcpService, TcpSession, Verdict,
};
use ssp::Usage;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use transport::{BoxStream, MemoryNetwork};
use wire::Guid;

use crate::host::{Answer, PASSWORD, Rules, acceptor, mechanism};
use crate::world::{INTERFACE, credentials, soon};

const OTHER: SyntaxId = SyntaxId::new(Guid::from_u128(0x5e55_1048), 2, 0);
const MAPPER: TcpService = TcpService { class: "RPCSS", stopped: Reason::NotFound };

/// Says which protection the call had; opnum 1 is refused, and opnum 2 ends the connection.
fn level(call: &IncomingCall) -> Answer {
    match call.opnum {
        1 => Answer::Fault(FaultStatus::NCA_S_FAULT_ACCESS_DENIED),
        2 => Answer::HangUp,
        _ => Answer::Response(vec![
            u8::from(call.auth_level == AuthLevel::PKT_PRIVACY),
            u8::try_from(call.context_id).unwrap(),
        ]),
    }
}

/// Serves these interfaces at a port of the host `web1`.
pub(crate) fn listen(
    network: &MemoryNetwork,
    port: u16,
    interfaces: Vec<SyntaxId>,
    handler: impl Fn(&IncomingCall) -> Answer + Send + Sync + 'static,
) {
    let mut listener = network.listen("web1", port);
    let rules = Arc::new(Rules::new(INTERFACE, |_| Answer::HangUp));
    let handler: Arc<Handler> = Arc::new(handler);
    tokio::spawn(async move {
        loop {
            let stream = listener.accept().await;
            tokio::spawn(answer(stream, Arc::clone(&rules), interfaces.clone(), Arc::clone(&handler)));
        }
    });
}

type Handler = dyn Fn(&IncomingCall) -> Answer + Send + Sync;

async fn answer(mut stream: BoxStream, rules: Arc<Rules>, interfaces: Vec<SyntaxId>, handler: Arc<Handler>) {
    let accept = move |service| mechanism(service).map(|mechanism| acceptor(&rules, mechanism, Usage::Rpc));
    let mut association = ServerAssociation::new(ServerConfig::new(interfaces), accept);
    let mut buffer = vec![0; 16 * 1024];
    while let Ok(len @ 1..) = stream.read(&mut buffer).await {
        // A wrong password ends with a fault, which is sent before the connection ends.
        let broken = association.handle_bytes(&buffer[..len]).is_err();
        while let Some(event) = association.poll_event() {
            let ServerEvent::Request(call) = event else { continue };
            match handler(&call) {
                Answer::Response(stub) => association.respond(call.call_id, &stub).unwrap(),
                Answer::Fault(status) => association.fault(call.call_id, status).unwrap(),
                _ => return,
            }
        }
        while let Some(pdu) = association.poll_transmit() {
            stream.write_all(&pdu).await.unwrap();
        }
        if broken {
            return;
        }
    }
}

fn network() -> MemoryNetwork {
    let network = MemoryNetwork::new();
    listen(&network, 135, vec![INTERFACE, OTHER], level);
    network
}

async fn open(password: Option<&str>, interfaces: &[SyntaxId]) -> Result<TcpSession, SessionError> {
    let target = Target::new("web1", 135);
    let reached = TcpReached::connect(target, Options::default(), &network(), soon()).await?;
    let credentials = password.map(credentials);
    reached.bind(MAPPER, credentials.as_ref(), interfaces, soon()).await
}

fn stages(session: &TcpSession) -> Vec<Stage> {
    session.stages().iter().map(|report| report.stage).collect()
}

#[tokio::test]
async fn calls_are_sealed_where_there_are_credentials_and_plain_without() {
    let mut sealed = open(Some(PASSWORD), &[INTERFACE]).await.unwrap();
    assert_eq!(sealed.channel(0, soon()).call(0, None, &[]).await.unwrap(), [1, 0]);
    assert_eq!(stages(&sealed), [Stage::Dns, Stage::Tcp, Stage::Auth]);
    assert!(sealed.stages()[2].sent_bytes > 0 && sealed.stages()[2].received_bytes > 0);
    assert!(!format!("{sealed:?}").contains(PASSWORD));
    let mut plain = open(None, &[INTERFACE]).await.unwrap();
    assert_eq!(plain.channel(0, soon()).call(0, None, &[]).await.unwrap(), [0, 0]);
    assert_eq!(stages(&plain), [Stage::Dns, Stage::Tcp, Stage::Bind]);
}

#[tokio::test]
async fn an_interface_can_be_added_without_another_logon() {
    let mut session = open(Some(PASSWORD), &[INTERFACE]).await.unwrap();
    let context = session.add_interface(OTHER, soon()).await.unwrap();
    let timer = session.start_stage(Stage::Query);
    assert_eq!(session.channel(context, soon()).call(0, None, &[]).await.unwrap(), [1, 1]);
    assert_eq!(session.channel(0, soon()).call(0, None, &[]).await.unwrap(), [1, 0]);
    assert_eq!(session.stop_stage(timer).calls, 2);
    let unknown = SyntaxId::new(Guid::from_u128(1), 1, 0);
    let error = session.add_interface(unknown, soon()).await.unwrap_err();
    assert_eq!((error.stage, error.reason), (Stage::Bind, Reason::NotFound), "{error}");
    assert!(session.is_usable(), "the others still work");
}

#[tokio::test]
async fn a_wrong_password_is_one_and_costs_one_logon() {
    let error = open(Some("hunter2 (made up)"), &[INTERFACE]).await.unwrap_err();
    assert_eq!((error.stage, error.reason), (Stage::Auth, Reason::WrongCredentials), "{error}");
    assert_eq!((error.verdict(), error.is_connection_lost()), (Verdict::Rejected, true));
    assert_eq!(error.stages.last().unwrap().stage, Stage::Auth);
    assert!(!error.to_string().contains("hunter2"), "{error}");
}

#[tokio::test]
async fn a_host_without_the_interface_or_behind_a_closed_port_is_named() {
    let error = open(None, &[SyntaxId::new(Guid::from_u128(1), 1, 0)]).await.unwrap_err();
    assert_eq!((error.stage, error.reason), (Stage::Bind, Reason::NotFound), "{error}");
    let target = Target::new("web1", 136);
    let refused = TcpReached::connect(target, Options::default(), &network(), soon()).await;
    let Err(error) = refused else { panic!("connected") };
    assert_eq!(error.detail(), "web1:136 (198.18.0.1): connection refused");
}

#[tokio::test]
async fn a_fault_is_an_answer_and_a_lost_connection_is_lost() {
    let mut session = open(Some(PASSWORD), &[INTERFACE]).await.unwrap();
    let fault = session.channel(0, soon()).call(1, None, &[]).await.unwrap_err();
    let error = session.error_of_call(&"activate", &fault);
    assert_eq!((error.stage, error.reason), (Stage::Query, Reason::AccessDenied), "{error}");
    assert!(error.to_string().starts_with("web1:135: query: activate: "), "{error}");
    assert!(session.is_usable());
    let lost = session.channel(0, soon()).call(2, None, &[]).await.unwrap_err();
    let error = session.error_of_call(&"activate", &lost);
    assert_eq!((error.reason, error.is_connection_lost()), (Reason::ConnectionReset, true), "{error}");
    assert!(!session.is_usable());
}
