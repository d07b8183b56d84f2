//! The tree of a report, which rules read and change.

mod edit;

use ms_pla::xml::{Element, Node, is_char, push_escaped};

pub(crate) use self::edit::{Axis, EditError, Inserted};

/// A document: elements, attributes and texts. Comments, processing instructions and white space between elements are no part
/// of it.
#[derive(Clone, Debug)]
pub struct Tree {
    /// INVARIANT: the first is the root; each node but the root is a child of its parent, or was removed and has none.
    nodes: Vec<Entry>,
    /// The place of each node in the order of the document. INVARIANT: that of the tree where `is_ordered`.
    order: Vec<u32>,
    is_ordered: bool,
    /// Nodes and attributes, and bytes of names, values and texts, also of those that were removed: all that takes memory.
    size: Size,
}

/// How large a tree is, or may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) nodes: usize,
    /// Bytes of names, values and texts.
    pub(crate) bytes: usize,
}

/// A node of a [`Tree`], by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct NodeId(u32);

#[derive(Clone, Debug)]
struct Entry {
    parent: Option<NodeId>,
    children: Vec<NodeId>,
    kind: Kind,
}

#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Root,
    Element { name: String, attributes: Vec<Attribute> },
    Text(String),
}

#[derive(Clone, Debug)]
pub(crate) struct Attribute {
    pub(crate) name: String,
    pub(crate) value: String,
}

/// Elements in elements. A report has five of them, and rules may insert some.
pub(crate) const DEPTH_MAX: usize = 96;

impl Tree {
    pub(crate) const ROOT: NodeId = NodeId(0);

    /// A document without a root element yet.
    pub(crate) fn new() -> Self {
        let root = Entry { parent: None, children: Vec::new(), kind: Kind::Root };
        Self { nodes: vec![root], order: vec![0], is_ordered: true, size: Size { nodes: 1, bytes: 0 } }
    }

    /// About how many bytes of memory it takes.
    pub(crate) const fn memory(&self) -> usize {
        self.size.nodes * size_of::<Entry>() + self.size.bytes
    }

    fn entry(&self, node: NodeId) -> &Entry {
        // Numbers are only made by this tree, which forgets none.
        &self.nodes[node.0 as usize]
    }

    fn entry_mut(&mut self, node: NodeId) -> &mut Entry {
        &mut self.nodes[node.0 as usize]
    }

    pub(crate) fn kind(&self, node: NodeId) -> &Kind {
        &self.entry(node).kind
    }

    pub(crate) fn parent(&self, node: NodeId) -> Option<NodeId> {
        self.entry(node).parent
    }

    pub(crate) fn children(&self, node: NodeId) -> &[NodeId] {
        &self.entry(node).children
    }

    /// The name of an element, else nothing.
    pub(crate) fn name(&self, node: NodeId) -> &str {
        if let Kind::Element { name, .. } = self.kind(node) { name } else { "" }
    }

    pub(crate) fn attributes(&self, node: NodeId) -> &[Attribute] {
        if let Kind::Element { attributes, .. } = self.kind(node) { attributes } else { &[] }
    }

    pub(crate) fn attribute(&self, node: NodeId, name: &str) -> Option<&str> {
        self.attributes(node)
            .iter()
            .find(|attribute| attribute.name == name)
            .map(|attribute| &*attribute.value)
    }

    /// The children that are elements with this name.
    pub(crate) fn elements<'a>(&'a self, node: NodeId, name: &'a str) -> impl Iterator<Item = NodeId> + 'a {
        self.children(node).iter().copied().filter(move |child| self.name(*child) == name)
    }

    pub(crate) fn document_element(&self) -> NodeId {
        let is_element = |node: &&NodeId| matches!(self.kind(**node), Kind::Element { .. });
        self.children(Self::ROOT).iter().find(is_element).copied().unwrap_or(Self::ROOT)
    }

