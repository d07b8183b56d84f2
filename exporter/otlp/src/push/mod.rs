//! Sending what [`encode`](crate::encode) makes to collectors.
//!
//! Each endpoint has two tasks and shares nothing with the others but the rendered labels. The first takes, at each
//! interval, the snapshots that are new and puts them into the endpoint's queue as one *round*. The second takes
//! the oldest round, encodes it request by request against what the collector took last, and sends each request
//! until it is taken or refused for good.
//!
//! What waits is snapshots, not bytes. That is why nothing gets lost that matters while a collector is away:
//!
//! - where the queue is full the oldest waiting round goes, and is counted; whatever in it no later round replaces
//!   moves on to the next. Counters are cumulative, so their growth is in the next round;
//! - a delta, and what vanished, is worked out when a round is sent, against what was taken last. The round that is
//!   being sent stays until it is decided, so that no growth is sent twice or left out;
//! - "too large" means writing the same part of the round again in smaller requests.
//!
//! Log records and spans happen once. They wait as bytes in [`Records`], a queue for each endpoint and kind; where that
//! is full the oldest goes, and is counted. Spans do not go through the OpenTelemetry SDK: it has one resource for all
//! of them where each of ours belongs to a target, drops what its queue has no room for without a count that pages
//! could show, and would bring a second gRPC client beside the one that the endpoint's metrics go through, with its
//! renewed secrets and certificates. What is left of it, the encoding, takes less than the adaptor would.
//!
//! [`Supply`] is where rounds come from, [`support::http_client::Connector`] how collectors are reached, [`Counts`] what
//! `perfmon_exporter_otlp_…` shows. [`Pusher::start`] runs all endpoints of a configuration.

mod body;
mod counts;
mod endpoint;
mod event_router;
mod fill;
mod head;
mod metrics;
mod options;
mod own;
#[doc(hidden)]
pub mod parsers;
mod proto;
mod pusher;
mod queue;
mod records;
mod reply;
mod sender;
mod shared;
mod signal;
mod size;
mod traces;

pub use self::counts::{AllCounts, Counts, Loss, SignalCounts};
pub use self::endpoint::Endpoint;
pub use self::event_router::{Ended, EventRouter};
pub use self::metrics::{METRICS, OtlpMetrics};
pub use self::options::{Compression, OtlpEndpoint, OtlpProtocol};
pub use self::own::{Figure, OwnTelemetry};
pub use self::pusher::Pusher;
pub use self::queue::{Item, Queue, Supply};
pub use self::records::{About, Records};
pub use self::reply::Verdict;
pub use self::shared::Shared;
pub use self::signal::Signal;
pub use self::traces::Traces;
