use super::Error;
use super::Work;
use super::expression::{Axis, Step, Test};
use super::value::Place;
use crate::data_manager::reports::tree::{Kind, NodeId, Tree};

impl Axis {
    /// XPath 1.0, 2.4: whether positions count against the order of the document.
    pub(super) const fn is_reverse(self) -> bool {
        matches!(self, Self::Ancestor | Self::AncestorOrSelf | Self::Preceding | Self::PrecedingSibling)
    }
}

impl Step {
    /// The nodes of the step before its predicates, nearest first.
    pub(super) fn candidates(&self, from: Place, tree: &Tree, work: &mut Work) -> Result<Vec<Place>, Error> {
        let mut walk = Walk { tree, test: &self.test, work, found: Vec::new() };
        walk.along(self.axis, from)?;
        Ok(walk.found)
    }
}

struct Walk<'a> {
    tree: &'a Tree,
    test: &'a Test,
    work: &'a mut Work,
    found: Vec<Place>,
}

impl Walk<'_> {
    fn along(&mut self, axis: Axis, from: Place) -> Result<(), Error> {
        let tree = self.tree;
        match axis {
            Axis::SelfNode => self.offer(from)?,
            Axis::Attribute if from.attribute.is_none() => self.attributes(from.node)?,
            Axis::Attribute => {}
            Axis::Parent => {
                if let Some(parent) = self.parent(from) {
                    self.offer(parent)?;
                }
            }
            Axis::Ancestor | Axis::AncestorOrSelf => {
                let mut next = if axis == Axis::Ancestor { self.parent(from) } else { Some(from) };
                while let Some(place) = next {
                    self.offer(place)?;
                    next = self.parent(place);
                }
            }
            Axis::Child if from.attribute.is_none() => {
                for child in tree.children(from.node) {
                    self.offer(Place::node(*child))?;
                }
            }
            Axis::Child => {}
            Axis::Descendant | Axis::DescendantOrSelf => {
                if axis == Axis::DescendantOrSelf {
                    self.offer(from)?;
                }
                if from.attribute.is_none() {
                    self.below(from.node)?;
                }
            }
            Axis::FollowingSibling | Axis::PrecedingSibling => {
                if from.attribute.is_none() {
                    for sibling in self.siblings(from.node, axis == Axis::FollowingSibling)? {
                        self.offer(Place::node(sibling))?;
                    }
                }
            }
            Axis::Following => self.following(from)?,
            Axis::Preceding => self.preceding(from)?,
        }
        Ok(())
    }

    fn parent(&self, place: Place) -> Option<Place> {
        if place.attribute.is_some() {
            Some(Place::node(place.node))
        } else {
            self.tree.parent(place.node).map(Place::node)
        }
    }

    fn below(&mut self, node: NodeId) -> Result<(), Error> {
        for below in self.tree.descendants(node) {
            self.offer(Place::node(below))?;
        }
        Ok(())
    }

    fn attributes(&mut self, node: NodeId) -> Result<(), Error> {
        for (index, attribute) in self.tree.attributes(node).iter().enumerate() {
            self.work.charge(1)?;
            // Declarations of namespaces are no attributes for XPath.
            let is_attribute = attribute.name != "xmlns" && !attribute.name.starts_with("xmlns:");
            let is_meant = match self.test {
                Test::Any | Test::Node => true,
                Test::Name(name) => *name == attribute.name,
                Test::Prefix(prefix) => attribute.name.starts_with(&**prefix),
                Test::Text | Test::None => false,
            };
            if is_attribute && is_meant {
                self.find(Place { node, attribute: Some(index) })?;
            }
        }
        Ok(())
    }

    /// The siblings after a node, or those before it, nearest first.
    fn siblings(&mut self, node: NodeId, is_behind: bool) -> Result<Vec<NodeId>, Error> {
        let siblings = self.tree.parent(node).map_or(&[][..], |parent| self.tree.children(parent));
        self.work.charge(siblings.len())?;
        let at = siblings.iter().position(|sibling| *sibling == node).unwrap_or_default();
        Ok(if is_behind {
            siblings.iter().skip(at + 1).copied().collect()
        } else {
            siblings.iter().take(at).rev().copied().collect()
        })
    }

    /// All that begins after the node, but for its own attributes and what is in it.
    fn following(&mut self, from: Place) -> Result<(), Error> {
        if from.attribute.is_some() {
            self.below(from.node)?;
        }
        let mut next = Some(from.node);
        while let Some(node) = next {
            for sibling in self.siblings(node, true)? {
                self.offer(Place::node(sibling))?;
                self.below(sibling)?;
            }
            next = self.tree.parent(node);
        }
        Ok(())
    }

    /// All that ends in front of the node, the last first.
    fn preceding(&mut self, from: Place) -> Result<(), Error> {
        let mut next = Some(from.node);
        while let Some(node) = next {
            for sibling in self.siblings(node, false)? {
                let at = self.found.len();
                self.offer(Place::node(sibling))?;
                self.below(sibling)?;
                self.found.get_mut(at..).unwrap_or_default().reverse();
            }
            next = self.tree.parent(node);
        }
        Ok(())
    }

    /// Takes a place that the test selects. On all axes but that of attributes, names are those of elements.
    fn offer(&mut self, place: Place) -> Result<(), Error> {
        self.work.charge(1)?;
        let kind = place.attribute.is_none().then(|| self.tree.kind(place.node));
        let is_meant = match (self.test, kind) {
            (Test::Node, _) => true,
            (Test::Any, Some(Kind::Element { .. })) => true,
            (Test::Name(meant), Some(Kind::Element { name, .. })) => meant == name,
            (Test::Prefix(meant), Some(Kind::Element { name, .. })) => name.starts_with(&**meant),
            (Test::Text, Some(Kind::Text(_))) => true,
            _ => false,
        };
        if is_meant {
            self.find(place)?;
        }
        Ok(())
    }

    /// A set has the same node once for each node that it is reached from, until it is put in order: it may be much larger
    /// than the tree, so that its memory counts.
    fn find(&mut self, place: Place) -> Result<(), Error> {
        self.work.charge_bytes(size_of::<Place>())?;
        self.found.push(place);
        Ok(())
    }
}
