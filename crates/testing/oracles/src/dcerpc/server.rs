use dcerpc::client::CallRequest;
use dcerpc::pdu::Pdu;
use dcerpc::server::{ServerAssociation, ServerEvent};
use dcerpc::{Error, FaultStatus};

use super::{LIMITS, converse, new_client, new_server};
use crate::input::{Input, pieces};

/// Bytes of a client to a server that nobody has bound, that is bound, or that has a call open, protected or not.
/// However they are cut, the news are the same; no more calls are open than the limits allow; and whatever the server
/// answers is a PDU.
pub fn server(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let (mode, seed) = (input.byte(), input.byte());
    let stream = input.rest();
    let whole = listen(new_stage(mode), &[stream]);
    assert_eq!(listen(new_stage(mode), &pieces(stream, seed)), whole, "a stream has no seams");
    serve(new_stage(mode), &pieces(stream, seed));
}

/// A server in the state that the bits of an input choose: see [`server`].
pub(crate) fn new_stage(mode: u8) -> ServerAssociation {
    let mut server = new_server();
    if mode & 0x0c == 0 {
        return server;
    }
    let mut client = new_client(mode);
    converse(&mut client, &mut server);
    if mode & 8 != 0 {
        client
            .call(CallRequest { context_id: 0, opnum: 6, object: None, stub: b"a small call" })
            .expect("it is bound");
        converse(&mut client, &mut server);
        assert!(matches!(server.poll_event(), Some(ServerEvent::Request(_))), "the call came in");
    }
    server
}

type Outcome = (Vec<String>, Vec<Vec<u8>>, Option<String>);

/// Takes everything and answers nothing.
fn listen(mut server: ServerAssociation, stream: &[&[u8]]) -> Outcome {
    let mut failure = None;
    for piece in stream {
        if let Err(error) = server.handle_bytes(piece) {
            failure = Some(error.to_string());
            break;
        }
    }
    let events: Vec<ServerEvent> = core::iter::from_fn(|| server.poll_event()).collect();
    let calls = events.iter().filter_map(|event| match event {
        ServerEvent::Request(call) => Some(call.stub.len()),
        _ => None,
    });
    assert!(calls.clone().count() <= LIMITS.calls_max, "calls that are open");
    assert!(calls.clone().all(|stub_bytes| stub_bytes <= LIMITS.stub_bytes_max));
    let transmits: Vec<Vec<u8>> = core::iter::from_fn(|| server.poll_transmit()).collect();
    transmits.iter().for_each(|bytes| check_transmit(bytes));
    if failure.is_some() {
        assert!(matches!(server.handle_bytes(&[]), Err(Error::Failed)));
    }
    (events.iter().map(|event| format!("{event:?}")).collect(), transmits, failure)
}

/// Answers each call when it comes: with what it brought three times over, or with a fault.
fn serve(mut server: ServerAssociation, stream: &[&[u8]]) {
    for piece in stream {
        let result = server.handle_bytes(piece);
        while let Some(event) = server.poll_event() {
            let ServerEvent::Request(call) = event else { continue };
            let answer = if call.opnum == 99 {
                server.fault(call.call_id, FaultStatus::NCA_S_OP_RNG_ERROR)
            } else {
                server.respond(call.call_id, &call.stub.repeat(3))
            };
            assert!(answer.is_ok() || result.is_err(), "{answer:?}");
        }
        while let Some(bytes) = server.poll_transmit() {
            check_transmit(&bytes);
        }
        if result.is_err() {
            return;
        }
    }
}

fn check_transmit(bytes: &[u8]) {
    Pdu::decode(bytes).expect("what a server sends is a PDU");
}
