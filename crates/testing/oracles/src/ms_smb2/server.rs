use std::collections::BTreeSet;

use ms_smb2::wire::{Header, TransformHeader};
use ms_smb2::{Dialect, Error};
use windows_sim::smb::{ServerConnection, ServerEvent};

use super::resigned;
use super::stage::{Change, Pair, SERVER_LIMITS, answer, new_server};
use crate::input::{Input, pieces};

/// Bytes of a client to a server that has heard nothing, that has negotiated, or that has a session with an open pipe;
/// there messages need no signature, or are signed first. However the stream is cut, the news are the same; sessions
/// and pipes are no more than the limits allow; and what the server answers are frames.
pub fn server(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let (mode, seed) = (input.byte(), input.byte());
    let stream = if mode & 3 == 3 { resigned(input.rest()) } else { input.rest().to_vec() };
    let whole = listen(new_stage(mode), &[&stream]);
    assert_eq!(listen(new_stage(mode), &pieces(&stream, seed)), whole, "a stream has no seams");
    serve(new_stage(mode), &pieces(&stream, seed));
}

/// A server in the state that the bits of an input choose: see [`server`].
pub(crate) fn new_stage(mode: u8) -> ServerConnection {
    let dialect = Dialect::ALL[usize::from(mode >> 4) % Dialect::ALL.len()];
    match mode & 3 {
        0 => new_server(mode & 4 != 0),
        1 => {
            let mut pair = Pair::new(&[dialect], mode & 4 != 0);
            pair.next();
            pair.server
        }
        2 => Pair::with_pipe(dialect, false).0.server,
        _ => Pair::with_pipe(Dialect::Smb2_1, true).0.server,
    }
}

type Outcome = (Vec<ServerEvent>, Vec<Vec<u8>>, Option<Error>);

/// Takes everything and answers nothing.
fn listen(mut server: ServerConnection, stream: &[&[u8]]) -> Outcome {
    let mut failure = None;
    for piece in stream {
        if let Err(error) = server.handle_bytes(piece) {
            failure = Some(error);
            break;
        }
    }
    let events: Vec<ServerEvent> = core::iter::from_fn(|| server.poll_event()).collect();
    let waiting = events.iter().filter(|event| matches!(event, ServerEvent::OpenPipe { .. })).count();
    assert!(waiting <= SERVER_LIMITS.pending_max, "{waiting} requests wait for the application");
    let transmits: Vec<Vec<u8>> = core::iter::from_fn(|| server.poll_transmit()).collect();
    transmits.iter().for_each(|frame| check_frame(frame));
    if let Some(error) = &failure {
        assert_eq!(server.handle_bytes(&[]).as_ref(), Err(error), "an error is terminal");
    }
    (events, transmits, failure)
}

/// Answers everything when it comes.
fn serve(mut server: ServerConnection, stream: &[&[u8]]) {
    let (mut files, mut sessions) = (BTreeSet::new(), BTreeSet::new());
    for piece in stream {
        let result = server.handle_bytes(piece);
        while let Some(event) = server.poll_event() {
            match answer(&mut server, event) {
                Ok(Change::Opened(file)) => assert!(files.insert(file), "a pipe has a name of its own"),
                Ok(Change::Closed(file)) => drop(files.remove(&file)),
                Ok(Change::Authenticated(session)) => drop(sessions.insert(session)),
                Ok(Change::Ended(session)) => drop(sessions.remove(&session)),
                Ok(Change::Nothing) => {}
                // The session ended in the same breath.
                Err(Error::InvalidState { .. }) => {}
                Err(error) => unreachable!("an answer can be written: {error}"),
            }
        }
        while let Some(frame) = server.poll_transmit() {
            check_frame(&frame);
        }
        assert!(sessions.len() <= SERVER_LIMITS.sessions_max, "{} sessions", sessions.len());
        assert!(files.len() <= SERVER_LIMITS.files_max * SERVER_LIMITS.sessions_max, "{} pipes", files.len());
        if result.is_err() {
            break;
        }
    }
    server.disconnect();
    while let Some(event) = server.poll_event() {
        match event {
            ServerEvent::PipeClosed { file } => drop(files.remove(&file)),
            ServerEvent::SessionClosed { session } => drop(sessions.remove(&session)),
            _ => {}
        }
    }
    assert!(files.is_empty() && sessions.is_empty(), "everything that was opened is closed");
}

/// A frame tells its length, and is a message or an encrypted one.
pub(super) fn check_frame(frame: &[u8]) {
    let (prefix, message) = frame.split_first_chunk::<4>().expect("a frame begins with its length");
    assert_eq!(usize::try_from(u32::from_be_bytes(*prefix)), Ok(message.len()));
    let is_clear = wire::decode::<Header>(message).is_ok();
    assert!(is_clear || wire::decode::<TransformHeader>(message).is_ok(), "it is a message");
}
