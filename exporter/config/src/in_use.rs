use std::sync::Arc;

use parking_lot::RwLock;

use super::document::Config;

/// The configuration in use, which changes with a reload. Readers get a consistent copy.
#[derive(Debug)]
pub struct InUse(RwLock<Arc<Config>>);

impl InUse {
    #[must_use]
    pub fn new(config: Arc<Config>) -> Self {
        Self(RwLock::new(config))
    }

    #[must_use]
    pub fn get(&self) -> Arc<Config> {
        Arc::clone(&self.0.read())
    }

    /// This one from now on.
    pub fn set(&self, config: Arc<Config>) {
        *self.0.write() = config;
    }
}
