//! The same series with fewer labels.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use super::labels::push_prefix;
use super::{Labels, Layout, Snapshot, escape_label_value};

impl Layout {
    /// The same series by the same ids, less the labels that have just these values. A series that would become one
    /// with another keeps its labels.
    #[must_use]
    pub fn without(&self, labels: &[(&str, &str)]) -> Self {
        let escaped = labels.iter().map(|(name, value)| {
            let mut out = Vec::new();
            escape_label_value(value, &mut out);
            ((*name).to_owned(), String::from_utf8(out).unwrap_or_default())
        });
        let left_out: Vec<(String, String)> = escaped.collect();
        let is_left_out = |(name, value): &(&str, &str)| {
            left_out.iter().any(|out| (out.0.as_str(), out.1.as_str()) == (*name, *value))
        };
        let keys = RandomState::new();
        let mut seen: HashSet<u64> = HashSet::new();
        let (mut layout, mut scratch) = (Self::default(), Vec::new());
        for block in self.blocks() {
            let place = layout.add_family(Arc::clone(block.family()));
            for (id, prefix) in block.chunks().iter().flat_map(|chunk| chunk.iter()) {
                scratch.clear();
                let text = std::str::from_utf8(prefix).unwrap_or_default();
                let mut rest = Labels::of_prefix(text);
                let kept = std::iter::from_fn(|| rest.next_escaped()).filter(|label| !is_left_out(label));
                push_prefix(sample_name(text), kept, &mut scratch);
                let is_new = seen.insert(keys.hash_one(&scratch));
                layout.add_series(place, id, if is_new { &scratch } else { prefix });
            }
        }
        layout.trim();
        layout
    }
}

impl Snapshot {
    /// The same values by another layout of the same series.
    #[must_use]
    pub fn laid_out(&self, layout: Arc<Layout>) -> Self {
        Self::new(Arc::clone(self.target()), layout, Arc::clone(self.values()), self.size())
            .published(self.id(), self.time_unix_nanos())
    }
}

/// The name in `name{…} `, `name ` or `{"name",…} `.
fn sample_name(prefix: &str) -> &str {
    match prefix.strip_prefix("{\"") {
        Some(quoted) => quoted.split_once('"').map_or("", |(name, _)| name),
        None => prefix.split(['{', ' ']).next().unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Family, Kind};

    #[test]
    fn labels_go_by_name_and_value_and_series_stay_apart() {
        let family = Family { name: "a".to_owned(), kind: Kind::Gauge, ..Family::default() };
        let mut layout = Layout::default();
        layout.add_family(Arc::new(family));
        let prefixes = [
            r#"a{target="w\"1",env="prod",x="1"} "#,
            r#"{"a.b",target="w\"1",env="test"} "#,
            r#"a{target="w\"1"} "#,
            r#"a{env="prod"} "#,
        ];
        for (id, prefix) in prefixes.iter().enumerate() {
            layout.add_series(0, u32::try_from(id).unwrap(), prefix.as_bytes());
        }
        let layout = layout.without(&[("target", "w\"1"), ("env", "prod")]);
        let left = layout.blocks()[0].chunks()[0].iter();
        let left: Vec<(u32, &str)> =
            left.map(|(id, prefix)| (id, std::str::from_utf8(prefix).unwrap())).collect();
        let expected =
            [(0, "a{x=\"1\"} "), (1, "{\"a.b\",env=\"test\"} "), (2, "a "), (3, "a{env=\"prod\"} ")];
        assert_eq!(left, expected);
    }
}
