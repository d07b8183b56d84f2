use wire::{DecodeError, DecodeResult, ReadCursor, ensure_size};

/// [RFC 4178] 4.2.2 `NegTokenResp`
///
/// Every SPNEGO token but the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct NegTokenResp<'a> {
    pub(crate) neg_state: Option<NegState>,
    /// The object identifier's content.
    pub(crate) supported_mech: Option<&'a [u8]>,
    pub(crate) response_token: Option<&'a [u8]>,
    pub(crate) mech_list_mic: Option<&'a [u8]>,
}

/// [RFC 4178] 4.2.2 `negState`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NegState(pub(crate) u8);

impl NegState {
    pub(crate) const ACCEPT_COMPLETED: Self = Self(0);
    pub(crate) const ACCEPT_INCOMPLETE: Self = Self(1);
    pub(crate) const REJECT: Self = Self(2);
}

/// [RFC 4178] 4.2.1 `NegTokenInit`
///
/// The first token of a client. It is read here and written again for `sspi`, whose reader panics on what is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NegTokenInit<'a> {
    /// The content of the list of mechanisms: object identifiers, the preferred one first.
    mech_types: &'a [u8],
    pub(crate) mech_token: Option<&'a [u8]>,
}

impl<'a> NegTokenInit<'a> {
    const NAME: &'static str = "NegTokenInit";

    /// Reads a whole token.
    pub(crate) fn decode(token: &'a [u8]) -> DecodeResult<Self> {
        let mut src = ReadCursor::new(token);
        let mut content = take(&mut src, Self::NAME, APPLICATION)?;
        if take(&mut content, "thisMech", OBJECT_IDENTIFIER)?.remaining() != SPNEGO {
            return Err(DecodeError::invalid_field(Self::NAME, "thisMech", 0, "not SPNEGO"));
        }
        let mut choice = take(&mut content, Self::NAME, CONTEXT)?;
        let mut fields = take(&mut choice, Self::NAME, SEQUENCE)?;
        let mut list = take(&mut fields, "mechTypes", CONTEXT)?;
        let mech_types = take(&mut list, "mechTypes", SEQUENCE)?;
        check_identifiers(mech_types)?;
        let mut mech_token = None;
        while let Some(&tag) = fields.remaining().first() {
            let mut field = take(&mut fields, Self::NAME, tag)?;
            if tag == CONTEXT + 2 {
                mech_token = Some(take(&mut field, "mechToken", OCTET_STRING)?.remaining());
            }
        }
        Ok(Self { mech_types: mech_types.remaining(), mech_token })
    }

    /// The list of mechanisms, as both sides sign it.
    pub(crate) fn mech_list(&self) -> Vec<u8> {
        wrap(SEQUENCE, self.mech_types)
    }

    /// A client's first token that offers Kerberos and nothing else.
    pub(crate) const fn of_kerberos(token: &'a [u8]) -> Self {
        Self { mech_types: KERBEROS_ELEMENT, mech_token: Some(token) }
    }

    /// The object identifier that the client prefers, if it is one of Kerberos'.
    pub(crate) fn preferred_kerberos(&self) -> Option<&'static [u8]> {
        let is_first = |one: &&[u8]| self.mech_types.starts_with(&wrap(OBJECT_IDENTIFIER, one));
        [KERBEROS, MS_KERBEROS].into_iter().find(is_first)
    }

    /// A client's token of Kerberos without its frame. `None` where it has none, as in DCE style.
    pub(crate) fn unframed_kerberos(token: &[u8]) -> Option<&[u8]> {
        const AP_REQ: &[u8] = &[1, 0];
        unframed(token, AP_REQ)
    }

    /// What is offered where NTLM is not.
    pub(crate) fn offers_instead_of_ntlm(&self) -> Option<&'static str> {
        let has = |mechanism: &[u8]| {
            let element = wrap(OBJECT_IDENTIFIER, mechanism);
            self.mech_types.windows(element.len()).any(|window| window == element)
        };
        if has(NTLM) {
            None
        } else if has(KERBEROS) || has(MS_KERBEROS) {
            Some("Kerberos")
        } else {
            Some("other mechanisms")
        }
    }

    /// Writes a whole token.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut fields = wrap(CONTEXT, &self.mech_list());
        if let Some(token) = self.mech_token {
            fields.extend(wrap(CONTEXT + 2, &wrap(OCTET_STRING, token)));
        }
        let mut content = wrap(OBJECT_IDENTIFIER, SPNEGO);
        content.extend(wrap(CONTEXT, &wrap(SEQUENCE, &fields)));
        wrap(APPLICATION, &content)
    }
}

