use std::sync::Arc;

use crate::encode::Templates;
use parking_lot::Mutex;
use support::http_client::Clock;

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
