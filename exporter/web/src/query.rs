//! What comes after the `?`.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;
use safe_text::nearest::suggestion;

/// More bytes are no question.
const QUERY_BYTES_MAX: usize = 8 << 10;
/// More pairs are none either.
const PAIRS_MAX: usize = 64;

/// Pairs of names and values, decoded. Each name is one of those that are known.
#[derive(Debug)]
pub(super) struct Query(Vec<(&'static str, String)>);

impl Query {
    /// Reads a query in which only these names may stand; the error says what is wrong with it.
    pub(super) fn parse(query: &str, known: &'static [&'static str]) -> Result<Self, String> {
        if query.len() > QUERY_BYTES_MAX {
            return Err(format!("the query has {} bytes, the limit is {QUERY_BYTES_MAX}", query.len()));
        }
        let mut pairs = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            if pairs.len() == PAIRS_MAX {
                return Err(format!("the query has more than {PAIRS_MAX} parameters"));
            }
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let name = decoded(name)?;
            let Some(name) = known.iter().find(|known| **known == name) else {
                let hint = suggestion(&name, known.iter().copied());
                let hint = hint.map(|hint| format!("; {hint}")).unwrap_or_default();
                return Err(format!("there is no parameter `{name}`{hint}"));
            };
            let value = decoded(value)?;
            if value.chars().any(char::is_control) {
                return Err(format!("parameter `{name}` has control characters"));
            }
            pairs.push((*name, value));
        }
        Ok(Self(pairs))
    }

    /// All values of a name.
    pub(super) fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        self.0.iter().filter(move |(known, _)| *known == name).map(|(_, value)| value.as_str())
    }

    /// The value of a name that may stand there once; an empty one is none.
    pub(super) fn one(&self, name: &str) -> Result<Option<&str>, String> {
        let mut all = self.all(name);
        let first = all.next();
        if all.next().is_some() {
            return Err(format!("parameter `{name}` is given more than once"));
        }
        Ok(first.filter(|value| !value.is_empty()))
    }

    /// The value of a name that is yes or no.
    pub(super) fn flag(&self, name: &str) -> Result<Option<bool>, String> {
        match self.one(name)? {
            None => Ok(None),
            Some("true" | "1" | "yes") => Ok(Some(true)),
            Some("false" | "0" | "no") => Ok(Some(false)),
            Some(other) => Err(format!("parameter `{name}` is `{other}`; write `true` or `false`")),
        }
    }
}

/// Percent signs and pluses undone, as forms and Prometheus encode.
fn decoded(text: &str) -> Result<String, String> {
    let is_pair = |rest: &str| rest.len() >= 2 && rest.bytes().take(2).all(|byte| byte.is_ascii_hexdigit());
    if !text.split('%').skip(1).all(is_pair) {
        return Err("a `%` in the query is not followed by two hexadecimal digits".to_owned());
    }
    let spaced = text.replace('+', " ");
    let decoded = percent_decode_str(&spaced).decode_utf8();
    decoded.map(Cow::into_owned).map_err(|_| "the query is not UTF-8".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: &[&str] = &["target", "module", "debug"];

    #[test]
    fn values_come_out_as_they_went_in() {
        let query = Query::parse("target=a%2Bb+c%C3%A9&module=x&module=y&debug=", KNOWN).unwrap();
        assert_eq!(query.one("target"), Ok(Some("a+b cé")));
        assert_eq!(query.all("module").collect::<Vec<_>>(), ["x", "y"]);
        assert_eq!(query.flag("debug"), Ok(None));
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        let refused = |query: &str| Query::parse(query, KNOWN).map(|_| ()).unwrap_err();
        assert_eq!(refused("tagret=a"), "there is no parameter `tagret`; did you mean `target`?");
        assert!(refused("target=%4").contains("hexadecimal"));
        assert!(refused("target=%+1").contains("hexadecimal"));
        assert!(refused("target=%ff").contains("UTF-8"));
        assert!(refused("target=a%0a").contains("control"));
        assert!(refused(&"a".repeat(9000)).contains("9000 bytes"));
        assert!(refused(&"debug&".repeat(65)).contains("more than 64"));
        let twice = Query::parse("target=a&target=b&debug=maybe", KNOWN).unwrap();
        assert_eq!(twice.one("target").unwrap_err(), "parameter `target` is given more than once");
        assert!(twice.flag("debug").unwrap_err().contains("`maybe`"));
    }
}