/// The first token of a server, for protocols such as SMB where the server speaks first: which of Kerberos and NTLM it offers.
#[must_use]
pub fn server_hint(kerberos: bool, ntlm: bool) -> Vec<u8> {
    let offered = [(kerberos, MS_KERBEROS), (kerberos, KERBEROS), (ntlm, NTLM)];
    let offered = offered.iter().filter(|(is_offered, _)| *is_offered);
    let mech_types: Vec<u8> = offered.flat_map(|(_, one)| wrap(OBJECT_IDENTIFIER, one)).collect();
    NegTokenInit { mech_types: &mech_types, mech_token: None }.encode()
}

impl<'a> NegTokenResp<'a> {
    const NAME: &'static str = "NegTokenResp";

    /// Whether a token looks like one, rather than like a first token.
    pub(crate) fn is(token: &[u8]) -> bool {
        token.first() == Some(&(CONTEXT + 1))
    }

    /// Reads a whole token.
    pub(crate) fn decode(token: &'a [u8]) -> DecodeResult<Self> {
        let mut src = ReadCursor::new(token);
        let mut choice = take(&mut src, Self::NAME, CONTEXT + 1)?;
        let mut fields = take(&mut choice, Self::NAME, SEQUENCE)?;
        let mut decoded = Self::default();
        while let Some(&tag) = fields.remaining().first() {
            let mut field = take(&mut fields, Self::NAME, tag)?;
            let mut value = |name, tag| take(&mut field, name, tag).map(|value| value.remaining());
            match tag.checked_sub(CONTEXT) {
                Some(0) => decoded.neg_state = value("negState", ENUMERATED)?.first().copied().map(NegState),
                Some(1) => decoded.supported_mech = Some(value("supportedMech", OBJECT_IDENTIFIER)?),
                Some(2) => decoded.response_token = Some(value("responseToken", OCTET_STRING)?),
                Some(3) => decoded.mech_list_mic = Some(value("mechListMIC", OCTET_STRING)?),
                _ => {}
            }
        }
        Ok(decoded)
    }

    /// Writes a whole token.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut fields = Vec::new();
        if let Some(NegState(state)) = self.neg_state {
            fields.extend(wrap(CONTEXT, &wrap(ENUMERATED, &[state])));
        }
        let rest = [
            (1, OBJECT_IDENTIFIER, self.supported_mech),
            (2, OCTET_STRING, self.response_token),
            (3, OCTET_STRING, self.mech_list_mic),
        ];
        for (number, tag, value) in rest {
            if let Some(value) = value {
                fields.extend(wrap(CONTEXT + number, &wrap(tag, value)));
            }
        }
        wrap(CONTEXT + 1, &wrap(SEQUENCE, &fields))
    }
}

/// RFC 4120 5.9.1: the number in a `KRB-ERROR`, which a KDC answers with, or a host in place of its token. `None` where
/// `message` is something else.
pub(crate) fn kerberos_error(message: &[u8]) -> Option<i32> {
    const NAME: &str = "KRB-ERROR";
    const ERROR: &[u8] = &[3, 0];
    const KRB_ERROR: u8 = 0x7e;
    const INTEGER: u8 = 0x02;
    let mut src = ReadCursor::new(unframed(message, ERROR).unwrap_or(message));
    let mut choice = take(&mut src, NAME, KRB_ERROR).ok()?;
    let mut fields = take(&mut choice, NAME, SEQUENCE).ok()?;
    while let Some(&tag) = fields.remaining().first() {
        let mut field = take(&mut fields, NAME, tag).ok()?;
        if tag == CONTEXT + 6 {
            let number = take(&mut field, NAME, INTEGER).ok()?.remaining();
            let is_short = (1..=4).contains(&number.len());
            return is_short.then(|| number.iter().fold(0, |code, &octet| code << 8 | i32::from(octet)));
        }
    }
    None
}

/// RFC 4121 4.1: what a token of Kerberos with this identifier has in a frame of its own.
fn unframed<'a>(token: &'a [u8], identifier: &[u8]) -> Option<&'a [u8]> {
    const NAME: &str = "InitialContextToken";
    let mut src = ReadCursor::new(token);
    let mut content = take(&mut src, NAME, APPLICATION).ok()?;
    let mechanism = take(&mut content, "thisMech", OBJECT_IDENTIFIER).ok()?.remaining();
    if mechanism != KERBEROS && mechanism != MS_KERBEROS {
        return None;
    }
    content.remaining().strip_prefix(identifier)
}

/// The object identifier 1.3.6.1.5.5.2.
const SPNEGO: &[u8] = &[0x2b, 6, 1, 5, 5, 2];

