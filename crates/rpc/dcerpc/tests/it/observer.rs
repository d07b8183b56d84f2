use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use dcerpc::client::CallRequest;
use dcerpc::server::ServerEvent;
use dcerpc::{AssociationState, AuthLevel, CallOutcome, Change, Observer, Role};
use expect_test::expect;
use parking_lot::Mutex;
use ssp::Mechanism;

use crate::pair::{FAULTING_OPNUM, Pair, WINREG, pattern};

#[derive(Default)]
struct Log(Mutex<Vec<String>>);

impl Observer for Log {
    fn observe(&self, role: Role, change: Change<'_>) {
        let text = match change {
            Change::State(state) => format!("{state:?}"),
            Change::ContextAdded { context_id, interface } => format!("context {context_id}: {interface}"),
            Change::CallStarted { call_id, interface, opnum, object, stub, .. } => {
                let object = object.map(|object| format!(" of {object}")).unwrap_or_default();
                format!(
                    "call {call_id} of operation {opnum} of {interface}{object} with {} bytes",
                    stub.len()
                )
            }
            Change::CallDispatched { call_id } => format!("call {call_id} dispatched"),
            Change::MethodEntered { call_id } => format!("call {call_id} entered"),
            Change::MethodLeft { call_id } => format!("call {call_id} left"),
            Change::Authenticated { auth } => format!("authenticated: {} {}", auth.level, auth.service),
            // The size of an authentication's tokens is not ours.
            Change::FragmentSent { bytes } if bytes > 0 => "sent".to_owned(),
            Change::FragmentReceived { bytes } if bytes > 0 => "received".to_owned(),
            Change::Settled => "settled".to_owned(),
            Change::CallEnded { call_id, outcome: CallOutcome::Response { stub_bytes } } => {
                format!("call {call_id} answered with {stub_bytes} bytes")
            }
            Change::CallEnded { call_id, outcome } => format!("call {call_id} ended: {outcome:?}"),
            _ => "something new".to_owned(),
        };
        self.0.lock().push(format!("{role:?} {text}"));
    }
}

