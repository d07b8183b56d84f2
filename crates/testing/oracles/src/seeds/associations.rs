//! Both ends of associations, and the verification trailer.

use dcerpc::client::CallRequest;
use dcerpc::pdu::{Command, CommandKind, Header2, PacketType, VerificationTrailer};
use dcerpc::{CallId, SyntaxId};
use ms_smb2::Dialect;
use ms_smb2::client::{Event, Reply};
use wire::Guid;

use super::{MADE, Seed};
use crate::dcerpc as rpc;
use crate::ms_smb2::{Pair, client_stage};

pub(super) fn associations() -> Vec<Seed> {
    let mut seeds = Vec::new();
    // Protection in the lower two bits, the state in those above.
    for (protection, state) in
        [0, 1, 2].into_iter().flat_map(|bits| [0, 4, 8, 12, 20].map(|state| (bits, state)))
    {
        let mode: u8 = protection | state;
        let answer = rpc::honest_answer(mode);
        seeds.push(("dcerpc_client", format!("mode_{mode:02}"), [&[mode, 7], &answer[..]].concat()));
    }
    for mode in [0_u8, 1, 2] {
        let mut client = rpc::new_client(mode);
        let mut server = rpc::new_server();
        let mut said = Vec::new();
        loop {
            let sent: Vec<Vec<u8>> =
                core::iter::from_fn(|| client.poll_transmit()).map(|it| it.bytes).collect();
            if sent.is_empty() {
                break;
            }
            for (index, pdu) in sent.iter().enumerate() {
                server.handle_bytes(pdu).expect(MADE);
                seeds.push(("dcerpc_pdu", format!("sent_{mode}_{}_{index}", said.len()), pdu.clone()));
            }
            said.extend(sent.concat());
            while let Some(pdu) = server.poll_transmit() {
                client.handle_bytes(&pdu).expect(MADE);
                seeds.push(("dcerpc_pdu", format!("answered_{mode}_{}", said.len()), pdu));
            }
        }
        seeds.push(("dcerpc_server", format!("bind_{mode}"), [&[mode, 3], &said[..]].concat()));
        let object = Some(Guid::from_u128(5));
        let call_id = client
            .call(CallRequest { context_id: 0, opnum: 3, object, stub: &[9; 2500] })
            .expect("it is bound");
        client.cancel(call_id).expect("the call is open");
        client.orphan(call_id).expect("the call is open");
        client.call(CallRequest { context_id: 0, opnum: 99, object: None, stub: b"" }).expect("it is bound");
        let call: Vec<u8> = core::iter::from_fn(|| client.poll_transmit()).flat_map(|it| it.bytes).collect();
        seeds.push(("dcerpc_server", format!("call_{mode}"), [&[mode | 4, 3], &call[..]].concat()));
    }
    let mut further = rpc::new_client(2).poll_transmit().expect("a bind").bytes;
    further[2] = PacketType::ALTER_CONTEXT.0;
    let at = further.len() - b"hello".len() - 4;
    further[at] ^= 0x55;
    seeds.push(("dcerpc_server", "further_security".to_owned(), [&[6, 3], &further[..]].concat()));
    seeds.push(("dcerpc_pdu", "trailer".to_owned(), trailer()));
    seeds.push(("dcerpc_pdu", "trailer_behind_stub".to_owned(), [b"stub data   ", &trailer()[..]].concat()));
    seeds
}

fn trailer() -> Vec<u8> {
    let header = Header2 {
        packet_type: PacketType::REQUEST,
        drep: [0x10, 0, 0, 0],
        call_id: CallId(4),
        context_id: 0,
        opnum: 7,
    };
    let context =
        CommandKind::PresentationContext { interface: rpc::INTERFACE, transfer_syntax: SyntaxId::NDR };
    let unknown = CommandKind::Unknown { command: 9, body: vec![1, 2, 3, 4] };
    let kinds = [CommandKind::Bitmask1(1), context, unknown, CommandKind::Header2(header)];
    wire::encode_vec(&VerificationTrailer { commands: kinds.map(Command::new).to_vec() }).expect(MADE)
}

// Both ends of SMB connections, and their messages one by one.

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