const NTLM: &[u8] = &[0x2b, 6, 1, 4, 1, 0x82, 0x37, 2, 2, 10];
const KERBEROS: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x12, 1, 2, 2];
const KERBEROS_ELEMENT: &[u8] = &[OBJECT_IDENTIFIER, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x12, 1, 2, 2];
/// 1.2.840.48018.1.2.2, which Windows writes beside it.
const MS_KERBEROS: &[u8] = &[0x2a, 0x86, 0x48, 0x82, 0xf7, 0x12, 1, 2, 2];

const OCTET_STRING: u8 = 0x04;
const OBJECT_IDENTIFIER: u8 = 0x06;
const ENUMERATED: u8 = 0x0a;
const SEQUENCE: u8 = 0x30;
const APPLICATION: u8 = 0x60;
/// Constructed, context-specific, number 0.
const CONTEXT: u8 = 0xa0;

/// Takes one element with the tag, and answers its content.
fn take<'a>(src: &mut ReadCursor<'a>, context: &'static str, tag: u8) -> DecodeResult<ReadCursor<'a>> {
    let at = src.pos();
    ensure_size!(in: src, name: context, size: 2);
    if src.read_u8() != tag {
        return Err(DecodeError::invalid_field(context, "tag", at, "not the expected element"));
    }
    let length = match src.read_u8() {
        short @ ..=0x7f => usize::from(short),
        long @ 0x81..=0x84 => {
            let octets = src.take_slice(context, "length", usize::from(long - 0x80))?;
            octets.iter().fold(0, |length, &octet| length << 8 | usize::from(octet))
        }
        _ => return Err(DecodeError::invalid_field(context, "length", at + 1, "not a definite length")),
    };
    src.take_cursor(context, "content", length)
}

/// Refuses object identifiers that are none: each number ends, and has at most 28 bits.
fn check_identifiers(mut list: ReadCursor<'_>) -> DecodeResult<()> {
    const NAME: &str = "mechTypes";
    if list.is_empty() {
        return Err(DecodeError::invalid_field(NAME, "", 0, "no mechanism is named"));
    }
    while !list.is_empty() {
        let at = list.pos();
        let identifier = take(&mut list, NAME, OBJECT_IDENTIFIER)?.remaining();
        let is_whole = identifier.last().is_some_and(|&last| last < 0x80);
        let mut numbers = identifier.split_inclusive(|&octet| octet < 0x80);
        if !is_whole || !numbers.all(|number| number.len() <= 4 && number[0] != 0x80) {
            return Err(DecodeError::invalid_field(NAME, "", at, "not an object identifier"));
        }
    }
    Ok(())
}

/// Puts tag and length before the content.
fn wrap(tag: u8, content: &[u8]) -> Vec<u8> {
    let mut element = vec![tag];
    let length = content.len().to_be_bytes();
    let octets = &length[length.iter().take_while(|&&octet| octet == 0).count()..];
    match octets {
        [] => element.push(0),
        &[short @ ..0x80] => element.push(short),
        // At most eight octets.
        long => {
            element.push(0x80 | u8::try_from(long.len()).unwrap_or_default());
            element.extend_from_slice(long);
        }
    }
    element.extend_from_slice(content);
    element
}

#[cfg(test)]
mod tests {
    use super::*;

    // The last token of the winreg service of Samba 4.17.12, captured from its alter_context_resp.
    #[test]
    fn the_final_token_of_a_server_is_read_and_written_alike() {
        let token = [
            0xa1, 0x1b, 0x30, 0x19, 0xa0, 0x03, 0x0a, 0x01, 0x00, 0xa3, 0x12, 0x04, 0x10, 0x01, 0x00, 0x00,
            0x00, 0xa1, 0x8d, 0x0f, 0x01, 0x90, 0xdf, 0x85, 0x0c, 0x00, 0x00, 0x00, 0x00,
        ];
        let decoded = NegTokenResp::decode(&token).unwrap();
        assert_eq!(decoded.neg_state, Some(NegState::ACCEPT_COMPLETED));
        assert_eq!(decoded.mech_list_mic, Some(&token[13..]));
        assert_eq!(decoded.encode(), token);
    }

