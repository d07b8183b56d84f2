use clap::ValueEnum;
use com::oaut::{ArrayParameter, Bstr, IDispatch, IEnumVARIANT, SafeArray};
use rpc::ndr::EnumForm;
use rpc::orpc::{IUnknown, ObjectInterface};
use wire::{Guid, HResult};

question! {
    /// How many bytes an enumeration of performance logs and alerts has.
    PlaEnums {
        /// Either number is read, and what is written can be read as either.
        Either,
        /// Two, as NDR has it: the IDL of [MS-PLA] lacks `v1_enum`.
        Two,
        /// Four, as the marshaler of type libraries has it.
        Four,
    }
}

question! {
    /// How many pointers are before an array of performance logs and alerts.
    PlaArrays {
        /// Two: a SAFEARRAY parameter is a PSAFEARRAY.
        Double,
        Single,
    }
}

question! {
    /// What an array without elements is.
    PlaEmptyArrays {
        /// An array of none.
        Empty,
        Null,
    }
}

question! {
    /// What a text of performance logs and alerts is that was never set.
    PlaUnsetText {
        /// A text without characters.
        Empty,
        /// A BSTR that is NULL ([MS-OAUT] 2.2.23.2).
        NullBstr,
        NullPointer,
    }
}

question! {
    /// In which order data collector sets come.
    PlaOrder {
        /// As they were stored.
        AsStored,
        ByName,
        /// The one that was stored last comes first.
        NewestFirst,
    }
}

question! {
    /// Which types of an index a collection takes.
    PlaIndexTypes {
        /// VT_I4 and VT_UI4 ([MS-PLA] 3.2.4.16.2).
        Listed,
        Signed,
        Unsigned,
        /// All integers, and texts that are numbers.
        AnyNumber,
    }
}

question! {
    /// What a collection says to an index that is out of range.
    PlaBadIndex {
        /// What documents call `DISP_E_BADINDEX`.
        BadIndex,
        /// What documents call `E_INVALIDARG`.
        InvalidArgument,
    }
}

question! {
    /// Of which interface the reference to an enumerator is.
    PlaEnumerators {
        /// `IUnknown`, the type of the parameter.
        Unknown,
        /// `IEnumVARIANT`, which it is asked for next.
        EnumVariant,
    }
}

question! {
    /// What an enumerator returns of an item.
    PlaEnumeratedItems {
        /// VT_DISPATCH with a reference to its `IDispatch`.
        Dispatch,
        /// VT_UNKNOWN with a reference to its `IUnknown`.
        Unknown,
        /// VT_DISPATCH with a reference to the interface that the collection is of.
        Own,
    }
}

question! {
    /// Whether clients may store and remove data collector sets.
    PlaChanges {
        Refused,
        /// They may, where the category allows it.
        Allowed,
    }
}

question! {
    /// Whether a data collector set with properties in conflict is stored.
    PlaConflicts {
        /// It is, and the map says what is wrong ([MS-PLA] 3.2.4.1.54: a client may ignore that).
        Stored,
        /// The first conflict is the status of the commit.
        Refused,
    }
}

