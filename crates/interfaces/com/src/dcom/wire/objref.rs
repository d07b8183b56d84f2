use std::borrow::Cow;

use rpc::ndr::InterfacePointer;
use wire::{
    Decode, DecodeError, DecodeResult, Encode, EncodeError, EncodeResult, Guid, ReadCursor, WriteCursor,
    decode, encode_vec, ensure_size,
};

use super::{DataElement, DualStringArray};
use crate::dcom::types::{CLSID_ACTIVATION_PROPERTIES_IN, CLSID_ACTIVATION_PROPERTIES_OUT, StdObjref};

/// What documents call `MEOW`.
const SIGNATURE: u32 = 0x574f_454d;
/// `NSYV`, twice in an OBJREF_EXTENDED.
const EXTENDED_SIGNATURE: u32 = 0x4e53_5956;

const FLAG_STANDARD: u32 = 1;
const FLAG_HANDLER: u32 = 2;
const FLAG_CUSTOM: u32 = 4;
const FLAG_EXTENDED: u32 = 8;

/// [MS-DCOM] 2.2.18 `OBJREF`: names an object on some host, for an interface. What an [`InterfacePointer`] holds.
///
/// What is decoded borrows the data of a custom marshaler and of a context. The bytes after the other forms are not
/// looked at.
#[doc(alias = "OBJREF")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Objref<'a> {
    /// The interface. INVARIANT: not NULL.
    pub iid: Guid,
    pub body: ObjrefBody<'a>,
}

/// The four forms of an [`Objref`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ObjrefBody<'a> {
    /// [MS-DCOM] 2.2.18.4 `OBJREF_STANDARD`: an object of a program whose resolver is there.
    #[doc(alias = "OBJREF_STANDARD")]
    Standard {
        std: StdObjref,
        /// The resolver, which knows where the program is.
        resolver: DualStringArray,
    },
    /// [MS-DCOM] 2.2.18.5 `OBJREF_HANDLER`: the same with a class of helpers for the client.
    #[doc(alias = "OBJREF_HANDLER")]
    Handler {
        std: StdObjref,
        /// The class of the helper.
        clsid: Guid,
        /// The resolver, which knows where the program is.
        resolver: DualStringArray,
    },
    /// [MS-DCOM] 2.2.18.6 `OBJREF_CUSTOM`: data of a format of its own.
    #[doc(alias = "OBJREF_CUSTOM")]
    Custom {
        clsid: Guid,
        /// All that is after the header.
        data: Cow<'a, [u8]>,
    },
    /// [MS-DCOM] 2.2.18.7 `OBJREF_EXTENDED`: the standard form with a context.
    #[doc(alias = "OBJREF_EXTENDED")]
    Extended {
        std: StdObjref,
        /// The resolver, which knows where the program is.
        resolver: DualStringArray,
        context: DataElement<'a>,
    },
}

/// What comes before the data in an OBJREF_CUSTOM; for data that hold further ones, one after the other.
///
/// cbExtension and the field that is reserved say nothing: where the data end, they know themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CustomHeader {
    /// The interface. INVARIANT: not NULL.
    pub iid: Guid,
    /// The format of the data.
    pub clsid: Guid,
}

impl<'a> Objref<'a> {
    const NAME: &'static str = "OBJREF";
    const FIXED_PART_SIZE: usize = 4 /* signature */ + 4 /* flags */ + Guid::FIXED_PART_SIZE;

    /// An object whose resolver is there.
    #[must_use]
    pub const fn standard(iid: Guid, std: StdObjref, resolver: DualStringArray) -> Self {
        Self { iid, body: ObjrefBody::Standard { std, resolver } }
    }

    /// Data of a format of their own.
    #[must_use]
    pub fn custom(iid: Guid, clsid: Guid, data: impl Into<Cow<'a, [u8]>>) -> Self {
        Self { iid, body: ObjrefBody::Custom { clsid, data: data.into() } }
    }

    /// The interface, in all forms but the custom one.
    #[must_use]
    pub const fn std(&self) -> Option<&StdObjref> {
        match &self.body {
            ObjrefBody::Standard { std, .. }
            | ObjrefBody::Handler { std, .. }
            | ObjrefBody::Extended { std, .. } => Some(std),
            ObjrefBody::Custom { .. } => None,
        }
    }

    /// The resolver, in all forms but the custom one.
    #[must_use]
    pub const fn resolver(&self) -> Option<&DualStringArray> {
        match &self.body {
            ObjrefBody::Standard { resolver, .. }
            | ObjrefBody::Handler { resolver, .. }
            | ObjrefBody::Extended { resolver, .. } => Some(resolver),
            ObjrefBody::Custom { .. } => None,
        }
    }