#[test]
fn both_ends_tell_every_change() {
    let log = Arc::new(Log::default());
    let mut pair = Pair::new(Some((Mechanism::Negotiate, AuthLevel::PKT_PRIVACY)));
    pair.client.set_observer(Arc::<Log>::clone(&log));
    pair.server.set_observer(Arc::<Log>::clone(&log));
    pair.client.bind(&[WINREG]).unwrap();
    pair.drive();
    pair.client.poll_event();
    pair.call(7, b"1234");
    pair.call(FAULTING_OPNUM, b"");
    pair.client.handle_bytes(&[0; 16]).unwrap_err();
    let told = log.0.lock().join("\n");
    expect![[r#"
        Client Binding
        Client sent
        Server received
        Server Binding
        Server context 0: 338cd001-2244-31f1-aaaa-900038001003 v1.0
        Server sent
        Server settled
        Client received
        Client context 0: 338cd001-2244-31f1-aaaa-900038001003 v1.0
        Client Binding
        Client sent
        Server received
        Server authenticated: PKT_PRIVACY GSS_NEGOTIATE
        Server Bound
        Server sent
        Server settled
        Client received
        Client authenticated: PKT_PRIVACY GSS_NEGOTIATE
        Client Bound
        Server settled
        Client call 3 of operation 7 of 338cd001-2244-31f1-aaaa-900038001003 v1.0 with 4 bytes
        Client sent
        Server received
        Server call 3 of operation 7 of 338cd001-2244-31f1-aaaa-900038001003 v1.0 with 4 bytes
        Server call 3 dispatched
        Server call 3 answered with 4 bytes
        Server sent
        Server settled
        Client received
        Client call 3 answered with 4 bytes
        Server settled
        Client call 4 of operation 99 of 338cd001-2244-31f1-aaaa-900038001003 v1.0 with 0 bytes
        Client sent
        Server received
        Server call 4 of operation 99 of 338cd001-2244-31f1-aaaa-900038001003 v1.0 with 0 bytes
        Server call 4 dispatched
        Server call 4 ended: Fault(FaultStatus(nca_s_op_rng_error))
        Server sent
        Server settled
        Client received
        Client call 4 ended: Fault(FaultStatus(nca_s_op_rng_error))
        Server settled
        Client Failed"#]]
    .assert_eq(&told);
    assert!(told.ends_with(&format!("Client {:?}", AssociationState::Failed)));
}

#[test]
fn a_call_that_cannot_be_answered_any_longer_ends_when_its_server_is_done_with_it() {
    let log = Arc::new(Log::default());
    let mut pair = Pair::bound(None);
    let request = CallRequest { context_id: 0, opnum: 7, object: None, stub: b"" };
    let call_id = pair.client.call(request).unwrap();
    pair.server.handle_bytes(&pair.client.poll_transmit().unwrap().bytes).unwrap();
    pair.server.poll_event().unwrap();
    pair.server.set_observer(Arc::<Log>::clone(&log));
    pair.server.handle_bytes(&[0; 16]).unwrap_err();
    let told = || log.0.lock().clone();
    assert_eq!(told(), ["Server Failed", "Server settled"]);
    pair.server.respond(call_id, b"").unwrap_err();
    pair.server.respond(call_id, b"").unwrap_err();
    assert_eq!(told()[2..], [format!("Server call {call_id} ended: Orphaned")]);
}

/// Only fragments, with their sizes.
#[derive(Default)]
struct Fragments(Mutex<Vec<(Role, bool, usize)>>);

impl Observer for Fragments {
    fn observe(&self, role: Role, change: Change<'_>) {
        match change {
            Change::FragmentSent { bytes } => self.0.lock().push((role, true, bytes)),
            Change::FragmentReceived { bytes } => self.0.lock().push((role, false, bytes)),
            _ => {}
        }
    }
}

#[test]
fn each_fragment_is_told_with_its_size_when_it_is_whole_and_when_it_is_handed_over() {
    let fragments = Arc::new(Fragments::default());
    let mut pair = Pair::bound(None);
    pair.client.set_observer(Arc::<Fragments>::clone(&fragments));
    pair.server.set_observer(Arc::<Fragments>::clone(&fragments));
    pair.sent.clear();
    pair.answered.clear();
    // No fragment arrives whole.
    pair.chunk_bytes = 7;
    pair.call(7, &pattern(10_000));
    let told = fragments.0.lock();
    let of = |role, is_sent| -> Vec<usize> {
        told.iter().filter(|told| (told.0, told.1) == (role, is_sent)).map(|told| told.2).collect()
    };
    let requests: Vec<usize> = pair.sent.iter().map(|sent| sent.bytes.len()).collect();
    let answers: Vec<usize> = pair.answered.iter().map(Vec::len).collect();
    assert!(requests.len() > 1 && answers.len() > 1);
    assert_eq!((of(Role::Client, true), of(Role::Server, false)), (requests.clone(), requests));
    assert_eq!((of(Role::Server, true), of(Role::Client, false)), (answers.clone(), answers));
}

#[test]
fn a_call_is_told_with_its_object_and_its_stub_and_its_method_is_left_even_by_a_panic() {
    let log = Arc::new(Log::default());
    let mut pair = Pair::bound(None);
    pair.server.set_observer(Arc::<Log>::clone(&log));
    let object = Some(wire::Guid::from_u128(5));
    pair.client.call(CallRequest { context_id: 0, opnum: 7, object, stub: b"1234" }).unwrap();
    pair.server.handle_bytes(&pair.client.poll_transmit().unwrap().bytes).unwrap();
    let Some(ServerEvent::Request(call)) = pair.server.poll_event() else { panic!("no call") };
    assert_eq!(pair.server.execute(call.call_id, || 5), 5);
    let executed = AssertUnwindSafe(|| pair.server.execute(call.call_id, || panic!("made by the test")));
    catch_unwind(executed).unwrap_err();
    expect![[r#"
        Server received
        Server call 2 of operation 7 of 338cd001-2244-31f1-aaaa-900038001003 v1.0 of 00000000-0000-0000-0000-000000000005 with 4 bytes
        Server call 2 dispatched
        Server call 2 entered
        Server call 2 left
        Server call 2 entered
        Server call 2 left"#]]
    .assert_eq(&log.0.lock().join("\n"));
}
