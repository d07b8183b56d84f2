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
mod evaluate;
mod expression;
mod functions;
mod parse;
mod value;

pub(crate) use self::value::{Place, Value, to_number};

use self::expression::{Axis, Function, Operator, Path, Start, Step, Test};
use crate::data_manager::reports::tree::Tree;
use crate::data_manager::reports::xpath::evaluate::Context;
use crate::data_manager::reports::xpath::expression::Expr;

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
    Boolean(bool),
    Number(f64),
    Text(String),
}

impl Expression {
    /// Evaluates the expression on a whole document.
    ///
    /// # Errors
    /// When it has operands that it cannot have, or `work` ends.
    pub fn answer(
        &self,
        tree: &crate::data_manager::reports::tree::Tree,
        work: &mut Work,
    ) -> Result<Answer, Error> {
        let value = self.evaluate(tree, Place::node(crate::data_manager::reports::tree::Tree::ROOT), work)?;
        Ok(match value {
            Value::Nodes(nodes) => Answer::Nodes(nodes.len(), Value::Nodes(nodes).into_text(tree, work)?),
            Value::Boolean(is) => Answer::Boolean(is),
            Value::Number(number) => Answer::Number(number),
            Value::Text(text) => Answer::Text(text),
        })
    }
}

/// Namespaces in XML, 4: whether a text is a name without a colon.
pub(crate) fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(is_name_start) && chars.all(is_name_char)
}

/// Whether a name may begin so.
fn is_name_start(char: char) -> bool {
    char.is_alphabetic() || char == '_'
}

/// Whether a name may go on so.
fn is_name_char(char: char) -> bool {
    char.is_alphanumeric()
        || matches!(char, '_' | '-' | '.' | '\u{b7}' | '\u{300}'..='\u{36f}' | '\u{203f}' | '\u{2040}')
}

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
        let tokens = tokens(text).map_err(|error| error.in_chars(text))?;
        let root = parse::expression(tokens, text.len(), depth_max).map_err(|error| error.in_chars(text))?;
        Ok(Self { root })
    }

    /// Evaluates the expression on a node. The tree has to be in order.
    pub(crate) fn evaluate(&self, tree: &Tree, node: Place, work: &mut Work) -> Result<Value, Error> {
        self.root.evaluate(&Context { tree, node, position: 1, size: 1 }, work)
    }
}

/// Why an expression has no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// It is no expression of XPath 1.0.
    #[error("the expression is wrong at character {at}: {reason}")]
    Syntax {
        /// The character, from 1.
        at: usize,
        reason: String,
    },
    /// It is longer than is read.
    #[error("the expression has {bytes} bytes, above the limit of {max}")]
    Length { bytes: usize, max: usize },
    /// Expressions are in one another deeper than is read.
    #[error("the expression has more than {max} expressions in one another at character {at}")]
    Depth {
        /// The character, from 1.
        at: usize,
        max: u32,
    },
    /// An operand or argument is no set of nodes, and has to be one.
    #[error("{what} has to be a set of nodes")]
    NoNodes { what: &'static str },
    /// The work that was allowed is done.
    #[error("evaluating takes more work than is allowed")]
    Work,
}

impl Error {
    /// The same error, whose place is a byte, with its character from 1.
    fn in_chars(mut self, text: &str) -> Self {
        if let Self::Syntax { at, .. } | Self::Depth { at, .. } = &mut self {
            *at = text.get(..*at).unwrap_or(text).chars().count() + 1;
        }
        self
    }
}

/// How much may still be done: a unit is a node that is looked at, four bytes of text that are made or compared, or four bytes
/// of a set of nodes, so that the work is a limit on memory, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    left: usize,
    done: usize,
}

impl Work {
    /// A limit of this number of units.
    #[must_use]
    pub const fn new(units: usize) -> Self {
        Self { left: units, done: 0 }
    }

    /// Units that were done.
    #[must_use]
    pub const fn done(&self) -> usize {
        self.done
    }

    /// Bytes of text that may still be made.
    pub(crate) const fn bytes_left(&self) -> usize {
        self.left.saturating_mul(BYTES_OF_UNIT)
    }

