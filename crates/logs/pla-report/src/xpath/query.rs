use super::error::Error;
use super::evaluate::Context;
use super::expression::Expr;
use super::value::{Place, Value};
use super::work::Work;
use super::{lexer, parse};
use crate::tree::Tree;

/// An expression of XPath 1.0 that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    root: Expr,
}

impl Expression {
    /// Reads an expression of at most `bytes_max` bytes, with at most `depth_max` expressions in one another.
    ///
    /// # Errors
    /// When it is no expression, or above a limit.
    pub fn parse(text: &str, bytes_max: usize, depth_max: u32) -> Result<Self, Error> {
        if text.len() > bytes_max {
            return Err(Error::Length { bytes: text.len(), max: bytes_max });
        }
        let tokens = lexer::tokens(text).map_err(|error| error.in_chars(text))?;
        let root = parse::expression(tokens, text.len(), depth_max).map_err(|error| error.in_chars(text))?;
        Ok(Self { root })
    }

    /// Evaluates the expression on a node. The tree has to be in order.
    pub(crate) fn evaluate(&self, tree: &Tree, node: Place, work: &mut Work) -> Result<Value, Error> {
        self.root.evaluate(&Context { tree, node, position: 1, size: 1 }, work)
    }
}
