use rpc::ndr::{NdrDecode, NdrEncode, Reader, Writer};
use wire::{
    Decode, DecodeError, DecodeResult, Encode, EncodeError, EncodeResult, ReadCursor, WideStr, WriteCursor,
    decode_utf16, encode_utf16, ensure_size,
};

use crate::dcom::types::{AuthenticationService, ProtocolSequence};

/// Bindings of one kind in one array: a host has one for each of its addresses.
pub const BINDINGS_MAX: usize = 256;

/// [MS-DCOM] 2.2.19 `DUALSTRINGARRAY`: where an RPC server is, and how its callers prove who they are, both in order of
/// preference. It has one form in NDR and one in an [`Objref`](super::Objref).
///
/// What is between the end of a list and its place, and after both, is not looked at.
#[doc(alias = "DUALSTRINGARRAY")]
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct DualStringArray {
    pub strings: Vec<StringBinding>,
    /// The security providers. If there is none, callers use no security.
    pub security: Vec<SecurityBinding>,
}

/// `STRINGBINDING` of [MS-DCOM] 2.2.19.3.
#[doc(alias = "STRINGBINDING")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StringBinding {
    /// How the server is reached. INVARIANT: not zero.
    pub protocol: ProtocolSequence,
    /// A host name or an address; after it, for an object exporter, an endpoint in brackets: `10.0.0.1[5000]`.
    pub address: String,
}

/// `SECURITYBINDING` of [MS-DCOM] 2.2.19.4.
#[doc(alias = "SECURITYBINDING")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecurityBinding {
    /// The security provider. INVARIANT: not zero.
    pub service: AuthenticationService,
    /// The service principal name; empty for none.
    pub principal: String,
}

/// What is in the field Reserved of a SECURITYBINDING.
const RESERVED: u16 = 0xffff;

impl DualStringArray {
    const NAME: &'static str = "DUALSTRINGARRAY";
    const FIXED_PART_SIZE: usize = 2 /* wNumEntries */ + 2 /* wSecurityOffset */;

    /// An array of addresses that are reached by TCP.
    #[must_use]
    pub fn tcp(addresses: impl IntoIterator<Item = String>, security: Vec<SecurityBinding>) -> Self {
        let protocol = ProtocolSequence::TCP;
        let strings = addresses.into_iter().map(|address| StringBinding { protocol, address }).collect();
        Self { strings, security }
    }

    /// The first security provider that the client supports, too. `Ok(None)` if the server wants none.
    ///
    /// # Errors
    /// When the server offers providers, and none of them is supported.
    pub fn provider(
        &self,
        is_supported: impl Fn(AuthenticationService) -> bool,
    ) -> Result<Option<&SecurityBinding>, NoCommonProvider> {
        if self.security.is_empty() {
            return Ok(None);
        }
        let common = self.security.iter().find(|binding| is_supported(binding.service));
        common.map(Some).ok_or(NoCommonProvider)
    }

    /// The units of both lists, and where in units the second one begins.
    fn units(&self) -> EncodeResult<(Vec<u8>, u16)> {
        let mut bytes = Vec::new();
        for StringBinding { protocol, address } in &self.strings {
            if protocol.0 == 0 {
                return Err(EncodeError::new(Self::NAME, "wTowerId", "is zero"));
            }
            bytes.extend_from_slice(&protocol.0.to_le_bytes());
            push_text(&mut bytes, address, "aNetworkAddr")?;
        }
        end_list(&mut bytes, self.strings.is_empty());
        let offset = bytes.len() / 2;
        for SecurityBinding { service, principal } in &self.security {
            if service.0 == 0 {
                return Err(EncodeError::new(Self::NAME, "wAuthnSvc", "is zero"));
            }
            bytes.extend_from_slice(&service.0.to_le_bytes());
            bytes.extend_from_slice(&RESERVED.to_le_bytes());
            push_text(&mut bytes, principal, "aPrincName")?;
        }
        end_list(&mut bytes, self.security.is_empty());
        if bytes.len() / 2 > usize::from(u16::MAX) {
            return Err(EncodeError::new(Self::NAME, "wNumEntries", "is above 16 bits"));
        }
        let offset = u16::try_from(offset)
            .map_err(|_| EncodeError::new(Self::NAME, "wSecurityOffset", "is above 16 bits"))?;
        Ok((bytes, offset))
    }

    /// Reads both lists; `bytes` are wNumEntries units, which begin at `base` in the buffer around them.
    fn parse(bytes: &[u8], security_offset: u16, base: usize) -> DecodeResult<Self> {
        // An array without anything has not even ends of lists.
        if bytes.is_empty() && security_offset == 0 {
            return Ok(Self::default());
        }
        let split = usize::from(security_offset) * 2;
        let Some((strings, security)) = bytes.split_at_checked(split) else {
            let reason = "is above wNumEntries";
            return Err(DecodeError::invalid_field(Self::NAME, "wSecurityOffset", base, reason));
        };
        let mut list = List { bytes: strings, at: 0, base, field: "StringBinding" };
        let strings = list.read(|list, protocol| {
            let address = list.text("aNetworkAddr")?;
            Ok(StringBinding { protocol: ProtocolSequence(protocol), address })
        })?;
        let mut list = List { bytes: security, at: 0, base: base + split, field: "SecBinding" };
        let security = list.read(|list, service| {
            list.unit("Reserved")?;
            let principal = list.text("aPrincName")?;
            Ok(SecurityBinding { service: AuthenticationService(service), principal })
        })?;
        Ok(Self { strings, security })
    }
}

/// The server offers security providers, and the client supports none of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the server offers no security provider that is supported here")]
pub struct NoCommonProvider;

