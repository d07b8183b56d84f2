use std::borrow::Cow;

use rpc::ndr::{Conformant, InterfacePointer, NdrDecode, NdrEncode, Reserved, from_pickle, to_pickle};
use wire::{
    Decode, DecodeError, DecodeResult, Encode, EncodeError, EncodeResult, Guid, ReadCursor, WriteCursor,
    ensure_size,
};

use crate::dcom::wire::Objref;

/// [MS-DCOM] 2.2.28.1 `MAX_ACTPROP_LIMIT`: properties of one activation.
pub const PROPERTIES_MAX: usize = 10;

/// `MSHCTX_DIFFERENTMACHINE`, which all clients send.
const DIFFERENT_MACHINE: u32 = 2;

/// [MS-DCOM] 2.2.22, the activation properties BLOB: properties by their formats.
///
/// What comes after a property, and after the last one, is not looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActivationProperties<'a> {
    /// The properties. INVARIANT: one to [`PROPERTIES_MAX`].
    pub properties: Vec<Property<'a>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Property<'a> {
    /// The format: a constant of [`crate::dcom::types::property`].
    pub format: Guid,
    /// The bytes. INVARIANT: what is written is a multiple of 8 long, which [`to_pickle`] sees to.
    pub data: Cow<'a, [u8]>,
}

/// `CustomHeader` of [MS-DCOM] 2.2.22.1.
#[doc(alias = "CustomHeader")]
#[derive(Clone, Debug, PartialEq, Eq, NdrDecode, NdrEncode)]
struct Header {
    #[ndr(name = "totalSize")]
    total_size: u32,
    #[ndr(name = "headerSize")]
    header_size: u32,
    reserved: Reserved<u32>,
    #[ndr(name = "destCtx")]
    destination: u32,
    #[ndr(name = "cIfs", range = 1..=10)]
    count: u32,
    #[ndr(name = "classInfoClsid")]
    class_info: Reserved<Guid>,
    #[ndr(name = "pclsid", size_is = count, check = is_there)]
    formats: Option<Box<Conformant<Guid>>>,
    #[ndr(name = "pSizes", size_is = count, check = is_there)]
    sizes: Option<Box<Conformant<u32>>>,
    #[ndr(name = "pdwReserved")]
    reserved_pointer: Reserved<Option<Box<u32>>>,
}

fn is_there<T>(pointer: &Option<T>) -> Result<(), &'static str> {
    if pointer.is_some() { Ok(()) } else { Err("is NULL") }
}

impl Property<'static> {
    /// Pickles a property.
    ///
    /// # Errors
    /// Those of the value.
    pub fn new<T: NdrEncode>(format: Guid, value: &T) -> EncodeResult<Self> {
        Ok(Self { format, data: Cow::Owned(to_pickle(value)?) })
    }
}

impl<'a> ActivationProperties<'a> {
    const NAME: &'static str = "activation properties";
    const FIXED_PART_SIZE: usize = 4 /* dwSize */ + 4 /* dwReserved */;

    /// Reads the first property of a format, if there is one; `name` begins its errors.
    ///
    /// # Errors
    /// Those of the value.
    pub fn find<'s, T: NdrDecode<'s>>(
        &'s self,
        format: Guid,
        name: &'static str,
    ) -> rpc::ndr::Result<Option<T>> {
        let property = self.properties.iter().find(|property| property.format == format);
        property.map(|property| from_pickle(&property.data, name)).transpose()
    }

    /// As [`ActivationProperties::find`], of a property that has to be there.
    ///
    /// # Errors
    /// When it is not, and those of the value.
    pub fn require<'s, T: NdrDecode<'s>>(&'s self, format: Guid, name: &'static str) -> rpc::ndr::Result<T> {
        let missing = || DecodeError::invalid_field(Self::NAME, name, 0, "is missing").into();
        self.find(format, name)?.ok_or_else(missing)
    }

