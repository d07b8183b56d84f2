use ms_pla::xml::{Element, Node};

use super::{Attribute, DEPTH_MAX, Kind, NodeId, Size, Tree};

/// [MS-PLA] 2.2.5: where a node is inserted, seen from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Axis {
    Child,
    FollowingSibling,
    PrecedingSibling,
}

/// Attributes of one element, each of which is compared with all before it. Readers of XML take as many.
const ATTRIBUTES_MAX: usize = 64;

/// Why a tree is not changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum EditError {
    #[error("the place is no element")]
    NoElement,
    #[error("the root of the report has no place beside it, and is not deleted")]
    Root,
    #[error("elements would be {DEPTH_MAX} deep in one another, which is the limit")]
    Depth,
    #[error("the report would have more than {} nodes or {} bytes, which is the limit", .0.nodes, .0.bytes)]
    Size(Size),
    #[error("an element would have more than {ATTRIBUTES_MAX} attributes, which is the limit")]
    Attributes,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Inserted<'a> {
    Element(&'a Element),
    Node(&'a Tree, NodeId),
    Text(&'a str),
}

impl Tree {
    /// Adds an element without text as the last child.
    pub(crate) fn add_element(&mut self, parent: NodeId, name: &str, attributes: &[(&str, &str)]) -> NodeId {
        let attributes = attributes.iter();
        let attributes = attributes
            .map(|(name, value)| Attribute { name: (*name).to_owned(), value: (*value).to_owned() })
            .collect();
        let element = self.add(Kind::Element { name: name.to_owned(), attributes });
        self.attach(parent, self.children(parent).len(), element);
        element
    }

    /// Adds a text as the last child; an empty one is none.
    pub(crate) fn add_text(&mut self, parent: NodeId, text: &str) {
        if !text.is_empty() {
            let text = self.add(Kind::Text(text.to_owned()));
            self.attach(parent, self.children(parent).len(), text);
        }
    }

    /// Inserts copies in their order, as long as the tree is no larger than `max` then. Returns how many bytes of texts were moved.
    pub(crate) fn insert(
        &mut self,
        place: NodeId,
        axis: Axis,
        what: &[Inserted<'_>],
        max: Size,
    ) -> Result<usize, EditError> {
        let (parent, first) = self.insertion(place, axis)?;
        let depth = self.depth(parent);
        let mut copies = Vec::new();
        // There are no texts without characters.
        let all = what.iter().filter(|what| !matches!(what, Inserted::Text("")));
        let copied = all.copied().try_for_each(|what| {
            copies.push(self.copy(what, depth, max)?);
            Ok(())
        });
        for copy in &copies {
            self.entry_mut(*copy).parent = Some(parent);
        }
        let end = first + copies.len();
        self.entry_mut(parent).children.splice(first..first, copies);
        self.is_ordered = false;
        let moved = (first..=end).rev().map(|index| self.merge_texts(parent, index)).sum();
        copied.map(|()| moved)
    }

    /// Copies what is inserted at a depth, without a parent yet.
    fn copy(&mut self, what: Inserted<'_>, depth: usize, max: Size) -> Result<NodeId, EditError> {
        let (size, own_depth) = what.extent();
        self.check_size(size, max)?;
        if depth + own_depth > DEPTH_MAX {
            return Err(EditError::Depth);
        }
        Ok(match what {
            Inserted::Element(element) => self.import(element),
            Inserted::Node(tree, node) => self.import_from(tree, node),
            Inserted::Text(text) => self.add(Kind::Text(text.to_owned())),
        })
    }

    fn insertion(&self, place: NodeId, axis: Axis) -> Result<(NodeId, usize), EditError> {
        if axis == Axis::Child {
            return match self.kind(place) {
                Kind::Element { .. } => Ok((place, self.children(place).len())),
                _ => Err(EditError::NoElement),
            };
        }
        let parent = self.parent(place).filter(|parent| *parent != Self::ROOT).ok_or(EditError::Root)?;
        let at = self.place_in(parent, place);
        Ok((parent, if axis == Axis::FollowingSibling { at + 1 } else { at }))
    }

    /// Sets an attribute of an element.
    pub(crate) fn set_attribute(
        &mut self,
        node: NodeId,
        name: &str,
        value: &str,
        max: Size,
    ) -> Result<(), EditError> {
        self.check_size(Size { nodes: 1, bytes: name.len() + value.len() }, max)?;
        self.size.bytes += value.len();
        let Kind::Element { attributes, .. } = &mut self.entry_mut(node).kind else {
            return Err(EditError::NoElement);
        };
        if let Some(known) = attributes.iter_mut().find(|attribute| attribute.name == name) {
            value.clone_into(&mut known.value);
            return Ok(());
        }
        if attributes.len() >= ATTRIBUTES_MAX {
            return Err(EditError::Attributes);
        }
        attributes.push(Attribute { name: name.to_owned(), value: value.to_owned() });
        self.size.nodes += 1;
        self.size.bytes += name.len();
        Ok(())
    }

    fn check_size(&self, added: Size, max: Size) -> Result<(), EditError> {
        let is_within = self.size.nodes.saturating_add(added.nodes) <= max.nodes
            && self.size.bytes.saturating_add(added.bytes) <= max.bytes;
        if is_within { Ok(()) } else { Err(EditError::Size(max)) }
    }

    /// Removes a node with all that is below it. Returns how many bytes of texts beside it were moved.
    pub(crate) fn remove(&mut self, node: NodeId) -> Result<usize, EditError> {
        let parent = self.parent(node).ok_or(EditError::Root)?;
        if parent == Self::ROOT {
            return Err(EditError::Root);
        }
        let index = self.place_in(parent, node);
        self.entry_mut(parent).children.remove(index);
        self.entry_mut(node).parent = None;
        self.is_ordered = false;
        Ok(self.merge_texts(parent, index))
    }

    /// The number of a child among the children of its parent.
    fn place_in(&self, parent: NodeId, child: NodeId) -> usize {
        self.children(parent)
            .iter()
            .position(|other| *other == child)
            .expect("a node is a child of its parent, per the invariant of `nodes`")
    }

    /// Removes an attribute of an element by its name.
    pub(crate) fn remove_attribute(&mut self, node: NodeId, name: &str) {
        if let Kind::Element { attributes, .. } = &mut self.entry_mut(node).kind {
            attributes.retain(|attribute| attribute.name != name);
        }
    }

    /// Makes one text of two that stand side by side, as they would be for a reader: the child number `index` and the one in
    /// front of it. Returns how many bytes were moved.
    fn merge_texts(&mut self, parent: NodeId, index: usize) -> usize {
        let children = self.children(parent);
        let pair =
            index.checked_sub(1).and_then(|before| Some((*children.get(before)?, *children.get(index)?)));
        let Some((before, node)) = pair else { return 0 };
        if !matches!((self.kind(before), self.kind(node)), (Kind::Text(_), Kind::Text(_))) {
            return 0;
        }
        self.entry_mut(parent).children.remove(index);
        let removed = self.entry_mut(node);
        removed.parent = None;
        // Its bytes are moved, so that they take memory once.
        let text =
            if let Kind::Text(text) = &mut removed.kind { core::mem::take(text) } else { String::new() };
        if let Kind::Text(whole) = &mut self.entry_mut(before).kind {
            whole.push_str(&text);
        }
        text.len()
    }
}

impl Inserted<'_> {
    /// How large it is, and how many elements are in one another.
    fn extent(self) -> (Size, usize) {
        match self {
            Self::Element(element) => {
                let texts = element
                    .nodes
                    .iter()
                    .filter_map(|node| if let Node::Text(text) = node { Some(text) } else { None });
                let attributes = element.attributes.iter();
                let own = Size {
                    nodes: 1 + element.attributes.len() + texts.clone().count(),
                    bytes: element.name.len()
                        + texts.map(String::len).sum::<usize>()
                        + attributes
                            .map(|attribute| attribute.name.len() + attribute.value.len())
                            .sum::<usize>(),
                };
                around(own, element.elements().map(|inner| Inserted::Element(inner).extent()))
            }
            Self::Node(tree, node) => {
                let inner = tree.children(node).iter().map(|inner| Inserted::Node(tree, *inner).extent());
                around(tree.kind(node).size(), inner)
            }
            Self::Text(text) => (Size { nodes: 1, bytes: text.len() }, 1),
        }
    }
}

/// The extent of something with others in it.
fn around(own: Size, inner: impl Iterator<Item = (Size, usize)>) -> (Size, usize) {
    inner.fold((own, 1), |(size, depth), (more, deep)| {
        (Size { nodes: size.nodes + more.nodes, bytes: size.bytes + more.bytes }, depth.max(deep + 1))
    })
}
