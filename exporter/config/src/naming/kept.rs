//! Profiles of ours, each read once for all who ask for it.

use std::sync::Arc;

use parking_lot::Mutex;
use series::pipeline::NameMap;

use super::built_in;
use super::options::Options;
use super::profile;

/// A profile of ours; nothing where there is none of that name.
pub(super) fn profile_of_ours(name: &str, options: Options) -> Option<Arc<NameMap>> {
    static KEPT: Mutex<Vec<(&'static str, Options, Arc<NameMap>)>> = Mutex::new(Vec::new());
    let name = built_in::NAMES.iter().copied().find(|own| *own == name)?;
    let mut kept = KEPT.lock();
    let known = kept.iter().find(|(own, of, _)| (*own, *of) == (name, options));
    if let Some((_, _, map)) = known {
        return Some(Arc::clone(map));
    }
    // A test reads all of them in all ways.
    let map = Arc::new(profile::parse(name, built_in::text(name)?, options).ok()?);
    kept.push((name, options, Arc::clone(&map)));
    Some(map)
}
