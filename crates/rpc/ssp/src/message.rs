use core::ops::Range;

use wire::{Decode, DecodeError, DecodeResult, FileTime, ReadCursor, decode_utf16, ensure_size};

use crate::{ImpersonationLevel, OsVersion, ServerInfo};

/// What every NTLM message begins with.
pub(crate) const SIGNATURE: &[u8; 8] = b"NTLMSSP\0";

/// Bytes of a message integrity code.
pub(crate) const MIC_SIZE: usize = 16;

/// [MS-NLMP] 2.2.1.1 `NEGOTIATE_MESSAGE`, of which nothing is read.
pub(crate) const NEGOTIATE_MESSAGE_TYPE: u32 = 1;

/// Where the flags of a `NEGOTIATE_MESSAGE` are: after signature and type.
pub(crate) const NEGOTIATE_FLAGS_RANGE: Range<usize> = 12..16;

/// [MS-NLMP] 2.2.2.5: the client wants no token that the server can impersonate it with.
pub(crate) const NTLMSSP_NEGOTIATE_IDENTIFY: u32 = 0x0010_0000;

/// [MS-NLMP] 2.2.2.5: what both sides agreed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NegotiateFlags(pub u32);

impl NegotiateFlags {
    /// What documents call `NTLMSSP_NEGOTIATE_SIGN`.
    pub const SIGN: u32 = 0x0000_0010;
    /// What documents call `NTLMSSP_NEGOTIATE_SEAL`.
    pub const SEAL: u32 = 0x0000_0020;
    /// What documents call `NTLMSSP_NEGOTIATE_EXTENDED_SESSIONSECURITY`.
    pub const EXTENDED_SESSION_SECURITY: u32 = 0x0008_0000;
    /// What documents call `NTLMSSP_NEGOTIATE_128`.
    pub const KEY_128: u32 = 0x2000_0000;
    /// What documents call `NTLMSSP_NEGOTIATE_KEY_EXCH`.
    pub const KEY_EXCHANGE: u32 = 0x4000_0000;
    /// What documents call `NTLMSSP_NEGOTIATE_56`.
    pub const KEY_56: u32 = 0x8000_0000;

    pub(crate) const fn has(self, flags: u32) -> bool {
        self.0 & flags == flags
    }
}

const VERSION_SIZE: usize = 8;
const NTLMSSP_NEGOTIATE_VERSION: u32 = 0x0200_0000;

/// Which NTLM message a token is, if it is one.
pub(crate) fn message_type(token: &[u8]) -> Option<u32> {
    let (signature, rest) = token.split_first_chunk::<8>()?;
    let (message_type, _) = rest.split_first_chunk::<4>()?;
    (signature == SIGNATURE).then(|| u32::from_le_bytes(*message_type))
}

/// [MS-NLMP] 2.2.1.2 `CHALLENGE_MESSAGE`
///
/// A server's first message: its names, and the challenge that the client has to answer.
#[doc(alias = "CHALLENGE_MESSAGE")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ChallengeMessage<'a> {
    pub(crate) target_name: &'a [u8],
    pub(crate) server_challenge: [u8; 8],
    pub(crate) target_info: &'a [u8],
    pub(crate) flags: NegotiateFlags,
    pub(crate) os_version: Option<OsVersion>,
}

