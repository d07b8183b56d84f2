use super::Error;
use super::Work;
use super::compare;
use super::expression::{Expr, Operator, Path, Start};
use super::value::{Place, Value};
use crate::data_manager::reports::tree::Tree;

/// XPath 1.0, 1: what an expression is evaluated on.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    pub(super) tree: &'a Tree,
    pub(super) node: Place,
    pub(super) position: usize,
    pub(super) size: usize,
}

impl Expr {
    /// Expressions are in one another no deeper than the limit of the parser.
    pub(super) fn evaluate(&self, context: &Context<'_>, work: &mut Work) -> Result<Value, Error> {
        work.charge(1)?;
        match self {
            Self::Chain(first, others) => {
                let mut left = first.evaluate(context, work)?;
                for (operator, right) in others {
                    left = operate(left, *operator, right, context, work)?;
                }
                Ok(left)
            }
            Self::Negate(operand) => {
                Ok(Value::Number(-operand.evaluate(context, work)?.to_number(context.tree, work)?))
            }
            Self::Union(parts) => {
                let mut nodes = Vec::new();
                for part in parts {
                    nodes.extend(part.evaluate(context, work)?.into_nodes("each side of `|`")?);
                }
                put_in_order(&mut nodes, context.tree, work)?;
                Ok(Value::Nodes(nodes))
            }
            Self::Path(path) => path.evaluate(context, work),
            Self::Literal(text) => {
                work.charge_bytes(text.len())?;
                Ok(Value::Text(text.clone()))
            }
            Self::Number(number) => Ok(Value::Number(*number)),
            Self::Call(function, arguments) => function.call(arguments, context, work),
        }
    }
}

fn operate(
    left: Value,
    operator: Operator,
    right: &Expr,
    context: &Context<'_>,
    work: &mut Work,
) -> Result<Value, Error> {
    match (operator, left.to_boolean()) {
        (Operator::Or, true) => return Ok(Value::Boolean(true)),
        (Operator::And, false) => return Ok(Value::Boolean(false)),
        _ => {}
    }
    let right = right.evaluate(context, work)?;
    let tree = context.tree;
    Ok(match operator {
        Operator::Or | Operator::And => Value::Boolean(right.to_boolean()),
        Operator::Equal => Value::Boolean(compare::are_equal(left, right, true, tree, work)?),
        Operator::NotEqual => Value::Boolean(compare::are_equal(left, right, false, tree, work)?),
        Operator::Less => Value::Boolean(compare::is_below(left, right, |a, b| a < b, tree, work)?),
        Operator::AtMost => Value::Boolean(compare::is_below(left, right, |a, b| a <= b, tree, work)?),
        Operator::Greater => Value::Boolean(compare::is_below(right, left, |a, b| a < b, tree, work)?),
        Operator::AtLeast => Value::Boolean(compare::is_below(right, left, |a, b| a <= b, tree, work)?),
        _ => {
            let (left, right) = (left.to_number(tree, work)?, right.to_number(tree, work)?);
            Value::Number(match operator {
                Operator::Add => left + right,
                Operator::Subtract => left - right,
                Operator::Multiply => left * right,
                Operator::Divide => left / right,
                _ => left % right,
            })
        }
    })
}

impl Path {
    fn evaluate(&self, context: &Context<'_>, work: &mut Work) -> Result<Value, Error> {
        let mut nodes = match &self.start {
            Start::Root => vec![Place::node(Tree::ROOT)],
            Start::Context => vec![context.node],
            Start::Filter(operand, predicates) => {
                let nodes = operand.evaluate(context, work)?.into_nodes("what comes before `[` or `/`")?;
                filter(nodes, predicates, context.tree, work)?
            }
        };
        for step in &self.steps {
            let mut found = Vec::new();
            let is_sorted = nodes.len() <= 1 && !step.axis.is_reverse();
            for node in nodes {
                let candidates = step.candidates(node, context.tree, work)?;
                found.extend(filter(candidates, &step.predicates, context.tree, work)?);
            }
            if !is_sorted {
                put_in_order(&mut found, context.tree, work)?;
            }
            nodes = found;
        }
        Ok(Value::Nodes(nodes))
    }
}

/// XPath 1.0, 2.4: keeps the nodes for which all predicates hold.
fn filter(
    mut nodes: Vec<Place>,
    predicates: &[Expr],
    tree: &Tree,
    work: &mut Work,
) -> Result<Vec<Place>, Error> {
    for predicate in predicates {
        let size = nodes.len();
        let mut kept = Vec::new();
        for (index, node) in nodes.into_iter().enumerate() {
            let context = Context { tree, node, position: index + 1, size };
            let holds = match predicate.evaluate(&context, work)? {
                Value::Number(number) => number == to_f64(context.position),
                value => value.to_boolean(),
            };
            if holds {
                kept.push(node);
            }
        }
        nodes = kept;
    }
    Ok(nodes)
}

fn put_in_order(nodes: &mut Vec<Place>, tree: &Tree, work: &mut Work) -> Result<(), Error> {
    work.charge(nodes.len())?;
    nodes.sort_unstable_by_key(|place| place.order(tree));
    nodes.dedup();
    Ok(())
}

/// A count as a number. Trees have far fewer nodes than numbers are exact for.
#[expect(clippy::cast_precision_loss, reason = "counts of nodes and characters are far below 2^53")]
pub(super) const fn to_f64(count: usize) -> f64 {
    count as f64
}
