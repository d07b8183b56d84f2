use std::collections::HashMap;

use counter_types::CounterPath;

/// The paths that are asked for, each once. Alerts and logs refer to them by their places.
#[derive(Debug, Default)]
pub(crate) struct Paths {
    list: Vec<CounterPath>,
    places: HashMap<CounterPath, usize>,
    /// By path: whether hosts may lack what it means, for all that ask for it.
    are_optional: Vec<bool>,
}

impl Paths {
    /// The place of a path of this host, which may lack what an optional one means.
    pub(crate) fn add(&mut self, path: &CounterPath, is_optional: bool) -> usize {
        let path = CounterPath { machine: None, ..path.clone() };
        let place = *self.places.entry(path).or_insert_with_key(|path| {
            self.list.push(path.clone());
            self.are_optional.push(true);
            self.list.len() - 1
        });
        self.are_optional[place] &= is_optional;
        place
    }

    /// All of them, and which are optional.
    pub(crate) fn into_list(self) -> (Vec<CounterPath>, Vec<bool>) {
        (self.list, self.are_optional)
    }
}
