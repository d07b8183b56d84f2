//! The object resolver of a host [MS-DCOM] 3.1.2: `IObjectExporter`, which finds programs with objects and takes pings, and
//! `IRemoteSCMActivator`, which makes objects.

mod activator;
mod exporter;
mod ping_sets;

use std::sync::Arc;

use super::Service;
use super::objects::ObjectTable;

pub use self::ping_sets::SETS_MAX;

/// The interfaces of the resolver of this program: one service each.
pub(super) fn services(objects: &Arc<ObjectTable>) -> Vec<Arc<dyn Service>> {
    vec![
        Arc::new(exporter::Resolver::new(Arc::clone(objects))),
        Arc::new(activator::Activator::new(Arc::clone(objects))),
    ]
}
