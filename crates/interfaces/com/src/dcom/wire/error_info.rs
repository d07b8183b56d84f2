use rpc::orpc::{OrpcExtent, OrpcThat};
use wire::{
    Decode, DecodeError, DecodeResult, Encode, EncodeError, EncodeResult, Guid, ReadCursor, WriteCursor,
    decode, decode_utf16, encode_utf16, encode_vec, ensure_size, utf16_len_bytes,
};

use super::Objref;
use crate::dcom::types::{CLSID_ERROR_OBJECT, ERROR_EXTENSION};

/// UTF-16 code units of a text, with its NUL: it is shown to people, and Windows' are a few hundred long.
pub const TEXT_UNITS_MAX: u32 = 4096;

/// The signature before a text that is there.
const IS_THERE: u32 = 0xffff_ffff;
/// `IErrorInfo`, which Windows says that error information is an object of.
const IID_ERROR_INFO: Guid = Guid::from_u128(0x1cf2_b120_547d_101b_8e65_0800_2b2b_d119);

/// [MS-DCOM] 2.2.21.2: what an object says about a failure, beside the status.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ErrorInfo {
    /// A number of a help file.
    pub help_context: u32,
    /// The interface that failed.
    pub iid: Guid,
    pub source: Option<String>,
    pub description: Option<String>,
    pub help_file: Option<String>,
}

impl ErrorInfo {
    const NAME: &'static str = "ErrorInfo";
    const FIXED_PART_SIZE: usize = 4 /* dwVersion */ + 4 /* dwHelpContext */ + Guid::FIXED_PART_SIZE;

    /// What came with a response. `None` also if it cannot be read: the status says what counts.
    #[must_use]
    pub fn of(that: &OrpcThat<'_>) -> Option<Self> {
        let objref: Objref<'_> = decode(that.extent(ERROR_EXTENSION)?).ok()?;
        decode(objref.custom_data(CLSID_ERROR_OBJECT)?).ok()
    }

    /// What goes with a response.
    ///
    /// # Errors
    /// When a text holds a NUL or is longer than [`TEXT_UNITS_MAX`].
    pub fn to_extent(&self) -> EncodeResult<OrpcExtent<'static>> {
        let objref = Objref::custom(IID_ERROR_INFO, CLSID_ERROR_OBJECT, encode_vec(self)?);
        OrpcExtent::new(ERROR_EXTENSION, &encode_vec(&objref)?)
    }

    fn texts(&self) -> [(&'static str, Option<&str>); 3] {
        [
            ("Source", self.source.as_deref()),
            ("Description", self.description.as_deref()),
            ("HelpFile", self.help_file.as_deref()),
        ]
    }
}

impl Encode for ErrorInfo {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        dst.write_u32(0 /* dwVersion */);
        dst.write_u32(self.help_context);
        self.iid.encode(dst)?;
        for (field, text) in self.texts() {
            let Some(text) = text else {
                dst.write_u32(0);
                continue;
            };
            let units = u32::try_from(utf16_len_bytes(text) / 2 + 1 /* NUL */).unwrap_or(u32::MAX);
            if units > TEXT_UNITS_MAX || text.contains('\0') {
                return Err(EncodeError::new(Self::NAME, field, "is too long or holds a NUL"));
            }
            dst.write_u32(IS_THERE);
            dst.write_u32(units /* dwMax */);
            dst.write_u32(0 /* dwOffSet */);
            dst.write_u32(units /* dwActual */);
            dst.write_slice(&encode_utf16(text));
            dst.write_u16(0);
        }
        Ok(())
    }

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn size(&self) -> usize {
        let text =
            |text: Option<&str>| text.map_or(0, |text| 3 * 4 + utf16_len_bytes(text) + 2 /* NUL */);
        let texts = self.texts().map(|(_, found)| 4 /* signature */ + text(found));
        Self::FIXED_PART_SIZE + texts.iter().sum::<usize>()
    }
}

impl<'de> Decode<'de> for ErrorInfo {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        if src.read_u32() != 0 {
            return Err(DecodeError::invalid_field(Self::NAME, "dwVersion", src.pos() - 4, "is not zero"));
        }
        let help_context = src.read_u32();
        let iid = Guid::decode(src)?;
        let source = decode_text(src, "Source")?;
        let description = decode_text(src, "Description")?;
        let help_file = decode_text(src, "HelpFile")?;
        Ok(Self { help_context, iid, source, description, help_file })
    }
}

/// [MS-DCOM] 2.2.21.3 `ErrorInfoString` after its signature.
fn decode_text(src: &mut ReadCursor<'_>, field: &'static str) -> DecodeResult<Option<String>> {
    let name = ErrorInfo::NAME;
    ensure_size!(in: src, name: name, field: field, size: 4);
    let offset = src.pos();
    let invalid = |reason| DecodeError::invalid_field(name, field, offset, reason);
    match src.read_u32() {
        0 => return Ok(None),
        IS_THERE => {}
        _ => return Err(invalid("its signature is neither 0 nor 0xffffffff")),
    }
    ensure_size!(in: src, name: name, field: field, size: 3 * 4);
    let (max, start, actual) = (src.read_u32(), src.read_u32(), src.read_u32());
    if start != 0 || actual != max {
        return Err(invalid("dwOffSet is not zero, or dwActual is not dwMax"));
    }
    if actual > TEXT_UNITS_MAX {
        let (value, limit) = (u64::from(actual), u64::from(TEXT_UNITS_MAX));
        return Err(DecodeError::limit_exceeded(name, field, src.pos() - 4, value, limit));
    }
    let bytes =
        src.take_slice(name, field, usize::try_from(actual).unwrap_or(usize::MAX).saturating_mul(2))?;
    let text = bytes.strip_suffix(&[0, 0]).ok_or_else(|| invalid("has no NUL"))?;
    if text.chunks_exact(2).any(|unit| unit == [0, 0]) {
        return Err(invalid("has a NUL before its end"));
    }
    decode_utf16(text).map(Some).map_err(|_| invalid("is no UTF-16"))
}
