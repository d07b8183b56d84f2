//! Properties: how they are in a record, and in a stub.

use std::collections::HashSet;

use com::oaut::{ArrayParameter, Bstr, SafeArray, VariantBool};
use ms_pla::{
    AutoPathFormat, ClockType, FileFormat, FolderActionSteps, ResourcePolicy, StreamMode, ValueMapType,
    WeekDays,
};
use wire::{Guid, HResult};

use crate::choices::PlaChoices;

/// Characters of a text that a client sets.
const TEXT_LEN_MAX: usize = 32 * 1024;
/// Elements of an array that a client sets.
const ELEMENTS_MAX: usize = 4096;

/// A property with one value.
pub(super) trait Property {
    type Wire;

    fn to_wire(&self, choices: PlaChoices) -> Result<Self::Wire, HResult>;

    fn set(&mut self, value: &Self::Wire) -> Result<(), HResult>;
}

/// An empty text, in each form, unsets the property.
impl Property for Option<String> {
    type Wire = Bstr;

    fn to_wire(&self, choices: PlaChoices) -> Result<Bstr, HResult> {
        choices.text(self.as_deref())
    }

    fn set(&mut self, value: &Bstr) -> Result<(), HResult> {
        *self = Some(text(value)?).filter(|text| !text.is_empty());
        Ok(())
    }
}

impl Property for Option<bool> {
    type Wire = VariantBool;

    fn to_wire(&self, _: PlaChoices) -> Result<VariantBool, HResult> {
        Ok(self.unwrap_or(false).into())
    }

    fn set(&mut self, value: &VariantBool) -> Result<(), HResult> {
        *self = Some(value.is_true());
        Ok(())
    }
}

macro_rules! plain {
    ($($value:ident)*) => {$(
        impl Property for Option<$value> {
            type Wire = $value;

            fn to_wire(&self, _: PlaChoices) -> Result<$value, HResult> {
                Ok(self.unwrap_or_default())
            }

            fn set(&mut self, value: &$value) -> Result<(), HResult> {
                *self = Some(*value);
                Ok(())
            }
        }
    )*};
}

plain! {
    u32 Guid AutoPathFormat ClockType FileFormat FolderActionSteps ResourcePolicy StreamMode WeekDays ValueMapType
}

/// The text of a parameter; none is an empty one.
pub(super) fn text(value: &Bstr) -> Result<String, HResult> {
    let text = value.text().map_err(|_| HResult::E_INVALIDARG)?.unwrap_or_default();
    if text.chars().count() <= TEXT_LEN_MAX { Ok(text) } else { Err(HResult::E_INVALIDARG) }
}

/// The texts of a parameter.
pub(super) fn texts(value: &ArrayParameter<'_>) -> Result<Vec<String>, HResult> {
    let texts = value.bstrs().ok_or(HResult::DISP_E_TYPEMISMATCH)?;
    if texts.len() > ELEMENTS_MAX {
        return Err(HResult::E_INVALIDARG);
    }
    texts.iter().map(text).collect()
}

/// Refuses a text without characters.
pub(super) fn not_empty(value: &Bstr) -> Result<(), HResult> {
    if text(value)?.is_empty() { Err(HResult::E_INVALIDARG) } else { Ok(()) }
}

/// Refuses the GUID that is all zero.
pub(super) fn not_nil(guid: &Guid) -> Result<(), HResult> {
    if *guid == Guid::default() { Err(HResult::E_INVALIDARG) } else { Ok(()) }
}

/// Refuses texts of which two differ by case at most.
pub(super) fn no_duplicates(texts: &[String]) -> Result<(), HResult> {
    let mut known = HashSet::new();
    let is_new = |text: &String| known.insert(text.to_lowercase());
    if texts.iter().all(is_new) { Ok(()) } else { Err(HResult::PLA_E_NO_DUPLICATES) }
}

/// Texts that are returned.
pub(super) fn array(texts: &[String], choices: PlaChoices) -> Result<ArrayParameter<'static>, HResult> {
    let bstrs: Result<Vec<_>, _> = texts.iter().map(|text| Bstr::new(text)).collect();
    let array = bstrs.and_then(SafeArray::of_bstrs).map_err(|_| HResult::E_OUTOFMEMORY)?;
    Ok(choices.array(array, texts.is_empty()))
}

/// The methods of properties: `$access` gives the record that they are in, and a rule may refuse what a client sets.
macro_rules! properties {
    ($access:ident { $($field:ident: $get:ident($get_request:ident) $get_reply:ident
        $(, $put:ident($put_request:ident) $([$rule:ident])? $put_reply:ident)?;)* }) => {$(
        fn $get(&mut self, _: &$get_request) -> ServerResult<$get_reply, HResult> {
            let choices = self.context.choices;
            let value = self.$access(|record| Property::to_wire(&record.$field, choices))??;
            Ok($get_reply { value, status: HResult::S_OK })
        }

        $(fn $put(&mut self, request: &$put_request) -> ServerResult<$put_reply, HResult> {
            $($rule(&request.value)?;)?
            self.$access(|record| Property::set(&mut record.$field, &request.value))??;
            Ok($put_reply { status: HResult::S_OK })
        })?
    )*};
}

/// The same of numbers that have a default value, and that are refused outside of a range.
macro_rules! numbers {
    ($access:ident { $($field:ident = $default:literal in $range:expr => $get:ident($get_request:ident) $get_reply:ident,
        $put:ident($put_request:ident) $put_reply:ident;)* }) => {$(
        fn $get(&mut self, _: &$get_request) -> ServerResult<$get_reply, HResult> {
            let value = self.$access(|record| record.$field.unwrap_or($default))?;
            Ok($get_reply { value, status: HResult::S_OK })
        }

        fn $put(&mut self, request: &$put_request) -> ServerResult<$put_reply, HResult> {
            if !($range).contains(&request.value) {
                return Err(HResult::E_INVALIDARG.into());
            }
            self.$access(|record| record.$field = Some(request.value))?;
            Ok($put_reply { status: HResult::S_OK })
        }
    )*};
}

/// The same of properties that are arrays of texts, which a rule may refuse.
macro_rules! arrays {
    ($access:ident { $($field:ident $([$rule:ident])?: $get:ident($get_request:ident) $get_reply:ident,
        $put:ident($put_request:ident) $put_reply:ident;)* }) => {$(
        fn $get(&mut self, _: &$get_request) -> ServerResult<$get_reply<'static>, HResult> {
            let texts = self.$access(|record| record.$field.clone())?;
            Ok($get_reply { value: array(&texts, self.context.choices)?, status: HResult::S_OK })
        }

        fn $put(&mut self, request: &$put_request<'_>) -> ServerResult<$put_reply, HResult> {
            let texts = texts(&request.value)?;
            $($rule(&texts)?;)?
            self.$access(|record| record.$field = texts)?;
            Ok($put_reply { status: HResult::S_OK })
        }
    )*};
}

pub(super) use {arrays, numbers, properties};
