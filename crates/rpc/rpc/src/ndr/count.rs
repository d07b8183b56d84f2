use std::borrow::Cow;

use crate::ndr::{
    Conformant, ConformantBytes, ConformantVarying, ConformantVaryingBytes, Ref, Varying, WideString,
};

/// What can come after `size_is` or `length_is`: something with elements, or a pointer to such.
///
/// Both counts are `None` behind a NULL pointer, where no count means anything.
pub trait Array {
    /// What `size_is` says: the elements that there is room for.
    fn max_count(&self) -> Option<usize>;

    /// What `length_is` says: the elements that are there.
    fn actual_count(&self) -> Option<usize> {
        self.max_count()
    }
}

impl<T> Array for Vec<T> {
    fn max_count(&self) -> Option<usize> {
        Some(self.len())
    }
}

impl<T> Array for Conformant<T> {
    fn max_count(&self) -> Option<usize> {
        Some(self.0.len())
    }
}

impl<T> Array for Varying<T> {
    fn max_count(&self) -> Option<usize> {
        Some(self.0.len())
    }
}

impl<T> Array for ConformantVarying<T> {
    fn max_count(&self) -> Option<usize> {
        usize::try_from(self.max_count).ok()
    }

    fn actual_count(&self) -> Option<usize> {
        Some(self.elements.len())
    }
}

impl Array for ConformantBytes<'_> {
    fn max_count(&self) -> Option<usize> {
        Some(self.0.len())
    }
}

impl Array for ConformantVaryingBytes<'_> {
    fn max_count(&self) -> Option<usize> {
        usize::try_from(self.max_count).ok()
    }

    fn actual_count(&self) -> Option<usize> {
        Some(self.bytes.len())
    }
}

/// Counted in UTF-16 code units, with the NUL.
impl Array for WideString {
    fn max_count(&self) -> Option<usize> {
        Some(self.0.encode_utf16().count() + 1 /* NUL */)
    }
}

impl<T: Array> Array for Option<Box<T>> {
    fn max_count(&self) -> Option<usize> {
        self.as_ref()?.max_count()
    }

    fn actual_count(&self) -> Option<usize> {
        self.as_ref()?.actual_count()
    }
}

impl<T: Array> Array for Ref<T> {
    fn max_count(&self) -> Option<usize> {
        self.0.max_count()
    }

    fn actual_count(&self) -> Option<usize> {
        self.0.actual_count()
    }
}

/// Whether `count` equals the IDL's expression. Always true for an array behind a NULL pointer.
#[must_use]
pub fn count_is(count: Option<usize>, expression: impl TryInto<usize>) -> bool {
    count.is_none_or(|count| expression.try_into().is_ok_and(|expected| count == expected))
}

impl Array for Cow<'_, [u8]> {
    fn max_count(&self) -> Option<usize> {
        Some(self.len())
    }
}

/// An empty array that says how much room there is: returned by a method that failed.
pub trait WithRoom {
    /// No elements, and room for `max_count`.
    fn with_room(max_count: u32) -> Self;
}

impl<T> WithRoom for ConformantVarying<T> {
    fn with_room(max_count: u32) -> Self {
        Self { max_count, elements: Vec::new() }
    }
}

impl WithRoom for ConformantVaryingBytes<'_> {
    fn with_room(max_count: u32) -> Self {
        Self { max_count, bytes: Cow::Borrowed(&[]) }
    }
}
