use ms_smb2::client::{ClientConnection, Event, Reply};
use ms_smb2::{Dialect, Error};

use super::resigned;
use super::stage::{Pair, new_client};
use crate::input::{Input, pieces};

/// Bytes of a server to a client that negotiates, that has sent its first token, or that has a session with a request
/// of every kind under way; there the frames are signed first, so that they are believed. However the stream is cut,
/// the news are the same, and an answer brings no more than was asked for.
pub fn client(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let (mode, seed) = (input.byte(), input.byte());
    let stream = if mode & 3 == 2 { resigned(input.rest()) } else { input.rest().to_vec() };
    let whole = run(new_stage(mode).client, &[&stream]);
    assert_eq!(run(new_stage(mode).client, &pieces(&stream, seed)), whole, "a stream has no seams");
}

const TRANSCEIVED_MAX: u32 = 4096;
const READ_MAX: u32 = 512;
const WRITTEN: &[u8] = b"written";

/// A client in the state that the bits of an input choose, see [`client`]. Its server has not seen what was sent last.
pub(crate) fn new_stage(mode: u8) -> Pair {
    const ALLOWED: &str = "the order is right";
    let dialect = Dialect::ALL[usize::from(mode >> 4) % Dialect::ALL.len()];
    match mode & 3 {
        0 => {
            let mut pair = Pair::new(&Dialect::ALL, true);
            if mode & 4 != 0 {
                pair.client = new_client(&[dialect]);
            }
            pair
        }
        1 => {
            let mut pair = Pair::new(&[dialect], true);
            assert!(matches!(pair.next(), Some(Event::Negotiated(_))));
            pair.client.session_setup(b"negotiate").expect(ALLOWED);
            pair
        }
        kind => {
            // Signatures of 2.1 can be made here; those of later dialects cannot, and are to be found out.
            let dialect = if kind == 2 { Dialect::Smb2_1 } else { dialect };
            let (mut pair, file) = Pair::with_pipe(dialect, true);
            pair.client.transceive(file, b"ping", TRANSCEIVED_MAX).expect(ALLOWED);
            pair.client.read(file, READ_MAX).expect(ALLOWED);
            pair.client.write(file, WRITTEN).expect(ALLOWED);
            pair.client.tree_connect(r"\\server\IPC$").expect(ALLOWED);
            pair.client.echo().expect(ALLOWED);
            pair.client.close(file).expect(ALLOWED);
            if mode & 4 != 0 {
                pair.client.logoff().expect(ALLOWED);
            }
            pair.to_client.clear();
            pair
        }
    }
}

type Outcome = (Vec<Event>, Vec<Vec<u8>>, Option<Error>);

fn run(mut client: ClientConnection, stream: &[&[u8]]) -> Outcome {
    let mut failure = None;
    for piece in stream {
        if let Err(error) = client.handle_bytes(piece) {
            failure = Some(error);
            break;
        }
    }
    let events: Vec<Event> = core::iter::from_fn(|| client.poll_event()).collect();
    events.iter().for_each(check_event);
    let mut completed: Vec<_> = events.iter().filter_map(request_of).collect();
    completed.sort_unstable();
    assert!(completed.windows(2).all(|pair| pair[0] != pair[1]), "a request is completed once");
    let transmits: Vec<Vec<u8>> = core::iter::from_fn(|| client.poll_transmit()).collect();
    transmits.iter().for_each(|frame| super::server::check_frame(frame));
    if let Some(error) = &failure {
        assert_eq!(client.handle_bytes(&[]).as_ref(), Err(error), "an error is terminal");
        assert_eq!(client.echo().as_ref(), Err(error));
    }
    (events, transmits, failure)
}

fn request_of(event: &Event) -> Option<ms_smb2::client::RequestId> {
    match event {
        Event::Completed { request, .. } | Event::SessionExpired { request } => Some(*request),
        _ => None,
    }
}

fn check_event(event: &Event) {
    let fits = |data: &[u8], limit: u32| u32::try_from(data.len()).is_ok_and(|size| size <= limit);
    if let Event::Completed { result: Ok(reply), .. } = event {
        assert!(match reply {
            Reply::Transceived { data, .. } => fits(data, TRANSCEIVED_MAX),
            Reply::Read { data, .. } => fits(data, READ_MAX),
            Reply::Written(count) => usize::try_from(*count).is_ok_and(|count| count <= WRITTEN.len()),
            _ => true,
        });
    }
}
