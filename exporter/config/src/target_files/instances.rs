//! Targets that are one to Prometheus, since they have the same label `instance`.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::node::Position;
use crate::problem::Problem;
use crate::target::Target;

/// Targets with the same `instance`, by their own label or by their name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedInstance {
    pub instance: String,
    first: Standing,
    second: Standing,
    more: usize,
}

/// A target and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Standing {
    name: String,
    /// Nothing for the configuration's own file.
    file: Option<PathBuf>,
    position: Position,
}

impl SharedInstance {
    /// The file of the second target, and what is said of it there; the configuration is called `config_file`.
    #[must_use]
    pub fn warning(&self, config_file: &str) -> (String, Problem) {
        let Self { instance, first, second, more } = self;
        let file = |standing: &Standing| {
            standing.file.as_ref().map_or_else(|| config_file.to_owned(), |file| file.display().to_string())
        };
        let others = match more {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let message = format!(
            "has the `instance` `{instance}`, as target `{}` ({}:{}){others}",
            first.name,
            file(first),
            first.position
        );
        let hint = "Prometheus treats them as one target; give each a different label `instance`";
        let (position, path) = (Some(second.position), format!("target `{}`", second.name));
        (file(second), Problem { position, path, message, hint: Some(hint.to_owned()) })
    }
}

impl Standing {
    fn of(target: &Target, file: Option<&Path>) -> Self {
        Self { name: target.name.clone(), file: file.map(Path::to_owned), position: target.position }
    }
}

/// One entry for each `instance` that several targets have, in the order of the second ones.
pub(super) fn shared_instances<'a>(
    targets: impl Iterator<Item = (&'a Target, Option<&'a Path>)>,
) -> Vec<SharedInstance> {
    // By `instance`: the first target, and the entry once there is a second one.
    let mut first_of: HashMap<&str, (&Target, Option<&Path>)> = HashMap::new();
    let mut entry_of: HashMap<&str, usize> = HashMap::new();
    let mut shared: Vec<SharedInstance> = Vec::new();
    for (target, file) in targets {
        let instance = target.instance();
        let Some(&(first, file_of_first)) = first_of.get(instance) else {
            first_of.insert(instance, (target, file));
            continue;
        };
        let entry = *entry_of.entry(instance).or_insert(shared.len());
        match shared.get_mut(entry) {
            Some(shared) => shared.more += 1,
            None => shared.push(SharedInstance {
                instance: instance.to_owned(),
                first: Standing::of(first, file_of_first),
                second: Standing::of(target, file),
                more: 0,
            }),
        }
    }
    shared
}