    /// Counts units before they are done.
    pub(crate) const fn charge(&mut self, units: usize) -> Result<(), Error> {
        match self.left.checked_sub(units) {
            Some(left) => {
                self.left = left;
                self.done += units;
                Ok(())
            }
            None => {
                self.left = 0;
                Err(Error::Work)
            }
        }
    }

    /// Counts bytes of text.
    pub(crate) const fn charge_bytes(&mut self, bytes: usize) -> Result<(), Error> {
        self.charge(1 + bytes / BYTES_OF_UNIT)
    }
}

const BYTES_OF_UNIT: usize = 4;

/// XPath 1.0, 3.7: a token.
#[derive(Clone, Debug, PartialEq)]
enum Token {
    /// `(`, `)`, `[`, `]`, `.`, `..`, `@`, `,`, `::`, `/`, `//` or `|`.
    Sign(&'static str),
    /// An operator: `and`, `or`, `mod`, `div`, `*`, `+`, `-`, `=`, `!=`, `<`, `<=`, `>` or `>=`.
    Operator(&'static str),
    /// A name, perhaps with a prefix: `a`, `a:b`, `a:*`.
    Name(String),
    /// `*` where a name may stand.
    Star,
    Literal(String),
    Number(f64),
}

/// A token, and the byte at which it begins.
type Placed = (usize, Token);

const SIGNS: [&str; 12] = ["::", "..", "//", "(", ")", "[", "]", "@", ",", "/", "|", "."];
const OPERATORS: [&str; 8] = ["!=", "<=", ">=", "+", "-", "=", "<", ">"];
const NAMES: [&str; 4] = ["and", "or", "mod", "div"];

fn tokens(text: &str) -> Result<Vec<Placed>, Error> {
    let mut tokens: Vec<Placed> = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\n', '\r']);
        if rest.is_empty() {
            return Ok(tokens);
        }
        let at = text.len() - rest.len();
        let follows_operand = tokens.last().is_some_and(|(_, token)| ends_operand(token));
        let (token, bytes) = token(rest, follows_operand).map_err(|reason| Error::Syntax { at, reason })?;
        tokens.push((at, token));
        rest = rest.get(bytes..).unwrap_or_default();
    }
}

/// XPath 1.0, 3.7: behind these tokens, `*` and names are operators.
fn ends_operand(token: &Token) -> bool {
    !matches!(token, Token::Operator(_) | Token::Sign("@" | "::" | "(" | "[" | "," | "/" | "//" | "|"))
}

fn token(rest: &str, follows_operand: bool) -> Result<(Token, usize), String> {
    let first = rest.chars().next().unwrap_or_default();
    let second = rest.chars().nth(1).unwrap_or_default();
    if first.is_ascii_digit() || (first == '.' && second.is_ascii_digit()) {
        return Ok(number(rest));
    }
    if first == '"' || first == '\'' {
        let text = rest.get(1..).unwrap_or_default();
        let (text, _) = text.split_once(first).ok_or("a text is not ended")?;
        return Ok((Token::Literal(text.to_owned()), text.len() + 2));
    }
    if first == '*' {
        return Ok((if follows_operand { Token::Operator("*") } else { Token::Star }, 1));
    }
    let begins = |sign: &&&str| rest.starts_with(**sign);
    if let Some(sign) = SIGNS.iter().find(begins) {
        return Ok((Token::Sign(sign), sign.len()));
    }
    if let Some(operator) = OPERATORS.iter().find(begins) {
        return Ok((Token::Operator(operator), operator.len()));
    }
    if is_name_start(first) {
        return name(rest, follows_operand);
    }
    Err(match first {
        '$' => "variables of XPath are not there; variables of rules are in braces".to_owned(),
        _ => format!("`{first}` is no part of an expression"),
    })
}

fn name(rest: &str, follows_operand: bool) -> Result<(Token, usize), String> {
    let local = part(rest);
    if follows_operand {
        let operator = NAMES.iter().find(|operator| **operator == local);
        return operator
            .map(|operator| (Token::Operator(operator), local.len()))
            .ok_or_else(|| format!("`{local}` is where an operator is expected"));
    }
    let behind = rest.get(local.len()..).unwrap_or_default();
    let Some(behind) = behind.strip_prefix(':').filter(|behind| !behind.starts_with(':')) else {
        return Ok((Token::Name(local.to_owned()), local.len()));
    };
    let second = if behind.starts_with('*') { "*" } else { part(behind) };
    if second.is_empty() || (second != "*" && !behind.starts_with(is_name_start)) {
        return Err(format!("no name follows the prefix `{local}`"));
    }
    Ok((Token::Name(format!("{local}:{second}")), local.len() + 1 + second.len()))
}

fn part(rest: &str) -> &str {
    let end = rest.find(|char| !is_name_char(char)).unwrap_or(rest.len());
    rest.get(..end).unwrap_or_default()
}

/// XPath 1.0, 3.7: digits, with a point perhaps.
fn number(rest: &str) -> (Token, usize) {
    let digits = |text: &str| text.find(|char: char| !char.is_ascii_digit()).unwrap_or(text.len());
    let mut end = digits(rest);
    if let Some(fraction) = rest.get(end..).and_then(|rest| rest.strip_prefix('.')) {
        end += 1 + digits(fraction);
    }
    let text = rest.get(..end).unwrap_or_default();
    // Digits with one point are a number.
    (Token::Number(text.parse().unwrap_or(f64::NAN)), end)
}

impl Path {
    /// Adds a step. Behind `//`, one on children whose predicates do not ask for positions is one on all that is below, which
    /// looks at each node once and finds the same.
    fn add(&mut self, mut step: Step) {
        let is_below = matches!(
            self.steps.last(),
            Some(Step { axis: Axis::DescendantOrSelf, test: Test::Node, predicates }) if predicates.is_empty()
        );
        if is_below && step.axis == Axis::Child && !step.predicates.iter().any(Expr::asks_for_position) {
            self.steps.pop();
            step.axis = Axis::Descendant;
        }
        self.steps.push(step);
    }
}

impl Expr {
    /// Whether a predicate may be about a position: its value may be a number, or a position is mentioned.
    fn asks_for_position(&self) -> bool {
        self.may_be_number() || self.mentions_position()
    }

