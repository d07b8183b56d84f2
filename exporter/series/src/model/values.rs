//! One value for each series id.

mod histograms;

use plugin_abi::ValueKind;

use self::histograms::Slot;
pub(crate) use self::histograms::Slots;
use super::Factor;

/// A value, exactly as it was sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    F64(f64),
    U64(u64),
    I64(i64),
}

impl Value {
    /// Whether a counter may have this value: OpenMetrics allows neither NaN nor what is negative.
    #[must_use]
    pub fn is_count(self) -> bool {
        match self {
            Self::F64(value) => value >= 0.0,
            Self::U64(_) => true,
            Self::I64(value) => value >= 0,
        }
    }

    /// The value as a double. Integers beyond 2⁵³ are rounded.
    #[expect(clippy::cast_precision_loss, reason = "whoever asks for a double gets its precision")]
    #[inline]
    #[must_use]
    pub const fn as_f64(self) -> f64 {
        match self {
            Self::F64(value) => value,
            Self::U64(value) => value as f64,
            Self::I64(value) => value as f64,
        }
    }
}

/// The outcome of a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scattered {
    pub stored: u64,
    /// Of a series that does not live.
    pub retired: u64,
    /// Of a series with another value kind.
    pub wrong_kind: u64,
}

/// Which series live, by series id, and since when they count.
#[derive(Clone, Debug, Default)]
pub(crate) struct Roster {
    /// [`RETIRED`] or the tag of a kind.
    states: Vec<u8>,
    /// When each series began to count, in Unix nanoseconds; 0 is "not known". Empty when none is known.
    starts: Vec<i64>,
    /// Where the counts of each series stand that is a histogram. Empty when none is.
    slots: Vec<Slot>,
    /// How much room all counts and sums take.
    cells: usize,
}

impl Roster {
    pub(crate) fn admit(&mut self, id: u32, kind: ValueKind, start_time_unix_nanos: Option<i64>) {
        let index = id as usize;
        if index >= self.states.len() {
            self.states.resize(index + 1, RETIRED);
        }
        self.states[index] = tag(kind);
        self.set_start(id, start_time_unix_nanos.unwrap_or(0));
    }

    /// Ends a series; whether it lived.
    pub(crate) fn retire(&mut self, id: u32) -> bool {
        let state = self.states.get_mut(id as usize);
        state.is_some_and(|state| std::mem::replace(state, RETIRED) != RETIRED)
    }

    /// Whether the series lives.
    pub(crate) fn lives(&self, id: u32) -> bool {
        self.states.get(id as usize).is_some_and(|&state| state != RETIRED)
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        self.states.capacity()
            + self.starts.capacity() * size_of::<i64>()
            + self.slots.capacity() * size_of::<Slot>()
    }

    /// Gives back what growing vectors hold in reserve.
    pub(crate) fn shrink(&mut self) {
        self.states.shrink_to_fit();
        self.starts.shrink_to_fit();
        self.slots.shrink_to_fit();
    }

    /// Becomes the same as another, in the room that is there.
    fn copy_from(&mut self, other: &Self) {
        self.states.clone_from(&other.states);
        self.starts.clone_from(&other.starts);
        self.slots.clone_from(&other.slots);
        self.cells = other.cells;
    }

    /// Takes over the start times of values that began as this roster, to which the same series came.
    pub(crate) fn keep_start_times(&mut self, values: &Values) {
        self.starts.clone_from(&values.roster.starts);
    }

    #[inline]
    fn start(&self, id: u32) -> i64 {
        self.starts.get(id as usize).copied().unwrap_or(0)
    }

    fn set_start(&mut self, id: u32, start_time_unix_nanos: i64) {
        let index = id as usize;
        if start_time_unix_nanos != 0 && index >= self.starts.len() {
            self.starts.resize(self.states.len().max(index + 1), 0);
        }
        if let Some(start) = self.starts.get_mut(index) {
            *start = start_time_unix_nanos;
        }
    }
}

/// The values of all series of one store, by series id.
#[derive(Clone, Debug, Default)]
pub struct Values {
    /// INVARIANT: as long as the states of `roster`.
    bits: Vec<u64>,
    /// INVARIANT: as long as `cells` of `roster` says. The counts of a histogram, and after them its sum; how many
    /// observations it has is in `bits`.
    cells: Vec<u64>,
    /// The series as they are now; here a state may also be [`PRESENT`].
    roster: Roster,
}

