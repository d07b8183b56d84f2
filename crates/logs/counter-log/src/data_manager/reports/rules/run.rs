//! How rules are applied, one after another, and what hosts cannot choose in them.

use std::cmp::Ordering;
use std::collections::HashMap;

use super::template::{Names, Variable};
use super::{Action, Applied, Documents, Failure, Group, Limits, Rule, Rules, SortType, Step, document};
use crate::data_manager::reports::report::schema::shown;
use crate::data_manager::reports::tree::{Size, Tree};
use crate::data_manager::reports::xpath::{Error, Expression, Place, Value, Work, to_number};

/// Rules while they are applied.
pub(super) struct Run<'a> {
    pub(super) tree: &'a mut Tree,
    pub(super) names: Names<'a>,
    pub(super) documents: document::Cache<'a>,
    pub(super) limits: &'a Limits,
    pub(super) work: Work,
    pub(super) applied: Applied,
    place: String,
    is_logged: bool,
    /// INVARIANT: set once the work was too much; nothing is done after it.
    is_over: bool,
}

/// Why something was not done.
#[derive(Debug)]
pub(super) enum Stop {
    /// This was not possible.
    Failed(String),
    /// No work is left.
    Over,
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        if error == Error::Work { Self::Over } else { Self::Failed(error.to_string()) }
    }
}

impl<'a> Run<'a> {
    pub(super) fn new(
        rules: &'a Rules,
        tree: &'a mut Tree,
        documents: &'a mut dyn Documents,
        limits: &'a Limits,
    ) -> Self {
        Self {
            tree,
            names: Names { strings: &rules.strings, variables: HashMap::new() },
            documents: document::Cache::new(documents, limits.documents_max),
            limits,
            work: Work::new(limits.work_max),
            applied: Applied::default(),
            place: String::new(),
            is_logged: rules.log_level > 0,
            is_over: false,
        }
    }

    pub(super) fn groups(&mut self, groups: &[Group]) {
        for group in groups {
            self.place = format!("group `{}`", shown(&group.name));
            let Some((name, missing)) = self.localised(&group.name) else { return };
            self.place = format!("group `{}`", shown(&name));
            if let Some(id) = missing.first() {
                // [MS-PLA] 2.2.3.4: this group and those after it do not run.
                self.fail(format!(
                    "no string has the id `{}`, so that this group and those behind it do not run",
                    shown(id)
                ));
                return;
            }
            if !group.is_enabled {
                self.log("is not enabled");
                continue;
            }
            for rule in &group.rules {
                self.rule(&name, rule);
                if self.is_over {
                    return;
                }
            }
        }
    }

    pub(super) fn finish(self) -> Applied {
        self.tree.put_in_order();
        let mut applied = self.applied;
        applied.work = self.work.done();
        applied
    }

    fn rule(&mut self, group: &str, rule: &Rule) {
        self.place = format!("group `{}`, rule `{}`", shown(group), shown(&rule.name));
        let Some((name, missing)) = self.localised(&rule.name) else { return };
        self.place = format!("group `{}`, rule `{}`", shown(group), shown(&name));
        if let Some(id) = missing.first() {
            // [MS-PLA] 2.2.3.4: the rule is skipped.
            return self.fail(format!("no string has the id `{}`, so that the rule is skipped", shown(id)));
        }
        if !rule.is_enabled {
            return self.log("is not enabled");
        }
        for (step, number) in rule.steps.iter().zip(1..) {
            if !step.is_enabled {
                continue;
            }
            match self.step(step) {
                Ok(true) => self.log(&format!("step {number} is done")),
                Ok(false) if step.is_fatal => {
                    return self.log(&format!("step {number} has nothing to do, which ends the rule"));
                }
                Ok(false) => self.log(&format!("step {number} has nothing to do")),
                Err(Stop::Failed(reason)) => {
                    self.fail(format!("step {number}: {reason}"));
                    if step.is_fatal {
                        return;
                    }
                }
                Err(Stop::Over) => {
                    self.is_over = true;
                    let units = self.limits.work_max;
                    return self.fail(format!(
                        "the rules take more than {units} units of work, which is the limit, so that they end here"
                    ));
                }
            }
        }
    }

    /// A name with its ids replaced. Without one, it is too long, which is reported, and what it names does not run.
    fn localised(&mut self, name: &str) -> Option<(String, Vec<String>)> {
        let max = self.limits.value_bytes_max;
        let localised = self.names.localise(name, max);
        if localised.is_err() {
            self.fail(format!(
                "the name has more than {max} bytes with its ids replaced, which is the limit, so that it does not run"
            ));
        }
        localised.ok()
    }

    /// Does a step. The result is whether any block was done, without which a step has failed.
    fn step(&mut self, step: &Step) -> Result<bool, Stop> {
        let root = Place::node(Tree::ROOT);
        let selected = self.nodes(&step.select, root, "`select` of the step")?;
        let contexts = self.sorted(step, selected)?;
        if contexts.is_empty() {
            let Some(block) = &step.otherwise else { return Ok(false) };
            self.variables(&step.variables, root)?;
            self.block(block, root)?;
            return Ok(true);
        }
        let mut is_done = false;
        for context in contexts {
            // A block may have deleted it.
            self.work.charge(1)?;
            if !self.tree.is_attached(context.node) {
                continue;
            }
            self.variables(&step.variables, context)?;
            is_done |= self.exists(step, context)?;
        }
        Ok(is_done)
    }