    /// The nodes below a node, in the order of the document.
    pub(crate) fn descendants(&self, node: NodeId) -> Descendants<'_> {
        Descendants { tree: self, open: self.children(node).iter().rev().copied().collect() }
    }

    /// The texts below a node, one after the other.
    pub(crate) fn text(&self, node: NodeId) -> String {
        self.text_up_to(node, usize::MAX)
    }

    /// The same, cut off at so many bytes.
    pub(crate) fn text_up_to(&self, node: NodeId, bytes_max: usize) -> String {
        let mut text = String::new();
        for node in core::iter::once(node).chain(self.descendants(node)) {
            if let Kind::Text(part) = self.kind(node) {
                let left = bytes_max - text.len();
                text.push_str(&part[..part.floor_char_boundary(left)]);
                if part.len() > left {
                    break;
                }
            }
        }
        text
    }

    /// How many elements are around a node.
    pub(crate) fn depth(&self, node: NodeId) -> usize {
        core::iter::successors(Some(node), |node| self.parent(*node)).count() - 1
    }

    /// Whether a node is still part of the document.
    pub(crate) fn is_attached(&self, node: NodeId) -> bool {
        core::iter::successors(Some(node), |node| self.parent(*node)).last() == Some(Self::ROOT)
    }

    /// Numbers the nodes in the order of the document, and returns how many it numbered.
    pub(crate) fn put_in_order(&mut self) -> usize {
        if self.is_ordered {
            return 0;
        }
        self.order.resize(self.nodes.len(), 0);
        let mut next = 0;
        let mut open = vec![Self::ROOT];
        while let Some(node) = open.pop() {
            self.order[node.0 as usize] = next;
            next += 1;
            open.extend(self.nodes[node.0 as usize].children.iter().rev());
        }
        self.is_ordered = true;
        next as usize
    }

    /// The place in the order of the document.
    pub(crate) fn order(&self, node: NodeId) -> u32 {
        self.order[node.0 as usize]
    }
}

pub(crate) struct Descendants<'a> {
    tree: &'a Tree,
    open: Vec<NodeId>,
}

impl Iterator for Descendants<'_> {
    type Item = NodeId;

    fn next(&mut self) -> Option<NodeId> {
        let node = self.open.pop()?;
        self.open.extend(self.tree.children(node).iter().rev());
        Some(node)
    }
}

impl Tree {
    /// The tree of a document with this root element.
    #[must_use]
    pub fn from_element(root: &Element) -> Self {
        let mut tree = Self::new();
        let element = tree.import(root);
        tree.attach(Self::ROOT, 0, element);
        tree.put_in_order();
        tree
    }

    /// Copies an element into this tree, without a parent yet.
    pub(crate) fn import(&mut self, element: &Element) -> NodeId {
        let attributes = element.attributes.iter();
        let attributes = attributes
            .map(|attribute| Attribute { name: attribute.name.clone(), value: attribute.value.clone() })
            .collect();
        let copy = self.add(Kind::Element { name: element.name.clone(), attributes });
        // What was read is no deeper than the limit of the reader.
        for node in &element.nodes {
            let child = match node {
                Node::Element(child) => self.import(child),
                // There are no texts without characters.
                Node::Text(text) if text.is_empty() => continue,
                Node::Text(text) => self.add(Kind::Text(text.clone())),
            };
            self.attach(copy, self.children(copy).len(), child);
        }
        copy
    }

    /// Copies a node of another tree with all that is below it, without a parent yet.
    pub(crate) fn import_from(&mut self, other: &Self, node: NodeId) -> NodeId {
        let copy = self.add(other.kind(node).clone());
        for (index, child) in other.children(node).iter().enumerate() {
            let child = self.import_from(other, *child);
            self.attach(copy, index, child);
        }
        copy
    }

    /// A node without a parent.
    fn add(&mut self, kind: Kind) -> NodeId {
        let size = kind.size();
        self.size = Size { nodes: self.size.nodes + size.nodes, bytes: self.size.bytes + size.bytes };
        let id = u32::try_from(self.nodes.len())
            .expect("a tree is limited to far fewer nodes than four thousand million");
        self.nodes.push(Entry { parent: None, children: Vec::new(), kind });
        self.order.push(0);
        NodeId(id)
    }

    /// Makes a node the child of another, in front of its child number `index`.
    fn attach(&mut self, parent: NodeId, index: usize, child: NodeId) {
        self.entry_mut(child).parent = Some(parent);
        self.entry_mut(parent).children.insert(index, child);
        self.is_ordered = false;
    }
}

impl Kind {
    fn size(&self) -> Size {
        match self {
            Self::Root => Size { nodes: 1, bytes: 0 },
            Self::Text(text) => Size { nodes: 1, bytes: text.len() },
            Self::Element { name, attributes } => {
                let bytes = attributes.iter().map(|attribute| attribute.name.len() + attribute.value.len());
                Size { nodes: 1 + attributes.len(), bytes: name.len() + bytes.sum::<usize>() }
            }
        }
    }
}

impl Tree {
    /// The document in UTF-8. Elements with elements are on lines of their own where `is_indented`, which is no part of the
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
    if part.chars().all(is_char) {
        push_escaped(part, is_attribute, out);
    } else {
        push_escaped(&part.replace(|char| !is_char(char), "\u{fffd}"), is_attribute, out);
    }
}
