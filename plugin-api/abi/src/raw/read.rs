//! Converts Rust values to pairs of the header, and reads those of the other side.
//!
//! Two special cases are handled here: C passes `(NULL, 0)` for "empty", which is not a valid Rust slice, and a
//! struct may be shorter (older) or longer (newer) than ours.
#![expect(unsafe_code, reason = "reads what pointers of the other side point to")]
// UNSAFETY: every function here that follows a pointer is `unsafe` and asks its caller for what the header
// promises: memory of the stated length, valid and unchanged for the life that the caller names. What can be checked
// (null, alignment, sizes, limits, UTF-8) is checked.

use core::ffi::c_void;
use core::marker::PhantomData;
use core::mem::{MaybeUninit, align_of, size_of};

use super::structs::{Array, ArrayMut, Bytes, HostApi, Label, Plain, PluginApi, Str, Text};

/// Why something from the other side could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Malformed {
    /// A null pointer with a length, or instead of a struct.
    NullPointer,
    /// A pointer that is not aligned for its type.
    Misaligned,
    /// A struct or element size below that of version 1.0.
    BadSize,
    /// A length above the limit.
    TooLong,
    /// Text that is not UTF-8.
    NotUtf8,
}

impl core::fmt::Display for Malformed {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::NullPointer => "a null pointer",
            Self::Misaligned => "a misaligned pointer",
            Self::BadSize => "a size below that of version 1.0",
            Self::TooLong => "a length above the limit",
            Self::NotUtf8 => "text that is not UTF-8",
        })
    }
}

impl core::error::Error for Malformed {}

impl Str {
    pub const EMPTY: Self = Self { ptr: core::ptr::null(), len: 0 };

    /// Points to `text`, which must outlive the use of the result.
    #[must_use]
    pub const fn of(text: &str) -> Self {
        Self { ptr: text.as_ptr(), len: text.len() as u64 }
    }

    /// The text.
    ///
    /// # Errors
    /// When pointer, length or encoding are not as they must be.
    ///
    /// # Safety
    /// A pointer that is not null points to `len` bytes that are valid and unchanged during `'a`.
    pub unsafe fn read<'a>(self, bytes_max: usize) -> Result<&'a str, Malformed> {
        let bytes = Bytes { ptr: self.ptr, len: self.len };
        // SAFETY: the caller promises the same of the same pair.
        let bytes = unsafe { bytes.read(bytes_max) }?;
        core::str::from_utf8(bytes).map_err(|_| Malformed::NotUtf8)
    }
}

impl Bytes {
    pub const EMPTY: Self = Self { ptr: core::ptr::null(), len: 0 };

    /// Points to `bytes`, which must outlive the use of the result.
    #[must_use]
    pub const fn of(bytes: &[u8]) -> Self {
        Self { ptr: bytes.as_ptr(), len: bytes.len() as u64 }
    }

    /// The bytes.
    ///
    /// # Errors
    /// When pointer or length are not as they must be.
    ///
    /// # Safety
    /// A pointer that is not null points to `len` bytes that are valid and unchanged during `'a`.
    pub unsafe fn read<'a>(self, bytes_max: usize) -> Result<&'a [u8], Malformed> {
        let len = checked_len(self.ptr.cast(), self.len, 1, bytes_max)?;
        if len == 0 {
            return Ok(&[]);
        }
        // SAFETY: not null, as `checked_len` saw; the caller promises the rest.
        Ok(unsafe { core::slice::from_raw_parts(self.ptr, len) })
    }
}

impl Label {
    /// Points to both texts, which must outlive the use of the result.
    #[must_use]
    pub const fn of(name: &str, value: &str) -> Self {
        Self { name: Str::of(name), value: Str::of(value) }
    }
}

impl Array {
    pub const EMPTY: Self = Self { ptr: core::ptr::null(), len: 0, element_size: 0, reserved: 0 };

    /// Points to `elements`, which must outlive the use of the result.
    #[must_use]
    pub const fn of<T: Plain>(elements: &[T]) -> Self {
        Self {
            ptr: elements.as_ptr().cast(),
            len: elements.len() as u64,
            element_size: struct_size::<T>(),
            reserved: 0,
        }
    }

