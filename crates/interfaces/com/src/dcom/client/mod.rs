//! What a client works out between calls.

mod endpoints;
mod ping_set;

pub use self::endpoints::{ENDPOINTS_MAX, Endpoint, endpoints, resolver_endpoints};
pub use self::ping_set::{OIDS_PER_PING_MAX, Ping, PingSet};
