//! The structures of [MS-COMT] 2.2.5, one after the other, without what their properties mean. All fields are
//! little-endian and packed.

use wire::{DecodeError, DecodeResult, Guid, ReadCursor, WideStr, ensure_size};

use crate::comt::ids;

/// `MEOW` of [MS-DCOM] 2.2.18.1.
pub(super) const SIGNATURE: u32 = 0x574f_454d;
/// [MS-DCOM] 2.2.18.1: the flag of OBJREF_CUSTOM.
pub(super) const OBJREF_CUSTOM: u32 = 4;
/// MaxVersion and MinVersion of all structures, both 1.
pub(super) const VERSION: u32 = 0x0001_0001;

/// [MS-COMT] 2.2.5.5: what the objects of a collection are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CollectionType(pub u32);

impl CollectionType {
    pub const PROCESSES: Self = Self(0);
    pub const CONTAINERS: Self = Self(1);
    pub const COMPONENTS: Self = Self(2);
}

/// [MS-COMT] 2.2.5.2: types of values.
pub(super) mod vt {
    pub(crate) const EMPTY: u16 = 0x00;
    pub(crate) const NULL: u16 = 0x01;
    pub(crate) const TEXT: u16 = 0x08;
    pub(crate) const OBJECT: u16 = 0x0d;
    pub(crate) const NUMBER: u16 = 0x13;
}

/// What an OBJREF_CUSTOM holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Marshalled {
    Collection,
    Object,
}

/// Reads the header of an OBJREF_CUSTOM up to its object data, which the class in it identifies.
///
/// [MS-COMT] 2.2.5.4 says OBJREF_CUSTOM, which by [MS-DCOM] 2.2.18.6 is what comes after the head of an OBJREF. Both are read.
pub(super) fn objref(src: &mut ReadCursor<'_>) -> DecodeResult<Marshalled> {
    const NAME: &str = "OBJREF_CUSTOM";
    ensure_size!(in: src, name: NAME, size: CUSTOM_SIZE);
    let (start, before) = (src.pos(), *src);
    let has_head = src.read_u32() == SIGNATURE;
    *src = before;
    if has_head {
        ensure_size!(in: src, name: NAME, size: OBJREF_SIZE);
        let _signature = src.read_u32();
        let flags = src.read_u32();
        if flags != OBJREF_CUSTOM {
            return Err(DecodeError::unsupported(NAME, "flags", start + 4, flags.into()));
        }
        let _interface = src.read_u128();
    }
    let class = Guid::from_bytes(src.read_array());
    let _ignored = src.read_u64(); // cbExtension, reserved
    match class {
        ids::COLLECTION_UNMARSHALER => Ok(Marshalled::Collection),
        ids::OBJECT_UNMARSHALER => Ok(Marshalled::Object),
        _ if !has_head => Err(DecodeError::invalid_field(NAME, "signature", start, "is not MEOW")),
        _ => {
            Err(DecodeError::invalid_field(NAME, "clsid", start + 24, "is no class of tracking information"))
        }
    }
}

/// The part of an OBJREF before OBJREF_CUSTOM, and that with the part of OBJREF_CUSTOM before `pObjectData`.
const OBJREF_SIZE: usize = 4 /* signature */ + 4 /* flags */ + 16 /* iid */ + CUSTOM_SIZE;
const CUSTOM_SIZE: usize = 16 /* clsid */ + 4 /* cbExtension */ + 4 /* reserved */;

/// The beginning of a TrackingInfoCollection, up to ChildObjects.
pub(super) struct CollectionHeader {
    pub(super) collection_type: CollectionType,
    pub(super) objects: u32,
    pub(super) offset: usize,
}

pub(super) fn collection(src: &mut ReadCursor<'_>) -> DecodeResult<CollectionHeader> {
    const NAME: &str = "TrackingInfoCollection";
    version(src, NAME)?;
    ensure_size!(in: src, name: NAME, size: 4 /* CollectionType */ + 4 /* ObjectCount */ + 4 /* PropertyNameCount */);
    let offset = src.pos();
    let collection_type = CollectionType(src.read_u32());
    let objects = src.read_u32();
    let names = src.read_u32();
    fits(src, NAME, "PropertyNameCount", offset + 8, names, NAME_SIZE_MIN)?;
    for _ in 0..names {
        name(src, NAME, "PropertyNames")?;
    }
    fits(src, NAME, "ObjectCount", offset + 4, objects, OBJECT_SIZE_MIN)?;
    Ok(CollectionHeader { collection_type, objects, offset })
}

const NAME_SIZE_MIN: usize = 4 /* Length */;
const OBJECT_SIZE_MIN: usize = CUSTOM_SIZE + 4 /* versions */ + 4 /* PropCount */;
const PROPERTY_SIZE_MIN: usize = 2 * (4 /* versions */ + NAME_SIZE_MIN) + 2 /* vt */;

/// Reads a TrackingInfoObject up to Properties, whose number it returns.
pub(super) fn object(src: &mut ReadCursor<'_>) -> DecodeResult<u32> {
    const NAME: &str = "TrackingInfoObject";
    version(src, NAME)?;
    ensure_size!(in: src, name: NAME, field: "PropCount", size: 4);
    let offset = src.pos();
    let count = src.read_u32();
    fits(src, NAME, "PropCount", offset, count, PROPERTY_SIZE_MIN)?;
    Ok(count)
}