    fn may_be_number(&self) -> bool {
        match self {
            Self::Chain(_, others) => others.iter().any(|(operator, _)| {
                matches!(
                    operator,
                    Operator::Add
                        | Operator::Subtract
                        | Operator::Multiply
                        | Operator::Divide
                        | Operator::Remainder
                )
            }),
            Self::Negate(_) | Self::Number(_) => true,
            Self::Union(_) | Self::Path(_) | Self::Literal(_) => false,
            Self::Call(function, _) => !matches!(
                function,
                Function::Not
                    | Function::Boolean
                    | Function::True
                    | Function::False
                    | Function::Contains
                    | Function::StartsWith
                    | Function::String
                    | Function::Name
            ),
        }
    }

    /// Also within others, where it is about something else: that is rare.
    fn mentions_position(&self) -> bool {
        let any = |expressions: &[Self]| expressions.iter().any(Self::mentions_position);
        match self {
            Self::Chain(first, others) => {
                first.mentions_position() || others.iter().any(|(_, other)| other.mentions_position())
            }
            Self::Negate(operand) => operand.mentions_position(),
            Self::Union(parts) => any(parts),
            Self::Path(path) => {
                path.steps.iter().any(|step| any(&step.predicates)) || path.start_mentions_position()
            }
            Self::Literal(_) | Self::Number(_) => false,
            Self::Call(function, arguments) => {
                matches!(function, Function::Position | Function::Last) || any(arguments)
            }
        }
    }
}

impl Path {
    fn start_mentions_position(&self) -> bool {
        match &self.start {
            Start::Root | Start::Context => false,
            Start::Filter(operand, predicates) => {
                operand.mentions_position() || predicates.iter().any(Expr::mentions_position)
            }
        }
    }
}
