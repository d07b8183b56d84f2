use regex::{Regex, RegexBuilder};

/// What a person writes to say which names are meant. Upper and lower case are one, as they are to Windows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PatternText {
    /// A name that equals the text, or that the text describes as a regular expression for whole names.
    ///
    /// So a name of a counter can be written as it is, and `.*,_Total` means what it looks like.
    Plain(String),
    /// An exact name; no character is special.
    Exact(String),
    /// `*` stands for any characters, `?` for one.
    Wildcard(String),
    /// A regular expression for whole names.
    Regex(String),
}

impl PatternText {
    /// The text as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Plain(text) | Self::Exact(text) | Self::Wildcard(text) | Self::Regex(text) => text,
        }
    }
}

/// A [`PatternText`] that was checked once.
///
/// A compiled regular expression is tens of kilobytes, and a process may keep patterns for thousands of hosts; what can
/// be told without one is.
#[derive(Clone, Debug)]
pub struct NamePattern {
    /// As it was written.
    text: Box<str>,
    /// Whether a name that equals the text matches.
    is_name: bool,
    /// A name that it describes matches, too.
    described: Option<Description>,
}

#[derive(Clone, Debug)]
enum Description {
    /// What each character of the name is to be, without upper and lower case.
    Tokens(Box<[Token]>),
    Expression(Regex),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token {
    /// This character.
    Literal(char),
    /// Any one.
    One,
    /// Any number of them.
    Many,
}

/// A text that is no pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct PatternError {
    /// What is wrong with which text, on one line.
    pub reason: String,
    /// What was meant, as a configuration says it.
    pub suggestion: Option<String>,
}

impl NamePattern {
    /// Checks the text.
    ///
    /// # Errors
    /// Where it is no regular expression, or too large a one. [`PatternText::Exact`] and all wildcards that are no
    /// longer than [`WILDCARD_BYTES_MAX`] are right.
    pub fn new(text: &PatternText) -> Result<Self, PatternError> {
        let (is_name, described) = match text {
            PatternText::Exact(_) => (true, None),
            PatternText::Wildcard(text) if is_free_of(&WILDCARDS, text) => (true, None),
            PatternText::Wildcard(text) => (false, Some(wildcard(text)?)),
            PatternText::Regex(text) => {
                let described =
                    expression(text).map_err(|reason| PatternError { reason, suggestion: None })?;
                (false, Some(described))
            }
            PatternText::Plain(text) if is_free_of(&SIGNS, text) => {
                (true, text.contains('.').then(|| tokens(text, &[('.', Token::One)])))
            }
            PatternText::Plain(text) => {
                (true, Some(expression(text).map_err(|reason| plain_error(text, reason))?))
            }
        };
        Ok(Self { text: text.as_str().into(), is_name, described })
    }

    /// The text as it was written, for people.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether a name is meant.
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        self.is_name && same_name(&self.text, name)
            || match &self.described {
                Some(Description::Tokens(tokens)) => is_described(name, tokens),
                Some(Description::Expression(expression)) => expression.is_match(name),
                None => false,
            }
    }

    /// The name, where one is meant. Of a plain text that is a matter of what it looks like: a dot or parentheses
    /// are found in names every day, the other signs of regular expressions are not.
    #[must_use]
    pub fn exact_name(&self) -> Option<&str> {
        let is_meant = self.is_name && (self.described.is_none() || is_free_of(&RARE_SIGNS, &self.text));
        is_meant.then_some(&*self.text)
    }
}

/// Whether two names are one to Windows.
#[must_use]
pub fn same_name(one: &str, other: &str) -> bool {
    folded(one).eq(folded(other))
}

/// The characters of a name without upper and lower case.
pub(crate) fn folded(name: &str) -> impl Iterator<Item = char> + Clone + '_ {
    name.chars().flat_map(char::to_lowercase)
}

fn is_free_of(signs: &[char], text: &str) -> bool {
    !text.contains(signs)
}

