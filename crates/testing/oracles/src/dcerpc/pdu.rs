use dcerpc::SyntaxId;
use dcerpc::pdu::{
    Auth3, Bind, BindAck, BindNak, Body, ContextElement, ContextResult, Fault, Pdu, Response, SecTrailer,
    VerificationTrailer, encode_pdu,
};
use wire::{Encode, EncodeResult, WriteCursor};

use crate::input::Input;
use crate::law::{exact, is_inside, lossless};

/// One PDU and the structures in PDUs: what is read lies in it, and reads the same after it was written again.
pub fn pdu(bytes: &[u8]) {
    let bytes = Input::new(bytes).rest();
    exact::<SyntaxId>(bytes);
    exact::<SecTrailer>(bytes);
    exact::<ContextElement>(bytes);
    exact::<ContextResult>(bytes);
    exact::<Bind>(bytes);
    exact::<Fault>(bytes);
    exact::<Response>(bytes);
    exact::<Auth3>(bytes);
    lossless!(bytes, BindAck);
    lossless!(bytes, BindNak);
    trailer(bytes);
    if let Ok(pdu) = Pdu::decode(bytes) {
        check(bytes, &pdu);
    }
}

/// A verification trailer at the beginning, and one after stub data: it is found where it begins, and is no longer
/// found where its signature is broken.
fn trailer(bytes: &[u8]) {
    lossless!(bytes, VerificationTrailer);
    let Some(start) = VerificationTrailer::find(bytes) else { return };
    assert!(start.is_multiple_of(VerificationTrailer::ALIGNMENT));
    lossless!(&bytes[start..], VerificationTrailer);
    let mut broken = bytes.to_vec();
    broken[start] ^= 1;
    assert!(VerificationTrailer::find(&broken).is_none_or(|other| other < start));
}

fn check(bytes: &[u8], pdu: &Pdu<'_>) {
    let Pdu { header, body, verifier } = pdu;
    assert_eq!(usize::from(header.frag_length), bytes.len());
    assert!(verifier.is_none_or(|verifier| is_inside(bytes, verifier.token)));
    assert_eq!(verifier.map_or(0, |verifier| verifier.token.len()), usize::from(header.auth_length));
    if let Body::Request(_, stub) | Body::Response(_, stub) = body {
        assert!(is_inside(bytes, stub));
    }
    let written = Written(body);
    let result = encode_pdu(header.packet_type, header.flags, header.call_id, Some(&written), *verifier);
    // An address without its NUL gets one, and padding is by four: a PDU of the largest size may grow beyond it.
    let Ok(again) = result else {
        assert!(bytes.len() > usize::from(u16::MAX) - 8, "what was read can be written");
        return;
    };
    let again = Pdu::decode(&again).expect("what was written can be read");
    assert_eq!(&again.body, body);
    let (packet_type, flags, call_id) = (again.header.packet_type, again.header.flags, again.header.call_id);
    assert_eq!((packet_type, flags, call_id), (header.packet_type, header.flags, header.call_id));
    let shown = |pdu: &Pdu<'_>| {
        pdu.verifier.map(|v| (v.trailer.auth_level, v.trailer.auth_context_id, v.token.to_vec()))
    };
    assert_eq!(shown(&again), shown(pdu));
}

/// A body as it is between header and verifier.
struct Written<'a>(&'a Body<'a>);

impl Written<'_> {
    fn parts(&self) -> (Option<&dyn Encode>, &[u8]) {
        match self.0 {
            Body::Bind(bind) => (Some(bind), &[]),
            Body::BindAck(ack) => (Some(ack), &[]),
            Body::BindNak(nak) => (Some(nak), &[]),
            Body::Auth3 => (Some(&Auth3), &[]),
            Body::Request(request, stub) => (Some(request), stub),
            Body::Response(response, stub) => (Some(response), stub),
            Body::Fault(fault) => (Some(fault), &[]),
            Body::Empty => (None, &[]),
        }
    }
}

impl Encode for Written<'_> {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        let (head, stub) = self.parts();
        let before = dst.pos();
        if let Some(head) = head {
            head.encode(dst)?;
            assert_eq!(dst.pos() - before, head.size(), "{} keeps its size law", head.name());
        }
        dst.write_slice(stub);
        Ok(())
    }

    fn name(&self) -> &'static str {
        "PDU"
    }

    fn size(&self) -> usize {
        let (head, stub) = self.parts();
        head.map_or(0, Encode::size) + stub.len()
    }
}
