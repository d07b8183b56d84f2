//! Exported sets, with the places of their thresholds.

use ms_pla::xml::{AlertDataCollector, DataCollectorSet, Element, Error, Limits, Position};

/// A set as it stands in a file.
#[derive(Debug)]
pub(super) struct Document {
    /// The file, for people.
    pub(super) file: String,
    /// What the set is called.
    pub(super) name: String,
    pub(super) set: DataCollectorSet,
    /// Where the set begins.
    pub(super) position: Position,
    /// Where its alert data collectors begin, and the thresholds of each.
    pub(super) collectors: Vec<(Position, Vec<Position>)>,
}

impl Document {
    /// Reads the XML; `stem` is the set's name if it has none.
    ///
    /// # Errors
    /// When it is no set; the text has file, line and column.
    pub(super) fn read(file: &str, stem: &str, bytes: &[u8]) -> Result<Self, String> {
        let read = || -> Result<_, Error> {
            let set = DataCollectorSet::read_each(bytes, &Limits::default())?;
            Ok((set, Element::read(bytes, &Limits::default())?))
        };
        let (set, root) = read().map_err(|error| {
            let path = if error.path.is_empty() { String::new() } else { format!("`{}` ", error.path) };
            format!("{}{path}{}", at(file, error.position), error.reason)
        })?;
        let own = [&set.name, &set.display_name].into_iter().flatten();
        let name = own.map(|name| name.trim()).find(|name| !name.is_empty()).unwrap_or(stem);
        Ok(Self {
            file: file.to_owned(),
            name: if name.is_empty() { "data collector set".to_owned() } else { name.to_owned() },
            position: root.position,
            collectors: root
                .elements()
                .filter(|element| element.local_name() == AlertDataCollector::ELEMENT)
                .map(|collector| {
                    let alerts = collector.elements().filter(|element| element.local_name() == "Alert");
                    (collector.position, alerts.map(|alert| alert.position).collect())
                })
                .collect(),
            set,
        })
    }
}

pub(super) fn at(file: &str, position: Position) -> String {
    format!("{file}:{}:{}: ", position.line, position.column)
}