const RETIRED: u8 = 0;
const PRESENT: u8 = 0x80;
const PRESENT_F64: u8 = PRESENT | tag(ValueKind::F64);
const PRESENT_U64: u8 = PRESENT | tag(ValueKind::U64);
const PRESENT_I64: u8 = PRESENT | tag(ValueKind::I64);

const fn tag(kind: ValueKind) -> u8 {
    match kind {
        ValueKind::F64 => 1,
        ValueKind::U64 => 2,
        ValueKind::I64 => 3,
        ValueKind::Histogram => 4,
    }
}

impl Values {
    /// The highest series id plus one.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bits.len()
    }

    /// Whether there is no series at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bits.is_empty()
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        (self.bits.capacity() + self.cells.capacity()) * size_of::<u64>() + self.roster.heap_bytes()
    }

    /// The value of a series, if the collection brought one. Histograms have none: see [`Values::histogram`].
    #[inline]
    #[must_use]
    pub fn value(&self, id: u32) -> Option<Value> {
        let index = id as usize;
        let (&state, &bits) = (self.roster.states.get(index)?, self.bits.get(index)?);
        match state {
            PRESENT_F64 => Some(Value::F64(f64::from_bits(bits))),
            PRESENT_U64 => Some(Value::U64(bits)),
            PRESENT_I64 => Some(Value::I64(bits.cast_signed())),
            _ => None,
        }
    }

    /// Takes away those values of counters that no counter can have. Answers how many are left, and how many were taken
    /// away.
    pub(crate) fn keep_counts(&mut self, ids: &[u32]) -> (usize, u64) {
        let (mut kept, mut removed) = (0, 0);
        for &id in ids {
            match self.value(id) {
                Some(value) if value.is_count() => kept += 1,
                Some(_) => {
                    self.clear(id);
                    removed += 1;
                }
                None => {}
            }
        }
        (kept, removed)
    }

    /// Multiplies the values of these series. Integers become doubles where the product is none, or does not fit.
    pub(crate) fn multiply(&mut self, ids: &[u32], factor: Factor) {
        for &id in ids {
            let Some(value) = self.value(id) else { continue };
            let index = id as usize;
            let whole = if let Value::U64(value) = value { factor.of_integer(value) } else { None };
            if let Some(product) = whole {
                self.bits[index] = product;
            } else {
                self.bits[index] = factor.of(value.as_f64()).to_bits();
                self.roster.states[index] = PRESENT_F64;
            }
        }
    }

    /// Whether the collection brought a value, or a histogram.
    #[inline]
    #[must_use]
    pub fn has_value(&self, id: u32) -> bool {
        self.roster.states.get(id as usize).is_some_and(|&state| state & PRESENT != 0)
    }

    /// Whether the same ids have a value here and there.
    #[must_use]
    pub fn has_same_ids(&self, other: &Self) -> bool {
        self.roster.states == other.roster.states
    }

    /// Whether any series has, or had, a known start time.
    #[must_use]
    pub fn has_start_times(&self) -> bool {
        !self.roster.starts.is_empty()
    }

    /// When the series began to count, in Unix nanoseconds, where that is known.
    #[inline]
    #[must_use]
    pub fn start_time_unix_nanos(&self, id: u32) -> Option<i64> {
        Some(self.roster.start(id)).filter(|&start| start != 0)
    }

    /// Makes these the values of a collection that begins: the series of `roster`, none with a value.
    pub(crate) fn begin(&mut self, roster: &Roster) {
        self.roster.copy_from(roster);
        self.bits.resize(roster.states.len(), 0);
        self.cells.resize(roster.cells, 0);
    }

    /// Becomes the same as another, in the room that is there.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.bits.clone_from(&other.bits);
        self.cells.clone_from(&other.cells);
        self.roster.copy_from(&other.roster);
    }

    /// Makes room for a series that begins to live. It has no value yet.
    pub(crate) fn admit(&mut self, id: u32, kind: ValueKind, start_time_unix_nanos: Option<i64>) {
        self.roster.admit(id, kind, start_time_unix_nanos);
        self.bits.resize(self.roster.states.len(), 0);
    }

    pub(crate) fn retire(&mut self, id: u32) {
        self.roster.retire(id);
    }

    /// Takes a value away.
    pub(crate) fn clear(&mut self, id: u32) {
        if let Some(state) = self.roster.states.get_mut(id as usize) {
            *state &= !PRESENT;
        }
    }

    /// Takes over the value of a series that this collection did not bring.
    pub(crate) fn inherit(&mut self, id: u32, from: &Self) {
        let index = id as usize;
        let (Some(state), Some(&old)) = (self.roster.states.get_mut(index), from.roster.states.get(index))
        else {
            return;
        };
        // A multiplied value may have become a double.
        if *state & PRESENT == 0 && (old == *state | PRESENT || (*state != RETIRED && old == PRESENT_F64)) {
            *state = old;
            self.bits[index] = from.bits[index];
            self.inherit_cells(id, from);
            self.roster.set_start(id, from.roster.start(id));
        }
    }

    /// Stores doubles by id.
    pub(crate) fn scatter_f64(&mut self, ids: &[u32], values: &[f64]) -> Scattered {
        self.scatter(ids, values, ValueKind::F64, f64::to_bits)
    }

    /// Stores unsigned integers by id.
    pub(crate) fn scatter_u64(&mut self, ids: &[u32], values: &[u64]) -> Scattered {
        self.scatter(ids, values, ValueKind::U64, |value| value)
    }

    /// Stores signed integers by id.
    pub(crate) fn scatter_i64(&mut self, ids: &[u32], values: &[i64]) -> Scattered {
        self.scatter(ids, values, ValueKind::I64, i64::cast_unsigned)
    }

    /// Stores start times by id, where they are known.
    pub(crate) fn scatter_starts(&mut self, ids: &[u32], start_times: &[i64]) {
        for (&id, &start) in ids.iter().zip(start_times) {
            if start != 0 && self.roster.lives(id) {
                self.roster.set_start(id, start);
            }
        }
    }

    /// One pass: a byte says whether the series lives and is of this kind, and takes the mark of presence.
    ///
    /// The order of things is measured: by shuffled ids a third of the time goes when the state is compared with
    /// both that will do, instead of masked, and when the value is written before the mark; a fifth of the rest goes when
    /// the places of 64 rows are fetched at once (256: a seventh).
    // Inlined into its callers, the loop is a tenth slower by ascending ids.
    #[inline(never)]
    fn scatter<T: Copy>(
        &mut self,
        ids: &[u32],
        values: &[T],
        kind: ValueKind,
        to_bits: impl Fn(T) -> u64,
    ) -> Scattered {
        let fresh = tag(kind);
        let present = fresh | PRESENT;
        let known = self.bits.len().min(self.roster.states.len());
        let (all_bits, states) = (&mut self.bits[..known], &mut self.roster.states[..known]);
        let mut outcome = Scattered::default();
        for (ids, values) in ids.chunks(AHEAD).zip(values.chunks(AHEAD)) {
            fetch(all_bits, ids);
            for (&id, &value) in ids.iter().zip(values) {
                let index = id as usize;
                if index < known && (states[index] == fresh || states[index] == present) {
                    all_bits[index] = to_bits(value);
                    states[index] = present;
                } else if index < known && states[index] != RETIRED {
                    outcome.wrong_kind += 1;
                } else {
                    outcome.retired += 1;
                }
            }
        }
        outcome.stored = ids.len().min(values.len()) as u64 - outcome.retired - outcome.wrong_kind;
        outcome
    }
}

/// Rows that are prefetched at a time.
const AHEAD: usize = 64;

/// Has the processor fetch what is about to be written, all of it at once: it waits for one store after the other, and
/// for many loads together. Neighbours come by themselves.
fn fetch(all_bits: &[u64], ids: &[u32]) {
    let (Some(&first), Some(&last)) = (ids.first(), ids.last()) else { return };
    if last.wrapping_sub(first) as usize >= AHEAD {
        let at = |&id: &u32| all_bits.get(id as usize).copied().unwrap_or(0);
        std::hint::black_box(ids.iter().map(at).fold(0, std::ops::BitXor::bitxor));
    }
}
