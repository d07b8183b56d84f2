//! The classes of a host's data collector sets, and the interfaces that are called.

use com::dcom::activator::IRemoteSCMActivator;
use com::dcom::remote_unknown::{IRemUnknown, IRemUnknown2};
use com::dcom::resolver::IObjectExporter;
use host_session::SessionError;
use ms_pla::{Category, IDataCollectorSet, IDataCollectorSetCollection};
use plugin_sdk::DeclaredReason;
use plugin_session::{Explanation, InterfaceNames, ObjectService, ObjectStep};
use rpc::orpc::ObjectInterface as _;

use crate::reasons::{REASONS, explain};

/// All sets of a category.
pub(crate) const fn collection_service(category: Category) -> ObjectService {
    ObjectService {
        class: category.collection_class(),
        interfaces: &[IDataCollectorSetCollection::IID],
        names: NAMES,
        reasons: &REASONS,
        explain,
    }
}

/// One set of a category, with what failures of its calls mean.
pub(crate) const fn set_service(
    category: Category,
    reasons: &'static [DeclaredReason],
    explain: fn(&SessionError, ObjectStep) -> Option<Explanation>,
) -> ObjectService {
    ObjectService {
        class: category.set_class(),
        interfaces: &[IDataCollectorSet::IID],
        names: NAMES,
        reasons,
        explain,
    }
}

const NAMES: &[InterfaceNames] = &[
    InterfaceNames::of::<IDataCollectorSetCollection>(),
    InterfaceNames::of::<IDataCollectorSet>(),
    InterfaceNames::of::<IObjectExporter>(),
    InterfaceNames::of::<IRemoteSCMActivator>(),
    InterfaceNames::of::<IRemUnknown>(),
    InterfaceNames::of::<IRemUnknown2>(),
];
