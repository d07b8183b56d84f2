use std::sync::Arc;

use http_client::Clock;
use otlp_encode::Templates;
use parking_lot::Mutex;

use super::queue::Supply;

/// What the endpoints have in common.
#[derive(Clone)]
pub struct Shared {
    /// Where rounds come from.
    pub supply: Arc<dyn Supply>,
    /// When.
    pub clock: Arc<dyn Clock>,
    /// Labels, rendered.
    pub templates: Arc<Mutex<Templates>>,
}
