use core::fmt;

/// A place in a document, from 1. Zero in what was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Position {
    pub line: u32,
    /// The character in it.
    pub column: u32,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// An element as it is in a document.
#[derive(Clone, Debug, Default)]
pub struct Element {
    /// Its name, perhaps with the prefix of a namespace.
    pub name: String,
    /// Its attributes; declarations of namespaces are among them.
    pub attributes: Vec<Attribute>,
    /// What is in it. Text that is white space between elements is not kept.
    pub nodes: Vec<Node>,
    pub position: Position,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribute {
    /// Its name, perhaps with the prefix of a namespace.
    pub name: String,
    /// Its value, without entities.
    pub value: String,
}

/// What is in an element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    Element(Element),
    Text(String),
}

impl Element {
    /// The name without the prefix of a namespace.
    #[must_use]
    pub fn local_name(&self) -> &str {
        self.name.split_once(':').map_or(&self.name, |(_prefix, name)| name)
    }

    /// The elements in it.
    pub fn elements(&self) -> impl Iterator<Item = &Self> {
        self.nodes.iter().filter_map(|node| match node {
            Node::Element(element) => Some(element),
            Node::Text(_) => None,
        })
    }

    /// The text in it, if there are no elements.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match &self.nodes[..] {
            [] => Some(""),
            [Node::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// The value of the attribute with this name.
    #[must_use]
    pub fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|attribute| attribute.name == name).map(|attribute| &*attribute.value)
    }
}

/// Where an element stood is no part of it.
impl PartialEq for Element {
    fn eq(&self, other: &Self) -> bool {
        (&self.name, &self.attributes, &self.nodes) == (&other.name, &other.attributes, &other.nodes)
    }
}

impl Eq for Element {}