/// What a plain text that is no regular expression was meant to be.
fn plain_error(text: &str, reason: String) -> PatternError {
    // A dot there is a sign of a regular expression.
    let is_expression = [".*", ".+", ".?"].iter().any(|signs| text.contains(signs));
    let kind = if is_free_of(&WILDCARDS, text) { "exact" } else { "wildcard" };
    // YAML doubles a quote within quotes.
    let suggestion = if is_expression {
        r"write `\` before a sign that stands for itself, such as `\(`".to_owned()
    } else {
        format!("write {{{kind}: '{}'}}", text.replace('\'', "''"))
    };
    PatternError { reason, suggestion: Some(suggestion) }
}

fn expression(text: &str) -> Result<Description, String> {
    // Alone first: parentheses that do not match must not find their partners in what anchors them.
    let build =
        |text: &str| RegexBuilder::new(text).case_insensitive(true).size_limit(PATTERN_BYTES_MAX).build();
    let anchored = build(text).and_then(|_alone| build(&format!("^(?:{text})$")));
    anchored.map(Description::Expression).map_err(|error| {
        // The library draws the text with a mark below it; the last line says what is wrong.
        let drawn = error.to_string();
        let reason = drawn.lines().last().unwrap_or_default().trim().trim_start_matches("error: ");
        format!("`{text}` is no regular expression: {reason}")
    })
}

fn wildcard(text: &str) -> Result<Description, PatternError> {
    if text.len() > WILDCARD_BYTES_MAX {
        let reason = format!("a wildcard of {} bytes; {WILDCARD_BYTES_MAX} are allowed", text.len());
        return Err(PatternError { reason, suggestion: None });
    }
    Ok(tokens(text, &[('*', Token::Many), ('?', Token::One)]))
}

fn tokens(text: &str, signs: &[(char, Token)]) -> Description {
    let token = |character: char| {
        let sign = signs.iter().find(|(sign, _)| *sign == character);
        sign.map_or(Token::Literal(character), |(_, token)| *token)
    };
    Description::Tokens(folded(text).map(token).collect())
}

/// Whether a name has the characters that `tokens` say.
///
/// Whatever stands between two [`Token::Many`] is taken where it fits first; only the last of them is tried at other
/// places. So the work is at most the product of the two lengths.
fn is_described(name: &str, tokens: &[Token]) -> bool {
    let mut rest = folded(name);
    let mut at = 0;
    // Where to go on when what follows the last `Many` does not fit.
    let mut retry = None;
    loop {
        if tokens.get(at) == Some(&Token::Many) {
            at += 1;
            retry = Some((at, rest.clone()));
            continue;
        }
        let fits = match (rest.next(), tokens.get(at)) {
            (None, None) => return true,
            (None, Some(_)) => return false,
            (Some(character), Some(Token::Literal(literal))) => character == *literal,
            (Some(_), Some(_)) => true,
            (Some(_), None) => false,
        };
        if fits {
            at += 1;
        } else {
            let Some((after, from)) = &mut retry else { return false };
            from.next();
            at = *after;
            rest = from.clone();
        }
    }
}

/// The special characters of a wildcard.
pub(crate) const WILDCARDS: [char; 2] = ['*', '?'];
/// The special characters of a regular expression, except the dot.
const SIGNS: [char; 13] = ['*', '+', '?', '|', '^', '$', '[', ']', '{', '}', '\\', '(', ')'];
/// Those of them that names hardly ever contain.
const RARE_SIGNS: [char; 11] = ['*', '+', '?', '|', '^', '$', '[', ']', '{', '}', '\\'];
/// Bytes of a wildcard; an instance's name is far shorter.
pub const WILDCARD_BYTES_MAX: usize = 2_048;
/// Bytes that one compiled expression may take; patterns come from people, so this only stops accidents.
const PATTERN_BYTES_MAX: usize = 1 << 20;