impl ChallengeMessage<'_> {
    pub(crate) const MESSAGE_TYPE: u32 = 2;
    /// Where the length and offset of the target information are.
    pub(crate) const TARGET_INFO_FIELDS_OFFSET: usize = 40;
    const FIXED_PART_SIZE: usize = 8 /* Signature */
        + 4 /* MessageType */
        + 8 /* TargetNameFields */
        + 4 /* NegotiateFlags */
        + 8 /* ServerChallenge */
        + 8 /* Reserved */
        + 8 /* TargetInfoFields */;
    const NAME: &'static str = "CHALLENGE_MESSAGE";

    /// The names, version and clock.
    pub(crate) fn server_info(&self) -> DecodeResult<ServerInfo> {
        let mut info = ServerInfo {
            target_name: name(Self::NAME, "TargetName", self.target_name)?,
            os_version: self.os_version,
            ..ServerInfo::default()
        };
        for pair in AvPairs::new(self.target_info) {
            let AvPair { id, value } = pair?;
            match id {
                1 => info.netbios_computer = name(AvPairs::NAME, "MsvAvNbComputerName", value)?,
                2 => info.netbios_domain = name(AvPairs::NAME, "MsvAvNbDomainName", value)?,
                3 => info.dns_computer = name(AvPairs::NAME, "MsvAvDnsComputerName", value)?,
                4 => info.dns_domain = name(AvPairs::NAME, "MsvAvDnsDomainName", value)?,
                5 => info.dns_tree = name(AvPairs::NAME, "MsvAvDnsTreeName", value)?,
                7 => info.timestamp = value.try_into().ok().map(|clock| FileTime(u64::from_le_bytes(clock))),
                _ => {}
            }
        }
        Ok(info)
    }
}

impl<'de> Decode<'de> for ChallengeMessage<'de> {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        let message = *src;
        expect_type(src, Self::NAME, Self::MESSAGE_TYPE)?;
        let target_name = read_fields(src, &message, Self::NAME, "TargetName")?;
        let flags = src.read_u32();
        let server_challenge = src.read_array();
        src.read_slice(8);
        let target_info = read_fields(src, &message, Self::NAME, "TargetInfo")?;
        let os_version = if flags & NTLMSSP_NEGOTIATE_VERSION != 0 && src.len() >= VERSION_SIZE {
            let (major, minor, build) = (src.read_u8(), src.read_u8(), src.read_u16());
            Some(OsVersion { major, minor, build })
        } else {
            None
        };
        let flags = NegotiateFlags(flags);
        Ok(Self { target_name, server_challenge, target_info, flags, os_version })
    }
}

/// [MS-NLMP] 2.2.1.3 `AUTHENTICATE_MESSAGE`
///
/// A client's second message: its account, and the proof that it knows the password.
#[doc(alias = "AUTHENTICATE_MESSAGE")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AuthenticateMessage<'a> {
    pub(crate) nt_response: &'a [u8],
    pub(crate) domain: String,
    pub(crate) user: String,
    pub(crate) encrypted_session_key: &'a [u8],
    pub(crate) flags: NegotiateFlags,
    pub(crate) impersonation: ImpersonationLevel,
}

impl AuthenticateMessage<'_> {
    pub(crate) const MESSAGE_TYPE: u32 = 3;
    const FIXED_PART_SIZE: usize = 8 /* Signature */
        + 4 /* MessageType */
        + 8 /* LmChallengeResponseFields */
        + 8 /* NtChallengeResponseFields */
        + 8 /* DomainNameFields */
        + 8 /* UserNameFields */
        + 8 /* WorkstationFields */
        + 8 /* EncryptedRandomSessionKeyFields */
        + 4 /* NegotiateFlags */;
    const NAME: &'static str = "AUTHENTICATE_MESSAGE";
    /// Where the message integrity code is in a message that has one: after the version, which is there then.
    pub(crate) const MIC_OFFSET: usize = Self::FIXED_PART_SIZE + VERSION_SIZE;
    pub(crate) const NEGOTIATE_FLAGS_RANGE: Range<usize> = Self::FIXED_PART_SIZE - 4..Self::FIXED_PART_SIZE;
    const LM_RESPONSE_FIELDS_OFFSET: usize = 8 /* Signature */ + 4 /* MessageType */;

    /// Where the LM response of a message is, if that is within its payload.
    pub(crate) fn lm_response_range(message: &[u8]) -> Option<Range<usize>> {
        let mut fields =
            ReadCursor::new(message.get(Self::LM_RESPONSE_FIELDS_OFFSET..Self::FIXED_PART_SIZE)?);
        let length = usize::from(fields.read_u16());
        fields.read_u16();
        let start = usize::try_from(fields.read_u32()).ok()?;
        let end = start.checked_add(length)?;
        (start >= Self::MIC_OFFSET + MIC_SIZE && end <= message.len()).then_some(start..end)
    }
}

