//! The services of hosts that this plugin uses.

use counter_poll::over_host::{NAMES, PERFLIB_INTERFACES, REGISTRY_INTERFACES, WINREG};
use plugin_session::Service;

/// The counters of version 2.
pub(crate) const PERFLIB: Service =
    Service { endpoint: WINREG, interfaces: PERFLIB_INTERFACES, names: NAMES };

/// What classic objects are asked of.
pub(crate) const REGISTRY: Service =
    Service { endpoint: WINREG, interfaces: REGISTRY_INTERFACES, names: NAMES };
