//! How the threshold of an alert is read: path, operator, number.

use core::fmt;
use core::str::FromStr;

use counter_types::CounterPath;

/// [MS-PLA] 3.2.4.8: a counter, and a number that its value crosses: `\Processor(_Total)\% Processor Time>80`.
///
/// Blanks may stand around the comparison. The number is decimal, with a point and an exponent if need be; Windows takes no
/// other. A path may contain `<` and `>` itself: the last one is the comparison.
///
/// `Display` writes it as Windows does, without blanks.
#[derive(Clone, Debug, PartialEq)]
pub struct Threshold {
    /// The counter. Its machine names another target.
    pub path: CounterPath,
    /// On which side of the limit it triggers.
    pub comparison: Comparison,
    /// The limit: finite, in the unit that Windows shows the counter in, unscaled.
    pub limit: f64,
}

/// On which side of its limit a value triggers. A value that equals the limit does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Comparison {
    Below,
    Above,
}

impl Comparison {
    /// Whether a value is across the limit. NaN is not.
    #[must_use]
    pub fn is_across(self, value: f64, limit: f64) -> bool {
        match self {
            Self::Below => value < limit,
            Self::Above => value > limit,
        }
    }

    /// As it is written.
    #[must_use]
    pub const fn as_char(self) -> char {
        match self {
            Self::Below => '<',
            Self::Above => '>',
        }
    }
}

/// A text that is no threshold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("threshold: {reason}, at character {}", position + 1)]
pub struct ThresholdError {
    /// Characters before the mistake.
    pub position: usize,
    /// What is wrong there, and what belongs there.
    pub reason: &'static str,
}

impl FromStr for Threshold {
    type Err = ThresholdError;

    fn from_str(text: &str) -> Result<Self, ThresholdError> {
        let fail = |at: usize, reason| ThresholdError { position: text[..at].chars().count(), reason };
        let at = text.rfind(['<', '>']);
        let at = at.ok_or_else(|| fail(text.len(), "`<` or `>` and a number are missing"))?;
        let comparison = if text[at..].starts_with('<') { Comparison::Below } else { Comparison::Above };
        let (before, behind) = (&text[..at], &text[at + 1..]);
        if let Some(semicolon) = end_of_another(before) {
            return Err(fail(semicolon, SEMICOLON));
        }
        let path = before.trim_start_matches(BLANKS);
        let skipped = before.len() - path.len();
        let path = path.trim_end_matches(BLANKS).parse::<CounterPath>().map_err(|error| ThresholdError {
            position: text[..skipped].chars().count() + error.position,
            reason: error.reason,
        })?;
        let number = behind.trim_start_matches(BLANKS);
        let number_at = text.len() - number.len();
        let limit = limit(number.trim_end_matches(BLANKS))
            .map_err(|(byte, reason)| fail(number_at + byte, reason))?;
        Ok(Self { path, comparison, limit })
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}{}", self.path, self.comparison.as_char(), self.limit)
    }
}

/// The semicolon between two thresholds, of which `before` has the first and the counter of the second. Paths may contain any of
/// these signs.
fn end_of_another(before: &str) -> Option<usize> {
    let comparison = before.find(['<', '>'])?;
    let is_path = |semicolon: &usize| before[semicolon + 1..].trim_start_matches(BLANKS).starts_with('\\');
    let is_whole = |semicolon: &usize| {
        limit(before[comparison + 1..*semicolon].trim_matches(BLANKS)).is_ok()
            && before[..comparison].trim_matches(BLANKS).parse::<CounterPath>().is_ok()
    };
    let first = before[comparison..].find(';').map(|at| comparison + at);
    let mut semicolons = before.match_indices(';').map(|(at, _)| at);
    semicolons.find(is_path).or(first.filter(is_whole))
}

const SEMICOLON: &str = "a semicolon: write each threshold as an entry of its own";
const BLANKS: [char; 2] = [' ', '\t'];

/// A decimal number; else the byte of the mistake, and what is wrong there.
fn limit(text: &str) -> Result<f64, (usize, &'static str)> {
    if text.is_empty() {
        return Err((0, "a number is missing"));
    }
    let is_digit = |c: char| c.is_ascii_digit() || matches!(c, '.' | '+' | '-' | 'e' | 'E');
    if let Some((at, c)) = text.char_indices().find(|&(_, c)| !is_digit(c)) {
        let reason = match c {
            ',' => "a comma: write decimals with a point, and thousands without a separator",
            ';' => SEMICOLON,
            '%' => "a percent sign: write the number alone, the unit is the counter's",
            _ => "this does not belong to a number",
        };
        return Err((at, reason));
    }
    let number: f64 = text.parse().map_err(|_| (0, "this is not a number"))?;
    if number.is_finite() { Ok(number) } else { Err((0, "the number is too large")) }
}
