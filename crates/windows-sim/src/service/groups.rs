use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use dcerpc::server::AssociationGroups;

use super::pcq::PerflibService;
use super::winreg::RegistryService;
use crate::model::ValueSource;

/// What the associations of one group share: their queries and open keys. They end with the last association.
pub(crate) struct GroupServices {
    pub(crate) perflib: PerflibService,
    pub(crate) registry: RegistryService,
}

/// The association groups of a host's pipe.
#[derive(Default)]
pub(crate) struct Groups {
    /// The association groups and their members. All clients count as one machine.
    pub(crate) associations: AssociationGroups,
    services: Mutex<BTreeMap<u32, Weak<Mutex<GroupServices>>>>,
}

impl Groups {
    /// The services of a group, for an association that is in it.
    pub(crate) fn services(&self, id: u32, source: &Arc<dyn ValueSource>) -> Arc<Mutex<GroupServices>> {
        let mut services = lock(&self.services);
        if let Some(live) = services.get(&id).and_then(Weak::upgrade) {
            return live;
        }
        services.retain(|_, group| group.strong_count() > 0);
        let new = Arc::new(Mutex::new(GroupServices {
            perflib: PerflibService::new(Arc::clone(source)),
            registry: RegistryService::new(Arc::clone(source)),
        }));
        services.insert(id, Arc::downgrade(&new));
        new
    }
}

/// A service that panicked in one call still answers the others.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
