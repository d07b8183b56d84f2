use std::sync::{Arc, Mutex};

use dcerpc::{AssociationState, AuthLevel, CallOutcome, Change, Observer, Role};
use expect_test::expect;
use ssp::Mechanism;

use crate::pair::{FAULTING_OPNUM, Pair, WINREG};

#[derive(Default)]
struct Log(Mutex<Vec<String>>);

impl Observer for Log {
    fn observe(&self, role: Role, change: Change<'_>) {
        let text = match change {
            Change::State(state) => format!("{state:?}"),
            Change::ContextAdded { context_id, interface } => format!("context {context_id}: {interface}"),
            Change::CallStarted { call_id, opnum, stub_bytes, .. } => {
                format!("call {call_id} of operation {opnum} with {stub_bytes} bytes")
            }
            Change::CallEnded { call_id, outcome: CallOutcome::Response { stub_bytes } } => {
                format!("call {call_id} answered with {stub_bytes} bytes")
            }
            Change::CallEnded { call_id, outcome } => format!("call {call_id} ended: {outcome:?}"),
            _ => "something new".to_owned(),
        };
        self.0.lock().unwrap().push(format!("{role:?} {text}"));
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
    let told = log.0.lock().unwrap().join("\n");
    expect![[r#"
        Client Binding
        Server Binding
        Server context 0: 338cd001-2244-31f1-aaaa-900038001003 v1.0
        Client context 0: 338cd001-2244-31f1-aaaa-900038001003 v1.0
        Client Binding
        Server Bound
        Client Bound
        Client call 3 of operation 7 with 4 bytes
        Server call 3 of operation 7 with 4 bytes
        Server call 3 answered with 4 bytes
        Client call 3 answered with 4 bytes
        Client call 4 of operation 99 with 0 bytes
        Server call 4 of operation 99 with 0 bytes
        Server call 4 ended: Fault(FaultStatus(nca_s_op_rng_error))
        Client call 4 ended: Fault(FaultStatus(nca_s_op_rng_error))
        Client Failed"#]]
    .assert_eq(&told);
    assert!(told.ends_with(&format!("Client {:?}", AssociationState::Failed)));
}
