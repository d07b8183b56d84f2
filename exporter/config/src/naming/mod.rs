//! `naming:`, which metric each family becomes: one word, or a profile file of ours or of the user's.

mod built_in;
mod entry;
mod labels;
mod not_obtainable;
mod profile;
mod style;

/// What the configuration says of a profile beside its name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Options {
    /// `others`. Default: what the profile says.
    others: Option<Others>,
    bug_compatible: bool,
}

/// A profile of ours; nothing where there is none of that name.
fn profile_of_ours(name: &str, options: Options) -> Option<Arc<NameMap>> {
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

#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;
use safe_text::nearest::suggestion;
use series::pipeline::{NameMap, Others, Profile};
use support::input::file;

use super::item::Item;
use super::node::Value;

pub use self::built_in::NAMES as BUILT_IN_PROFILES;
pub use self::not_obtainable::{NotObtainable, not_obtainable};

/// Reads `naming`. A relative path starts at `base`.
pub(super) fn naming(item: &Item<'_>, base: &Path) -> Option<Profile> {
    if let Value::Text(_) = item.node.value {
        let words = Profile::WORDS;
        let word = item.text()?;
        return match words.iter().find(|(own, _)| *own == word) {
            Some((_, profile)) => Some(profile.clone()),
            None => built_in(item, Options::default()),
        };
    }
    let mut section = item.section(&[])?;
    let (profile, file) = (section.get("profile"), section.get("file"));
    let words = [("drop", Others::Drop), ("native", Others::Native)];
    let others = section.choice("others", &words);
    let bug_compatible = section.flag("bug_compatible").unwrap_or_default();
    section.finish();
    let options = Options { others, bug_compatible };
    match (profile, file) {
        (Some(profile), None) => built_in(&profile, options),
        (None, Some(file)) => from_file(&file, base, options),
        (Some(_), Some(file)) => {
            file.problem("cannot stand beside `profile`", Some("remove one of them".to_owned()));
            None
        }
        (None, None) => {
            item.problem("has neither `profile` nor `file`", Some("name a profile, or a file".to_owned()));
            None
        }
    }
}

/// The metrics of a profile of ours. `None` if there is none of that name.
#[must_use]
pub fn built_in_profile(name: &str, bug_compatible: bool) -> Option<Arc<NameMap>> {
    profile_of_ours(name, Options { others: None, bug_compatible })
}

fn built_in(item: &Item<'_>, options: Options) -> Option<Profile> {
    let name = item.text()?;
    let map = profile_of_ours(name, options);
    if map.is_none() {
        let words = Profile::WORDS.map(|(word, _)| word);
        let hint = suggestion(name, words.into_iter().chain(built_in::NAMES.iter().copied()));
        item.problem(format!("`{name}` is not a choice"), hint);
    }
    map.map(Profile::Mapped)
}

/// The profile in a file of the user's. Its mistakes are reported with their places in that file.
fn from_file(item: &Item<'_>, base: &Path, options: Options) -> Option<Profile> {
    let path = item.file(base)?;
    let name = path.display().to_string();
    let text = file::read(&path, PROFILE_BYTES_MAX).map_err(|error| error.to_string());
    let text = text.and_then(|bytes| String::from_utf8(bytes).map_err(|_| "is not UTF-8".to_owned()));
    let text = text.map_err(|problem| item.problem(format!("`{name}`: {problem}"), None)).ok()?;
    match profile::parse(&name, &text, options) {
        Ok(map) => Some(Profile::Mapped(Arc::new(map))),
        Err(report) => {
            let count = report.problems.len();
            let mistakes = if count == 1 { "a mistake".to_owned() } else { format!("{count} mistakes") };
            item.problem(format!("`{name}` has {mistakes}"), None);
            item.problems.push_report(report);
            None
        }
    }
}

/// Maximum bytes of a profile file.
const PROFILE_BYTES_MAX: usize = 4 << 20;