    /// The data of the custom form, if they are of this format.
    #[must_use]
    pub fn custom_data(&self, format: Guid) -> Option<&[u8]> {
        match &self.body {
            ObjrefBody::Custom { clsid, data } if *clsid == format => Some(data),
            _ => None,
        }
    }

    /// The same with data of its own.
    #[must_use]
    pub fn into_owned(self) -> Objref<'static> {
        let owned = |data: Cow<'_, [u8]>| Cow::Owned(data.into_owned());
        let body = match self.body {
            ObjrefBody::Standard { std, resolver } => ObjrefBody::Standard { std, resolver },
            ObjrefBody::Handler { std, clsid, resolver } => ObjrefBody::Handler { std, clsid, resolver },
            ObjrefBody::Custom { clsid, data } => ObjrefBody::Custom { clsid, data: owned(data) },
            ObjrefBody::Extended { std, resolver, context: DataElement { id, data } } => {
                ObjrefBody::Extended { std, resolver, context: DataElement { id, data: owned(data) } }
            }
        };
        Objref { iid: self.iid, body }
    }

    /// Writes it as a parameter of a method.
    ///
    /// # Errors
    /// Those of [`Encode::encode`].
    pub fn to_pointer(&self) -> EncodeResult<InterfacePointer<'static>> {
        let data = encode_vec(self)?;
        let size = u32::try_from(data.len())
            .map_err(|_| EncodeError::new("MInterfacePointer", "ulCntData", "is above 32 bits"))?;
        Ok(InterfacePointer { size, data: Cow::Owned(data) })
    }

    /// Reads a parameter of a method.
    ///
    /// # Errors
    /// Those of [`Decode::decode`].
    pub fn from_pointer(pointer: &'a InterfacePointer<'_>) -> DecodeResult<Self> {
        decode(&pointer.data)
    }
}

impl Encode for Objref<'_> {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        let flags = match &self.body {
            ObjrefBody::Standard { .. } => FLAG_STANDARD,
            ObjrefBody::Handler { .. } => FLAG_HANDLER,
            ObjrefBody::Custom { clsid, data } => {
                encode_custom_header(dst, self.iid, *clsid, data.len())?;
                dst.write_slice(data);
                return Ok(());
            }
            ObjrefBody::Extended { .. } => FLAG_EXTENDED,
        };
        encode_header(dst, flags, self.iid)?;
        match &self.body {
            ObjrefBody::Standard { std, resolver } => {
                std.encode(dst)?;
                resolver.encode(dst)
            }
            ObjrefBody::Handler { std, clsid, resolver } => {
                std.encode(dst)?;
                clsid.encode(dst)?;
                resolver.encode(dst)
            }
            ObjrefBody::Custom { .. } => Ok(()),
            ObjrefBody::Extended { std, resolver, context } => {
                std.encode(dst)?;
                dst.write_u32(EXTENDED_SIGNATURE);
                resolver.encode(dst)?;
                dst.write_u32(1 /* nElms */);
                dst.write_u32(EXTENDED_SIGNATURE);
                context.encode(dst)
            }
        }
    }

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn size(&self) -> usize {
        let body = match &self.body {
            ObjrefBody::Standard { std, resolver } => std.size() + resolver.size(),
            ObjrefBody::Handler { std, resolver, .. } => std.size() + Guid::FIXED_PART_SIZE + resolver.size(),
            ObjrefBody::Custom { data, .. } => {
                CustomHeader::FIXED_PART_SIZE - Self::FIXED_PART_SIZE + data.len()
            }
            ObjrefBody::Extended { std, resolver, context } => {
                std.size() + 4 /* Signature1 */ + resolver.size() + 4 /* nElms */ + 4 /* Signature2 */ + context.size()
            }
        };
        Self::FIXED_PART_SIZE + body
    }
}

impl<'de> Decode<'de> for Objref<'de> {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        let (flags, iid) = decode_header(src)?;
        let body = match flags {
            FLAG_STANDARD => {
                ObjrefBody::Standard { std: StdObjref::decode(src)?, resolver: Decode::decode(src)? }
            }
            FLAG_HANDLER => ObjrefBody::Handler {
                std: Decode::decode(src)?,
                clsid: Decode::decode(src)?,
                resolver: Decode::decode(src)?,
            },
            FLAG_CUSTOM => {
                let clsid = decode_custom(src)?;
                ObjrefBody::Custom { clsid, data: Cow::Borrowed(src.read_slice(src.len())) }
            }
            FLAG_EXTENDED => decode_extended(src)?,
            other => return Err(DecodeError::unsupported(Self::NAME, "flags", 4, u64::from(other))),
        };
        Ok(Self { iid, body })
    }
}

