//! The limits within which the XML of a set is read.

use core::fmt::Display;

use std::borrow::Cow;

use quick_xml::Reader;
use quick_xml::events::{BytesRef, BytesStart, Event};

use super::{Attribute, Element, Error, Node, Position};

/// What is read of a document; what is above is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the document.
    pub bytes_max: usize,
    pub names_max: usize,
    pub depth_max: usize,
}

/// Attributes of one element: each is compared with all before it.
const ATTRIBUTES_MAX: usize = 64;

/// Sets with thousands of counters fit.
impl Default for Limits {
    fn default() -> Self {
        Self { bytes_max: 8 << 20, names_max: 200_000, depth_max: 64 }
    }
}

impl Element {
    /// Reads a document: its root.
    ///
    /// # Errors
    /// When the document is not XML, or is above a limit.
    pub fn read(bytes: &[u8], limits: &Limits) -> Result<Self, Error> {
        document(bytes, limits)
    }
}

pub(super) fn document(bytes: &[u8], limits: &Limits) -> Result<Element, Error> {
    if bytes.len() > limits.bytes_max {
        let reason =
            format!("the document has {} bytes, above the limit of {}", bytes.len(), limits.bytes_max);
        return Err(Error::new(Position { line: 1, column: 1 }, "", reason));
    }
    let text = text(bytes).map_err(|offset| {
        let reason = format!("the document is neither UTF-8 nor UTF-16 at offset {offset}");
        Error::new(Position::default(), "", reason)
    })?;
    let mut tree =
        Tree { text: &text, limits, line: Line::default(), names: 0, open: Vec::new(), root: None };
    let mut reader = Reader::from_str(&text);
    let config = reader.config_mut();
    config.expand_empty_elements = true;
    config.check_comments = true;
    loop {
        let at = reader.buffer_position();
        let event = reader.read_event();
        let at =
            usize::try_from(if event.is_err() { reader.error_position() } else { at }).unwrap_or(usize::MAX);
        let position = tree.line.of(tree.text, at);
        match event {
            Ok(Event::Eof) => return tree.finish(position),
            Ok(event) => tree.take(&event, position)?,
            Err(error) => return Err(tree.error(position, error.to_string())),
        }
    }
}

/// The position that was looked up last. Positions only grow, so that all of them together are one pass over the text.
#[derive(Default)]
struct Line {
    at: usize,
    position: Position,
}

impl Line {
    fn of(&mut self, text: &str, at: usize) -> Position {
        let passed = text.get(self.at..at).unwrap_or_default();
        for char in passed.chars() {
            if char == '\n' {
                self.position = Position { line: self.position.line + 1, column: 0 };
            } else {
                self.position.column += 1;
            }
        }
        self.at += passed.len();
        Position { line: self.position.line + 1, column: self.position.column + 1 }
    }
}

/// A document as far as it was read.
struct Tree<'a> {
    text: &'a str,
    limits: &'a Limits,
    line: Line,
    names: usize,
    /// Elements whose end is to come.
    open: Vec<Element>,
    root: Option<Element>,
}

