//! Bytes that nobody meant.

use ::wire::{Decode, Encode, ReadCursor};
use ms_smb2::client::{ClientConnection, Event, Reply};
use ms_smb2::wire;
use proptest::prelude::*;
use windows_sim::smb::ServerConnection;

use super::pair::{Pair, SESSION_KEY, client_config, only, server_config};
use super::raw::framed;

/// What decodes can be written again, and means the same then.
fn check_law<T>(message: &[u8])
where
    T: for<'de> Decode<'de> + Encode + PartialEq + core::fmt::Debug,
{
    let mut src = ReadCursor::new(message);
    src.read_slice(wire::Header::FIXED_PART_SIZE);
    let Ok(decoded) = T::decode(&mut src) else { return };
    let mut again = vec![0; wire::Header::FIXED_PART_SIZE];
    if ::wire::encode_into(&decoded, &mut again).is_ok() {
        assert_eq!(again.len(), wire::Header::FIXED_PART_SIZE + decoded.size());
        let mut src = ReadCursor::new(&again);
        src.read_slice(wire::Header::FIXED_PART_SIZE);
        assert_eq!(T::decode(&mut src).as_ref(), Ok(&decoded));
    }
}

/// A body whose size field is right, so that decoders go on after it.
fn body() -> impl Strategy<Value = Vec<u8>> {
    let sizes = prop_oneof![Just(4_u16), Just(9), Just(16), Just(17), Just(24), Just(25), Just(36), Just(41)];
    let more = prop_oneof![Just(49_u16), Just(57), Just(60), Just(65), Just(89)];
    let small = prop_oneof![4 => 0_u8..=8, 2 => 60_u8..=140, 1 => any::<u8>()];
    (prop_oneof![sizes, more], prop::collection::vec(small, 0..200)).prop_map(|(size, rest)| {
        let mut message = vec![0; wire::Header::FIXED_PART_SIZE];
        message.extend(size.to_le_bytes());
        message.extend(rest);
        message
    })
}

proptest! {
    #[test]
    fn every_structure_survives_any_bytes(message in body()) {
        check_law::<wire::CloseRequest>(&message);
        check_law::<wire::CloseResponse>(&message);
        check_law::<wire::CreateRequest>(&message);
        check_law::<wire::CreateResponse>(&message);
        check_law::<wire::EmptyBody>(&message);
        check_law::<wire::ErrorResponse>(&message);
        check_law::<wire::NegotiateRequest>(&message);
        check_law::<wire::NegotiateResponse>(&message);
        check_law::<wire::QueryInfoRequest>(&message);
        check_law::<wire::ReadRequest>(&message);
        check_law::<wire::TreeConnectRequest>(&message);
        check_law::<wire::TreeConnectResponse>(&message);
        check_law::<wire::ValidateNegotiateRequest>(&message);
        check_law::<wire::ValidateNegotiateResponse>(&message);
        check_law::<wire::WriteResponse>(&message);
    }

    #[test]
    fn a_client_survives_any_frame(message in body(), command in 0_u16..20, message_id in 0_u64..4) {
        let mut pair = Pair::new(client_config(), server_config());
        pair.drive().unwrap();
        pair.client.session_setup(b"negotiate").unwrap();
        let mut message = message;
        let header = super::raw::response(wire::Command(command), message_id, 1);
        message[..wire::Header::FIXED_PART_SIZE].copy_from_slice(&::wire::encode_vec(&header).unwrap());
        pair.client.handle_bytes(&framed(&message)).unwrap_or_default();
    }

    #[test]
    fn a_stream_of_noise_is_an_error_or_nothing(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let mut client = ClientConnection::new(client_config()).unwrap();
        client.handle_bytes(&bytes).unwrap_or_default();
        let mut server = ServerConnection::new(server_config());
        server.handle_bytes(&bytes).unwrap_or_default();
    }

    /// A whole conversation with one byte of one frame changed: it goes on or ends with an error, on both sides.
    #[test]
    fn a_conversation_survives_any_change(frame in 0_usize..16, at in any::<prop::sample::Index>(), bits in 1_u8..) {
        for dialect in ms_smb2::Dialect::ALL {
            let mut pair = Pair::new(only(dialect), server_config());
            let mut seen = 0;
            pair.wire = Box::new(move |_, bytes| {
                if seen == frame {
                    // Behind the length: one that announces more is waited for, and nothing happens.
                    let at = 4 + at.index(bytes.len() - 4);
                    bytes[at] ^= bits;
                }
                seen += 1;
            });
            // Signed messages cannot be changed unseen; what stays is what nobody signs.
            if let Some(data) = converse(&mut pair) {
                assert_eq!(data, b"hello");
            }
        }
    }
}

/// What the pipe says to a greeting, where the conversation comes so far.
fn converse(pair: &mut Pair) -> Option<Vec<u8>> {
    pair.drive().ok()?;
    for token in [&b"negotiate"[..], b"authenticate"] {
        pair.client.session_setup(token).ok()?;
        pair.drive().ok()?;
    }
    pair.client.complete_session(&SESSION_KEY).ok()?;
    pair.client.tree_connect(r"\\server\IPC$").ok()?;
    let Reply::TreeConnected(tree) = reply(pair)? else { return None };
    pair.client.create_pipe(tree, "winreg").ok()?;
    let Reply::Created(file) = reply(pair)? else { return None };
    pair.client.transceive(file, b"hello", 4096).ok()?;
    let Reply::Transceived { data, .. } = reply(pair)? else { return None };
    Some(data)
}

fn reply(pair: &mut Pair) -> Option<Reply> {
    pair.drive().ok()?;
    match pair.events.pop()? {
        Event::Completed { result, .. } => result.ok(),
        _ => None,
    }
}
