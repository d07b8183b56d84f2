use super::Error;
use super::{is_name_char, is_name_start};

/// XPath 1.0, 3.7: a token.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
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
pub(super) type Placed = (usize, Token);

const SIGNS: [&str; 12] = ["::", "..", "//", "(", ")", "[", "]", "@", ",", "/", "|", "."];
const OPERATORS: [&str; 8] = ["!=", "<=", ">=", "+", "-", "=", "<", ">"];
const NAMES: [&str; 4] = ["and", "or", "mod", "div"];

pub(super) fn tokens(text: &str) -> Result<Vec<Placed>, Error> {
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
        '$' => "variables of XPath are not there; variables of rules stand in braces".to_owned(),
        _ => format!("`{first}` is no part of an expression"),
    })
}

fn name(rest: &str, follows_operand: bool) -> Result<(Token, usize), String> {
    let local = part(rest);
    if follows_operand {
        let operator = NAMES.iter().find(|operator| **operator == local);
        return operator
            .map(|operator| (Token::Operator(operator), local.len()))
            .ok_or_else(|| format!("`{local}` stands where an operator has to stand"));
    }
    let behind = rest.get(local.len()..).unwrap_or_default();
    let Some(behind) = behind.strip_prefix(':').filter(|behind| !behind.starts_with(':')) else {
        return Ok((Token::Name(local.to_owned()), local.len()));
    };
    let second = if behind.starts_with('*') { "*" } else { part(behind) };
    if second.is_empty() || (second != "*" && !behind.starts_with(is_name_start)) {
        return Err(format!("no name stands behind the prefix `{local}`"));
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
