use super::Error;
use super::element::{Element, Node};

impl Element {
    /// Writes a document whose root it is: its text, which says that it is UTF-16.
    ///
    /// # Errors
    /// When a name or a text has characters that XML does not have.
    pub fn to_xml(&self) -> Result<String, Error> {
        document(self)
    }
}

/// The text of a document. Elements with elements stand on lines of their own.
///
/// # Errors
/// When a name or a text has characters that XML does not have.
pub(super) fn document(root: &Element) -> Result<String, Error> {
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-16\"?>\r\n");
    write(root, 0, &mut text)?;
    Ok(text)
}

/// A model is not deep, and what was read is no deeper than its limit.
fn write(element: &Element, depth: usize, text: &mut String) -> Result<(), Error> {
    check(element, &element.name)?;
    indent(depth, text);
    text.push('<');
    text.push_str(&element.name);
    for attribute in &element.attributes {
        check(element, &attribute.value)?;
        text.push(' ');
        text.push_str(&attribute.name);
        text.push_str("=\"");
        escape(&attribute.value, true, text);
        text.push('"');
    }
    if element.nodes.is_empty() {
        text.push_str("/>\r\n");
        return Ok(());
    }
    text.push('>');
    // Line breaks beside a text would be part of it.
    let is_mixed = element.nodes.iter().any(|node| matches!(node, Node::Text(_)));
    if !is_mixed {
        text.push_str("\r\n");
    }
    for node in &element.nodes {
        match node {
            Node::Text(part) => {
                check(element, part)?;
                escape(part, false, text);
            }
            Node::Element(inner) if is_mixed => {
                let mut part = String::new();
                write(inner, 0, &mut part)?;
                text.push_str(part.strip_suffix("\r\n").unwrap_or(&part));
            }
            Node::Element(inner) => write(inner, depth + 1, text)?,
        }
    }
    if !is_mixed {
        indent(depth, text);
    }
    text.push_str("</");
    text.push_str(&element.name);
    text.push_str(">\r\n");
    Ok(())
}

fn indent(depth: usize, text: &mut String) {
    (0..depth).for_each(|_| text.push('\t'));
}

fn escape(part: &str, is_attribute: bool, text: &mut String) {
    for char in part.chars() {
        match char {
            '&' => text.push_str("&amp;"),
            '<' => text.push_str("&lt;"),
            '>' => text.push_str("&gt;"),
            '"' if is_attribute => text.push_str("&quot;"),
            // A reader makes line feeds of them, and spaces in attributes.
            '\r' => text.push_str("&#13;"),
            '\n' | '\t' if is_attribute => text.push_str(if char == '\n' { "&#10;" } else { "&#9;" }),
            char => text.push(char),
        }
    }
}

fn check(element: &Element, text: &str) -> Result<(), Error> {
    let is_char = |char| matches!(char, '\t' | '\n' | '\r' | ' '..='\u{fffd}' | '\u{10000}'..);
    if text.chars().all(is_char) {
        Ok(())
    } else {
        Err(Error::new(element.position, &element.name, "has a character that XML does not have"))
    }
}
