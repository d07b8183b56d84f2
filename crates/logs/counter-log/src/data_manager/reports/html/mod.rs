//! A report as a page of HTML: one file without scripts, which people read in a browser and print.

mod number;
mod page;
mod table;
mod warnings;

pub(crate) use self::page::page;
use std::collections::HashMap;

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
        match char {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
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
