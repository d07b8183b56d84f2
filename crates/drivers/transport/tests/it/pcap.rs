use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
use transport::{Endpoint, PcapFile};

#[derive(Clone, Default)]
struct Sink(Arc<Mutex<Vec<u8>>>);

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Write::write(&mut *self.0.lock(), bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Source port, destination port, sequence, acknowledgement, flags and payload of each packet of a capture.
fn packets(capture: &[u8]) -> Vec<(u16, u16, u32, u32, u8, Vec<u8>)> {
    let mut rest = &capture[24..];
    let mut found = Vec::new();
    while !rest.is_empty() {
        let len = u32::from_le_bytes(rest[8..12].try_into().unwrap()) as usize;
        let packet = &rest[16..16 + len];
        assert_eq!(
            usize::from(u16::from_be_bytes([packet[2], packet[3]])),
            len,
            "the IP length is the packet's"
        );
        let tcp = &packet[20..];
        let be16 = |at: usize| u16::from_be_bytes([tcp[at], tcp[at + 1]]);
        let be32 = |at: usize| u32::from_be_bytes(tcp[at..at + 4].try_into().unwrap());
        found.push((be16(0), be16(2), be32(4), be32(8), tcp[13], tcp[20..].to_vec()));
        rest = &rest[16 + len..];
    }
    found
}

#[tokio::test]
async fn a_capture_holds_a_whole_conversation_that_sequence_numbers_tie_together() {
    let sink = Sink::default();
    let file = PcapFile::with_clock(sink.clone(), || Duration::from_micros(1_700_000_000_000_001)).unwrap();
    let (near, mut far) = duplex(64);
    let mut recorded = file.record(near, &Endpoint::new("web1", 445));
    recorded.write_all(b"ask").await.unwrap();
    far.write_all(b"reply").await.unwrap();
    let mut reply = [0; 5];
    recorded.read_exact(&mut reply).await.unwrap();
    drop(recorded);

    let capture = sink.0.lock().clone();
    assert_eq!(capture[..4], [0xd4, 0xc3, 0xb2, 0xa1]);
    assert_eq!(
        capture[24..32],
        [0x00, 0xf1, 0x53, 0x65, 0x01, 0, 0, 0],
        "the clock's seconds and microseconds"
    );
    let (client, none) = (49152, Vec::new);
    assert_eq!(
        packets(&capture),
        [
            (client, 445, 0, 0, 0x02, none()),
            (445, client, 0, 1, 0x12, none()),
            (client, 445, 1, 1, 0x10, none()),
            (client, 445, 1, 1, 0x18, b"ask".to_vec()),
            (445, client, 1, 4, 0x18, b"reply".to_vec()),
            (client, 445, 4, 6, 0x11, none()),
            (445, client, 6, 5, 0x11, none()),
            (client, 445, 5, 7, 0x10, none()),
        ]
    );
}

#[tokio::test]
async fn two_streams_of_one_capture_have_ports_of_their_own() {
    let sink = Sink::default();
    let file = PcapFile::with_clock(sink.clone(), || Duration::ZERO).unwrap();
    let endpoint = Endpoint::new("192.0.2.9", 445);
    let (first, second) = (file.record(duplex(8).0, &endpoint), file.record(duplex(8).0, &endpoint));
    drop((first, second));
    let mut ports: Vec<u16> = packets(&sink.0.lock()).iter().map(|packet| packet.0).collect();
    ports.sort_unstable();
    ports.dedup();
    assert_eq!(ports, [445, 49152, 49153]);
}

#[tokio::test]
async fn a_disk_that_is_full_does_not_disturb_the_traffic() {
    struct Full(usize);
    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::StorageFull)?;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let file = PcapFile::new(Full(100)).unwrap();
    let (near, mut far) = duplex(64);
    let mut recorded = file.record(near, &Endpoint::new("web1", 445));
    recorded.write_all(b"still here").await.unwrap();
    let mut heard = [0; 10];
    far.read_exact(&mut heard).await.unwrap();
    assert_eq!(&heard, b"still here");
}
