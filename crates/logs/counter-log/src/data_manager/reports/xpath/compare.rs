use std::collections::HashSet;

use super::Error;
use super::Work;
use super::value::{Place, Value};
use crate::data_manager::reports::tree::Tree;

/// XPath 1.0, 3.4: `=` and `!=`. A set is equal to something if one of its nodes is, and different if one of them is.
pub(super) fn are_equal(
    left: Value,
    right: Value,
    is_meant: bool,
    tree: &Tree,
    work: &mut Work,
) -> Result<bool, Error> {
    match (left, right) {
        (Value::Nodes(left), Value::Nodes(right)) => sets_are_equal(&left, &right, is_meant, tree, work),
        (Value::Nodes(nodes), other) | (other, Value::Nodes(nodes)) => {
            set_is_equal(&nodes, &other, is_meant, tree, work)
        }
        (left @ Value::Boolean(_), right) | (left, right @ Value::Boolean(_)) => {
            Ok((left.to_boolean() == right.to_boolean()) == is_meant)
        }
        (left @ Value::Number(_), right) | (left, right @ Value::Number(_)) => {
            Ok(numbers_are_equal(left.to_number(tree, work)?, right.to_number(tree, work)?) == is_meant)
        }
        (left, right) => {
            let (left, right) = (left.into_text(tree, work)?, right.into_text(tree, work)?);
            work.charge_bytes(left.len())?;
            Ok((left == right) == is_meant)
        }
    }
}

/// XPath 1.0, 3.4: numbers are equal as IEEE 754 says, without a tolerance.
#[expect(clippy::float_cmp, reason = "the specification asks for it")]
fn numbers_are_equal(left: f64, right: f64) -> bool {
    left == right
}

fn set_is_equal(
    nodes: &[Place],
    other: &Value,
    is_meant: bool,
    tree: &Tree,
    work: &mut Work,
) -> Result<bool, Error> {
    match other {
        Value::Boolean(is) => return Ok((nodes.is_empty() != *is) == is_meant),
        Value::Number(number) => {
            for node in nodes {
                if numbers_are_equal(node.number(tree, work)?, *number) == is_meant {
                    return Ok(true);
                }
            }
        }
        Value::Text(text) => {
            for node in nodes {
                if (node.text(tree, work)? == *text) == is_meant {
                    return Ok(true);
                }
            }
        }
        Value::Nodes(_) => {}
    }
    Ok(false)
}

fn sets_are_equal(
    left: &[Place],
    right: &[Place],
    is_meant: bool,
    tree: &Tree,
    work: &mut Work,
) -> Result<bool, Error> {
    let mut texts = HashSet::new();
    for node in left {
        texts.insert(node.text(tree, work)?);
    }
    for node in right {
        let text = node.text(tree, work)?;
        // One text is different from this one if there are several, or another.
        let is_one =
            if is_meant { texts.contains(&text) } else { texts.len() > usize::from(texts.contains(&text)) };
        if is_one {
            return Ok(true);
        }
    }
    Ok(false)
}

/// XPath 1.0, 3.4: `<` and `<=`. A set is below something if one of its nodes is.
pub(super) fn is_below(
    left: Value,
    right: Value,
    holds: fn(f64, f64) -> bool,
    tree: &Tree,
    work: &mut Work,
) -> Result<bool, Error> {
    let (left, right) = match (left, right) {
        (nodes @ Value::Nodes(_), is @ Value::Boolean(_)) => (Value::Boolean(nodes.to_boolean()), is),
        (is @ Value::Boolean(_), nodes @ Value::Nodes(_)) => (is, Value::Boolean(nodes.to_boolean())),
        others => others,
    };
    // The smallest of one side is below the largest of the other if any is below any.
    let left = extreme(&left, f64::min, tree, work)?;
    let right = extreme(&right, f64::max, tree, work)?;
    Ok(holds(left, right))
}

/// The number of a value, or the one of its nodes that `pick` prefers; no number where there is none.
fn extreme(value: &Value, pick: fn(f64, f64) -> f64, tree: &Tree, work: &mut Work) -> Result<f64, Error> {
    let Value::Nodes(nodes) = value else { return value.to_number(tree, work) };
    let mut extreme = f64::NAN;
    for node in nodes {
        // The functions prefer any number to what is none.
        extreme = pick(extreme, node.number(tree, work)?);
    }
    Ok(extreme)
}
