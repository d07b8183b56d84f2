//! What clients of others said, served again; see `golden.rs` of `ms-smb2`.

use windows_sim::smb::{AuthReply, ServerConfig, ServerConnection, ServerEvent};
use wire::{FileTime, Guid};

use super::recording::Recording;

/// Serves what a client said then, and answers what it wanted: pipes opened, and messages into them.
fn check_server(recording: &'static str) -> Vec<String> {
    let recording = Recording::read(recording);
    let mut config = ServerConfig::new(Guid::from_u128(0x55), [3; 32]);
    config.security_token = recording.all("hint").next().unwrap();
    config.system_time = FileTime::from_unix_nanos(1_790_000_000_000_000_000);
    let mut server = ServerConnection::new(config);
    let (mut continues, mut keys, mut dones) =
        (recording.all("continue"), recording.all("key"), recording.all("done"));
    let mut said = Vec::new();
    for bytes in recording.all("client") {
        server.handle_bytes(&bytes).unwrap();
        while let Some(event) = server.poll_event() {
            match event {
                ServerEvent::Authenticate { session, .. } => {
                    let reply = continues.next().map_or_else(
                        || AuthReply::Done {
                            token: dones.next().unwrap(),
                            session_key: keys.next().unwrap(),
                        },
                        AuthReply::Continue,
                    );
                    server.authenticate(session, reply).unwrap();
                }
                ServerEvent::OpenPipe { request, name, .. } => {
                    said.push(format!("open {name}"));
                    server.open_pipe(request, Ok(())).unwrap();
                }
                ServerEvent::PipeInput { file, data } => {
                    said.push(format!("{} bytes", data.len()));
                    server.pipe_output(file, data).unwrap();
                }
                ServerEvent::PipeClosed { .. } => said.push("closed".to_owned()),
                ServerEvent::SessionClosed { .. } => said.push("logged off".to_owned()),
                other => panic!("{other:?}"),
            }
        }
        while server.poll_transmit().is_some() {}
    }
    said
}

#[test]
fn impacket_begins_in_smb1_and_ends_in_encrypted_3_1_1() {
    let said = check_server(include_str!("../../data/impacket-3.1.1-encrypted.hex"));
    assert_eq!(said, ["open winreg", "10 bytes", "7 bytes", "closed", "logged off"]);
}

#[test]
fn rpcclient_signs_3_1_1() {
    let said = check_server(include_str!("../../data/rpcclient-3.1.1-signed.hex"));
    assert_eq!(said, ["open lsarpc", "72 bytes", "72 bytes", "closed"]);
}