    /// A column of numbers, which have no version.
    ///
    /// # Errors
    /// When pointer, length, alignment or element size are not as they must be.
    ///
    /// # Safety
    /// A pointer that is not null points to `len` elements that are valid and unchanged during `'a`.
    pub unsafe fn column<'a, T: Plain>(self, len_max: usize) -> Result<&'a [T], Malformed> {
        let len = checked_len(self.ptr, self.len, align_of::<T>(), len_max)?;
        if len == 0 {
            return Ok(&[]);
        }
        if self.element_size as usize != size_of::<T>() {
            return Err(Malformed::BadSize);
        }
        // SAFETY: not null and aligned, as `checked_len` saw; the caller promises the rest.
        Ok(unsafe { core::slice::from_raw_parts(self.ptr.cast(), len) })
    }

    /// The structs of an array, whatever version the other side has: what an older one lacks is zero.
    ///
    /// # Errors
    /// When pointer, length, alignment or element size are not as they must be.
    ///
    /// # Safety
    /// A pointer that is not null points to `len` elements of `element_size` bytes that are valid and unchanged
    /// during `'a`.
    pub unsafe fn structs<'a, T: Plain>(self, len_max: usize) -> Result<Structs<'a, T>, Malformed> {
        let len = checked_len(self.ptr, self.len, align_of::<T>(), len_max)?;
        let stride = self.element_size as usize;
        if len > 0
            && (stride < T::FIRST_SIZE
                || stride > ELEMENT_BYTES_MAX
                || !stride.is_multiple_of(align_of::<T>()))
        {
            return Err(Malformed::BadSize);
        }
        Ok(Structs { next: self.ptr.cast(), left: len, stride, of: PhantomData })
    }
}

impl ArrayMut {
    /// Points to `elements`, which must outlive the use of the result.
    #[must_use]
    pub const fn of<T: Plain>(elements: &mut [T]) -> Self {
        Self {
            ptr: elements.as_mut_ptr().cast(),
            len: elements.len() as u64,
            element_size: struct_size::<T>(),
            reserved: 0,
        }
    }

    /// The elements to write; their type has no version.
    ///
    /// # Errors
    /// When pointer, length, alignment or element size are not as they must be.
    ///
    /// # Safety
    /// A pointer that is not null points to `len` elements that nobody else touches during `'a`.
    pub unsafe fn column<'a, T: Plain>(self, len_max: usize) -> Result<&'a mut [T], Malformed> {
        let len = checked_len(self.ptr, self.len, align_of::<T>(), len_max)?;
        if len == 0 {
            return Ok(&mut []);
        }
        if self.element_size as usize != size_of::<T>() {
            return Err(Malformed::BadSize);
        }
        // SAFETY: not null and aligned, as `checked_len` saw; the caller promises the rest.
        Ok(unsafe { core::slice::from_raw_parts_mut(self.ptr.cast(), len) })
    }
}

/// The structs of an array, one by one.
#[derive(Clone, Debug)]
pub struct Structs<'a, T> {
    next: *const u8,
    left: usize,
    stride: usize,
    of: PhantomData<&'a T>,
}

impl<T: Plain> Iterator for Structs<'_, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.left = self.left.checked_sub(1)?;
        let mut value = MaybeUninit::<T>::zeroed();
        let len = self.stride.min(size_of::<T>());
        // SAFETY: `Array::structs` was promised elements of `stride` bytes during `'a`, and the value has the size of
        // `T`; `len` is within both.
        unsafe { core::ptr::copy_nonoverlapping(self.next, value.as_mut_ptr().cast::<u8>(), len) };
        self.next = self.next.wrapping_add(self.stride);
        // SAFETY: a `Plain` struct may be all zeros, and what was copied over them are its own members.
        Some(unsafe { value.assume_init() })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<T: Plain> ExactSizeIterator for Structs<'_, T> {}