impl<'de> Decode<'de> for AuthenticateMessage<'de> {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        let message = *src;
        expect_type(src, Self::NAME, Self::MESSAGE_TYPE)?;
        src.read_slice(8);
        let nt_response = read_fields(src, &message, Self::NAME, "NtChallengeResponse")?;
        let domain = read_fields(src, &message, Self::NAME, "DomainName")?;
        let user = read_fields(src, &message, Self::NAME, "UserName")?;
        src.read_slice(8 /* WorkstationFields */);
        let encrypted_session_key = read_fields(src, &message, Self::NAME, "EncryptedRandomSessionKey")?;
        let flags = src.read_u32();
        Ok(Self {
            nt_response,
            encrypted_session_key,
            flags: NegotiateFlags(flags),
            domain: name(Self::NAME, "DomainName", domain)?.unwrap_or_default(),
            user: name(Self::NAME, "UserName", user)?.unwrap_or_default(),
            impersonation: if flags & NTLMSSP_NEGOTIATE_IDENTIFY == 0 {
                ImpersonationLevel::Impersonate
            } else {
                ImpersonationLevel::Identify
            },
        })
    }
}

/// `AV_PAIR` of [MS-NLMP] 2.2.2.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AvPair<'a> {
    pub(crate) id: u16,
    pub(crate) value: &'a [u8],
}

/// The pairs of a target information, up to `MsvAvEOL`.
pub(crate) struct AvPairs<'a>(Option<ReadCursor<'a>>);

impl<'a> AvPairs<'a> {
    pub(crate) const EOL: u16 = 0;
    pub(crate) const FLAGS: u16 = 6;
    pub(crate) const TARGET_NAME: u16 = 9;
    pub(crate) const CHANNEL_BINDINGS: u16 = 10;
    const NAME: &'static str = "AV_PAIR";

    pub(crate) const fn new(target_info: &'a [u8]) -> Self {
        Self(Some(ReadCursor::new(target_info)))
    }

    fn read(src: &mut ReadCursor<'a>) -> DecodeResult<AvPair<'a>> {
        ensure_size!(in: src, name: Self::NAME, size: 2 /* AvId */ + 2 /* AvLen */);
        let id = src.read_u16();
        let length = usize::from(src.read_u16());
        Ok(AvPair { id, value: src.take_slice(Self::NAME, "Value", length)? })
    }
}

impl<'a> Iterator for AvPairs<'a> {
    type Item = DecodeResult<AvPair<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        let src = self.0.as_mut().filter(|src| !src.is_empty())?;
        match Self::read(src) {
            Ok(AvPair { id: Self::EOL, .. }) => {
                self.0 = None;
                None
            }
            Ok(pair) => Some(Ok(pair)),
            Err(error) => {
                self.0 = None;
                Some(Err(error))
            }
        }
    }
}

fn expect_type(src: &mut ReadCursor<'_>, context: &'static str, expected: u32) -> DecodeResult<()> {
    let at = src.pos();
    let signature: [u8; 8] = src.read_array();
    let message_type = src.read_u32();
    if signature == *SIGNATURE && message_type == expected {
        Ok(())
    } else {
        Err(DecodeError::invalid_field(context, "Signature", at, "not this message"))
    }
}

/// Reads length and offset, and answers the payload that they point to.
fn read_fields<'a>(
    src: &mut ReadCursor<'a>,
    message: &ReadCursor<'a>,
    context: &'static str,
    field: &'static str,
) -> DecodeResult<&'a [u8]> {
    let length = usize::from(src.read_u16());
    src.read_u16();
    let offset = usize::try_from(src.read_u32()).unwrap_or(usize::MAX);
    if length == 0 {
        return Ok(&[]);
    }
    let mut payload = *message;
    payload.skip(context, field, offset)?;
    payload.take_slice(context, field, length)
}

