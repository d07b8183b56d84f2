//! XPath 1.0, as [MS-PLA] 2.2.3.4 refers to it, on the tree of a report.
//!
//! All of the core library and all axes but `namespace`, as names here have no namespaces. Expressions come from exported
//! sets, so that their depth and length are limited, and each node that is looked at and each byte that is made counts as
//! [`Work`].
//!
//! It is ours because no kept library does what rules need. Of 361 expressions (`tests/data/xpath.txt`), so many agree with
//! xmllint, where digits of numbers that xmllint rounds do not count:
//!
//! | | agree | what is wrong with the rest |
//! | --- | --- | --- |
//! | this | 354 | the namespace axis is refused; else as the recommendation says |
//! | sxd-xpath 0.4.2 | 333 | `set > number` asks the first node only; panics on prefixes; no limit on work |
//! | uppsala 0.12.0 | 330 | `set > number` asks the first node only; `(set)[1]` is refused |
//! | xee-xpath 0.1.5 | 295 | XPath 3.1: other types and errors; no limit on work |
//! | amxml 0.5.3 | 254 | XPath 3.1 in part; panics |
//!
//! The first fault alone makes a rule silently say that all is well.

mod axes;
mod compare;
mod error;
mod evaluate;
mod expression;
mod functions;
mod lexer;
mod names;
mod parse;
mod query;
mod shorten;
mod value;
mod work;

pub use self::error::Error;
pub(crate) use self::names::is_name;
pub use self::query::Expression;
pub(crate) use self::value::{Place, Value, to_number};
pub use self::work::Work;

/// XPath 1.0, 4.2: a number as a text.
#[must_use]
pub fn number_text(number: f64) -> String {
    value::to_text(number)
}

/// XPath 1.0, 3.7: an expression whose value is a text. A literal has no escapes, so that a text with both kinds of quotes is
/// put together.
pub(crate) fn text_literal(text: &str) -> String {
    if !text.contains('\'') {
        return format!("'{text}'");
    }
    if !text.contains('"') {
        return format!("\"{text}\"");
    }
    let parts: Vec<String> = text.split('\'').map(|part| format!("'{part}'")).collect();
    format!("concat({})", parts.join(", \"'\", "))
}

/// The result of an expression, for people and other programs.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// A set of nodes: how many there are, and the text of the first.
    Nodes(usize, String),
    /// A truth value.
    Boolean(bool),
    /// A number.
    Number(f64),
    /// A text.
    Text(String),
}

impl Expression {
    /// Evaluates the expression on a whole document.
    ///
    /// # Errors
    /// When it has operands that it cannot have, or `work` ends.
    pub fn answer(&self, tree: &crate::tree::Tree, work: &mut Work) -> Result<Answer, Error> {
        let value = self.evaluate(tree, Place::node(crate::tree::Tree::ROOT), work)?;
        Ok(match value {
            Value::Nodes(nodes) => Answer::Nodes(nodes.len(), Value::Nodes(nodes).into_text(tree, work)?),
            Value::Boolean(is) => Answer::Boolean(is),
            Value::Number(number) => Answer::Number(number),
            Value::Text(text) => Answer::Text(text),
        })
    }
}
