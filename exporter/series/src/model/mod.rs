//! The vocabulary between a plugin's data and what is served: families, series, points, snapshots.
//!
//! A [`Snapshot`] is what one plugin instance knew of one target when its last collection ended. It is immutable
//! and cheap to share: readers hold an `Arc` and walk it without a lock. Inside it is columnar:
//!
//! * a [`Layout`] says which series there are, family by family, each with its rendered prefix `name{labels} `;
//!   it changes only when series come or go;
//! * [`Values`] hold one value, or one histogram, for each series id and whether the last collection brought one.
//!
//! [`Snapshot::families`] walks both for readers that are not in a hurry; encoders of pages go through the
//! chunks themselves.

mod cooked;
mod factor;
mod family;
mod histogram;
mod labels;
mod layout;
mod name;
mod shape;
mod snapshot;
mod target;
mod unlabelled;
mod values;

pub use plugin_abi::{DisplayRule, Kind, ValueKind};

pub use self::cooked::{Sample, Shown, ShownUnit, cooked, needs_earlier};
pub use self::factor::Factor;
pub use self::family::{Family, OtlpAttribute, OtlpNames};
pub use self::histogram::{Bounds, Bucket, Histogram, HistogramPoint, NativeBuckets, NativeHistogram};
pub(crate) use self::labels::shown_bytes;
pub use self::labels::{Labels, escape_label_value, escaped_label_value, push_metric_name, push_prefix};
pub use self::layout::{Block, Chunk, Layout};
pub use self::name::{Escaping, clean_name, is_legacy_label, is_legacy_name};
pub use self::shape::Shape;
pub(crate) use self::snapshot::Size;
pub use self::snapshot::{FamilyPoints, Point, Snapshot};
pub use self::target::Target;
pub(crate) use self::values::{Roster, Slots};
pub use self::values::{Scattered, Value, Values};
