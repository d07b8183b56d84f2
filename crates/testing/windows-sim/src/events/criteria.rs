use super::subscription::{Column, Subscription, braced};

/// [MS-COMEV] 2.2.1: which subscriptions are meant. Choices of several constants behind one operator are not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Criteria {
    All,
    /// Those that all parts select.
    And(Vec<Self>),
    /// Those that any part selects.
    Or(Vec<Self>),
    /// Those that the part does not select.
    Not(Box<Self>),
    /// Those with this value.
    Text(Column, Option<String>),
    /// Those that are enabled, or not.
    Enabled(bool),
    /// Those for one user, or not.
    PerUser(bool),
}

/// Criteria that cannot be read: at which character, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CriteriaError {
    /// They have a wrong syntax.
    Syntax(usize),
    /// They name no property.
    Field(usize),
}

const CHARACTERS_MAX: usize = 4096;
/// Parentheses and negations within each other.
const DEPTH_MAX: usize = 16;

impl Criteria {
    /// Reads criteria.
    ///
    /// # Errors
    /// Where they are wrong.
    pub fn parse(text: &str) -> Result<Self, CriteriaError> {
        let characters: Vec<char> = text.chars().collect();
        if characters.len() > CHARACTERS_MAX {
            return Err(CriteriaError::Syntax(CHARACTERS_MAX));
        }
        let mut parser = Parser { characters, at: 0 };
        if text.trim().eq_ignore_ascii_case("ALL") {
            return Ok(Self::All);
        }
        let criteria = parser.any(0)?;
        parser.skip_spaces();
        if parser.at == parser.characters.len() { Ok(criteria) } else { Err(parser.syntax()) }
    }

    /// Whether a subscription is meant.
    #[must_use]
    pub fn selects(&self, subscription: &Subscription) -> bool {
        match self {
            Self::All => true,
            Self::And(parts) => parts.iter().all(|part| part.selects(subscription)),
            Self::Or(parts) => parts.iter().any(|part| part.selects(subscription)),
            Self::Not(part) => !part.selects(subscription),
            Self::Text(column, value) => match (subscription.text(*column), value) {
                (Some(text), Some(value)) => is_same(text, value),
                (text, None) => text.is_none_or(str::is_empty),
                (None, Some(_)) => false,
            },
            Self::Enabled(is) => subscription.enabled.unwrap_or(true) == *is,
            Self::PerUser(is) => subscription.per_user.unwrap_or(false) == *is,
        }
    }
}

/// GUIDs are the same however they are written.
fn is_same(text: &str, value: &str) -> bool {
    match (braced(text), braced(value)) {
        (Some(text), Some(value)) => text == value,
        _ => text.eq_ignore_ascii_case(value),
    }
}

struct Parser {
    characters: Vec<char>,
    at: usize,
}

impl Parser {
    fn any(&mut self, depth: usize) -> Result<Criteria, CriteriaError> {
        let mut parts = vec![self.all(depth)?];
        while self.takes_operator("|", "OR") {
            parts.push(self.all(depth)?);
        }
        Ok(one_or(parts, Criteria::Or))
    }

    fn all(&mut self, depth: usize) -> Result<Criteria, CriteriaError> {
        let mut parts = vec![self.unary(depth)?];
        while self.takes_operator("&", "AND") {
            parts.push(self.unary(depth)?);
        }
        Ok(one_or(parts, Criteria::And))
    }

    fn unary(&mut self, depth: usize) -> Result<Criteria, CriteriaError> {
        if depth == DEPTH_MAX {
            return Err(self.syntax());
        }
        if self.takes("!") || self.takes("~") || self.takes_word("NOT") {
            return Ok(Criteria::Not(Box::new(self.unary(depth + 1)?)));
        }
        if self.takes("(") {
            let inner = self.any(depth + 1)?;
            return if self.takes(")") { Ok(inner) } else { Err(self.syntax()) };
        }
        self.comparison()
    }

    fn comparison(&mut self) -> Result<Criteria, CriteriaError> {
        self.skip_spaces();
        let begin = self.at;
        let word = self.word();
        if word.is_empty() {
            return Err(self.syntax());
        }
        let is_equal = if self.takes("==") || self.takes("=") {
            true
        } else if self.takes("!=") || self.takes("~=") || self.takes("<>") {
            false
        } else {
            return Err(self.syntax());
        };
        let value_at = self.at;
        let value = self.constant()?;
        let flag = || match value.as_deref() {
            Some(value) if value.eq_ignore_ascii_case("TRUE") => Ok(true),
            Some(value) if value.eq_ignore_ascii_case("FALSE") => Ok(false),
            _ => Err(CriteriaError::Syntax(value_at)),
        };
        let criteria = match Column::parse(&word) {
            Some(column) => Criteria::Text(column, value),
            None if word.eq_ignore_ascii_case("ENABLED") => Criteria::Enabled(flag()?),
            None if word.eq_ignore_ascii_case("PERUSER") => Criteria::PerUser(flag()?),
            None => return Err(CriteriaError::Field(begin)),
        };
        Ok(if is_equal { criteria } else { Criteria::Not(Box::new(criteria)) })
    }

