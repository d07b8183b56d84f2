use super::Error;
use super::Work;
use crate::data_manager::reports::tree::{Attribute, Kind, NodeId, Tree};

/// XPath 1.0, 1: what an expression evaluates to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    /// INVARIANT: each node once, in the order of the document.
    Nodes(Vec<Place>),
    Boolean(bool),
    Number(f64),
    Text(String),
}

/// A node as XPath has it: a node of a tree, or an attribute of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) node: NodeId,
    /// Which of its attributes.
    pub(crate) attribute: Option<usize>,
}

impl Place {
    pub(crate) const fn node(node: NodeId) -> Self {
        Self { node, attribute: None }
    }

    /// The attribute, where it is one that exists.
    pub(crate) fn as_attribute(self, tree: &Tree) -> Option<&Attribute> {
        tree.attributes(self.node).get(self.attribute?)
    }

    /// The key of the document order, in which the attributes of an element follow it.
    pub(super) fn order(self, tree: &Tree) -> (u32, usize) {
        (tree.order(self.node), self.attribute.map_or(0, |index| index + 1))
    }

    /// XPath 1.0, 5: the string value.
    pub(crate) fn text(self, tree: &Tree, work: &mut Work) -> Result<String, Error> {
        let mut text = String::new();
        if self.attribute.is_some() {
            text.push_str(self.as_attribute(tree).map_or("", |attribute| &attribute.value));
            work.charge_bytes(text.len())?;
            return Ok(text);
        }
        for node in core::iter::once(self.node).chain(tree.descendants(self.node)) {
            work.charge(1)?;
            if let Kind::Text(part) = tree.kind(node) {
                work.charge_bytes(part.len())?;
                text.push_str(part);
            }
        }
        Ok(text)
    }

    /// The string value as a number.
    pub(super) fn number(self, tree: &Tree, work: &mut Work) -> Result<f64, Error> {
        Ok(to_number(&self.text(tree, work)?))
    }
}

impl Value {
    /// See XPath 1.0, section 4.2.
    pub(crate) fn into_text(self, tree: &Tree, work: &mut Work) -> Result<String, Error> {
        Ok(match self {
            Self::Nodes(nodes) => match nodes.first() {
                Some(first) => first.text(tree, work)?,
                None => String::new(),
            },
            Self::Boolean(is) => is.to_string(),
            Self::Number(number) => to_text(number),
            Self::Text(text) => text,
        })
    }

    /// See XPath 1.0, section 4.4.
    pub(crate) fn to_number(&self, tree: &Tree, work: &mut Work) -> Result<f64, Error> {
        Ok(match self {
            Self::Nodes(nodes) => match nodes.first() {
                Some(first) => first.number(tree, work)?,
                None => f64::NAN,
            },
            Self::Boolean(is) => f64::from(u8::from(*is)),
            Self::Number(number) => *number,
            Self::Text(text) => {
                work.charge_bytes(text.len())?;
                to_number(text)
            }
        })
    }

    /// See XPath 1.0, section 4.3.
    pub(crate) fn to_boolean(&self) -> bool {
        match self {
            Self::Nodes(nodes) => !nodes.is_empty(),
            Self::Boolean(is) => *is,
            Self::Number(number) => !(number.is_nan() || *number == 0.0),
            Self::Text(text) => !text.is_empty(),
        }
    }

    pub(super) fn into_nodes(self, what: &'static str) -> Result<Vec<Place>, Error> {
        if let Self::Nodes(nodes) = self { Ok(nodes) } else { Err(Error::NoNodes { what }) }
    }
}

/// The white space of XML.
pub(super) const SPACE: [char; 4] = [' ', '\t', '\r', '\n'];

/// XPath 1.0, 4.4: white space, perhaps a minus sign, and a number as expressions have it; else it is no number.
pub(crate) fn to_number(text: &str) -> f64 {
    let text = text.trim_matches(SPACE);
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_number = digits.chars().all(|char| char.is_ascii_digit() || char == '.')
        && digits.chars().any(|char| char.is_ascii_digit())
        && digits.chars().filter(|char| *char == '.').count() <= 1;
    if is_number { text.parse().unwrap_or(f64::NAN) } else { f64::NAN }
}

/// XPath 1.0, 4.2: as many digits as tell a number from all others, and no exponent.
pub(crate) fn to_text(number: f64) -> String {
    if number.is_nan() {
        "NaN".to_owned()
    } else if number.is_infinite() {
        if number > 0.0 { "Infinity".to_owned() } else { "-Infinity".to_owned() }
    } else {
        // The sum makes a positive zero of a negative one.
        (number + 0.0).to_string()
    }
}