fn name(context: &'static str, field: &'static str, bytes: &[u8]) -> DecodeResult<Option<String>> {
    if bytes.is_empty() {
        return Ok(None);
    }
    match decode_utf16(bytes) {
        Ok(name) => Ok(Some(name)),
        Err(_) => Err(DecodeError::invalid_field(context, field, 0, "not UTF-16")),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// [MS-NLMP] 4.2.4.3: the published CHALLENGE_MESSAGE of the NTLMv2 example.
    pub(crate) const CHALLENGE: &[u8] = b"NTLMSSP\0\x02\0\0\0\x0c\0\x0c\0\x38\0\0\0\x33\x82\x8a\xe2\
        \x01\x23\x45\x67\x89\xab\xcd\xef\0\0\0\0\0\0\0\0\x24\0\x24\0\x44\0\0\0\x06\0\x70\x17\0\0\0\x0f\
        S\0e\0r\0v\0e\0r\0\x02\0\x0c\0D\0o\0m\0a\0i\0n\0\x01\0\x0c\0S\0e\0r\0v\0e\0r\0\0\0\0\0";

    /// [MS-NLMP] 4.2.4.3: the published AUTHENTICATE_MESSAGE of the NTLMv2 example.
    pub(crate) const AUTHENTICATE: &[u8] = b"NTLMSSP\0\x03\0\0\0\x18\0\x18\0\x6c\0\0\0\x54\0\x54\0\x84\0\0\0\
        \x0c\0\x0c\0\x48\0\0\0\x08\0\x08\0\x54\0\0\0\x10\0\x10\0\x5c\0\0\0\x10\0\x10\0\xd8\0\0\0\x35\x82\x88\xe2\
        \x05\x01\x28\x0a\0\0\0\x0fD\0o\0m\0a\0i\0n\0U\0s\0e\0r\0C\0O\0M\0P\0U\0T\0E\0R\0\
        \x86\xc3\x50\x97\xac\x9c\xec\x10\x25\x54\x76\x4a\x57\xcc\xcc\x19\xaa\xaa\xaa\xaa\xaa\xaa\xaa\xaa\
        \x68\xcd\x0a\xb8\x51\xe5\x1c\x96\xaa\xbc\x92\x7b\xeb\xef\x6a\x1c\x01\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\
        \xaa\xaa\xaa\xaa\xaa\xaa\xaa\xaa\0\0\0\0\x02\0\x0c\0D\0o\0m\0a\0i\0n\0\x01\0\x0c\0S\0e\0r\0v\0e\0r\0\
        \0\0\0\0\0\0\0\0\xc5\xda\xd2\x54\x4f\xc9\x79\x90\x94\xce\x1c\xe9\x0b\xc9\xd0\x3e";

    #[test]
    fn a_challenge_tells_names_and_version_of_the_server() {
        let challenge: ChallengeMessage<'_> = wire::decode(CHALLENGE).unwrap();
        assert_eq!(challenge.server_challenge, [0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef]);
        let info = challenge.server_info().unwrap();
        assert_eq!(info.target_name.as_deref(), Some("Server"));
        assert_eq!(info.netbios_domain.as_deref(), Some("Domain"));
        assert_eq!(info.netbios_computer.as_deref(), Some("Server"));
        assert_eq!(info.os_version.map(|version| version.to_string()).as_deref(), Some("6.0.6000"));
        assert_eq!(info.timestamp, None);
    }

    #[test]
    fn an_authenticate_message_tells_who_comes() {
        let message: AuthenticateMessage<'_> = wire::decode(AUTHENTICATE).unwrap();
        assert_eq!((message.domain.as_str(), message.user.as_str()), ("Domain", "User"));
        assert_eq!(message.nt_response.len(), 84);
    }

    #[test]
    fn offsets_and_lengths_that_lie_are_errors_wherever_the_message_is_cut() {
        for length in 0..CHALLENGE.len() {
            let cut = wire::decode::<ChallengeMessage<'_>>(&CHALLENGE[..length])
                .and_then(|challenge| challenge.server_info());
            assert!(cut.is_err(), "{length} bytes");
        }
        for length in 0..AUTHENTICATE.len() - 16 {
            assert!(
                wire::decode::<AuthenticateMessage<'_>>(&AUTHENTICATE[..length]).is_err(),
                "{length} bytes"
            );
        }
        let mut lying = CHALLENGE.to_vec();
        lying[44..48].copy_from_slice(&u32::MAX.to_le_bytes());
        wire::decode::<ChallengeMessage<'_>>(&lying).unwrap_err();
    }
}
