//! Bytes that are no NDR, little-endian and without padding.

mod dual_string_array;
mod objref;

use std::borrow::Cow;

use rpc::orpc::{OrpcExtent, OrpcThat};
use wire::{
    Decode, DecodeError, DecodeResult, Encode, EncodeError, EncodeResult, Guid, ReadCursor, WriteCursor,
    decode, decode_utf16, encode_utf16, encode_vec, ensure_size, utf16_len_bytes,
};

pub use self::dual_string_array::{BINDINGS_MAX, DualStringArray, SecurityBinding, StringBinding};
pub use self::objref::{CustomHeader, Objref, ObjrefBody};

use super::types::{
    CLSID_CONTEXT_MARSHALER, CLSID_ERROR_OBJECT, ERROR_EXTENSION, IID_CONTEXT, Oid, Oxid, ReferenceFlags,
    StdObjref,
};

/// [MS-DCOM] 2.2.18.8 `DATAELEMENT`: a context.
#[doc(alias = "DATAELEMENT")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataElement<'a> {
    /// What names the context. INVARIANT: not NULL.
    pub id: Guid,
    /// The context, without padding. INVARIANT: not empty.
    pub data: Cow<'a, [u8]>,
}

impl DataElement<'_> {
    const NAME: &'static str = "DATAELEMENT";
    const FIXED_PART_SIZE: usize = Guid::FIXED_PART_SIZE + 4 /* cbSize */ + 4 /* cbRounded */;
}

impl Encode for DataElement<'_> {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        if self.id == Guid::NULL {
            return Err(EncodeError::new(Self::NAME, "dataID", "is NULL"));
        }
        if self.data.is_empty() {
            return Err(EncodeError::new(Self::NAME, "cbSize", "is zero"));
        }
        let too_long = |_| EncodeError::new(Self::NAME, "cbRounded", "is above 32 bits");
        let rounded = self.data.len().next_multiple_of(8);
        self.id.encode(dst)?;
        dst.write_u32(u32::try_from(self.data.len()).map_err(too_long)?);
        dst.write_u32(u32::try_from(rounded).map_err(too_long)?);
        dst.write_slice(&self.data);
        dst.write_zeros(rounded - self.data.len());
        Ok(())
    }

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn size(&self) -> usize {
        Self::FIXED_PART_SIZE + self.data.len().next_multiple_of(8)
    }
}

impl<'de> Decode<'de> for DataElement<'de> {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        let begin = src.pos();
        let invalid = |field, offset, reason| {
            Err(DecodeError::invalid_field(Self::NAME, field, begin + offset, reason))
        };
        let id = Guid::decode(src)?;
        let (size, rounded) = (u64::from(src.read_u32()), u64::from(src.read_u32()));
        if id == Guid::NULL {
            return invalid("dataID", 0, "is NULL");
        }
        if size == 0 {
            return invalid("cbSize", 16, "is zero");
        }
        if rounded != size.next_multiple_of(8) {
            return invalid("cbRounded", 20, "is not cbSize up to a multiple of 8");
        }
        let as_size = |count| usize::try_from(count).unwrap_or(usize::MAX);
        let padded = src.take_slice(Self::NAME, "Data", as_size(rounded))?;
        Ok(Self { id, data: Cow::Borrowed(&padded[..as_size(size)]) })
    }
}

// The form that a STDOBJREF has in an OBJREF.

impl StdObjref {
    const NAME: &'static str = "STDOBJREF";
    const FIXED_PART_SIZE: usize =
        4 /* flags */ + 4 /* cPublicRefs */ + 8 /* oxid */ + 8 /* oid */ + Guid::FIXED_PART_SIZE;
}

impl Encode for StdObjref {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        dst.write_u32(self.flags.0);
        dst.write_u32(self.public_refs);
        dst.write_u64(self.oxid.0);
        dst.write_u64(self.oid.0);
        self.ipid.encode(dst)
    }

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn size(&self) -> usize {
        Self::FIXED_PART_SIZE
    }
}

impl<'de> Decode<'de> for StdObjref {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        Ok(Self {
            flags: ReferenceFlags(src.read_u32()),
            public_refs: src.read_u32(),
            oxid: Oxid(src.read_u64()),
            oid: Oid(src.read_u64()),
            ipid: Guid::decode(src)?,
        })
    }
}

// Where an object is used.

const VERSION: (u16, u16) = (1, 1);
const CTXMSHLFLAGS_BYVAL: u32 = 2;

/// [MS-DCOM] 2.2.20 `Context`: where an object is used. A client that asks for one says its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Context<'a> {
    /// What names the context.
    pub id: Guid,
    /// How many properties there are.
    pub count: u32,
    /// The properties, as bytes: an array of `PROPMARSHALHEADER`.
    pub properties: Cow<'a, [u8]>,
}

impl Context<'static> {
    /// A context without properties.
    #[must_use]
    pub const fn new(id: Guid) -> Self {
        Self { id, count: 0, properties: Cow::Borrowed(&[]) }
    }
}

impl Context<'_> {
    const NAME: &'static str = "Context";
    const FIXED_PART_SIZE: usize = 2 /* MajorVersion */ + 2 /* MinVersion */ + Guid::FIXED_PART_SIZE + 4 /* Flags */
        + 4 /* Reserved */ + 4 /* dwNumExtents */ + 4 /* cbExtents */ + 4 /* MshlFlags */ + 4 /* Count */ + 4 /* Frozen */;

    /// The context as an object that marshals itself.
    ///
    /// # Errors
    /// Those of [`Encode::encode`].
    pub fn to_objref(&self) -> EncodeResult<Objref<'static>> {
        Ok(Objref::custom(IID_CONTEXT, CLSID_CONTEXT_MARSHALER, wire::encode_vec(self)?))
    }
}

impl Encode for Context<'_> {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        dst.write_u16(VERSION.0);
        dst.write_u16(VERSION.1);
        self.id.encode(dst)?;
        dst.write_u32(CTXMSHLFLAGS_BYVAL);
        dst.write_u32(0 /* Reserved */);
        dst.write_u32(0 /* dwNumExtents */);
        dst.write_u32(0 /* cbExtents */);
        dst.write_u32(0 /* MshlFlags */);
        dst.write_u32(self.count);
        dst.write_u32(1 /* Frozen */);
        dst.write_slice(&self.properties);
        Ok(())
    }

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn size(&self) -> usize {
        Self::FIXED_PART_SIZE + self.properties.len()
    }
}

impl<'de> Decode<'de> for Context<'de> {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        let begin = src.pos();
        let invalid =
            |field, at, reason| Err(DecodeError::invalid_field(Self::NAME, field, begin + at, reason));
        if (src.read_u16(), src.read_u16()) != VERSION {
            return invalid("MajorVersion", 0, "is not 1.1");
        }
        let id = Guid::decode(src)?;
        if src.read_u32() != CTXMSHLFLAGS_BYVAL {
            return invalid("Flags", 20, "is not CTXMSHLFLAGS_BYVAL");
        }
        src.skip(Self::NAME, "Reserved", 4)?;
        if (src.read_u32(), src.read_u32()) != (0, 0) {
            return invalid("dwNumExtents", 28, "there are extents");
        }
        src.skip(Self::NAME, "MshlFlags", 4)?;
        let count = src.read_u32();
        src.skip(Self::NAME, "Frozen", 4)?;
        Ok(Self { id, count, properties: Cow::Borrowed(src.read_slice(src.len())) })
    }
}

// What an object says about a failure.

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