/// What a host chooses about performance logs and alerts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, clap::Args)]
pub struct PlaChoices {
    /// How many bytes an enumeration of performance logs and alerts has.
    #[arg(long, value_enum, default_value_t, value_name = "BYTES")]
    pub pla_enums: PlaEnums,
    /// How many pointers are before an array of performance logs and alerts.
    #[arg(long, value_enum, default_value_t, value_name = "POINTERS")]
    pub pla_arrays: PlaArrays,
    /// What an array without elements is.
    #[arg(long, value_enum, default_value_t, value_name = "FORM")]
    pub pla_empty_arrays: PlaEmptyArrays,
    /// What a text of performance logs and alerts is that was never set.
    #[arg(long, value_enum, default_value_t, value_name = "FORM")]
    pub pla_unset_text: PlaUnsetText,
    /// In which order data collector sets come.
    #[arg(long, value_enum, default_value_t, value_name = "ORDER")]
    pub pla_order: PlaOrder,
    /// Which types of an index a collection takes.
    #[arg(long, value_enum, default_value_t, value_name = "TYPES")]
    pub pla_index_types: PlaIndexTypes,
    /// What a collection says to an index that is out of range.
    #[arg(long, value_enum, default_value_t, value_name = "STATUS")]
    pub pla_bad_index: PlaBadIndex,
    /// Of which interface the reference to an enumerator is.
    #[arg(long, value_enum, default_value_t, value_name = "INTERFACE")]
    pub pla_enumerators: PlaEnumerators,
    /// What an enumerator returns of an item.
    #[arg(long, value_enum, default_value_t, value_name = "FORM")]
    pub pla_enumerated_items: PlaEnumeratedItems,
    /// Whether clients may store and remove data collector sets.
    #[arg(long, value_enum, default_value_t, value_name = "ANSWER")]
    pub pla_changes: PlaChanges,
    /// Whether a data collector set with properties in conflict is stored.
    #[arg(long, value_enum, default_value_t, value_name = "ANSWER")]
    pub pla_conflicts: PlaConflicts,
}

impl PlaChoices {
    /// All answers to each question, one at a time, with the usual ones to the others.
    #[must_use]
    pub fn each_alone() -> Vec<Self> {
        let mut all = Vec::new();
        macro_rules! answers {
            ($($field:ident: $question:ident,)*) => {$(
                for &answer in $question::ALL {
                    all.push(Self { $field: answer, ..Self::default() });
                }
            )*};
        }
        answers! {
            pla_enums: PlaEnums,
            pla_arrays: PlaArrays,
            pla_empty_arrays: PlaEmptyArrays,
            pla_unset_text: PlaUnsetText,
            pla_order: PlaOrder,
            pla_index_types: PlaIndexTypes,
            pla_bad_index: PlaBadIndex,
            pla_enumerators: PlaEnumerators,
            pla_enumerated_items: PlaEnumeratedItems,
            pla_changes: PlaChanges,
            pla_conflicts: PlaConflicts,
        }
        all
    }

    pub(crate) fn text(self, text: Option<&str>) -> Result<Bstr, HResult> {
        match (text, self.pla_unset_text) {
            (Some(text), _) => Bstr::new(text).map_err(|_| HResult::E_OUTOFMEMORY),
            (None, PlaUnsetText::Empty) => Bstr::new("").map_err(|_| HResult::E_OUTOFMEMORY),
            (None, PlaUnsetText::NullBstr) => Ok(Bstr::null()),
            (None, PlaUnsetText::NullPointer) => Ok(Bstr(None)),
        }
    }

    /// An array, which may be empty.
    pub(crate) fn array(self, array: SafeArray<'static>, is_empty: bool) -> ArrayParameter<'static> {
        let array = (!is_empty || self.pla_empty_arrays == PlaEmptyArrays::Empty).then(|| Box::new(array));
        match self.pla_arrays {
            PlaArrays::Double => ArrayParameter::Double(Some(Box::new(array))),
            PlaArrays::Single => ArrayParameter::Single(array),
        }
    }
}

impl PlaEnums {
    pub(crate) const fn form(self) -> EnumForm {
        match self {
            Self::Either => EnumForm::Either,
            Self::Two => EnumForm::Short,
            Self::Four => EnumForm::Long,
        }
    }
}

impl PlaBadIndex {
    pub(crate) const fn status(self) -> HResult {
        match self {
            Self::BadIndex => HResult::DISP_E_BADINDEX,
            Self::InvalidArgument => HResult::E_INVALIDARG,
        }
    }
}

impl PlaEnumerators {
    pub(crate) const fn iid(self) -> Guid {
        match self {
            Self::Unknown => IUnknown::IID,
            Self::EnumVariant => IEnumVARIANT::IID,
        }
    }
}

impl PlaEnumeratedItems {
    /// The interface that is referred to, of an item whose own interface is `own`.
    pub(crate) const fn iid(self, own: Guid) -> Guid {
        match self {
            Self::Dispatch => IDispatch::IID,
            Self::Unknown => IUnknown::IID,
            Self::Own => own,
        }
    }
}
