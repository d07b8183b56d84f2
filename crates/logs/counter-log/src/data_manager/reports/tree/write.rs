use super::{Kind, NodeId, Tree};

impl Tree {
    /// The document in UTF-8. Elements with elements stand on lines of their own where `is_indented`, which is no part of the
    /// document for readers that drop white space.
    ///
    /// Characters that XML does not have are written as U+FFFD.
    #[must_use]
    pub fn to_xml(&self, is_indented: bool) -> String {
        let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        for child in self.children(Self::ROOT) {
            self.write(*child, is_indented.then_some(0), &mut text);
        }
        text
    }

    /// A tree is no deeper than its limit.
    fn write(&self, node: NodeId, indent: Option<usize>, out: &mut String) {
        match self.kind(node) {
            Kind::Text(text) => escape(text, false, out),
            Kind::Element { name, .. } => self.write_element(name, node, indent, out),
            Kind::Root => {}
        }
    }

    fn write_element(&self, name: &str, node: NodeId, indent: Option<usize>, out: &mut String) {
        push_indent(indent, out);
        out.push('<');
        out.push_str(name);
        for attribute in self.attributes(node) {
            out.push(' ');
            out.push_str(&attribute.name);
            out.push_str("=\"");
            escape(&attribute.value, true, out);
            out.push('"');
        }
        let children = self.children(node);
        if children.is_empty() {
            out.push_str("/>");
        } else {
            out.push('>');
            // Line breaks beside a text would be part of it.
            let is_mixed = children.iter().any(|child| matches!(self.kind(*child), Kind::Text(_)));
            let inner = indent.filter(|_| !is_mixed);
            if inner.is_some() {
                out.push('\n');
            }
            for child in children {
                self.write(*child, inner.map(|indent| indent + 1), out);
            }
            push_indent(inner, out);
            out.push_str("</");
            out.push_str(name);
            out.push('>');
        }
        if indent.is_some() {
            out.push('\n');
        }
    }
}

fn push_indent(indent: Option<usize>, out: &mut String) {
    (0..indent.unwrap_or(0)).for_each(|_| out.push_str("  "));
}

fn escape(part: &str, is_attribute: bool, out: &mut String) {
    for char in part.chars() {
        match char {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' if is_attribute => out.push_str("&quot;"),
            // A reader makes line feeds of them, and spaces in attributes.
            '\r' => out.push_str("&#13;"),
            '\n' if is_attribute => out.push_str("&#10;"),
            '\t' if is_attribute => out.push_str("&#9;"),
            '\t' | '\n' | ' '..='\u{fffd}' | '\u{10000}'.. => out.push(char),
            _ => out.push(char::REPLACEMENT_CHARACTER),
        }
    }
}