/// One of the two lists.
struct List<'a> {
    bytes: &'a [u8],
    at: usize,
    base: usize,
    field: &'static str,
}

impl List<'_> {
    /// Reads elements up to the zero that ends the list.
    fn read<T>(&mut self, element: impl Fn(&mut Self, u16) -> DecodeResult<T>) -> DecodeResult<Vec<T>> {
        let mut elements = Vec::new();
        loop {
            match self.unit(self.field)? {
                0 => return Ok(elements),
                _ if elements.len() == BINDINGS_MAX => {
                    let (offset, limit) = (self.base + self.at, BINDINGS_MAX as u64);
                    let name = DualStringArray::NAME;
                    return Err(DecodeError::limit_exceeded(name, self.field, offset, limit + 1, limit));
                }
                first => elements.push(element(self, first)?),
            }
        }
    }

    fn unit(&mut self, field: &'static str) -> DecodeResult<u16> {
        match self.bytes.get(self.at..self.at + 2) {
            Some(unit) => {
                self.at += 2;
                Ok(u16::from_le_bytes([unit[0], unit[1]]))
            }
            None => Err(self.unterminated(field)),
        }
    }

    fn text(&mut self, field: &'static str) -> DecodeResult<String> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let text = WideStr::until_nul(rest).ok_or_else(|| self.unterminated(field))?.as_bytes();
        let offset = self.base + self.at;
        self.at += text.len() + 2 /* NUL */;
        decode_utf16(text)
            .map_err(|_| DecodeError::invalid_field(DualStringArray::NAME, field, offset, "is no UTF-16"))
    }

    fn unterminated(&self, field: &'static str) -> DecodeError {
        let offset = self.base + self.at;
        DecodeError::invalid_field(DualStringArray::NAME, field, offset, "has no end within its list")
    }
}

fn push_text(bytes: &mut Vec<u8>, text: &str, field: &'static str) -> EncodeResult<()> {
    if text.contains('\0') {
        return Err(EncodeError::new(DualStringArray::NAME, field, "holds a NUL"));
    }
    bytes.extend_from_slice(&encode_utf16(text));
    bytes.extend_from_slice(&[0, 0]);
    Ok(())
}

/// A list without elements is written as one that is empty, and the end: the smallest array has four units.
fn end_list(bytes: &mut Vec<u8>, is_empty: bool) {
    bytes.extend_from_slice(if is_empty { &[0; 4] } else { &[0; 2] });
}

/// Units of both lists, without building them.
fn units_len(array: &DualStringArray) -> usize {
    let text = |text: &str| text.encode_utf16().count() + 1 /* NUL */;
    let strings: usize = array.strings.iter().map(|binding| 1 + text(&binding.address)).sum();
    let security: usize = array.security.iter().map(|binding| 2 + text(&binding.principal)).sum();
    let end = |is_empty| if is_empty { 2 } else { 1 };
    strings + end(array.strings.is_empty()) + security + end(array.security.is_empty())
}

/// The form in an OBJREF.
impl Encode for DualStringArray {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        let (units, security_offset) = self.units()?;
        let count = u16::try_from(units.len() / 2)
            .map_err(|_| EncodeError::new(Self::NAME, "wNumEntries", "is above 16 bits"))?;
        dst.write_u16(count);
        dst.write_u16(security_offset);
        dst.write_slice(&units);
        Ok(())
    }

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn size(&self) -> usize {
        Self::FIXED_PART_SIZE + 2 * units_len(self)
    }
}

impl<'de> Decode<'de> for DualStringArray {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        let (count, security_offset) = (src.read_u16(), src.read_u16());
        let base = src.pos();
        let units = src.take_slice(Self::NAME, "StringBinding", usize::from(count) * 2)?;
        Self::parse(units, security_offset, base)
    }
}

/// The form in NDR: a conformant structure, whose units are read where they are.
impl<'stub> NdrDecode<'stub> for DualStringArray {
    type Inline = Self;
    const NAME: &'static str = Self::NAME;
    const ALIGNMENT: usize = 4;
    const INLINE_SIZE_MIN: usize = 4 /* max_count */ + Self::FIXED_PART_SIZE;

    fn decode_inline(src: &mut Reader<'stub>) -> rpc::ndr::Result<Self> {
        let max_count: u32 = src.read("aStringArray")?;
        let count: u16 = src.read("wNumEntries")?;
        if u32::from(count) != max_count {
            return Err(src.invalid_field("aStringArray", "max_count is not wNumEntries"));
        }
        let security_offset: u16 = src.read("wSecurityOffset")?;
        let base = src.pos();
        let units = src.take("aStringArray", usize::from(count) * 2)?;
        Ok(Self::parse(units, security_offset, base)?)
    }

    fn decode_deferred(inline: Self, _src: &mut Reader<'stub>) -> rpc::ndr::Result<Self> {
        Ok(inline)
    }
}

impl NdrEncode for DualStringArray {
    type Deferred = ();
    const ALIGNMENT: usize = 4;

    fn encode_inline(&self, dst: &mut Writer) -> EncodeResult<()> {
        let (units, security_offset) = self.units()?;
        let count = u16::try_from(units.len() / 2)
            .map_err(|_| EncodeError::new(Self::NAME, "wNumEntries", "is above 16 bits"))?;
        dst.u32(u32::from(count));
        dst.write(&count)?;
        dst.write(&security_offset)?;
        dst.bytes(&units);
        Ok(())
    }

    fn encode_deferred(&self, (): (), _dst: &mut Writer) -> EncodeResult<()> {
        Ok(())
    }
}
