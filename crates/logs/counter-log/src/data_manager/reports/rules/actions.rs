//! What a rule does to a report when it applies.

use ms_pla::xml::{Element, Node};

use super::run::{Run, Stop};
use super::template::{TooLong, Variable};
use super::{Action, Content, Inserted};
use crate::data_manager::reports::report::schema::shown;
use crate::data_manager::reports::tree::{self, Axis, EditError, Tree};
use crate::data_manager::reports::xpath::{Place, Value};

impl Run<'_> {
    pub(super) fn block(&mut self, actions: &[Action], context: Place) -> Result<(), Stop> {
        for action in actions {
            self.work.charge(1)?;
            match action {
                Action::Variable { name, content } => self.set(name, content, context)?,
                Action::Insert { select, inserted } => self.insert(select.as_deref(), inserted, context)?,
                Action::Delete { select } => self.delete(select, context)?,
                Action::Warning { select, table, tag, items } => {
                    self.warn(select, table, tag, items, context)?;
                }
                Action::Nothing => self.log("an event is not raised here"),
            }
        }
        Ok(())
    }

    /// See section 2.2.4 of [MS-PLA].
    fn set(&mut self, name: &str, content: &Content, context: Place) -> Result<(), Stop> {
        let variable = match content {
            Content::Text(text) => {
                let max = self.limits.value_bytes_max;
                let filled = self.names.fill(text, max);
                if filled.is_err() {
                    self.work.charge_bytes(max)?;
                }
                filled.map_err(|TooLong| too_long(&format!("the variable `{name}`"), max))?
            }
            Content::Expression(expression) => {
                let value = self.value(expression, context, &format!("the variable `{name}`"))?;
                self.variable(value)?
            }
        };
        let (bytes, max) = (variable.len(), self.limits.value_bytes_max);
        self.work.charge_bytes(bytes)?;
        if bytes > max {
            return Err(too_long(&format!("the variable `{name}`"), max));
        }
        self.names.variables.insert(name.to_owned(), variable);
        Ok(())
    }

    /// See section 2.2.5, 2.2.6 of [MS-PLA].
    fn insert(&mut self, select: Option<&str>, inserted: &[Inserted], context: Place) -> Result<(), Stop> {
        let places = match select {
            Some(select) => self.nodes(select, context, "`select` of `Insert`")?,
            None => vec![context],
        };
        for place in places {
            for what in inserted {
                match what {
                    Inserted::Attribute { name, value } => {
                        let value = self.filled(value)?;
                        let max = self.size_max();
                        self.tree.set_attribute(place.node, name, &value, max).map_err(failed)?;
                    }
                    Inserted::Node { axis, document: Some(document), select, .. } => {
                        self.insert_document(place, *axis, document, select.as_deref())?;
                    }
                    Inserted::Node { axis, document: None, select, nodes } => {
                        let is_meant = match select {
                            Some(select) => self.value(select, context, "`select` of `Node`")?.to_boolean(),
                            None => true,
                        };
                        if is_meant {
                            self.insert_nodes(place, *axis, nodes)?;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    fn insert_nodes(&mut self, place: Place, axis: Axis, nodes: &[Node]) -> Result<(), Stop> {
        let filled = nodes.iter().map(|node| self.filled_node(node)).collect::<Result<Vec<Node>, Stop>>()?;
        let inserted = filled.iter().map(|node| match node {
            Node::Element(element) => tree::Inserted::Element(element),
            Node::Text(text) => tree::Inserted::Text(text),
        });
        self.insert_all(place, axis, &inserted.collect::<Vec<_>>())
    }

    fn insert_all(&mut self, place: Place, axis: Axis, what: &[tree::Inserted<'_>]) -> Result<(), Stop> {
        let max = self.size_max();
        self.work.charge(what.len() + siblings(self.tree, place, axis))?;
        let moved = self.tree.insert(place.node, axis, what, max).map_err(failed)?;
        Ok(self.work.charge_bytes(moved)?)
    }

    /// [MS-PLA] 2.2.5: inserts the nodes that `select` selects in a document, or its root.
    fn insert_document(
        &mut self,
        place: Place,
        axis: Axis,
        name: &str,
        select: Option<&str>,
    ) -> Result<(), Stop> {
        let name = self.filled(name)?;
        let expression = select.map(|select| self.expression(select, "`select` of `Node`")).transpose()?;
        let max = self.size_max();
        let document = self.documents.read(&name, &mut self.work)?.map_err(Stop::Failed)?;
        let mut nodes = match expression {
            None => vec![Place::node(document.document_element())],
            Some(expression) => {
                match expression.evaluate(document, Place::node(Tree::ROOT), &mut self.work)? {
                    Value::Nodes(nodes) => nodes,
                    value if value.to_boolean() => vec![Place::node(document.document_element())],
                    _ => Vec::new(),
                }
            }
        };
        nodes.retain(|node| node.attribute.is_none() && node.node != Tree::ROOT);
        let mut inserted = Vec::new();
        for node in nodes {
            self.work.charge(1 + document.descendants(node.node).count())?;
            inserted.push(tree::Inserted::Node(document, node.node));
        }
        self.work.charge(siblings(self.tree, place, axis))?;
        let moved = self.tree.insert(place.node, axis, &inserted, max).map_err(failed)?;
        Ok(self.work.charge_bytes(moved)?)
    }

    /// See section 2.2.7 of [MS-PLA].
    fn delete(&mut self, select: &str, context: Place) -> Result<(), Stop> {
        let places = self.nodes(select, context, "`select` of `Delete`")?;
        // Attributes count by their places, which those after them lose.
        for place in places.into_iter().rev() {
            if let Some(attribute) = place.as_attribute(self.tree) {
                let name = attribute.name.clone();
                self.tree.remove_attribute(place.node, &name);
            } else if self.tree.is_attached(place.node) {
                self.work.charge(1 + siblings(self.tree, place, Axis::FollowingSibling))?;
                let moved = self.tree.remove(place.node).map_err(failed)?;
                self.work.charge_bytes(moved)?;
            }
        }
        Ok(())
    }

    /// See section 2.2.8 of [MS-PLA].
    fn warn(
        &mut self,
        select: &str,
        table: &str,
        tag: &str,
        items: &[Element],
        context: Place,
    ) -> Result<(), Stop> {
        let tag = self.filled(tag)?;
        let tables = self.nodes(table, context, "`table` of `Warning`")?;
        let Some(table) = tables.into_iter().find(|place| self.tree.name(place.node) == "Table") else {
            return Err(Stop::Failed(
                "`table` of `Warning` selects no table, which has to be there before".to_owned(),
            ));
        };
        let nodes = self.nodes(select, context, "`select` of `Warning`")?;
        if nodes.is_empty() {
            self.log(&format!("the warning `{}` is about nothing in the report", shown(&tag)));
        }
        for item in items {
            let item = self.filled_element(item)?;
            self.insert_all(table, Axis::Child, &[tree::Inserted::Element(&item)])?;
        }
        let max = self.size_max();
        for node in nodes {
            self.tree.set_attribute(node.node, "warning", &tag, max).map_err(failed)?;
        }
        self.applied.warnings += 1;
        Ok(())
    }

    /// A text for people, with ids and variables replaced.
    fn filled(&mut self, text: &str) -> Result<String, Stop> {
        let max = self.size_max().bytes.min(self.work.bytes_left());
        let filled = self.names.fill(text, max);
        // What is too long has been copied up to the limit. Where that is all the work that is left, the rules end.
        self.work.charge_bytes(filled.as_ref().map_or(max, Variable::len))?;
        match filled.map_err(|TooLong| too_long("a text with its variables replaced", max))? {
            Variable::Rule(text) | Variable::Report(text) => Ok(text),
            other => Ok(other.text()),
        }
    }

    /// A copy of an element with ids and variables replaced in texts and values. It is no deeper than the reader's limit.
    fn filled_element(&mut self, element: &Element) -> Result<Element, Stop> {
        self.work.charge_bytes(element.name.len())?;
        let mut copy = Element { name: element.name.clone(), ..Element::default() };
        for attribute in &element.attributes {
            self.work.charge_bytes(attribute.name.len())?;
            let mut attribute = attribute.clone();
            attribute.value = self.filled(&attribute.value)?;
            copy.attributes.push(attribute);
        }
        copy.nodes = element.nodes.iter().map(|node| self.filled_node(node)).collect::<Result<_, Stop>>()?;
        Ok(copy)
    }

    fn filled_node(&mut self, node: &Node) -> Result<Node, Stop> {
        self.work.charge(1)?;
        Ok(match node {
            Node::Element(element) => Node::Element(self.filled_element(element)?),
            Node::Text(text) => Node::Text(self.filled(text)?),
        })
    }
}

/// How many nodes are looked at to find the place beside one; the last child is found at once.
fn siblings(tree: &Tree, place: Place, axis: Axis) -> usize {
    let parent = tree.parent(place.node).filter(|_| axis != Axis::Child);
    parent.map_or(0, |parent| tree.children(parent).len())
}

fn too_long(what: &str, max: usize) -> Stop {
    Stop::Failed(format!("{what} has more than {max} bytes, which is the limit"))
}

fn failed(error: EditError) -> Stop {
    Stop::Failed(error.to_string())
}
