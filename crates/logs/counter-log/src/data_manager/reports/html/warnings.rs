use std::collections::{HashMap, HashSet};
use std::fmt::Write;

use super::Labels;
use super::escaped;
use super::is_full;
use crate::data_manager::reports::tree::{NodeId, Tree};

/// Bytes of the texts of all warnings with one tag, which stand at each place that they are about.
const MESSAGE_BYTES_MAX: usize = 1024;

/// [MS-PLA] 2.2.8: the tags of warnings, and what belongs to them.
pub(super) struct Tags<'a> {
    numbers: HashMap<&'a str, usize>,
    messages: HashMap<&'a str, String>,
    /// The first node that each warning is about, which is where its link leads.
    targets: HashMap<&'a str, NodeId>,
    /// Those that the list of warnings explains.
    explained: HashSet<&'a str>,
}

impl<'a> Tags<'a> {
    pub(super) fn of(tree: &'a Tree) -> Self {
        let mut tags = Self {
            numbers: HashMap::new(),
            messages: HashMap::new(),
            targets: HashMap::new(),
            explained: HashSet::new(),
        };
        for node in tree.descendants(Tree::ROOT) {
            if let Some(tag) = tree.attribute(node, "warning") {
                tags.targets.entry(tag).or_insert(node);
            }
            if let Some(tag) = tree.attribute(node, "message") {
                add(tags.messages.entry(tag).or_default(), tree, node);
            }
            let link =
                tree.attribute(node, "link").filter(|_| tree.attribute(node, "name") == Some("symptom"));
            tags.explained.extend(link.or_else(|| tree.attribute(node, "message")));
            let tags_of_node =
                ["warning", "message", "link"].into_iter().filter_map(|name| tree.attribute(node, name));
            for tag in tags_of_node {
                let next = tags.numbers.len() + 1;
                tags.numbers.entry(tag).or_insert(next);
            }
        }
        tags
    }

    fn number(&self, tag: &str) -> usize {
        self.numbers.get(tag).copied().unwrap_or_default()
    }

    /// What people read of a warning where they point at what it is about.
    pub(super) fn message(&self, tag: &str) -> &str {
        self.messages.get(tag).map_or("", String::as_str)
    }

    /// The id of the node that a warning is about: ` id="…"`, once in a page.
    pub(super) fn id(&self, node: NodeId, tag: &str) -> String {
        if self.targets.get(tag) == Some(&node) {
            format!(" id=\"w{}\"", self.number(tag))
        } else {
            String::new()
        }
    }

    /// A flag beside what a warning is about, which leads to the warning, unless the list of warnings does not have it.
    pub(super) fn flag(&self, tag: &str) -> String {
        if !self.explained.contains(tag) {
            let tag = escaped(&tag[..tag.floor_char_boundary(MESSAGE_BYTES_MAX)]);
            return format!(
                "<span class=\"flag\" role=\"img\" title=\"{tag}\" aria-label=\"Warning: {tag}\">\u{26a0}</span>"
            );
        }
        let message = escaped(self.message(tag));
        format!(
            "<a class=\"flag\" href=\"#about-w{}\" title=\"{message}\" aria-label=\"Warning: {message}\">\u{26a0}</a>",
            self.number(tag)
        )
    }

    /// Where a link leads: to what the warning is about, if that is there.
    pub(super) fn link(&self, tag: &str) -> Option<String> {
        self.targets.contains_key(tag).then(|| format!("#w{}", self.number(tag)))
    }
}

/// Adds the text of a node to a message, of which the first part is shown.
fn add(message: &mut String, tree: &Tree, node: NodeId) {
    if message.len() >= MESSAGE_BYTES_MAX {
        return;
    }
    if !message.is_empty() {
        message.push('\n');
    }
    message.push_str(&tree.text_up_to(node, MESSAGE_BYTES_MAX));
    if message.len() >= MESSAGE_BYTES_MAX {
        message.truncate(message.floor_char_boundary(MESSAGE_BYTES_MAX));
        message.push('\u{2026}');
    }
}

/// The warnings as a list. Each has its symptom, which leads to what it is about, and the rest below.
pub(super) fn list(tree: &Tree, items: &[NodeId], labels: &Labels<'_>, tags: &Tags<'_>, out: &mut String) {
    out.push_str("<ul class=\"warnings\">");
    let mut known = HashSet::new();
    for item in items {
        if is_full(out) {
            break;
        }
        let data: Vec<NodeId> = tree.elements(*item, "Data").collect();
        let is_symptom = |data: &&NodeId| tree.attribute(**data, "name") == Some("symptom");
        let first = data.iter().find(is_symptom).or_else(|| data.first());
        let tag =
            first.and_then(|data| tree.attribute(*data, "link").or_else(|| tree.attribute(*data, "message")));
        let kind = first.and_then(|data| tree.attribute(*data, "img")).unwrap_or("warning");
        let class = if kind == "error" { " class=\"error\"" } else { "" };
        let id =
            tag.filter(|tag| known.insert(*tag)).map(|tag| format!(" id=\"about-w{}\"", tags.number(tag)));
        let _ = write!(out, "<li{class}{}>", id.unwrap_or_default());
        if let Some(first) = first {
            let text = escaped(&text(tree, *first, labels));
            let text = match tag.and_then(|tag| tags.link(tag)) {
                Some(link) => format!("<a href=\"{link}\">{text}</a>"),
                None => text,
            };
            let _ = write!(out, "<p class=\"symptom\">{}{text}</p>", sign(kind));
        }
        let others: Vec<&NodeId> = data.iter().filter(|data| Some(*data) != first).collect();
        if !others.is_empty() {
            out.push_str("<dl>");
            for data in others {
                let label = escaped(labels.of_element(tree, *data));
                let _ = write!(out, "<dt>{label}</dt><dd>{}</dd>", escaped(&text(tree, *data, labels)));
            }
            out.push_str("</dl>");
        }
        out.push_str("</li>");
    }
    out.push_str("</ul>");
}

/// The text of a `Data`, by its id where it says so.
pub(super) fn text(tree: &Tree, data: NodeId, labels: &Labels<'_>) -> String {
    let text = tree.text(data);
    if matches!(tree.attribute(data, "name"), Some("start" | "end")) {
        return time(&text);
    }
    if tree.attribute(data, "translate") == Some("value") { labels.label(&text).to_owned() } else { text }
}

/// A time of a report with blanks between its parts.
fn time(text: &str) -> String {
    match (text.split_once('T'), text.len().checked_sub(6).and_then(|at| text.split_at_checked(at))) {
        (Some((date, _)), Some((local, offset))) if date.len() == 10 && offset.starts_with(['+', '-']) => {
            format!("{} {offset}", local.replacen('T', " ", 1))
        }
        _ => text.to_owned(),
    }
}

/// A picture of Windows' reports as a sign.
pub(super) fn sign(kind: &str) -> String {
    let (class, sign, name) = match kind {
        "error" => ("error", "!", "Error"),
        "check" => ("check", "\u{2713}", "All right"),
        "info" => ("check", "i", "Note"),
        _ => ("warning", "!", "Warning"),
    };
    format!("<span class=\"sign {class}\" role=\"img\" aria-label=\"{name}\">{sign}</span>")
}