    /// `None` stands for NULL.
    fn constant(&mut self) -> Result<Option<String>, CriteriaError> {
        self.skip_spaces();
        let begin = self.at;
        let first = self.characters.get(self.at).copied();
        let end = match first {
            Some(quote @ ('\'' | '"')) => {
                self.at += 1;
                Some(quote)
            }
            Some('{') => Some('}'),
            _ => None,
        };
        let Some(end) = end else {
            let word = self.word();
            return match word.as_str() {
                "" => Err(self.syntax()),
                null if null.eq_ignore_ascii_case("NULL") => Ok(None),
                _ => Ok(Some(word)),
            };
        };
        let rest = self.characters.get(self.at..).unwrap_or_default();
        let length = rest.iter().position(|&character| character == end);
        let length = length.ok_or(CriteriaError::Syntax(begin))?;
        let kept = if end == '}' { length + 1 } else { length };
        let text = rest[..kept].iter().collect();
        self.at += length + 1;
        Ok(Some(text))
    }

    fn word(&mut self) -> String {
        self.skip_spaces();
        let rest = &self.characters[self.at..];
        let is_part = |character: &&char| character.is_ascii_alphanumeric() || "_+-".contains(**character);
        let word: String = rest.iter().take_while(is_part).collect();
        self.at += word.len();
        word
    }

    fn takes(&mut self, symbol: &str) -> bool {
        self.skip_spaces();
        let is_next = self.characters[self.at..].iter().copied().take(symbol.len()).eq(symbol.chars());
        if is_next {
            self.at += symbol.len();
        }
        is_next
    }

    fn takes_word(&mut self, word: &str) -> bool {
        let begin = self.at;
        let is_next = self.word().eq_ignore_ascii_case(word);
        if !is_next {
            self.at = begin;
        }
        is_next
    }

    fn takes_operator(&mut self, symbol: &str, word: &str) -> bool {
        self.takes(symbol) || self.takes_word(word)
    }

    fn skip_spaces(&mut self) {
        while self.characters.get(self.at).is_some_and(|character| character.is_whitespace()) {
            self.at += 1;
        }
    }

    const fn syntax(&self) -> CriteriaError {
        CriteriaError::Syntax(self.at)
    }
}

fn one_or(mut parts: Vec<Criteria>, several: fn(Vec<Criteria>) -> Criteria) -> Criteria {
    match (parts.len(), parts.pop()) {
        (1, Some(only)) => only,
        (_, last) => {
            parts.extend(last);
            several(parts)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subscription() -> Subscription {
        let mut subscription = Subscription::default();
        subscription.enabled = Some(true);
        let id = "{ecabb0c3-7f19-11d2-978e-0000f8757e2a}".to_owned();
        assert!(subscription.set_text(Column::SubscriptionId, id));
        assert!(subscription.set_text(Column::SubscriptionName, "Exporter".to_owned()));
        subscription
    }

    #[test]
    fn criteria_select_by_properties() {
        for (criteria, selects) in [
            ("ALL", true),
            ("SubscriptionID={ECABB0C3-7F19-11D2-978E-0000F8757E2A}", true),
            ("SubscriptionID == '{ECABB0C3-7F19-11D2-978E-0000F8757E2A}'", true),
            ("SubscriptionID={ECABB0C3-7F19-11D2-978E-0000F8757E2B}", false),
            ("SUBSCRIPTIONNAME = \"exporter\" AND ENABLED=TRUE", true),
            ("SubscriptionName='other' | Enabled=TRUE", true),
            ("SubscriptionName='other' & Enabled=TRUE", false),
            ("NOT (SubscriptionName <> 'Exporter')", true),
            ("MachineName=NULL & PerUser=FALSE", true),
            ("MachineName='web1'", false),
        ] {
            let parsed = Criteria::parse(criteria).unwrap();
            assert_eq!(parsed.selects(&subscription()), selects, "{criteria}: {parsed:?}");
        }
    }

    #[test]
    fn wrong_criteria_say_where() {
        let nested = "!".repeat(DEPTH_MAX + 1) + "Enabled=TRUE";
        for (criteria, error) in [
            ("", CriteriaError::Syntax(0)),
            ("SubscriptionID", CriteriaError::Syntax(14)),
            ("SubscriptionID={ECABB0C3", CriteriaError::Syntax(15)),
            ("Enabled=TRUE)", CriteriaError::Syntax(12)),
            ("Enabled=1", CriteriaError::Syntax(8)),
            ("Enabled=TRUE & Colour='red'", CriteriaError::Field(15)),
            (nested.as_str(), CriteriaError::Syntax(DEPTH_MAX)),
        ] {
            assert_eq!(Criteria::parse(criteria), Err(error), "{criteria}");
        }
    }
}