    fn exists(&mut self, step: &Step, context: Place) -> Result<bool, Stop> {
        let Some((whens, otherwise)) = &step.exists else { return Ok(false) };
        for when in whens {
            if self.value(&when.expression, context, "`expression` of `When`")?.to_boolean() {
                self.block(&when.block, context)?;
                return Ok(true);
            }
        }
        if let Some(block) = otherwise {
            self.block(block, context)?;
        }
        Ok(otherwise.is_some())
    }

    /// [MS-PLA] 2.2.3.4: the nodes that are contexts by `sortType`, `sortDataType` and `sortNode`.
    fn sorted(&mut self, step: &Step, nodes: Vec<Place>) -> Result<Vec<Place>, Stop> {
        match step.sort_type {
            SortType::All => return Ok(nodes),
            SortType::First => return Ok(nodes.into_iter().take(1).collect()),
            SortType::Min | SortType::Max => {}
        }
        let mut best: Option<(Place, Key)> = None;
        for node in nodes {
            let text = match &step.sort_node {
                Some(expression) => {
                    let value = self.value(expression, node, "`sortNode` of the step")?;
                    value.into_text(self.tree, &mut self.work)?
                }
                None => node.text(self.tree, &mut self.work)?,
            };
            let key = if step.sorts_numbers { Key::Number(to_number(&text)) } else { Key::Text(text) };
            // What is no number is neither smallest nor largest.
            if key.is_nothing() {
                continue;
            }
            let order = best.as_ref().map(|(_, known)| key.compare(known));
            let is_better = match order {
                None => true,
                Some(order) => {
                    order == if step.sort_type == SortType::Min { Ordering::Less } else { Ordering::Greater }
                }
            };
            if is_better {
                best = Some((node, key));
            }
        }
        Ok(best.map(|(node, _)| node).into_iter().collect())
    }

    fn variables(&mut self, variables: &[Action], context: Place) -> Result<(), Stop> {
        self.block(variables, context)
    }

    /// The value of an expression, after ids and variables were replaced.
    pub(super) fn value(&mut self, template: &str, context: Place, what: &str) -> Result<Value, Stop> {
        let expression = self.expression(template, what)?;
        self.work.charge(self.tree.put_in_order())?;
        expression.evaluate(self.tree, context, &mut self.work).map_err(|error| named(what, &error))
    }

    pub(super) fn expression(&mut self, template: &str, what: &str) -> Result<Expression, Stop> {
        let Limits { expression_bytes_max, depth_max, .. } = *self.limits;
        let text = self.names.expression(template, expression_bytes_max);
        // What is refused has been copied up to the limit.
        self.work.charge_bytes(text.as_ref().map_or(expression_bytes_max, String::len))?;
        let text = text.map_err(|reason| Stop::Failed(format!("{what}: {reason}")))?;
        Expression::parse(&text, expression_bytes_max, depth_max).map_err(|error| named(what, &error))
    }

    pub(super) fn nodes(&mut self, template: &str, context: Place, what: &str) -> Result<Vec<Place>, Stop> {
        match self.value(template, context, what)? {
            Value::Nodes(nodes) => Ok(nodes),
            _ => Err(Stop::Failed(format!("{what} selects no nodes, but has another value"))),
        }
    }

    /// A variable from the value of an expression, whose texts are those of the report.
    pub(super) fn variable(&mut self, value: Value) -> Result<Variable, Stop> {
        Ok(match value {
            Value::Number(number) => Variable::Number(number),
            Value::Boolean(is) => Variable::Boolean(is),
            value => Variable::Report(value.into_text(self.tree, &mut self.work)?),
        })
    }

    pub(super) const fn size_max(&self) -> Size {
        Size { nodes: self.limits.nodes_max, bytes: self.limits.bytes_max }
    }

    pub(super) fn fail(&mut self, reason: String) {
        self.log(&reason);
        if self.applied.failures.len() < self.limits.failures_max {
            self.applied.failures.push(Failure { place: self.place.clone(), reason });
        }
    }

    pub(super) fn log(&mut self, what: &str) {
        if self.is_logged && self.applied.log.len() < self.limits.log_lines_max {
            self.applied.log.push(format!("{}: {what}", self.place));
        }
    }
}

fn named(what: &str, error: &Error) -> Stop {
    if *error == Error::Work { Stop::Over } else { Stop::Failed(format!("{what}: {error}")) }
}

/// What nodes are sorted by.
enum Key {
    Number(f64),
    Text(String),
}

impl Key {
    fn is_nothing(&self) -> bool {
        matches!(self, Self::Number(number) if number.is_nan())
    }

    fn compare(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Number(a), Self::Number(b)) => a.partial_cmp(b).unwrap_or(Ordering::Equal),
            (Self::Text(a), Self::Text(b)) => a.cmp(b),
            _ => Ordering::Equal,
        }
    }
}