/// Copies a struct that begins with its size: the part that both sides have; the rest is zero.
///
/// # Errors
/// When the pointer is null or misaligned, or the struct is shorter than in version 1.0.
///
/// # Safety
/// A pointer that is not null points to a struct that is as long as its first member says.
pub unsafe fn read_struct<T: Plain>(ptr: *const T) -> Result<T, Malformed> {
    checked_len(ptr.cast(), 1, align_of::<T>(), 1)?;
    // SAFETY: not null and aligned, as seen above; every such struct begins with its size.
    let size = unsafe { ptr.cast::<u32>().read() } as usize;
    if size < T::FIRST_SIZE {
        return Err(Malformed::BadSize);
    }
    let mut value = MaybeUninit::<T>::zeroed();
    let len = size.min(size_of::<T>());
    // SAFETY: the source has `size` bytes by the caller's promise, the target `size_of::<T>()`; `len` is within both.
    unsafe { core::ptr::copy_nonoverlapping(ptr.cast::<u8>(), value.as_mut_ptr().cast::<u8>(), len) };
    // SAFETY: a `Plain` struct may be all zeros, and what was copied over them are its own members.
    Ok(unsafe { value.assume_init() })
}

/// Copies as much of `table` into the host's struct as fits, and sets its size.
///
/// # Safety
/// `plugin_host` points to a struct that is as long as its first member says and that nobody else touches.
pub unsafe fn write_plugin(plugin_host: *mut PluginApi, table: &PluginApi) {
    // SAFETY: the caller promises a struct, which begins with its size.
    let room = unsafe { plugin_host.cast::<u32>().read() };
    let len = room.min(struct_size::<PluginApi>());
    // SAFETY: the target has `room` bytes by the caller's promise, the source its own size; `len` is within both.
    unsafe {
        core::ptr::copy_nonoverlapping(
            core::ptr::from_ref(table).cast::<u8>(),
            plugin_host.cast(),
            len as usize,
        );
    };
    // SAFETY: as the read above.
    unsafe { plugin_host.cast::<u32>().write(len) };
}

/// Writes as much of `message` as fits; ignores a null pointer.
///
/// # Safety
/// A pointer that is not null points to a `Text` whose `ptr` has room for `capacity` bytes; nobody else touches both.
pub unsafe fn write_text(text_host: *mut Text, message: &str) {
    // SAFETY: null becomes nothing; else the caller promises a struct of its own.
    let Some(text) = (unsafe { text_host.as_mut() }) else { return };
    if text.ptr.is_null() {
        return;
    }
    let mut len = message.len().min(usize::try_from(text.capacity).unwrap_or(usize::MAX));
    while !message.is_char_boundary(len) {
        len -= 1;
    }
    // SAFETY: `len` bytes are in `message` and, by the caller's promise, behind `ptr`.
    unsafe { core::ptr::copy_nonoverlapping(message.as_ptr(), text.ptr, len) };
    text.len = len as u64;
}

/// The size of `T` as the header's `uint32_t`.
#[must_use]
#[expect(clippy::cast_possible_truncation, reason = "structs of the header are far below 4 GiB")]
pub const fn struct_size<T>() -> u32 {
    size_of::<T>() as u32
}

/// Elements are never larger, in any version. A length times this stays within the address space.
const ELEMENT_BYTES_MAX: usize = 4096;

// SAFETY: the host's table is const and what it points to lives as long as the process.
unsafe impl Sync for HostApi {}
// SAFETY: as above.
unsafe impl Send for HostApi {}
// SAFETY: what a plugin's table points to lives as long as the process and does not change.
unsafe impl Sync for PluginApi {}
// SAFETY: as above.
unsafe impl Send for PluginApi {}

fn checked_len(ptr: *const c_void, len: u64, align: usize, len_max: usize) -> Result<usize, Malformed> {
    let len = usize::try_from(len).map_err(|_| Malformed::TooLong)?;
    if len > len_max {
        return Err(Malformed::TooLong);
    }
    if len > 0 && ptr.is_null() {
        return Err(Malformed::NullPointer);
    }
    if len > 0 && !ptr.addr().is_multiple_of(align) {
        return Err(Malformed::Misaligned);
    }
    Ok(len)
}
