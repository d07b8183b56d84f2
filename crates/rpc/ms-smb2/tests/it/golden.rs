//! Conversations with others, recorded on the wire and held again.
//!
//! Nothing in this crate is random, so that a recording can be replayed: the same tokens make the same messages, and
//! only with the same messages do the recorded signatures and ciphers fit. Where a change of ours changes what is
//! negotiated, the recordings are made again.

use ms_smb2::client::{ClientConfig, ClientConnection, Encryption, Event, Reply};
use ms_smb2::{Cipher, Dialect, Error, SigningAlgorithm};
use wire::Guid;

use crate::recording::Recording;

/// The client of the recordings.
fn client_config() -> ClientConfig {
    ClientConfig::new(Guid::from_u128(7), [9; 32])
}

/// Connects, opens `winreg`, binds, closes and says farewell against what the server said then.
fn check_client(recording: &'static str, config: ClientConfig, dialect: Dialect, signing: SigningAlgorithm) {
    let recording = Recording::read(recording);
    let (mut sent, mut received, mut tokens) =
        (recording.all("client"), recording.all("server"), recording.all("token"));
    let mut client = ClientConnection::new(config).unwrap();
    let mut next = |client: &mut ClientConnection| {
        loop {
            while let Some(frame) = client.poll_transmit() {
                assert_eq!(Some(frame), sent.next(), "the same message as then");
            }
            match client.poll_event() {
                Some(Event::Pending { .. }) => {}
                Some(event) => return event,
                None => client.handle_bytes(&received.next().expect("the server has an answer")).unwrap(),
            }
        }
    };
    let Event::Negotiated(negotiated) = next(&mut client) else { panic!() };
    assert_eq!((negotiated.dialect, negotiated.signing), (dialect, signing));
    loop {
        client.session_setup(&tokens.next().unwrap()).unwrap();
        match next(&mut client) {
            Event::SessionSetup { more: true, .. } => {}
            Event::SessionSetup { more: false, .. } => break,
            other => panic!("{other:?}"),
        }
    }
    client.complete_session(&recording.all("key").next().unwrap()).unwrap();
    let mut reply = |client: &mut ClientConnection| match next(client) {
        Event::Completed { result, .. } => result.unwrap(),
        other => panic!("{other:?}"),
    };
    client.tree_connect(r"\\127.0.0.1\IPC$").unwrap();
    let Reply::TreeConnected(tree) = reply(&mut client) else { panic!() };
    client.create_pipe(tree, "winreg").unwrap();
    let Reply::Created(file) = reply(&mut client) else { panic!() };
    client.transceive(file, &bind(), 4280).unwrap();
    let Reply::Transceived { data, more: false } = reply(&mut client) else { panic!() };
    assert_eq!((data[2], data.len()), (12 /* bind_ack */, 68));
    client.close(file).unwrap();
    assert_eq!(reply(&mut client), Reply::Closed);
    client.logoff().unwrap();
    assert_eq!(reply(&mut client), Reply::LoggedOff);
}

/// The bind to winreg that was sent then.
fn bind() -> Vec<u8> {
    let mut pdu =
        vec![5, 0, 11, 3, 0x10, 0, 0, 0, 72, 0, 0, 0, 1, 0, 0, 0, 0xb8, 0x10, 0xb8, 0x10, 0, 0, 0, 0];
    pdu.extend([1, 0, 0, 0, 0, 0, 1, 0]);
    pdu.extend(Guid::from_u128(0x338c_d001_2244_31f1_aaaa_9000_3800_1003).to_bytes());
    pdu.extend([1, 0, 0, 0]);
    pdu.extend(Guid::from_u128(0x8a88_5d04_1ceb_11c9_9fe8_0800_2b10_4860).to_bytes());
    pdu.extend([2, 0, 0, 0]);
    pdu
}

#[test]
fn samba_speaks_2_1_with_hmac() {
    let config =
        ClientConfig { encryption: Encryption::Disabled, dialects: vec![Dialect::Smb2_1], ..client_config() };
    let recording = include_str!("../data/samba-2.1-signed.hex");
    check_client(recording, config, Dialect::Smb2_1, SigningAlgorithm::HmacSha256);
}

#[test]
fn samba_speaks_3_0_2_with_cmac_and_validates_the_negotiation() {
    let dialects = vec![Dialect::Smb3_0_2];
    let config = ClientConfig { encryption: Encryption::Disabled, dialects, ..client_config() };
    let recording = include_str!("../data/samba-3.0.2-signed.hex");
    check_client(recording, config, Dialect::Smb3_0_2, SigningAlgorithm::AesCmac);
}

#[test]
fn samba_speaks_3_1_1_with_gmac() {
    let config = ClientConfig { encryption: Encryption::Disabled, ..client_config() };
    let recording = include_str!("../data/samba-3.1.1-gmac.hex");
    check_client(recording, config, Dialect::Smb3_1_1, SigningAlgorithm::AesGmac);
}

#[test]
fn samba_demands_encryption_and_gets_aes_128_gcm() {
    let recording = include_str!("../data/samba-3.1.1-encrypted.hex");
    check_client(recording, client_config(), Dialect::Smb3_1_1, SigningAlgorithm::AesGmac);
}

#[test]
fn samba_demands_encryption_for_the_share_only() {
    let recording = include_str!("../data/samba-3.1.1-tree-encrypted.hex");
    let config = ClientConfig { encryption: Encryption::Demanded, ..client_config() };
    check_client(recording, config, Dialect::Smb3_1_1, SigningAlgorithm::AesGmac);
}

#[test]
fn samba_demands_encryption_and_gets_aes_256_ccm() {
    let dialects = vec![Dialect::Smb3_1_1];
    let config = ClientConfig { dialects, ciphers: vec![Cipher::Aes256Ccm], ..client_config() };
    let recording = include_str!("../data/samba-3.1.1-aes-256-ccm.hex");
    check_client(recording, config, Dialect::Smb3_1_1, SigningAlgorithm::AesGmac);
}

#[test]
fn another_session_key_than_that_of_the_recording_is_found_out() {
    let recording = Recording::read(include_str!("../data/samba-3.1.1-gmac.hex"));
    let config = ClientConfig { encryption: Encryption::Disabled, ..client_config() };
    let mut client = ClientConnection::new(config).unwrap();
    let (mut received, tokens) = (recording.all("server"), recording.all("token"));
    client.handle_bytes(&received.next().unwrap()).unwrap();
    for token in tokens {
        client.session_setup(&token).unwrap();
        client.handle_bytes(&received.next().unwrap()).unwrap();
    }
    let mut key = recording.all("key").next().unwrap();
    key[15] ^= 1;
    assert_eq!(client.complete_session(&key), Err(Error::SignatureInvalid));
}
