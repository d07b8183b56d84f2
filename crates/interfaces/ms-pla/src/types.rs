//! [MS-PLA] 2.2.2: enumerations, and short names for parameters.

use core::fmt;

use com::oaut::{Bstr, Value, Variant};
use rpc::ndr::{Enum, InterfacePointer, NdrDecode, NdrEncode, Reader, Writer};
use wire::{EncodeResult, HResult};

/// A reference to an object, or none.
pub type Object<'stub> = Option<Box<InterfacePointer<'stub>>>;

/// A VARIANT that is a parameter.
pub type AnyVariant<'stub> = Option<Box<Variant<'stub>>>;

/// The password of an account, which is never printed.
#[derive(Clone, PartialEq, Eq, Default, NdrEncode, NdrDecode)]
pub struct Password(pub Bstr);

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// Enumerations, which are in a stub as [`rpc::ndr::Enum`].
macro_rules! enumerations {
    ($($(#[$meta:meta])* pub struct $name:ident { $($body:tt)* })*) => {$(
        wire::open_enum! {
            $(#[$meta])*
            pub struct $name(u16) { $($body)* }
        }

        impl<'stub> NdrDecode<'stub> for $name {
            type Inline = Self;
            const ALIGNMENT: usize = <Enum as NdrDecode<'stub>>::ALIGNMENT;
            const INLINE_SIZE_MIN: usize = <Enum as NdrDecode<'stub>>::INLINE_SIZE_MIN;

            fn decode_inline(src: &mut Reader<'stub>) -> rpc::ndr::Result<Self> {
                Enum::decode_inline(src).map(|value| Self(value.0))
            }

            fn decode_deferred(inline: Self, _src: &mut Reader<'stub>) -> rpc::ndr::Result<Self> {
                Ok(inline)
            }
        }

        impl NdrEncode for $name {
            type Deferred = ();
            const ALIGNMENT: usize = <Enum as NdrEncode>::ALIGNMENT;

            fn encode_inline(&self, dst: &mut Writer) -> EncodeResult<()> {
                Enum(self.0).encode_inline(dst)
            }

            fn encode_deferred(&self, (): (), _dst: &mut Writer) -> EncodeResult<()> {
                Ok(())
            }
        }
    )*};
}

/// Enumerations whose values are bits.
macro_rules! bits {
    ($($name:ident)*) => {$(
        impl $name {
            /// Whether all bits of `other` are set.
            #[must_use]
            pub const fn contains(self, other: Self) -> bool {
                self.0 & other.0 == other.0
            }
        }

        impl core::ops::BitOr for $name {
            type Output = Self;

            fn bitor(self, other: Self) -> Self {
                Self(self.0 | other.0)
            }
        }
    )*};
}

bits!(AutoPathFormat CommitMode DataManagerSteps FolderActionSteps StreamMode WeekDays);

enumerations! {
    /// [MS-PLA] 2.2.2.1 `AutoPathFormat`: what is added to the name of a file or folder; bits.
    pub struct AutoPathFormat {
        NONE = 0x0000,
        /// plaPattern: what the pattern says.
        PATTERN = 0x0001,
        /// plaComputer: before the name, that of the host.
        COMPUTER = 0x0002,
        MONTH_DAY_HOUR = 0x0100,
        SERIAL_NUMBER = 0x0200,
        YEAR_DAY_OF_YEAR = 0x0400,
        YEAR_MONTH = 0x0800,
        YEAR_MONTH_DAY = 0x1000,
        YEAR_MONTH_DAY_HOUR = 0x2000,
        MONTH_DAY_HOUR_MINUTE = 0x4000,
    }

    /// [MS-PLA] 2.2.2.2 `ClockType`: the clock of a trace.
    pub struct ClockType {
        TIME_STAMP = 0,
        /// plaPerformance: the performance counter, 100 ns.
        PERFORMANCE = 1,
        /// plaSystem: the system's time, 10 ms.
        SYSTEM = 2,
        /// plaCycle: the processor's cycles.
        CYCLE = 3,
    }

    /// [MS-PLA] 2.2.2.3 `CommitMode`: what a commit does; bits.
    pub struct CommitMode {
        /// plaCreateNew: stores a set that is not yet there.
        CREATE_NEW = 0x0001,
        /// plaModify: stores a set that is there.
        MODIFY = 0x0002,
        /// plaCreateOrModify: stores a set.
        CREATE_OR_MODIFY = 0x0003,
        /// plaUpdateRunningInstance: changes the set that runs.
        UPDATE_RUNNING_INSTANCE = 0x0010,
        /// plaFlushTrace: writes the buffers of its traces.
        FLUSH_TRACE = 0x0020,
        /// plaValidateOnly: checks the set.
        VALIDATE_ONLY = 0x1000,
    }

    /// [MS-PLA] 2.2.2.4 `DataCollectorSetStatus`: whether a set runs.
    pub struct DataCollectorSetStatus {
        STOPPED = 0,
        RUNNING = 1,
        /// plaCompiling: its data manager is at work.
        COMPILING = 2,
        /// plaPending, which is not used.
        PENDING = 3,
        /// plaUndefined: cannot be known, such as that of sessions at boot.
        UNDEFINED = 4,
    }

    /// [MS-PLA] 2.2.2.5 `DataCollectorType`: the kind of a collector.
    pub struct DataCollectorType {
        PERFORMANCE_COUNTER = 0,
        TRACE = 1,
        CONFIGURATION = 2,
        ALERT = 3,
        API_TRACE = 4,
    }

    /// [MS-PLA] 2.2.2.6 `DataManagerSteps`: what a data manager does; bits.
    pub struct DataManagerSteps {
        CREATE_REPORT = 0x01,
        /// plaRunRules: applies the rules to the report.
        RUN_RULES = 0x02,
        /// plaCreateHtml: makes HTML of the report.
        CREATE_HTML = 0x04,
        FOLDER_ACTIONS = 0x08,
        /// plaResourceFreeing: deletes folders if a limit is exceeded.
        RESOURCE_FREEING = 0x10,
    }

    /// [MS-PLA] 2.2.2.7 `FileFormat`: the format of a file with counters.
    pub struct FileFormat {
        COMMA_SEPARATED = 0,
        TAB_SEPARATED = 1,
        /// plaSql: tables of a database.
        SQL = 2,
        BINARY = 3,
    }

    /// [MS-PLA] 2.2.2.8 `FolderActionSteps`: what is done with a folder; bits.
    pub struct FolderActionSteps {
        CREATE_CAB = 0x01,
        /// plaDeleteData: all files but the report and the cabinet file.
        DELETE_DATA = 0x02,
        SEND_CAB = 0x04,
        DELETE_CAB = 0x08,
        DELETE_REPORT = 0x10,
    }

    /// [MS-PLA] 2.2.2.9 `ResourcePolicy`: which folders are deleted first.
    pub struct ResourcePolicy {
        DELETE_LARGEST = 0,
        DELETE_OLDEST = 1,
    }

    /// [MS-PLA] 2.2.2.10 `StreamMode`: where the events of a trace go; bits.
    pub struct StreamMode {
        FILE = 0x0001,
        REAL_TIME = 0x0002,
        BOTH = 0x0003,
        /// plaBuffering: into a ring of buffers in memory.
        BUFFERING = 0x0004,
    }

    /// [MS-PLA] 2.2.2.11 `ValueMapType`: how the value of a map follows from its items: [`crate::ValueMap::value`].
    pub struct ValueMapType {
        /// plaIndex: it is one of them.
        INDEX = 1,
        /// plaFlag: bits of all that are enabled.
        FLAG = 2,
        /// plaFlagArray: each that is enabled.
        FLAG_ARRAY = 3,
        /// plaValidation: the results of properties.
        VALIDATION = 4,
    }

    /// [MS-PLA] 2.2.2.12 `WeekDays`: days of a schedule; bits.
    pub struct WeekDays {
        /// plaRunOnce: the first day alone.
        RUN_ONCE = 0x00,
        SUNDAY = 0x01,
        MONDAY = 0x02,
        TUESDAY = 0x04,
        WEDNESDAY = 0x08,
        THURSDAY = 0x10,
        FRIDAY = 0x20,
        SATURDAY = 0x40,
        EVERYDAY = 0x7f,
    }
}

/// [MS-PLA] 3.2.4.18: the contents of an [`IValueMap`](crate::IValueMap).
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ValueMap {
    /// How the value follows from the items.
    pub kind: ValueMapType,
    /// The items, in order.
    pub items: Vec<ValueMapItem>,
}

/// [MS-PLA] 3.2.4.17: the contents of an [`IValueMapItem`](crate::IValueMapItem).
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ValueMapItem {
    /// The name. In a validation it is the property, as a path.
    pub key: String,
    pub description: String,
    /// Whether it is chosen.
    pub is_enabled: bool,
    /// The value. In a validation it is the result. A negative number is its two's complement.
    pub value: u64,
}

/// What the items of a map are together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChosenValue {
    /// No item is enabled, or the map has no kind.
    None,
    /// The first enabled one.
    One(u64),
    /// The bits of all enabled ones.
    Flags(u64),
    /// The enabled ones. Each has 32 bits.
    Each(Vec<u32>),
    /// The properties that are ignored or wrong.
    Results(Vec<(String, HResult)>),
}

impl ValueMap {
    /// [MS-PLA] 2.2.2.11: the value that follows from the items.
    #[must_use]
    pub fn value(&self) -> ChosenValue {
        let mut enabled = self.items.iter().filter(|item| item.is_enabled);
        match self.kind {
            ValueMapType::INDEX => {
                enabled.next().map_or(ChosenValue::None, |item| ChosenValue::One(item.value))
            }
            ValueMapType::FLAG => ChosenValue::Flags(enabled.fold(0, |flags, item| flags | item.value)),
            ValueMapType::FLAG_ARRAY => ChosenValue::Each(enabled.map(ValueMapItem::low).collect()),
            ValueMapType::VALIDATION => ChosenValue::Results(
                self.items.iter().map(|item| (item.key.clone(), HResult(item.low()))).collect(),
            ),
            _ => ChosenValue::None,
        }
    }

    /// [MS-PLA] 3.2.4.18.10: adds what is added as a text: a number becomes an item, any other text enables the item whose
    /// key it is. Whether that is so.
    pub fn add_text(&mut self, text: &str) -> bool {
        if let Some(value) = parse_number(text) {
            self.items.push(ValueMapItem { value, is_enabled: true, ..ValueMapItem::default() });
            return true;
        }
        let item = self.items.iter_mut().find(|item| item.key == text);
        item.map(|item| item.is_enabled = true).is_some()
    }
}

impl ValueMapItem {
    fn low(&self) -> u32 {
        let [a, b, c, d, ..] = self.value.to_le_bytes();
        u32::from_le_bytes([a, b, c, d])
    }
}

/// The number in a VARIANT of a map or item: an integer of any size, a result, or a text that is a number.
#[must_use]
pub fn number_of(value: &Value<'_>) -> Option<u64> {
    match *value {
        Value::I1(number) => Some(i64::from(number).cast_unsigned()),
        Value::I2(number) => Some(i64::from(number).cast_unsigned()),
        Value::I4(number) | Value::Int(number) => Some(i64::from(number).cast_unsigned()),
        Value::I8(number) => Some(number.cast_unsigned()),
        Value::Ui1(number) => Some(number.into()),
        Value::Ui2(number) => Some(number.into()),
        Value::Ui4(number) | Value::Uint(number) => Some(number.into()),
        Value::Ui8(number) => Some(number),
        Value::Error(result) => Some(result.0.into()),
        Value::Bstr(ref text) => parse_number(&text.text().ok()??),
        _ => None,
    }
}

/// [MS-PLA] 3.2.4.18.10: a number as a text: perhaps `-`, perhaps `0x`, digits.
pub(crate) fn parse_number(text: &str) -> Option<u64> {
    let (is_negative, digits) = text.strip_prefix('-').map_or((false, text), |digits| (true, digits));
    let hexadecimal = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X"));
    let (digits, radix) = hexadecimal.map_or((digits, 10), |digits| (digits, 16));
    // `from_str_radix` would take a sign of its own.
    if !digits.starts_with(|first: char| first.is_digit(radix)) {
        return None;
    }
    let number = u64::from_str_radix(digits, radix).ok()?;
    let is_in_range = !is_negative || number <= i64::MIN.unsigned_abs();
    is_in_range.then(|| if is_negative { number.wrapping_neg() } else { number })
}
