//! PERF_INSTANCE_DEFINITION, and the instances of an object.

use wire::{DecodeError, DecodeResult, ReadCursor, WideStr};

use crate::perflib_v1::counter::{CounterBlock, step};

/// The instances of an object.
#[derive(Clone, Copy, Debug)]
pub enum Instances<'a> {
    /// It never has instances: the values of the object as a whole.
    Single(CounterBlock<'a>),
    /// Some, or none at the moment.
    Many(Many<'a>),
    /// Only the definition of the object was requested.
    Unasked,
}

/// Instances with their values.
#[derive(Clone, Copy, Debug)]
pub struct Many<'a> {
    // INVARIANT: `left` instances, each with its counter block, can be read.
    src: ReadCursor<'a>,
    left: u32,
    is_wide: bool,
}

/// `PERF_INSTANCE_DEFINITION` of winperf.h: an instance of an object, and its values.
#[doc(alias = "PERF_INSTANCE_DEFINITION")]
#[derive(Clone, Copy, Debug)]
pub struct Instance<'a> {
    /// Its parent, like the process of a thread.
    pub parent: Option<Parent>,
    /// `UniqueID`: distinguishes instances of the same name; most objects have none.
    pub unique_id: Option<i32>,
    pub values: CounterBlock<'a>,
    name: &'a [u8],
    is_wide: bool,
}

/// The parent of an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Parent {
    /// `ParentObjectTitleIndex`: the object of that instance.
    pub object: u32,
    /// `ParentObjectInstance`: its place among the instances of that object in the same data.
    pub position: u32,
}

/// The context of errors.
const OBJECT: &str = "PERF_OBJECT_TYPE";
/// `UniqueID` of an instance that has none.
pub(crate) const NO_UNIQUE_ID: i32 = -1;

impl<'a> Instances<'a> {
    pub(crate) fn single(bytes: &'a [u8], start: usize) -> DecodeResult<Self> {
        let mut src = ReadCursor::new(bytes);
        src.read_slice(start);
        CounterBlock::decode(&mut src).map(Self::Single)
    }
}

impl<'a> Many<'a> {
    /// Walks `count` instances from `start` on; they end where `bytes` do. The count is at `count_at`.
    pub(crate) fn decode(
        bytes: &'a [u8],
        start: usize,
        (count, count_at): (u32, usize),
        code_page: u32,
    ) -> DecodeResult<Self> {
        let mut src = ReadCursor::new(bytes);
        src.read_slice(start);
        let least = Instance::FIXED_PART_SIZE + 4 /* ByteLength of its counter block */;
        let most = (src.len() / least) as u64;
        if u64::from(count) > most {
            let count = u64::from(count);
            return Err(DecodeError::limit_exceeded(OBJECT, "NumInstances", count_at, count, most));
        }
        let many = Self { src, left: count, is_wide: code_page == 0 };
        for _ in 0..count {
            Instance::decode(&mut src, many.is_wide)?;
        }
        Ok(many)
    }

    /// How many are left.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.left as usize
    }

    /// Whether none is left.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.left == 0
    }
}

impl<'a> Iterator for Many<'a> {
    type Item = Instance<'a>;

    #[inline]
    fn next(&mut self) -> Option<Instance<'a>> {
        self.left = self.left.checked_sub(1)?;
        Instance::decode(&mut self.src, self.is_wide).ok()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.len(), Some(self.len()))
    }
}

impl ExactSizeIterator for Many<'_> {}

impl<'a> Instance<'a> {
    /// Bytes of its fixed part.
    pub const FIXED_PART_SIZE: usize = 4 /* ByteLength */
        + 4 /* ParentObjectTitleIndex */
        + 4 /* ParentObjectInstance */
        + 4 /* UniqueID */
        + 4 /* NameOffset */
        + 4 /* NameLength */;
    const NAME: &'static str = "PERF_INSTANCE_DEFINITION";

    /// Reads an instance and its counter block, and moves the cursor after them.
    #[inline]
    fn decode(src: &mut ReadCursor<'a>, is_wide: bool) -> DecodeResult<Self> {
        let start = src.pos();
        let size = step(src, Self::NAME, Self::FIXED_PART_SIZE)?;
        let definition = src.read_slice(size);
        let mut fields = ReadCursor::new(definition);
        fields.read_u32(/* ByteLength */);
        let (object, position) = (fields.read_u32(), fields.read_u32());
        let unique_id = fields.read_i32();
        let (name_offset, name_size) = (fields.read_u32() as usize, fields.read_u32() as usize);
        let name = definition.get(name_offset..name_offset.saturating_add(name_size)).ok_or_else(|| {
            let reason = "with its length exceeds the instance";
            DecodeError::invalid_field(Self::NAME, "NameOffset", start + 16, reason)
        })?;
        let values = CounterBlock::decode(src)?;
        Ok(Self {
            parent: (object != 0).then_some(Parent { object, position }),
            unique_id: (unique_id != NO_UNIQUE_ID).then_some(unique_id),
            values,
            name,
            is_wide,
        })
    }

    /// The bytes of its name as they came, its NUL included: what to compare and to hash.
    #[must_use]
    pub const fn name_bytes(&self) -> &'a [u8] {
        self.name
    }

    /// Its name where it is UTF-16, as it is but for objects that have a code page.
    #[must_use]
    pub fn wide_name(&self) -> Option<WideStr<'a>> {
        self.is_wide.then(|| WideStr::until_nul_or_end(self.name))
    }

    /// The characters of its name. If it is in a code page, characters beyond ASCII become replacement characters.
    pub fn name(&self) -> impl Iterator<Item = char> + 'a {
        let (wide, narrow) = if self.is_wide { (self.name, &[][..]) } else { (&[][..], self.name) };
        let narrow = narrow.iter().take_while(|byte| **byte != 0).map(|byte| match byte {
            0..=0x7f => char::from(*byte),
            _ => char::REPLACEMENT_CHARACTER,
        });
        WideStr::until_nul_or_end(wide).chars().chain(narrow)
    }
}
