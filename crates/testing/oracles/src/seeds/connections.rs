//! Both ends of SMB connections, and their messages one by one.

use ms_smb2::Dialect;
use ms_smb2::client::{Event, Reply};

use super::{MADE, Seed};
use crate::ms_smb2::{Pair, client_stage};

pub(super) fn connections() -> Vec<Seed> {
    let mut seeds = Vec::new();
    for mode in [0_u8, 4, 0x14, 0x34, 1, 0x11, 0x31, 2, 6, 3, 0x33] {
        let mut pair = client_stage(mode);
        pair.next();
        seeds.push(("smb2_client", format!("mode_{mode:02x}"), [&[mode, 7], &pair.to_client[..]].concat()));
    }
    for (high, dialect) in (0_u8..).zip(Dialect::ALL) {
        let (mut pair, file) = Pair::with_pipe(dialect, false);
        let (whole, mode) = (core::mem::take(&mut pair.to_server), high << 4);
        for message in frames(&whole).into_iter().chain(frames(&pair.to_client)) {
            let name = format!("made_{high}_{:02}", seeds.len());
            seeds.push(("smb2_messages", name, message.to_vec()));
        }
        let behind_negotiate = 4 + frames(&whole)[0].len();
        seeds.push(("smb2_server", format!("whole_{high}"), [&[mode, 7], &whole[..]].concat()));
        let rest = &whole[behind_negotiate..];
        seeds.push(("smb2_server", format!("session_{high}"), [&[mode | 1, 7], rest].concat()));
        pair.client.write(file, b"written").expect(MADE);
        pair.client.read(file, 512).expect(MADE);
        pair.client.transceive(file, b"ping", 1024).expect(MADE);
        pair.client.tree_connect(r"\\server\IPC$").expect(MADE);
        pair.client.echo().expect(MADE);
        let read = pair.client.read(file, 64).expect(MADE);
        pair.client.cancel(read).expect(MADE);
        pair.client.close(file).expect(MADE);
        while let Some(event) = pair.next() {
            debug_assert!(!matches!(event, Event::Completed { result: Ok(Reply::LoggedOff), .. }));
        }
        let kind = if dialect == Dialect::Smb2_1 { 3 } else { 2 };
        let requests = [&[mode | kind, 7], &pair.to_server[..]].concat();
        seeds.push(("smb2_server", format!("requests_{high}"), requests));
    }
    seeds
}

/// The messages of a stream, without their lengths.
#[must_use]
pub fn frames(stream: &[u8]) -> Vec<&[u8]> {
    let mut frames = Vec::new();
    let mut rest = stream;
    while let Some((prefix, behind)) = rest.split_first_chunk() {
        let length = usize::try_from(u32::from_be_bytes(*prefix)).unwrap_or(usize::MAX);
        let (frame, behind) = behind.split_at(length.min(behind.len()));
        frames.push(frame);
        rest = behind;
    }
    frames
}
