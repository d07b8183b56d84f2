use std::sync::{Arc, Mutex};

use super::clock::Clock;
use super::queue::Supply;
use crate::otlp::encode::Templates;

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
