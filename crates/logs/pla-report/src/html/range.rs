use std::collections::HashMap;
use std::fmt::Write;

use crate::tree::{NodeId, Tree};
use crate::xpath::to_number;

/// Pictures of rows with a minimum, a mean and a maximum. Rows of one counter have one scale, from zero to their largest value.
pub(super) struct Ranges {
    /// The largest value of each counter.
    largest: HashMap<String, f64>,
}

const WIDTH: f64 = 120.0;

impl Ranges {
    /// Nothing where no row has all three values.
    pub(super) fn of(tree: &Tree, items: &[NodeId]) -> Option<Self> {
        let mut largest = HashMap::new();
        for item in items {
            if let Some((counter, [.., max])) = figures(tree, *item) {
                let known = largest.entry(counter).or_insert(max);
                *known = known.max(max);
            }
        }
        (!largest.is_empty()).then_some(Self { largest })
    }

    /// The cell of a row. What it shows stands in the cells beside it, too.
    pub(super) fn cell(&self, tree: &Tree, item: NodeId, out: &mut String) {
        out.push_str("<td class=\"range\">");
        if let Some((counter, [min, mean, max])) = figures(tree, item)
            && let Some(largest) = self.largest.get(&counter).filter(|largest| **largest > 0.0)
        {
            let at = |value: f64| value / largest * WIDTH;
            let (left, right) = (at(min), at(max));
            let _ = write!(
                out,
                "<svg width=\"126\" height=\"12\" viewBox=\"-3 0 126 12\" aria-hidden=\"true\"><line class=\"axis\" x1=\"0\" \
                 y1=\"6\" x2=\"{WIDTH}\" y2=\"6\"/><line class=\"span\" x1=\"{left:.1}\" y1=\"6\" x2=\"{right:.1}\" y2=\"6\"/>\
                 <circle cx=\"{:.1}\" cy=\"6\" r=\"3\"/></svg>",
                at(mean)
            );
        }
        out.push_str("</td>");
    }
}

/// The counter of a row, and its minimum, mean and maximum, where they are on one scale from zero.
fn figures(tree: &Tree, item: NodeId) -> Option<(String, [f64; 3])> {
    let value = |name: &str| {
        let data = tree.elements(item, "Data").find(|data| tree.attribute(*data, "name") == Some(name))?;
        Some(tree.text(data))
    };
    let [min, mean, max] = [value("min")?, value("mean")?, value("max")?].map(|text| to_number(&text));
    (0.0 <= min && min <= mean && mean <= max && max.is_finite())
        .then_some((value("counter")?, [min, mean, max]))
}