/// A TrackingInfoProperty with its value.
pub(super) struct Property<'a> {
    pub(super) name: &'a [u8],
    pub(super) vt: u16,
    pub(super) value: Value<'a>,
}

#[derive(Clone, Copy)]
pub(super) enum Value<'a> {
    Text(&'a [u8]),
    Number(u32),
    /// The cursor comes before the OBJREF.
    Ahead,
    /// No value, or one of a type that these structures do not have.
    Other,
}

pub(super) fn property<'a>(src: &mut ReadCursor<'a>) -> DecodeResult<Property<'a>> {
    const NAME: &str = "TrackingInfoProperty";
    const VALUE: &str = "TrackingInfoPropertyValue";
    version(src, NAME)?;
    let outer = name(src, NAME, "PropertyName")?;
    version(src, VALUE)?;
    let inner = name(src, VALUE, "Name")?;
    ensure_size!(in: src, name: VALUE, field: "vt", size: 2);
    let offset = src.pos();
    let vt = src.read_u16();
    let value = match vt {
        vt::TEXT => Value::Text(name(src, VALUE, "Value")?),
        vt::NUMBER => {
            ensure_size!(in: src, name: VALUE, field: "Value", size: 4);
            Value::Number(src.read_u32())
        }
        vt::OBJECT => Value::Ahead,
        _ => {
            let size = other_size(vt).ok_or(DecodeError::unsupported(VALUE, "vt", offset, vt.into()))?;
            src.skip(VALUE, "Value", size)?;
            Value::Other
        }
    };
    Ok(Property { name: if outer.is_empty() { inner } else { outer }, vt, value })
}

/// Bytes of a value of a type that [MS-COMT] does not list, as far as all values of that type have one size
/// ([MS-OAUT] 2.2.7). A value that is not understood then costs itself only.
const fn other_size(vt: u16) -> Option<usize> {
    match vt {
        vt::EMPTY | vt::NULL => Some(0),
        0x10 | 0x11 /* I1, UI1 */ => Some(1),
        0x02 | 0x0b | 0x12 /* I2, BOOL, UI2 */ => Some(2),
        0x03 | 0x04 | 0x0a | 0x16 | 0x17 /* I4, R4, ERROR, INT, UINT */ => Some(4),
        0x05 | 0x06 | 0x07 | 0x14 | 0x15 /* R8, CY, DATE, I8, UI8 */ => Some(8),
        _ => None,
    }
}

/// [MS-COMT] 2.2.5.1: UTF-16 text after its number of code units. Zero is against the rules and read as empty.
fn name<'a>(src: &mut ReadCursor<'a>, context: &'static str, field: &'static str) -> DecodeResult<&'a [u8]> {
    ensure_size!(in: src, name: context, field: field, size: 4);
    let units = src.read_u32();
    let size = usize::try_from(units).ok().and_then(|units| units.checked_mul(2)).unwrap_or(usize::MAX);
    src.take_slice(context, field, size)
}

fn version(src: &mut ReadCursor<'_>, context: &'static str) -> DecodeResult<()> {
    ensure_size!(in: src, name: context, field: "MaxVersion", size: 4);
    let offset = src.pos();
    match src.read_u32() {
        VERSION => Ok(()),
        other => Err(DecodeError::unsupported(context, "MaxVersion", offset, other.into())),
    }
}

/// Whether `count` elements of at least `size_min` bytes fit into what remains.
fn fits(
    src: &ReadCursor<'_>,
    context: &'static str,
    field: &'static str,
    offset: usize,
    count: u32,
    size_min: usize,
) -> DecodeResult<()> {
    let most = (src.len() / size_min) as u64;
    if u64::from(count) <= most {
        Ok(())
    } else {
        Err(DecodeError::limit_exceeded(context, field, offset, count.into(), most))
    }
}

/// Passes over an OBJREF with everything in it.
pub(super) fn skip_objref(src: &mut ReadCursor<'_>, depth: u8) -> DecodeResult<()> {
    let offset = src.pos();
    if depth > DEPTH_MAX {
        let (depth, most) = (u64::from(depth), u64::from(DEPTH_MAX));
        return Err(DecodeError::limit_exceeded("OBJREF_CUSTOM", "depth", offset, depth, most));
    }
    match objref(src)? {
        Marshalled::Collection => {
            for _ in 0..collection(src)?.objects {
                skip_objref(src, depth + 1)?;
            }
        }
        Marshalled::Object => {
            for _ in 0..object(src)? {
                if let Value::Ahead = property(src)?.value {
                    skip_objref(src, depth + 1)?;
                }
            }
        }
    }
    Ok(())
}

/// How deep references may be nested. Honest events have six levels: three collections and three objects.
const DEPTH_MAX: u8 = 8;

/// Text up to a NUL, or all of it.
pub(super) fn text(bytes: &[u8]) -> WideStr<'_> {
    WideStr::until_nul_or_end(bytes)
}
