//! The memory behind the plugin's pointers.
#![expect(unsafe_code, reason = "lays rows out in memory at a distance of its own")]
// UNSAFETY: bytes of plain structs are copied into buffers that are larger than what is written.

use plugin_abi::raw::{Array, ArrayMut, Plain, Str, Verdict, struct_size};
use test_support::oracle::Input;

/// Memory of one call. INVARIANT: behind each returned pointer there are as many initialised bytes or rows as any
/// limit of the host allows it to read, whatever the length beside the pointer is.
#[derive(Default)]
pub(crate) struct Memory {
    texts: Vec<Box<[u8]>>,
    buffers: Vec<Box<[u64]>>,
}

/// More than any limit of a text.
const TEXT_ROOM_BYTES: usize = 128;
/// No version will make an element larger, and so nothing of that size is read.
const STRIDE_MAX: usize = 4_096;

impl Memory {
    /// A text: mostly a valid one, sometimes none, or one with a wrong length.
    pub(crate) fn text(&mut self, input: &mut Input<'_>) -> Str {
        let kind = input.byte();
        let wanted = usize::from(kind & 0x1f);
        match kind >> 5 {
            0 if wanted < 4 => Str { ptr: core::ptr::null(), len: u64::from(input.byte()) },
            1 if wanted < 8 => {
                let ptr = self.room(input.take(wanted));
                Str { ptr, len: lie(input) }
            }
            2 => Str {
                ptr: self.room(WORDS[wanted % WORDS.len()].as_bytes()),
                len: WORDS[wanted % WORDS.len()].len() as u64,
            },
            3 => self.exactly(input.take(2 * wanted)),
            _ => self.exactly(input.take(wanted)),
        }
    }

    fn exactly(&mut self, bytes: &[u8]) -> Str {
        Str { ptr: self.room(bytes), len: bytes.len() as u64 }
    }

    fn room(&mut self, bytes: &[u8]) -> *const u8 {
        let mut room = bytes.to_vec();
        room.resize(bytes.len() + TEXT_ROOM_BYTES, b'a');
        self.texts.push(room.into_boxed_slice());
        self.texts.last().map_or(core::ptr::null(), |room| room.as_ptr())
    }

    /// Structs of one call, of whatever version. `rows_max` is the host's limit; `filler` is what comes after the
    /// rows that were meant.
    pub(crate) fn structs<T: Plain>(
        &mut self,
        input: &mut Input<'_>,
        rows_max: u32,
        filler: T,
        mut make: impl FnMut(&mut Self, &mut Input<'_>) -> T,
    ) -> Array {
        let (own, first) = (size_of::<T>(), T::FIRST_SIZE);
        let stride = match input.byte() {
            0 => first - 8,
            1 => own + 4,
            2 => 0,
            3 => STRIDE_MAX + 8,
            4..=31 => first,
            32..=63 => own + 16,
            _ => own,
        };
        self.rows(input, rows_max, stride, filler, &mut make)
    }

    /// A column, or an array of structs that have no version.
    pub(crate) fn column<T: Plain>(
        &mut self,
        input: &mut Input<'_>,
        rows_max: u32,
        filler: T,
        mut make: impl FnMut(&mut Self, &mut Input<'_>) -> T,
    ) -> Array {
        let stride = match input.byte() {
            0 => 0,
            1 => 4_000,
            _ => size_of::<T>(),
        };
        self.rows(input, rows_max, stride, filler, &mut make)
    }

    fn rows<T: Plain>(
        &mut self,
        input: &mut Input<'_>,
        rows_max: u32,
        stride: usize,
        filler: T,
        make: &mut dyn FnMut(&mut Self, &mut Input<'_>) -> T,
    ) -> Array {
        let kind = input.byte();
        let count = usize::from(kind & 0xf) % (rows_max as usize + 1);
        let room = rows_max as usize + 1;
        let rows: Vec<T> =
            (0..room).map(|row| if row < count { make(self, input) } else { filler }).collect();
        let laid =
            if stride > STRIDE_MAX || stride < size_of::<T>().min(8) { size_of::<T>() } else { stride };
        // A row more, since the first may begin a byte later.
        let bytes = (room + 1) * laid.max(size_of::<T>());
        self.buffers.push(vec![0_u64; bytes.div_ceil(8)].into_boxed_slice());
        let start =
            self.buffers.last_mut().map_or(core::ptr::null_mut(), |buffer| buffer.as_mut_ptr()).cast::<u8>();
        for (index, row) in rows.iter().enumerate() {
            let to = start.wrapping_add(index * laid);
            // SAFETY: a plain struct is copied as bytes to a place below `room` rows of at least its size.
            unsafe {
                core::ptr::copy_nonoverlapping(core::ptr::from_ref(row).cast(), to, laid.min(size_of::<T>()));
            };
        }
        let (ptr, len) = match kind >> 4 {
            0 => (core::ptr::null(), lie(input)),
            1 => (start.wrapping_add(1).cast_const(), count as u64),
            2 => (start.cast_const(), lie(input)),
            _ => (start.cast_const(), count as u64),
        };
        let element_size = u32::try_from(stride).unwrap_or(u32::MAX);
        Array { ptr: ptr.cast(), len, element_size, reserved: 0 }
    }
}

/// A buffer for verdicts, filled with an invalid verdict.
pub(crate) struct Verdicts(Box<[Verdict]>);

impl Verdicts {
    /// Room for a row more than the host may write, since the first may begin later.
    pub(crate) fn new(rows_max: u32) -> Self {
        Self(vec![UNTOUCHED; rows_max as usize + 2].into_boxed_slice())
    }

    /// An array of them: mostly of `len` rows, sometimes with a wrong length.
    pub(crate) fn array(&mut self, input: &mut Input<'_>, len: u64) -> ArrayMut {
        let ptr = self.0.as_mut_ptr();
        let element_size = struct_size::<Verdict>();
        let (ptr, len, element_size) = match input.byte() {
            0 => (core::ptr::null_mut(), len, element_size),
            1 => (ptr.cast::<u8>().wrapping_add(1).cast(), len, element_size),
            2 => (ptr, lie(input), element_size),
            3 => (ptr, len, element_size + 8),
            _ => (ptr, len, element_size),
        };
        ArrayMut { ptr: ptr.cast(), len, element_size, reserved: 0 }
    }

    /// The first rows, and whether nothing was written after them.
    pub(crate) fn split(&self, rows: usize) -> (&[Verdict], bool) {
        let (written, rest) = self.0.split_at(rows);
        let is_untouched = |verdict: &Verdict| verdict.verdict == UNTOUCHED.verdict;
        (written, rest.iter().all(is_untouched))
    }
}

const UNTOUCHED: Verdict = Verdict { id: 0, verdict: u32::MAX };

pub(crate) fn lie(input: &mut Input<'_>) -> u64 {
    match input.byte() {
        0 => u64::MAX,
        1 => u64::from(u32::MAX),
        2 => 1 << 63,
        3 => u64::MAX / 24 + 1,
        other => other.into(),
    }
}

const WORDS: [&str; 8] = ["a", "Processor", "b", "x_1", "seconds", "alert.fired", "é", "%"];
