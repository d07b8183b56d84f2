use std::collections::{HashMap, HashSet};

use crate::Column;

use super::Source;
use super::schema::CounterTable;
use crate::data_manager::reports::xpath::{Error, Work};

/// Which columns of a log belong to which object, in the order of the log.
pub(super) struct Objects<'a> {
    /// The name of each object as the log has it first, and its columns.
    objects: Vec<(&'a str, Vec<usize>)>,
    places: HashMap<String, usize>,
}

impl<'a> Objects<'a> {
    pub(super) fn of(source: &Source<'a>) -> Self {
        let mut found = Self { objects: Vec::new(), places: HashMap::new() };
        for (index, column) in source.columns.iter().enumerate() {
            let place = *found.places.entry(column.object.to_lowercase()).or_insert(found.objects.len());
            match found.objects.get_mut(place) {
                Some((_, columns)) => columns.push(index),
                None => found.objects.push((&column.object, vec![index])),
            }
        }
        found
    }

    /// The columns of an object, whose name is compared without case, as Windows does.
    pub(super) fn columns(&self, object: &str) -> &[usize] {
        let place = self.places.get(&object.to_lowercase());
        place.and_then(|place| self.objects.get(*place)).map_or(&[], |(_, columns)| columns)
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &'a str> {
        self.objects.iter().map(|(name, _)| *name)
    }
}

/// The rows of a table, and which columns it has.
pub(super) struct Rows {
    /// Columns of the log, one a row.
    pub(super) columns: Vec<usize>,
    pub(super) shown: Vec<&'static str>,
}

/// [MS-PLA] 2.2.3.3: the columns of a counter table.
const NAMES: [&str; 6] = ["machine", "counter", "instance", "mean", "min", "max"];

impl Rows {
    /// The rows that a table asks for. The instance is shown where the object has instances, and the machine where there are
    /// several.
    ///
    /// # Errors
    /// [`Error::Work`] alone: each column of the log that is looked at is work, as its comparison with patterns is.
    pub(super) fn of(
        table: &CounterTable,
        objects: &Objects<'_>,
        log: &[Column],
        work: &mut Work,
    ) -> Result<Self, Error> {
        let all = objects.columns(&table.object).iter();
        work.charge(1 + COLUMN_WORK * all.len())?;
        let all: Vec<(usize, &Column)> = all.filter_map(|index| Some((*index, log.get(*index)?))).collect();
        let has_instances = all.iter().any(|(_, column)| column.instance.is_some());
        let machines: HashSet<&str> = all.iter().map(|(_, column)| &*column.machine).collect();
        let shown = NAMES.into_iter().filter(|name| match *name {
            "machine" => machines.len() > 1,
            "instance" => has_instances,
            _ => true,
        });
        let shown =
            shown.filter(|name| !table.without_columns.iter().any(|without| without == name)).collect();
        // Rows of one counter stand side by side, in the order in which the log has the counters.
        let mut places: HashMap<&str, usize> = HashMap::new();
        let mut rows: Vec<(usize, usize)> = Vec::new();
        for (index, column) in all {
            if takes(table, column, work)? {
                let next = places.len();
                rows.push((*places.entry(&column.counter).or_insert(next), index));
            }
        }
        rows.sort_unstable();
        Ok(Self { columns: rows.into_iter().map(|(_, index)| index).collect(), shown })
    }
}

/// Units of work for a look at a column, whose names are hashed and copied.
const COLUMN_WORK: usize = 10;

fn takes(table: &CounterTable, column: &Column, work: &mut Work) -> Result<bool, Error> {
    for pattern in &table.without_counters {
        if pattern.matches(&column.counter, work)? {
            return Ok(false);
        }
    }
    let label = instance_label(column);
    let bare = column.instance.as_deref().unwrap_or_default();
    for pattern in &table.instances {
        if pattern.matches(bare, work)? || pattern.matches(&label, work)? {
            return Ok(true);
        }
    }
    Ok(table.instances.is_empty())
}

/// [MS-PLA] 2.2.10: the instance as a counter path has it.
pub(super) fn instance_label(column: &Column) -> String {
    let mut label = String::new();
    if let Some(parent) = &column.parent {
        label.push_str(parent);
        label.push('/');
    }
    label.push_str(column.instance.as_deref().unwrap_or_default());
    if column.instance_index > 0 {
        label.push('#');
        label.push_str(&column.instance_index.to_string());
    }
    label
}
