use std::collections::HashMap;

use counter_types::CounterPath;

/// The paths that are asked for, each once. Alerts and logs refer to them by their places.
#[derive(Debug, Default)]
pub(crate) struct Paths {
    list: Vec<CounterPath>,
    places: HashMap<CounterPath, usize>,
}

impl Paths {
    /// The place of a path of this host.
    pub(crate) fn add(&mut self, path: &CounterPath) -> usize {
        let path = CounterPath { machine: None, ..path.clone() };
        *self.places.entry(path).or_insert_with_key(|path| {
            self.list.push(path.clone());
            self.list.len() - 1
        })
    }

    /// All of them.
    pub(crate) fn into_list(self) -> Vec<CounterPath> {
        self.list
    }
}