impl Tree<'_> {
    fn take(&mut self, event: &Event<'_>, position: Position) -> Result<(), Error> {
        match event {
            Event::Start(start) => self.start(start, position),
            Event::End(_) => {
                self.end();
                Ok(())
            }
            Event::Text(text) => self.add_text(&text.xml10_content(), position),
            Event::CData(text) => self.add_text(&text.xml10_content(), position),
            Event::GeneralRef(reference) => {
                let text = self.resolve(reference, position)?;
                self.add_text(&text, position)
            }
            Event::DocType(_) => Err(self.error(position, "a document type declaration is refused")),
            _ => Ok(()),
        }
    }

    fn start(&mut self, start: &BytesStart<'_>, position: Position) -> Result<(), Error> {
        if self.root.is_some() {
            return Err(self.error(position, "a document has one root"));
        }
        if self.open.len() >= self.limits.depth_max {
            return Err(self.error(position, format!("is deeper than {}", self.limits.depth_max)));
        }
        self.count(position)?;
        let name = self.name(start.name().into_inner(), position)?;
        let mut attributes = Vec::new();
        for attribute in start.attributes() {
            self.count(position)?;
            if attributes.len() >= ATTRIBUTES_MAX {
                return Err(self
                    .error(position, format!("has an element with more than {ATTRIBUTES_MAX} attributes")));
            }
            let attribute = attribute.map_err(|error| self.error(position, error.to_string()))?;
            let value = attribute.normalized_value(quick_xml::XmlVersion::Explicit1_0);
            let value = value.map_err(|error| self.error(position, error.to_string()))?;
            self.check_chars(&value, position)?;
            let name = self.name(attribute.key.into_inner(), position)?;
            attributes.push(Attribute { name, value: value.into_owned() });
        }
        self.open.push(Element { name, attributes, nodes: Vec::new(), position });
        Ok(())
    }

    fn end(&mut self) {
        let Some(mut element) = self.open.pop() else { return };
        let is_space = |node: &Node| matches!(node, Node::Text(text) if text.trim_matches(SPACE).is_empty());
        if element.elements().next().is_some() {
            element.nodes.retain(|node| !is_space(node));
        }
        match self.open.last_mut() {
            Some(outer) => outer.nodes.push(Node::Element(element)),
            None => self.root = Some(element),
        }
    }

    fn add_text(&mut self, text: &str, position: Position) -> Result<(), Error> {
        self.check_chars(text, position)?;
        match self.open.last_mut() {
            // Entities and sections end a text for the parser only.
            Some(Element { nodes, .. }) => match nodes.last_mut() {
                Some(Node::Text(before)) => before.push_str(text),
                _ => nodes.push(Node::Text(text.to_owned())),
            },
            None if text.trim_matches(SPACE).is_empty() => {}
            None => return Err(self.error(position, "text is outside of the root")),
        }
        Ok(())
    }

    /// The text of `&name;` or `&#7;`.
    fn resolve(&self, reference: &BytesRef<'_>, position: Position) -> Result<String, Error> {
        let char = reference.resolve_char_ref().map_err(|error| self.error(position, error.to_string()))?;
        if let Some(char) = char {
            return Ok(char.to_string());
        }
        let name = reference.xml10_content();
        let text = quick_xml::escape::resolve_predefined_entity(&name);
        text.map(str::to_owned).ok_or_else(|| {
            self.error(position, format!("has the entity `{}`, which does not exist", shown(&name)))
        })
    }

    /// The parser takes anything for a name that ends.
    fn name(&self, name: &str, position: Position) -> Result<String, Error> {
        let is_start = |char: char| char.is_alphabetic() || matches!(char, '_' | ':');
        let is_other = |char: char| is_start(char) || char.is_numeric() || matches!(char, '-' | '.');
        if name.starts_with(is_start) && name.chars().all(is_other) {
            Ok(name.to_owned())
        } else {
            Err(self.error(position, format!("has `{}`, which is no name", shown(name))))
        }
    }

    /// XML 1.0, 2.2: characters that no document has, not even as references.
    fn check_chars(&self, text: &str, position: Position) -> Result<(), Error> {
        let is_char = |char| matches!(char, '\t' | '\n' | '\r' | ' '..='\u{fffd}' | '\u{10000}'..);
        match text.chars().find(|&char| !is_char(char)) {
            None => Ok(()),
            Some(char) => Err(self.error(position, format!("has the character U+{:04X}", u32::from(char)))),
        }
    }

    fn count(&mut self, position: Position) -> Result<(), Error> {
        self.names += 1;
        if self.names <= self.limits.names_max {
            Ok(())
        } else {
            let reason = format!("has more than {} elements and attributes", self.limits.names_max);
            Err(self.error(position, reason))
        }
    }

    fn finish(self, position: Position) -> Result<Element, Error> {
        match (self.open.is_empty(), self.root.is_some()) {
            (false, _) => Err(self.error(position, "is not ended")),
            (true, false) => Err(self.error(position, "a document has a root")),
            (true, true) => Ok(self.root.unwrap_or_default()),
        }
    }

    fn error(&self, position: Position, reason: impl Display) -> Error {
        let names: Vec<&str> = self.open.iter().map(|element| shown(&element.name)).collect();
        // The parser's errors have whole names in them.
        Error::new(position, &names.join("/"), first_chars(&reason.to_string(), REASON_CHARS_MAX).to_owned())
    }
}

/// The white space of XML.
pub(super) const SPACE: [char; 4] = [' ', '\t', '\n', '\r'];

/// Characters of a name, and of all that is wrong, which an error shows.
const NAME_CHARS_MAX: usize = 64;
const REASON_CHARS_MAX: usize = 256;

/// As much of a name as an error shows.
pub(super) fn shown(name: &str) -> &str {
    first_chars(name, NAME_CHARS_MAX)
}

/// The first characters of a text.
fn first_chars(text: &str, chars_max: usize) -> &str {
    let end = text.char_indices().nth(chars_max).map_or(text.len(), |(end, _)| end);
    text.get(..end).unwrap_or(text)
}

/// The text of a document: UTF-16 or UTF-8, with a byte order mark or without. What its declaration says of the encoding does
/// not count: tools that change the encoding leave it as it was.
///
/// # Errors
/// The offset of what is no text.
pub(super) fn text(bytes: &[u8]) -> Result<Cow<'_, str>, usize> {
    match bytes {
        [0xef, 0xbb, 0xbf, text @ ..] => utf8(text).map_err(|at| at + 3),
        [0xff, 0xfe, units @ ..] => utf16(units, u16::from_le_bytes).map_err(|at| at + 2),
        [0xfe, 0xff, units @ ..] => utf16(units, u16::from_be_bytes).map_err(|at| at + 2),
        // A document begins with `<` or with white space.
        [_, 0, ..] => utf16(bytes, u16::from_le_bytes),
        [0, _, ..] => utf16(bytes, u16::from_be_bytes),
        _ => utf8(bytes),
    }
}

fn utf8(bytes: &[u8]) -> Result<Cow<'_, str>, usize> {
    str::from_utf8(bytes).map(Cow::Borrowed).map_err(|error| error.valid_up_to())
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Result<Cow<'_, str>, usize> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    if !rest.is_empty() {
        return Err(bytes.len() - 1);
    }
    let mut text = String::with_capacity(pairs.len());
    let mut at = 0;
    for char in char::decode_utf16(pairs.iter().map(|&pair| unit(pair))) {
        let char = char.map_err(|_| at)?;
        at += 2 * char.len_utf16();
        text.push(char);
    }
    Ok(Cow::Owned(text))
}
