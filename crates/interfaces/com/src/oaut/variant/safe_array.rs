use rpc::ndr::{Conformant, ConformantBytes, EncodeError, InterfacePointer, NdrDecode, NdrEncode, Ref};
use wire::{EncodeResult, Guid, open_enum};

use super::super::Bstr;
use super::{VarType, Variant};

open_enum! {
    /// [MS-OAUT] 2.2.9: flags of an array. Those that say how it lies in memory mean nothing to its reader.
    #[derive(NdrDecode, NdrEncode)]
    pub struct Features(u16) {
        /// Elements are objects with an interface that is named.
        FADF_HAVEIID = 0x0040,
        /// The type of the elements is in `locks`.
        FADF_HAVEVARTYPE = 0x0080,
        FADF_BSTR = 0x0100,
        FADF_UNKNOWN = 0x0200,
        /// Elements are objects with `IDispatch`.
        FADF_DISPATCH = 0x0400,
        FADF_VARIANT = 0x0800,
    }
}

/// [MS-OAUT] 2.2.30.10 `SAFEARRAY`: elements of one type in one dimension or more. A parameter or a value is a pointer to a
/// pointer to one.
#[doc(alias = "SAFEARRAY")]
#[derive(Clone, Debug, PartialEq, NdrEncode, NdrDecode)]
pub struct SafeArray<'stub> {
    #[ndr(name = "cDims", check = is_some)]
    pub dimensions: u16,
    #[ndr(name = "fFeatures")]
    pub features: Features,
    /// Bytes of an element in memory.
    #[ndr(name = "cbElements")]
    pub element_bytes: u32,
    /// In its high half the type of the elements, if [`Features::FADF_HAVEVARTYPE`] is set. The low half means nothing.
    #[ndr(name = "cLocks")]
    pub locks: u32,
    /// The elements of all dimensions.
    #[ndr(name = "uArrayStructs")]
    pub elements: Elements<'stub>,
    /// Each dimension, the last one first; whether they fit the elements says [`SafeArray::is_filled`].
    #[ndr(name = "rgsabound", conformant, size_is = dimensions)]
    pub bounds: Vec<Bound>,
}

/// `SAFEARRAYBOUND` of [MS-OAUT] 2.2.30.1.
#[doc(alias = "SAFEARRAYBOUND")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, NdrEncode, NdrDecode)]
pub struct Bound {
    /// Elements in this dimension.
    #[ndr(name = "cElements")]
    pub count: u32,
    /// Index of the first.
    #[ndr(name = "lLbound")]
    pub first: i32,
}

