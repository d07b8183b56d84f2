use dcerpc::Error;
use dcerpc::client::{CallRequest, ClientAssociation, Event};
use dcerpc::server::ServerEvent;

use super::{INTERFACE, LIMITS, converse, new_client, new_server};
use crate::input::{Input, pieces};

/// Bytes of a server to a client that binds, is bound, waits for one call, or has given one up and waits for another;
/// without protection or with a signature that is easily made. However they are cut, the news are the same, and a call
/// is answered with no more than the limits allow.
pub fn client(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let (mode, seed) = (input.byte(), input.byte());
    let stream = input.rest();
    let whole = run(new_stage(mode), &[stream]);
    assert_eq!(run(new_stage(mode), &pieces(stream, seed)), whole, "a stream has no seams");
}

/// A client in the state that the bits of an input choose: see [`client`].
pub(crate) fn new_stage(mode: u8) -> ClientAssociation {
    let mut client = new_client(mode);
    if mode & 0x0c == 0 {
        return client;
    }
    let mut server = new_server();
    converse(&mut client, &mut server);
    assert!(matches!(client.poll_event(), Some(Event::Bound { .. })), "the server accepts");
    let request = CallRequest { context_id: 0, opnum: 6, object: None, stub: b"a small call" };
    if mode & 8 != 0 {
        let call_id = client.call(request).expect("it is bound");
        if mode & 4 != 0 {
            client.orphan(call_id).expect("the call is open");
            client.call(request).expect("no call is open");
        }
    } else if mode & 0x10 != 0 {
        client.alter_context(INTERFACE).expect("it is bound");
    }
    while client.poll_transmit().is_some() {}
    client
}

/// What a server like ours sends to a client in that state.
pub(crate) fn honest_answer(mode: u8) -> Vec<u8> {
    let (mut client, mut server) = (new_client(mode), new_server());
    if mode & 0x0c == 0 {
        while let Some(transmit) = client.poll_transmit() {
            server.handle_bytes(&transmit.bytes).expect("it is a bind");
        }
        return core::iter::from_fn(|| server.poll_transmit()).flatten().collect();
    }
    converse(&mut client, &mut server);
    if mode & 8 != 0 {
        for _ in 0..=(mode & 4) / 4 {
            let call_id = client
                .call(CallRequest { context_id: 0, opnum: 6, object: None, stub: b"a small call" })
                .expect("it is bound");
            if mode & 4 != 0 {
                client.orphan(call_id).unwrap_or_default();
            }
        }
    } else if mode & 0x10 != 0 {
        client.alter_context(INTERFACE).expect("it is bound");
    }
    while let Some(transmit) = client.poll_transmit() {
        if transmit.bytes[2] != 19 {
            server.handle_bytes(&transmit.bytes).expect("it is a call");
        }
    }
    while let Some(event) = server.poll_event() {
        if let ServerEvent::Request(call) = event {
            server.respond(call.call_id, &[7; 2000]).expect("the call is open");
        }
    }
    core::iter::from_fn(|| server.poll_transmit()).flatten().collect()
}

type Outcome = (Vec<Event>, Vec<Vec<u8>>, Option<String>);

fn run(mut client: ClientAssociation, stream: &[&[u8]]) -> Outcome {
    let mut failure = None;
    for piece in stream {
        if let Err(error) = client.handle_bytes(piece) {
            failure = Some(error.to_string());
            break;
        }
    }
    let events: Vec<Event> = core::iter::from_fn(|| client.poll_event()).collect();
    for event in &events {
        match event {
            Event::Response { stub, .. } => assert!(stub.len() <= LIMITS.stub_bytes_max),
            Event::Bound { contexts } => assert!(contexts.len() <= LIMITS.contexts_max),
            _ => {}
        }
    }
    let answered =
        events.iter().filter(|event| matches!(event, Event::Response { .. } | Event::Fault { .. }));
    assert!(answered.count() <= 1, "one call is open at a time");
    let transmits = core::iter::from_fn(|| client.poll_transmit()).map(|it| it.bytes).collect();
    check_end(&mut client, failure.is_some());
    (events, transmits, failure)
}

/// Commands are still answered; after an error all of them by a refusal.
fn check_end(client: &mut ClientAssociation, has_failed: bool) {
    let call = client.call(CallRequest { context_id: 0, opnum: 1, object: None, stub: &[1] });
    if has_failed {
        assert!(matches!(call, Err(Error::Failed)));
        assert!(matches!(client.handle_bytes(&[]), Err(Error::Failed)));
        assert!(client.poll_transmit().is_none() && !client.is_waiting());
    } else if call.is_ok() {
        assert!(client.is_waiting() && client.poll_transmit().is_some());
    }
}
