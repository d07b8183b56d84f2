use regex::{Regex, RegexBuilder};

/// A pattern of names as a person writes it. Case is ignored, as Windows does.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PatternText {
    /// A name that equals the text, or that the text describes as a regular expression for whole names.
    ///
    /// So the name of a counter can be written unchanged, and `.*,_Total` is a regular expression.
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

/// A checked [`PatternText`].
///
/// A compiled regular expression takes tens of kilobytes, and a process may keep patterns for thousands of hosts.
/// So names and wildcards are matched without one.
#[derive(Clone, Debug)]
pub struct NamePattern {
    /// As it was written.
    text: Box<str>,
    /// Whether a name that equals the text matches.
    is_name: bool,
    /// The regular expression or wildcard that also matches names.
    described: Option<Description>,
}

#[derive(Clone, Debug)]
enum Description {
    /// One token for each expected character, in one case.
    Tokens(Box<[Token]>),
    Expression(Regex),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token {
    Literal(char),
    One,
    /// Any number of characters.
    Many,
}

/// A text that is not a valid pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct PatternError {
    /// The text and what is wrong with it, on one line.
    pub reason: String,
    /// The probable intention, as written in a configuration.
    pub suggestion: Option<String>,
}

impl NamePattern {
    /// Checks the text.
    ///
    /// # Errors If it is not a valid regular expression, or too large. [`PatternText::Exact`] and wildcards up to
    /// [`WILDCARD_BYTES_MAX`] are always valid.
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

    /// Whether a name matches.
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        self.is_name && same_name(&self.text, name)
            || match &self.described {
                Some(Description::Tokens(tokens)) => is_described(name, tokens),
                Some(Description::Expression(expression)) => expression.is_match(name),
                None => false,
            }
    }

    /// The name, if the pattern is a single name. For a plain text this is a guess: names often contain dots and
    /// parentheses, but hardly ever the other special characters of regular expressions.
    #[must_use]
    pub fn exact_name(&self) -> Option<&str> {
        let is_meant = self.is_name && (self.described.is_none() || is_free_of(&RARE_SIGNS, &self.text));
        is_meant.then_some(&*self.text)
    }
}

/// Whether two names are equal to Windows.
#[must_use]
pub fn same_name(one: &str, other: &str) -> bool {
    folded(one).eq(folded(other))
}

/// The characters of a name in one case.
pub(crate) fn folded(name: &str) -> impl Iterator<Item = char> + Clone + '_ {
    name.chars().flat_map(char::to_lowercase)
}

fn is_free_of(signs: &[char], text: &str) -> bool {
    !text.contains(signs)
}

/// The error for a plain text that is not a valid regular expression, with the probable intention.
fn plain_error(text: &str, reason: String) -> PatternError {
    // Such a dot suggests a regular expression.
    let is_expression = [".*", ".+", ".?"].iter().any(|signs| text.contains(signs));
    let kind = if is_free_of(&WILDCARDS, text) { "exact" } else { "wildcard" };
    // YAML doubles a quote within quotes.
    let suggestion = if is_expression {
        r"write `\` before a special character to match it literally, such as `\(`".to_owned()
    } else {
        format!("write {{{kind}: '{}'}}", text.replace('\'', "''"))
    };
    PatternError { reason, suggestion: Some(suggestion) }
}

fn expression(text: &str) -> Result<Description, String> {
    // First without anchors: unbalanced parentheses must not be closed by those around the anchored text.
    let build =
        |text: &str| RegexBuilder::new(text).case_insensitive(true).size_limit(PATTERN_BYTES_MAX).build();
    let anchored = build(text).and_then(|_alone| build(&format!("^(?:{text})$")));
    anchored.map(Description::Expression).map_err(|error| {
        // The library draws the text with a mark below it; the last line says what is wrong.
        let drawn = error.to_string();
        let reason = drawn.lines().last().unwrap_or_default().trim().trim_start_matches("error: ");
        format!("`{text}` is not a valid regular expression: {reason}")
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

/// Whether a name matches `tokens`.
///
/// Tokens between two [`Token::Many`] are matched at the first possible place; only those after the last one are
/// tried at other places. So the work is at most the product of the two lengths.
fn is_described(name: &str, tokens: &[Token]) -> bool {
    let mut rest = folded(name);
    let mut at = 0;
    // Where to continue if the tokens after the last `Many` do not match.
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
/// The special characters that names hardly ever contain.
const RARE_SIGNS: [char; 11] = ['*', '+', '?', '|', '^', '$', '[', ']', '{', '}', '\\'];
/// Maximum bytes of a wildcard; instances' names are far shorter.
pub const WILDCARD_BYTES_MAX: usize = 2_048;
/// Maximum bytes of one compiled expression; patterns come from people, so this only prevents accidents.
const PATTERN_BYTES_MAX: usize = 1 << 20;