fn encode_header(dst: &mut WriteCursor<'_>, flags: u32, iid: Guid) -> EncodeResult<()> {
    if iid == Guid::NULL {
        return Err(EncodeError::new(Objref::NAME, "iid", "is NULL"));
    }
    dst.write_u32(SIGNATURE);
    dst.write_u32(flags);
    iid.encode(dst)
}

fn decode_header(src: &mut ReadCursor<'_>) -> DecodeResult<(u32, Guid)> {
    let begin = src.pos();
    ensure_size!(in: src, name: Objref::NAME, size: Objref::FIXED_PART_SIZE);
    if src.read_u32() != SIGNATURE {
        return Err(DecodeError::invalid_field(Objref::NAME, "signature", begin, "is not MEOW"));
    }
    let flags = src.read_u32();
    let iid = Guid::decode(src)?;
    if iid == Guid::NULL {
        return Err(DecodeError::invalid_field(Objref::NAME, "iid", begin + 8, "is NULL"));
    }
    Ok((flags, iid))
}

fn encode_custom_header(
    dst: &mut WriteCursor<'_>,
    iid: Guid,
    clsid: Guid,
    data_len: usize,
) -> EncodeResult<()> {
    encode_header(dst, FLAG_CUSTOM, iid)?;
    clsid.encode(dst)?;
    dst.write_u32(0 /* cbExtension */);
    // The field has no meaning ([MS-DCOM] 2.2.18.6). Windows puts the length of the data there, and 8 more for activations.
    let is_activation = matches!(clsid, CLSID_ACTIVATION_PROPERTIES_IN | CLSID_ACTIVATION_PROPERTIES_OUT);
    let reserved = data_len.checked_add(if is_activation { 8 } else { 0 });
    let reserved = reserved.and_then(|reserved| u32::try_from(reserved).ok());
    dst.write_u32(reserved.ok_or(EncodeError::new("OBJREF_CUSTOM", "pObjectData", "is above 32 bits"))?);
    Ok(())
}

/// What is between the header and the data.
fn decode_custom(src: &mut ReadCursor<'_>) -> DecodeResult<Guid> {
    const NAME: &str = "OBJREF_CUSTOM";
    ensure_size!(in: src, name: NAME, size: CustomHeader::FIXED_PART_SIZE - Objref::FIXED_PART_SIZE);
    let clsid = Guid::decode(src)?;
    src.skip(NAME, "cbExtension", 4)?;
    src.skip(NAME, "reserved", 4)?;
    Ok(clsid)
}

fn decode_extended<'de>(src: &mut ReadCursor<'de>) -> DecodeResult<ObjrefBody<'de>> {
    const NAME: &str = "OBJREF_EXTENDED";
    let signature = |src: &mut ReadCursor<'de>, field| {
        ensure_size!(in: src, name: NAME, field: field, size: 4);
        let offset = src.pos();
        if src.read_u32() == EXTENDED_SIGNATURE {
            Ok(())
        } else {
            Err(DecodeError::invalid_field(NAME, field, offset, "is not 0x4e535956"))
        }
    };
    let std = StdObjref::decode(src)?;
    signature(src, "Signature1")?;
    let resolver = DualStringArray::decode(src)?;
    ensure_size!(in: src, name: NAME, field: "nElms", size: 4);
    let offset = src.pos();
    if src.read_u32() != 1 {
        return Err(DecodeError::invalid_field(NAME, "nElms", offset, "is not 1"));
    }
    signature(src, "Signature2")?;
    Ok(ObjrefBody::Extended { std, resolver, context: DataElement::decode(src)? })
}

impl CustomHeader {
    const FIXED_PART_SIZE: usize =
        Objref::FIXED_PART_SIZE + Guid::FIXED_PART_SIZE + 4 /* cbExtension */ + 4 /* reserved */;

    /// Appends the header; `data_len` is how many bytes of data follow.
    ///
    /// # Errors
    /// When the interface is NULL, or there are more bytes than 32 bits can count.
    pub fn encode(self, dst: &mut WriteCursor<'_>, data_len: usize) -> EncodeResult<()> {
        encode_custom_header(dst, self.iid, self.clsid, data_len)
    }
}

impl<'de> Decode<'de> for CustomHeader {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        let begin = src.pos();
        let (flags, iid) = decode_header(src)?;
        if flags != FLAG_CUSTOM {
            let value = u64::from(flags);
            return Err(DecodeError::unsupported("OBJREF_CUSTOM", "flags", begin + 4, value));
        }
        Ok(Self { iid, clsid: decode_custom(src)? })
    }
}
