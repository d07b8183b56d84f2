//! The pipe behind smbd, with the handshake as smbd 4.17 speaks it.

use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
use windows_sim::server::serve_named_pipe;

use crate::host::host;

/// A bind of the interface at the level "none", as C706 12.6.4.3 draws it.
const BIND: [u8; 72] = [
    5, 0, 11, 3, 0x10, 0, 0, 0, 72, 0, 0, 0, 1, 0, 0, 0, // header: bind, whole, little-endian, call 1
    0xb8, 0x10, 0xb8, 0x10, 0, 0, 0, 0, 1, 0, 0, 0, // fragments of 4280 bytes, one context
    0, 0, 1, 0, // context 0, one transfer syntax
    0xc5, 0x86, 0x5a, 0xda, 0xc2, 0x12, 0x43, 0x49, 0xab, 0x30, 0x7f, 0x74, 0xa8, 0x13, 0xd8, 0x53, 1, 0, 0,
    0, 0x04, 0x5d, 0x88, 0x8a, 0xeb, 0x1c, 0xc9, 0x11, 0x9f, 0xe8, 0x08, 0x00, 0x2b, 0x10, 0x48, 0x60, 2, 0,
    0, 0,
];

#[tokio::test]
async fn the_level_is_echoed_and_each_message_has_its_length_in_front() {
    let (mut smbd, ours) = duplex(64 * 1024);
    tokio::spawn(serve_named_pipe(host(), "winreg", ours));
    let info = [0; 100]; // who the SMB user is; not looked at
    smbd.write_all(&(12 + 100_u32).to_be_bytes()).await.unwrap();
    smbd.write_all(b"NPAM\x07\0\0\0\x07\0\0\0").await.unwrap();
    smbd.write_all(&info).await.unwrap();
    let mut reply = [0; 36];
    smbd.read_exact(&mut reply).await.unwrap();
    // What smbd 4.17 accepts: message mode (2), state 0x05ff, 4096 bytes of allocation, success.
    let expected = [
        0, 0, 0, 0x20, b'N', b'P', b'A', b'M', 7, 0, 0, 0, 7, 0, 0, 0, 2, 0, 0xff, 5, 0, 0, 0, 0, 0, 0x10, 0,
        0, 0, 0, 0, 0, 0, 0, 0, 0,
    ];
    assert_eq!(reply, expected);

    smbd.write_all(&72_u16.to_le_bytes()).await.unwrap();
    smbd.write_all(&BIND).await.unwrap();
    let length = usize::from(smbd.read_u16_le().await.unwrap());
    let mut bind_ack = vec![0; length];
    smbd.read_exact(&mut bind_ack).await.unwrap();
    assert_eq!((bind_ack[2], bind_ack[8]), (12 /* bind_ack */, u8::try_from(length).unwrap()));
}

#[tokio::test]
async fn a_service_that_is_stopped_says_so_in_the_handshake() {
    let host = host();
    host.change_behaviour(|behaviour| behaviour.refused_opens = 1);
    let (mut smbd, ours) = duplex(64 * 1024);
    tokio::spawn(serve_named_pipe(host, "winreg", ours));
    smbd.write_all(b"\0\0\0\x0cNPAM\x08\0\0\0\x08\0\0\0").await.unwrap();
    let mut reply = Vec::new();
    smbd.read_to_end(&mut reply).await.unwrap();
    assert_eq!((reply[8], &reply[32..]), (8, [0xac, 0, 0, 0xc0].as_slice()));
}

#[tokio::test]
async fn what_is_no_handshake_ends_the_connection() {
    let (mut stranger, ours) = duplex(1024);
    let serving = tokio::spawn(serve_named_pipe(host(), "winreg", ours));
    stranger.write_all(b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
    assert!(serving.await.unwrap().is_err());
}