/// Arrays after the number of their elements.
macro_rules! sized {
    ($($(#[$meta:meta])* $name:ident $(<$stub:lifetime>)? = $alias:literal, $elements:ty;)*) => {$(
        $(#[$meta])*
        #[doc(alias = $alias)]
        #[derive(Clone, Debug, PartialEq, NdrEncode, NdrDecode)]
        pub struct $name $(<$stub>)? {
            /// How many elements there are.
            #[ndr(name = "Size")]
            pub size: u32,
            #[ndr(size_is = size)]
            pub elements: $elements,
        }
    )*};
}

sized! {
    /// See section 2.2.30.2 of [MS-OAUT].
    BstrElements = "SAFEARR_BSTR", Ref<Conformant<Bstr>>;
    /// [MS-OAUT] 2.2.30.3 and 2.2.30.4: objects.
    ObjectElements<'stub> = "SAFEARR_UNKNOWN", Ref<Conformant<Option<Box<InterfacePointer<'stub>>>>>;
    /// See section 2.2.30.5 of [MS-OAUT].
    VariantElements<'stub> = "SAFEARR_VARIANT", Ref<Conformant<Option<Box<Variant<'stub>>>>>;
    /// See section 2.2.30.8.1 of [MS-OAUT].
    ByteElements<'stub> = "BYTE_SIZEDARR", Option<Box<ConformantBytes<'stub>>>;
    /// See section 2.2.30.8.2 of [MS-OAUT].
    WordElements = "WORD_SIZEDARR", Option<Box<Conformant<u16>>>;
    /// See section 2.2.30.8.3 of [MS-OAUT].
    DwordElements = "DWORD_SIZEDARR", Option<Box<Conformant<u32>>>;
    /// See section 2.2.30.8.4 of [MS-OAUT].
    HyperElements = "HYPER_SIZEDARR", Option<Box<Conformant<u64>>>;
}

/// [MS-OAUT] 2.2.30.7 `SAFEARR_HAVEIID`: objects with one interface.
#[doc(alias = "SAFEARR_HAVEIID")]
#[derive(Clone, Debug, PartialEq, NdrEncode, NdrDecode)]
pub struct InterfaceElements<'stub> {
    /// How many elements there are.
    #[ndr(name = "Size")]
    pub size: u32,
    #[ndr(name = "apUnknown", size_is = size)]
    pub elements: Ref<Conformant<Option<Box<InterfacePointer<'stub>>>>>,
    pub iid: Guid,
}

/// [MS-OAUT] 2.2.30.9 `SAFEARRAYUNION`: the elements. Numbers come by their size; what they are says the array's `locks`,
/// or the variant's type. User-defined types are refused.
#[doc(alias = "SAFEARRAYUNION")]
#[derive(Clone, Debug, PartialEq, NdrEncode, NdrDecode)]
#[ndr(name = "SAFEARRAYUNION", switch = u32)]
pub enum Elements<'stub> {
    #[ndr(case = 0x02)]
    Words(WordElements),
    #[ndr(case = 0x03)]
    Dwords(DwordElements),
    #[ndr(case = 0x08)]
    Bstrs(BstrElements),
    #[ndr(case = 0x09)]
    Dispatches(ObjectElements<'stub>),
    #[ndr(case = 0x0c)]
    Variants(VariantElements<'stub>),
    #[ndr(case = 0x0d)]
    Unknowns(ObjectElements<'stub>),
    #[ndr(case = 0x10)]
    Bytes(ByteElements<'stub>),
    #[ndr(case = 0x14)]
    Hypers(HyperElements),
    #[ndr(case = 0x800d)]
    Interfaces(InterfaceElements<'stub>),
}

impl Elements<'_> {
    /// How many there are.
    fn size(&self) -> u32 {
        match self {
            Self::Words(elements) => elements.size,
            Self::Dwords(elements) => elements.size,
            Self::Bstrs(elements) => elements.size,
            Self::Dispatches(elements) | Self::Unknowns(elements) => elements.size,
            Self::Variants(elements) => elements.size,
            Self::Bytes(elements) => elements.size,
            Self::Hypers(elements) => elements.size,
            Self::Interfaces(elements) => elements.size,
        }
    }
}

fn is_some(dimensions: &u16) -> Result<(), &'static str> {
    if *dimensions == 0 { Err("is 0") } else { Ok(()) }
}

impl<'stub> SafeArray<'stub> {
    /// BSTRs in one dimension, from index 0.
    ///
    /// # Errors
    /// When there are more than 32 bits can count.
    pub fn of_bstrs(elements: Vec<Bstr>) -> EncodeResult<Self> {
        let size = size(elements.len())?;
        let elements = BstrElements { size, elements: Ref::new(Conformant(elements)) };
        Ok(Self::one_dimension(Features::FADF_BSTR, VarType::VT_BSTR, 4, Elements::Bstrs(elements)))
    }

    /// Variants in one dimension, from index 0.
    ///
    /// # Errors
    /// When there are more than 32 bits can count.
    pub fn of_variants(elements: Vec<Variant<'stub>>) -> EncodeResult<Self> {
        let size = size(elements.len())?;
        let elements = elements.into_iter().map(|element| Some(Box::new(element))).collect();
        let elements = VariantElements { size, elements: Ref::new(Conformant(elements)) };
        Ok(Self::one_dimension(Features::FADF_VARIANT, VarType::VT_VARIANT, 16, Elements::Variants(elements)))
    }

    /// Numbers of 32 bits in one dimension, from index 0: `vt` is VT_I4, VT_UI4, VT_INT, VT_UINT, VT_R4 or VT_ERROR.
    ///
    /// # Errors
    /// When there are more than 32 bits can count.
    pub fn of_dwords(vt: VarType, elements: Vec<u32>) -> EncodeResult<Self> {
        let size = size(elements.len())?;
        let elements = DwordElements { size, elements: Some(Box::new(Conformant(elements))) };
        Ok(Self::one_dimension(Features(0), vt, 4, Elements::Dwords(elements)))
    }

    /// Bytes in one dimension, from index 0.
    ///
    /// # Errors
    /// When there are more than 32 bits can count.
    pub fn of_bytes(elements: ConformantBytes<'stub>) -> EncodeResult<Self> {
        let size = size(elements.0.len())?;
        let elements = ByteElements { size, elements: Some(Box::new(elements)) };
        Ok(Self::one_dimension(Features(0), VarType::VT_UI1, 1, Elements::Bytes(elements)))
    }

    fn one_dimension(features: Features, vt: VarType, element_bytes: u32, elements: Elements<'stub>) -> Self {
        Self {
            dimensions: 1,
            features: Features(features.0 | Features::FADF_HAVEVARTYPE.0),
            element_bytes,
            locks: u32::from(vt.0) << 16,
            bounds: vec![Bound { count: elements.size(), first: 0 }],
            elements,
        }
    }

    /// Whether the bounds have room for the elements that are there, no more and no less. Readers that compute the place of
    /// an element from indexes ask this first.
    #[must_use]
    pub fn is_filled(&self) -> bool {
        let room = self.bounds.iter().try_fold(1_u32, |room, bound| room.checked_mul(bound.count));
        room == Some(self.elements.size())
    }

    /// The type of the elements, if the array says it.
    #[must_use]
    pub fn element_type(&self) -> Option<VarType> {
        let says = self.features.0 & Features::FADF_HAVEVARTYPE.0 != 0;
        says.then(|| VarType(u16::try_from(self.locks >> 16).unwrap_or(0)))
    }
}

fn size(count: usize) -> EncodeResult<u32> {
    u32::try_from(count).map_err(|_| EncodeError::new("SAFEARRAY", "Size", "is above 32 bits"))
}
