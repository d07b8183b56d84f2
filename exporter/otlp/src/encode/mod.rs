//! Snapshots as OTLP requests. It only makes bytes: no sockets, no clocks, no tasks.
//!
//! A [`Part`] is what one plugin instance knew of one target after a collection. [`Requests`] walks over parts and
//! writes `ExportMetricsServiceRequest` messages (opentelemetry-proto, package
//! `opentelemetry.proto.collector.metrics.v1`) of at most so many bytes, each complete in itself:
//!
//! | in the model | in OTLP |
//! | --- | --- |
//! | target | a `Resource`: `service.name`, `service.instance.id`, `host.name`, `os.type` and `os.version` once it said them, its labels |
//! | plugin | a scope |
//! | family | a `Metric` under the family's name without the suffix of its kind, its unit as UCUM has it |
//! | counter | a monotonic sum, cumulative or delta |
//! | gauge, unknown | a gauge |
//! | info | a gauge that is 1, under the name with `_info` |
//! | histogram | a histogram with explicit bounds, cumulative or delta; without a sum where observations may be negative |
//!
//! An event is a `LogRecord`, a collection a `Span` with one for each of its stages: [`Record`], made when it happens.
//!
//! **Start times.** A cumulative sum or histogram says when it began where that is known. Where it is not, the field is 0,
//! which the protocol defines as "unknown"; a guess would turn into a wrong rate at the reader, who sees a restart
//! by the value that falls. A delta's start is the time of what it is compared with. Where the start is another one than
//! then, the growth is counted from there if that was since the last export; else, and where the value fell, there is no
//! point, since nobody knows the growth.
//!
//! **What vanished** since the part before is sent once more with the flag "no recorded value"; not so the
//! sums of delta endpoints, where silence says as much.
//!
//! **Speed.** Labels come from [`Templates`]: a point's bytes, made when the series is new, in which only times
//! and value change. A chunk of series is copied as a whole and then filled in.
//!
//! ```
//! # use std::sync::Arc;
//! use series::model::{Snapshot, Target};
//! use otlp::encode::{Facts, Part, Requests, Resource, Scope, Templates, Temporality};
//!
//! let target = Arc::new(Target::new("web1"));
//! let part = Part {
//!     resource: Arc::new(Resource::of(&target, &Facts { host: "web1.example.com", ..Facts::default() })),
//!     scope: Arc::new(Scope::new("pcq", "1.0")),
//!     snapshot: Arc::new(Snapshot::empty(target)),
//!     time_unix_nanos: 1_750_000_000_000_000_000,
//!     earlier: None,
//! };
//! let (mut templates, mut body) = (Templates::default(), Vec::new());
//! let mut requests = Requests::new(vec![part], Temporality::Cumulative);
//! while let Some(request) = requests.next_request(&mut templates, 3 << 20, &mut body) {
//!     println!("{} points in {} bytes", request.points, body.len());
//! }
//! ```
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

mod change;
mod logs;
mod nest;
mod part;
mod records;
mod requests;
mod resource;
mod run;
mod spans;
mod templates;
mod unit;
mod value;
mod wire;
mod writing;

pub use self::part::{Earlier, Part, Temporality};
pub use self::records::{Record, put_records};
pub use self::requests::{Request, Requests};
pub use self::resource::{Facts, Resource, Scope};
pub use self::spans::{Collected, SpanIds, Trigger, spans};
pub use self::templates::Templates;