    // The first token of the Python bindings of Samba 4.17.12, captured from their bind.
    #[test]
    fn a_first_token_is_written_anew_as_it_was() {
        let token = [
            0x60, 0x48, 0x06, 0x06, 0x2b, 0x06, 0x01, 0x05, 0x05, 0x02, 0xa0, 0x3e, 0x30, 0x3c, 0xa0, 0x0e,
            0x30, 0x0c, 0x06, 0x0a, 0x2b, 0x06, 0x01, 0x04, 0x01, 0x82, 0x37, 0x02, 0x02, 0x0a, 0xa2, 0x2a,
            0x04, 0x28, 0x4e, 0x54, 0x4c, 0x4d, 0x53, 0x53, 0x50, 0x00, 0x01, 0x00, 0x00, 0x00, 0x35, 0x82,
            0x08, 0x62, 0x00, 0x00, 0x00, 0x00, 0x28, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x28, 0x00,
            0x00, 0x00, 0x06, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x0f,
        ];
        let decoded = NegTokenInit::decode(&token).unwrap();
        assert!(decoded.mech_token.is_some_and(|message| message.starts_with(b"NTLMSSP\0")));
        assert_eq!(decoded.encode(), token);
        for length in 0..token.len() {
            NegTokenInit::decode(&token[..length]).unwrap_err();
        }
    }

    #[test]
    fn mechanisms_that_are_no_object_identifiers_are_refused() {
        for content in [[0x80, 1].as_slice(), &[0x2b, 0x86], &[0x2b, 0x81, 0x82, 0x83, 0x84, 0x05], &[]] {
            let list = wrap(OBJECT_IDENTIFIER, content);
            let token = NegTokenInit { mech_types: &list, mech_token: None };
            assert!(NegTokenInit::decode(&token.encode()).is_err(), "{content:x?}");
        }
        NegTokenInit::decode(&NegTokenInit { mech_types: &[], mech_token: None }.encode()).unwrap_err();
    }

    #[test]
    fn the_hint_of_a_server_offers_what_it_takes() {
        for (kerberos, ntlm) in [(false, true), (true, false), (true, true)] {
            let hint = server_hint(kerberos, ntlm);
            let offered = NegTokenInit::decode(&hint).unwrap();
            assert_eq!(offered.preferred_kerberos().is_some(), kerberos);
            assert_eq!(offered.mech_types.ends_with(&[0x82, 0x37, 2, 2, 10]), ntlm);
        }
    }

    #[test]
    fn long_tokens_survive() {
        for length in [0, 1, 127, 128, 255, 256, 65_535, 65_536] {
            let content = vec![7; length];
            let token = NegTokenResp { response_token: Some(&content), ..NegTokenResp::default() };
            assert_eq!(NegTokenResp::decode(&token.encode()), Ok(token));
        }
    }

    #[test]
    fn a_token_that_is_cut_or_lies_about_its_length_is_an_error() {
        let content = [7; 200];
        let token = NegTokenResp { response_token: Some(&content), ..NegTokenResp::default() }.encode();
        for length in 0..token.len() {
            NegTokenResp::decode(&token[..length]).unwrap_err();
        }
        NegTokenResp::decode(&[0xa1, 0x84, 0xff, 0xff, 0xff, 0xff]).unwrap_err();
        NegTokenResp::decode(&[0xa1, 0x80, 0, 0]).unwrap_err();
    }

    #[test]
    fn a_field_with_a_tag_below_the_context_class_is_skipped() {
        assert_eq!(NegTokenResp::decode(&[0xa1, 4, 0x30, 2, 0x05, 0]), Ok(NegTokenResp::default()));
    }

    /// As a KDC writes it, and as a host does, in a frame or, in DCE style, without one.
    #[test]
    fn the_number_of_an_error_of_kerberos_is_read_with_and_without_its_frame() {
        let error = [0x7e, 7, 0x30, 5, 0xa6, 3, 2, 1, 24];
        let framed = |mechanism: &[u8], identifier: &[u8]| {
            wrap(APPLICATION, &[&wrap(OBJECT_IDENTIFIER, mechanism), identifier, &error].concat())
        };
        assert_eq!(kerberos_error(&error), Some(24));
        assert_eq!(kerberos_error(&framed(KERBEROS, &[3, 0])), Some(24));
        assert_eq!(kerberos_error(&framed(MS_KERBEROS, &[3, 0])), Some(24));
        assert_eq!(kerberos_error(&framed(KERBEROS, &[2, 0])), None, "a host's answer");
        assert_eq!(kerberos_error(&framed(NTLM, &[3, 0])), None);
        assert_eq!(kerberos_error(&[]), None);
        for len in 0..error.len() {
            assert_eq!(kerberos_error(&error[..len]), None);
        }
        assert_eq!(NegTokenInit::unframed_kerberos(&framed(KERBEROS, &[1, 0])), Some(&error[..]));
        assert_eq!(NegTokenInit::unframed_kerberos(&framed(KERBEROS, &[3, 0])), None);
    }
}
