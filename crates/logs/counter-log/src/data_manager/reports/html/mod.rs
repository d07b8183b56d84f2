//! A report as a page of HTML: one file without scripts, which people read in a browser and print.

mod page;
mod table;
mod warnings;

use std::collections::HashMap;

pub(crate) use self::page::page;

use safe_text::html_entity;

use super::xpath::to_number;
use crate::data_manager::reports::tree::{NodeId, Tree};

/// Bytes after which a page ends: more is of no use in a browser. Names are shown in many places, so that a small report could
/// have a very large page.
const PAGE_BYTES_MAX: usize = 32 << 20;

/// Whether nothing more is added to a page but its end.
const fn is_full(out: &str) -> bool {
    out.len() >= PAGE_BYTES_MAX
}

/// Adds text, for elements and for values of attributes in double quotes.
fn push(text: &str, out: &mut String) {
    for char in text.chars() {
        if let Some(entity) = html_entity(char) {
            out.push_str(entity);
            continue;
        }
        match char {
            '\n' | '\t' => out.push(char),
            // What turns the direction of text would move what comes after it; control characters are no text.
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}' => {
                out.push('\u{fffd}');
            }
            char if char.is_control() => out.push('\u{fffd}'),
            char => out.push(char),
        }
    }
}

/// The same as a text of its own.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    push(text, &mut out);
    out
}

/// What people read for a name: the text that the report has for it, else a word of ours, else the name.
struct Labels<'a> {
    strings: HashMap<&'a str, String>,
}

/// Bytes of what is shown for a name.
const LABEL_BYTES_MAX: usize = 4096;

/// Names that reports here, and tables of rules, have.
const WORDS: [(&str, &str); 37] = [
    ("advice", "Advice"),
    ("bytes", "Bytes"),
    ("cause", "Cause"),
    ("component", "Component"),
    ("counter", "Counter"),
    ("details", "Details"),
    ("duration", "Duration"),
    ("end", "End"),
    ("file", "File"),
    ("files", "Files"),
    ("gaps", "Gaps"),
    ("gaptime", "Time without records"),
    ("header", "The run"),
    ("host", "Computer"),
    ("instance", "Instance"),
    ("machine", "Computer"),
    ("max", "Maximum"),
    ("mean", "Mean"),
    ("min", "Minimum"),
    ("reason", "Reason"),
    ("records", "Records"),
    ("recordslost", "Records lost"),
    ("remark", "Remark"),
    ("remarks", "Remarks"),
    ("resolution", "Resolution"),
    ("run", "Run"),
    ("seconds", "Seconds"),
    ("serialnumber", "Serial number"),
    ("set", "Data collector set"),
    ("start", "Start"),
    ("status", "Status"),
    ("symptom", "Symptom"),
    ("sysHealthSummary", "Resource overview"),
    ("utilization", "Utilization"),
    ("value", "Value"),
    ("warning", "Warnings"),
    ("warnings", "Warnings"),
];

impl<'a> Labels<'a> {
    /// The texts of all string tables of a report. The first of an id counts.
    fn of(tree: &'a Tree) -> Self {
        let mut strings = HashMap::new();
        for node in tree.descendants(Tree::ROOT).filter(|node| tree.name(*node) == "String") {
            if let Some(id) = tree.attribute(node, "ID") {
                strings.entry(id).or_insert_with(|| tree.text_up_to(node, LABEL_BYTES_MAX));
            }
        }
        Self { strings }
    }

    /// What people read for a name, which may stand in `$(…)`; the beginning of it, if it is very long.
    fn label<'n>(&'n self, name: &'n str) -> &'n str {
        let name = &name[..name.floor_char_boundary(LABEL_BYTES_MAX)];
        let id = name.strip_prefix("$(").and_then(|name| name.strip_suffix(')')).unwrap_or(name);
        let word = || WORDS.iter().find(|(word, _)| *word == id).map_or(name, |(_, label)| *label);
        self.strings.get(id).map_or_else(word, String::as_str)
    }

    /// The label of an element: of its attribute `label`, else `name`.
    fn of_element<'n>(&'n self, tree: &'n Tree, node: NodeId) -> &'n str {
        let name = tree.attribute(node, "label").or_else(|| tree.attribute(node, "name"));
        self.label(name.unwrap_or_default())
    }
}

/// A number for people: groups of digits, and as many decimals as its size is worth. Nothing where it is no number.
fn shown_number(text: &str) -> Option<String> {
    let number = to_number(text);
    if !number.is_finite() {
        return None;
    }
    let size = number.abs();
    let written = if size != 0.0 && !(1e-4..1e15).contains(&size) {
        return Some(format!("{number:.3e}").replace('-', "\u{2212}"));
    } else if number.fract() == 0.0 {
        format!("{size:.0}")
    } else if size >= 1000.0 {
        format!("{size:.1}")
    } else if size >= 1.0 {
        format!("{size:.2}")
    } else {
        format!("{size:.4}")
    };
    let (whole, fraction) = written.split_once('.').unwrap_or((&written, ""));
    let mut shown = String::new();
    if number < 0.0 {
        shown.push('\u{2212}');
    }
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            shown.push('\u{202f}');
        }
        shown.push(digit);
    }
    if !fraction.is_empty() {
        shown.push('.');
        shown.push_str(fraction);
    }
    Some(shown)
}

#[cfg(test)]
mod tests {
    use super::shown_number;

    #[test]
    fn numbers_are_written_for_people() {
        let cases = ["20261367808", "87.5", "-3", "0.00034", "0", "1234.56", "0.00000001", "-0", "text", ""];
        let shown: Vec<_> = cases
            .iter()
            .map(|text| shown_number(text).unwrap_or_default().replace('\u{202f}', "_"))
            .collect();
        assert_eq!(
            shown,
            [
                "20_261_367_808",
                "87.50",
                "\u{2212}3",
                "0.0003",
                "0",
                "1_234.6",
                "1.000e\u{2212}8",
                "0",
                "",
                ""
            ]
        );
    }
}