    /// Writes the properties as an object of this interface that marshals itself in this format.
    pub(super) fn to_pointer(&self, iid: Guid, clsid: Guid) -> EncodeResult<InterfacePointer<'static>> {
        Objref::custom(iid, clsid, wire::encode_vec(self)?).to_pointer()
    }

    /// Reads what [`ActivationProperties::to_pointer`] or another peer wrote.
    pub(super) fn from_pointer(pointer: &'a InterfacePointer<'_>, clsid: Guid) -> DecodeResult<Self> {
        let mut src = ReadCursor::new(&pointer.data);
        let header = crate::dcom::wire::CustomHeader::decode(&mut src)?;
        if header.clsid != clsid {
            let reason = "is not that of activation properties of this direction";
            return Err(DecodeError::invalid_field("OBJREF_CUSTOM", "clsid", 24, reason));
        }
        Self::decode(&mut src)
    }

    fn header(&self) -> EncodeResult<Vec<u8>> {
        let too_long = |_| EncodeError::new(Self::NAME, "dwSize", "is above 32 bits");
        let sizes = self.properties.iter().map(|property| u32::try_from(property.data.len()));
        let sizes: Vec<u32> = sizes.collect::<Result<_, _>>().map_err(too_long)?;
        let count = u32::try_from(self.properties.len()).map_err(too_long)?;
        if count == 0 || self.properties.len() > PROPERTIES_MAX {
            return Err(EncodeError::new(Self::NAME, "cIfs", "is not 1 to 10"));
        }
        let mut header = Header {
            total_size: 0,
            header_size: 0,
            reserved: Reserved::NEW,
            destination: DIFFERENT_MACHINE,
            count,
            class_info: Reserved::NEW,
            formats: Some(Box::new(Conformant(
                self.properties.iter().map(|property| property.format).collect(),
            ))),
            sizes: Some(Box::new(Conformant(sizes))),
            reserved_pointer: Reserved::NEW,
        };
        let header_len = to_pickle(&header)?.len();
        header.header_size = u32::try_from(header_len).map_err(too_long)?;
        header.total_size = u32::try_from(header_len + self.data_len()).map_err(too_long)?;
        to_pickle(&header)
    }

    fn data_len(&self) -> usize {
        self.properties.iter().map(|property| property.data.len()).sum()
    }
}

/// Bytes of a header of so many properties; a test compares it with what is written.
fn header_len(properties: usize) -> usize {
    // Headers of type serialization; up to pdwReserved; both arrays with their counts.
    let body = 5 * 4 + Guid::FIXED_PART_SIZE + 3 * 4 + (4 + 16 * properties) + (4 + 4 * properties);
    16 + body.next_multiple_of(8)
}

impl Encode for ActivationProperties<'_> {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        let header = self.header()?;
        let size = u32::try_from(header.len() + self.data_len())
            .map_err(|_| EncodeError::new(Self::NAME, "dwSize", "is above 32 bits"))?;
        dst.write_u32(size);
        dst.write_u32(0 /* dwReserved */);
        dst.write_slice(&header);
        self.properties.iter().for_each(|property| dst.write_slice(&property.data));
        Ok(())
    }

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn size(&self) -> usize {
        Self::FIXED_PART_SIZE + header_len(self.properties.len()) + self.data_len()
    }
}

impl<'de> Decode<'de> for ActivationProperties<'de> {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        // The sizes of the parts count: peers differ in what they count as a whole.
        src.skip(Self::NAME, "dwSize", 4)?;
        src.skip(Self::NAME, "dwReserved", 4)?;
        let begin = src.pos();
        let header: Header = from_pickle(src.remaining(), "CustomHeader").map_err(|error| match error {
            rpc::ndr::Error::Decode(error) => DecodeError { offset: begin + error.offset, ..error },
            rpc::ndr::Error::Range(error) => {
                let offset = begin + error.offset;
                DecodeError::invalid_field(error.context, error.field, offset, "is not 1 to 10")
            }
        })?;
        src.skip(Self::NAME, "CustomHeader", size(header.header_size))?;
        let (formats, sizes) = (header.formats.unwrap_or_default().0, header.sizes.unwrap_or_default().0);
        let properties = formats.into_iter().zip(sizes).map(|(format, length)| {
            let data = src.take_slice(Self::NAME, "Property", size(length))?;
            Ok(Property { format, data: Cow::Borrowed(data) })
        });
        Ok(Self { properties: properties.collect::<DecodeResult<_>>()? })
    }
}

/// A count of bytes as a size. Where `usize` has 16 bits it saturates, which no buffer can satisfy.
fn size(count: u32) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}
