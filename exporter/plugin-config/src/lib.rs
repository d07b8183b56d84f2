//! A configuration and its plugins, as the daemon and the tool beside it have them: [`check`] loads the plugins of a
//! configuration and asks what they think of it; [`instance_config`] is what an instance of a source gets.
mod check;
mod libraries;
mod names;
mod storage;

pub use self::check::{Checked, check};
pub use self::libraries::{
    Libraries, UnknownSource, configure, instance_config, load_by, modules_that_log_on, path_of, set_schemas,
    source_of, storing_config, validate,
};
pub use self::names::names_of;
pub use self::storage::directory_of;
