use ms_pla::xml::{Element, Node};

use super::{Attribute, Entry, Kind, NodeId, Size, Tree};

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
    pub(super) fn add(&mut self, kind: Kind) -> NodeId {
        let size = kind.size();
        self.size = Size { nodes: self.size.nodes + size.nodes, bytes: self.size.bytes + size.bytes };
        let id = u32::try_from(self.nodes.len())
            .expect("a tree is limited to far fewer nodes than four thousand million");
        self.nodes.push(Entry { parent: None, children: Vec::new(), kind });
        self.order.push(0);
        NodeId(id)
    }

    /// Makes a node the child of another, in front of its child number `index`.
    pub(super) fn attach(&mut self, parent: NodeId, index: usize, child: NodeId) {
        self.entry_mut(child).parent = Some(parent);
        self.entry_mut(parent).children.insert(index, child);
        self.is_ordered = false;
    }
}

impl Kind {
    pub(super) fn size(&self) -> Size {
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
