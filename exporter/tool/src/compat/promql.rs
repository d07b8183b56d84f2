//! Which metrics an expression reads.

use std::collections::BTreeSet;
use std::fmt;

use promql_parser::label::{METRIC_NAME, MatchOp, Matcher, Matchers};
use promql_parser::parser::token::T_EQL_REGEX;
use promql_parser::parser::{self, Expr, VectorSelector};

use super::variables;

/// Maximum bytes of an expression. The parser's tree is as deep as an expression of this length can make it.
const EXPRESSION_BYTES_MAX: usize = 16 << 10;

/// What an expression says of a metric's name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reference {
    Name(String),
    /// A regular expression for whole names.
    Matching(String),
    /// The name is the value of a variable, written like this.
    Variable(String),
    /// The series of a metric of whose labels one has one of these values; the metric is a reference of its own.
    Labelled(Labelled),
}

/// A label that is fixed beside the name of a metric.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Labelled {
    pub(super) metric: String,
    pub(super) label: String,
    /// There is at least one.
    pub(super) values: Vec<String>,
}

impl fmt::Display for Labelled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let operator = if self.values.len() > 1 { "=~" } else { "=" };
        write!(f, "{}{operator}\"{}\"", self.label, self.values.join("|"))
    }
}

/// The metrics that an expression reads; it may have variables of Grafana's.
///
/// # Errors
/// What the parser says.
pub(super) fn references(expression: &str) -> Result<BTreeSet<Reference>, String> {
    if expression.len() > EXPRESSION_BYTES_MAX {
        return Err(format!("the expression has more than {EXPRESSION_BYTES_MAX} bytes"));
    }
    let mut first_error = None;
    for text in variables::substitutions(expression) {
        match parser::parse(&text) {
            Ok(parsed) => {
                let mut found = BTreeSet::new();
                walk(&parsed, &mut found);
                return Ok(found);
            }
            Err(error) => {
                first_error.get_or_insert_with(|| variables::restored(&error));
            }
        }
    }
    Err(first_error.unwrap_or_default())
}

/// The metrics that a variable of Grafana's reads: `label_values(metric, label)`, `query_result(expression)`,
/// `metrics(pattern)`, or an expression.
///
/// # Errors
/// What the parser says.
pub(super) fn references_of_variable(query: &str) -> Result<BTreeSet<Reference>, String> {
    let query = query.trim();
    let inside = |function: &str| {
        let inside = query.strip_prefix(function)?.trim_start().strip_prefix('(')?;
        inside.strip_suffix(')').map(str::trim)
    };
    if let Some(inside) = inside("label_values") {
        return last_comma(inside).map_or_else(|| Ok(BTreeSet::new()), |at| references(&inside[..at]));
    }
    if let Some(inside) = inside("metrics") {
        let pattern = variables::pattern(inside).unwrap_or_else(|| inside.to_owned());
        return Ok(BTreeSet::from([Reference::Matching(format!(".*(?:{pattern}).*"))]));
    }
    let inside = inside("query_result").or_else(|| inside("label_names")).unwrap_or(query);
    if inside.is_empty() { Ok(BTreeSet::new()) } else { references(inside) }
}

/// The last comma that is in no text and in no brackets.
fn last_comma(text: &str) -> Option<usize> {
    let (mut quote, mut depth, mut found) = (None, 0_i32, None);
    for (at, char) in text.char_indices() {
        match (quote, char) {
            (Some(open), _) if char == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'' | '`') => quote = Some(char),
            (None, '{' | '(' | '[') => depth += 1,
            (None, '}' | ')' | ']') => depth -= 1,
            (None, ',') if depth == 0 => found = Some(at),
            _ => {}
        }
    }
    found
}

fn walk(expression: &Expr, found: &mut BTreeSet<Reference>) {
    match expression {
        Expr::Aggregate(aggregate) => {
            walk(&aggregate.expr, found);
            if let Some(parameter) = &aggregate.param {
                walk(parameter, found);
            }
        }
        Expr::Unary(unary) => walk(&unary.expr, found),
        Expr::Binary(binary) => {
            walk(&binary.lhs, found);
            walk(&binary.rhs, found);
        }
        Expr::Paren(inside) => walk(&inside.expr, found),
        Expr::Subquery(subquery) => walk(&subquery.expr, found),
        Expr::Call(call) => call.args.args.iter().for_each(|argument| walk(argument, found)),
        Expr::Extension(extension) => {
            extension.expr.children().iter().for_each(|child| walk(child, found));
        }
        Expr::VectorSelector(selector) => select(selector, found),
        Expr::MatrixSelector(selector) => select(&selector.vs, found),
        Expr::NumberLiteral(_) | Expr::StringLiteral(_) => {}
    }
}

fn select(selector: &VectorSelector, found: &mut BTreeSet<Reference>) {
    if let Some(name) = &selector.name {
        found.insert(of_name(name));
    }
    let Matchers { matchers, or_matchers } = &selector.matchers;
    if let Some(Reference::Name(metric)) = selector.name.as_deref().map(of_name) {
        // Where others are an alternative, none of them restricts the series.
        let fixed = matchers.iter().filter(|_| or_matchers.is_empty());
        let of_label = |matcher: &Matcher| {
            let values = fixed_values(matcher)?;
            Some(Labelled { metric: metric.clone(), label: matcher.name.clone(), values })
        };
        found.extend(fixed.filter_map(of_label).map(Reference::Labelled));
    }
    let all = matchers.iter().chain(or_matchers.iter().flatten());
    for Matcher { op, value, .. } in all.filter(|matcher| matcher.name == METRIC_NAME) {
        match op {
            MatchOp::Equal => {
                found.insert(of_name(value));
            }
            MatchOp::Re(_) => found.extend(of_regex(value)),
            // Which metrics are not read does not say which are.
            MatchOp::NotEqual | MatchOp::NotRe(_) => {}
        }
    }
}

/// The values that a matcher takes, if they are a few and known.
fn fixed_values(Matcher { op, value, .. }: &Matcher) -> Option<Vec<String>> {
    let values: Vec<String> = match op {
        MatchOp::Equal => vec![value.clone()],
        MatchOp::Re(_) => {
            let inside = value.strip_prefix("(?i:").or_else(|| value.strip_prefix('('));
            let inside = inside.and_then(|rest| rest.strip_suffix(')')).unwrap_or(value);
            inside.split('|').map(literal).collect::<Option<_>>()?
        }
        MatchOp::NotEqual | MatchOp::NotRe(_) => return None,
    };
    let is_known = |value: &String| !value.is_empty() && variables::pattern(value).is_none();
    (values.len() <= VALUES_MAX && values.iter().all(is_known)).then_some(values)
}

/// The only text that a regular expression matches, if it has no operators.
fn literal(regex: &str) -> Option<String> {
    let mut chars = regex.chars();
    let mut text = String::new();
    while let Some(char) = chars.next() {
        match char {
            // Of a letter it makes a class.
            '\\' => text.push(chars.next().filter(|escaped| !escaped.is_alphanumeric())?),
            '.' | '*' | '+' | '?' | '(' | ')' | '[' | ']' | '{' | '}' | '^' | '$' => return None,
            _ => text.push(char),
        }
    }
    Some(text)
}

/// Values of one label that are judged.
const VALUES_MAX: usize = 16;

fn of_name(name: &str) -> Reference {
    match variables::pattern(name) {
        None => Reference::Name(name.to_owned()),
        Some(pattern) if pattern == ".*" => Reference::Variable(variables::restored(name)),
        Some(pattern) => Reference::Matching(pattern),
    }
}

/// `a|b` are two names.
fn of_regex(regex: &str) -> Vec<Reference> {
    let is_name = |text: &str| {
        !text.is_empty() && text.chars().all(|char| char.is_ascii_alphanumeric() || matches!(char, '_' | ':'))
    };
    let inside = regex.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).unwrap_or(regex);
    if inside.split('|').all(is_name) {
        return inside.split('|').map(of_name).collect();
    }
    match variables::pattern(regex) {
        None => vec![Reference::Matching(regex.to_owned())],
        Some(pattern) if pattern == ".*" => vec![Reference::Variable(variables::restored(regex))],
        Some(pattern) => vec![Reference::Matching(pattern)],
    }
}

/// What a regular expression for whole names matches; nothing if it is none.
pub(super) fn matcher(regex: &str) -> Option<impl Fn(&str) -> bool + use<>> {
    let matcher = Matcher::new_matcher(T_EQL_REGEX, METRIC_NAME.to_owned(), regex.to_owned()).ok()?;
    Some(move |name: &str| matcher.is_match(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(found: Result<BTreeSet<Reference>, String>) -> String {
        let shown = |reference| match reference {
            Reference::Name(name) => name,
            Reference::Matching(regex) => format!("~{regex}"),
            Reference::Variable(name) => format!("={name}"),
            Reference::Labelled(_) => String::new(),
        };
        match found {
            Ok(found) => {
                let is_metric = |reference: &Reference| !matches!(reference, Reference::Labelled(_));
                found.into_iter().filter(is_metric).map(shown).collect::<Vec<_>>().join(" ")
            }
            Err(error) => format!("error: {error}"),
        }
    }

    #[test]
    fn metrics_are_found_wherever_an_expression_reads_them() {
        for (expression, expected) in [
            ("up", "up"),
            ("sum by (core) (rate(a_total{mode!=\"idle\"}[5m]))", "a_total"),
            ("1 - a / on (volume) group_left (b) c", "a c"),
            ("topk(scalar(n), a)", "a n"),
            ("max_over_time(rate(a[1m])[1h:5m] offset 1d) and b unless c", "a b c"),
            ("{__name__=\"a\"}", "a"),
            ("{__name__=~\"a|b\", job=\"c\"}", "a b"),
            ("{__name__=~\"a_.*\"}", "~a_.*"),
            ("{__name__!~\"a\", job=\"c\"}", ""),
            ("{job=\"c\"}", ""),
            ("time() - a:b:rate5m", "a:b:rate5m"),
            ("absent(a) # b", "a"),
        ] {
            assert_eq!(shown(references(expression)), expected, "{expression}");
        }
    }

    #[test]
    fn labels_are_fixed_by_equality_and_by_alternatives_of_plain_texts() {
        for (expression, expected) in [
            (r#"sum(rate(a{b="_Total"}[5m]))"#, r#"a{b="_Total"}"#),
            (r#"a{b=~"_Total"}"#, r#"a{b="_Total"}"#),
            (r#"a{b=~"(C:|D:)", c="e"}"#, r#"a{b=~"C:|D:"} a{c="e"}"#),
            (r#"a{b=~"(?i:a\\.b)"}"#, r#"a{b="a.b"}"#),
            (r#"a{b=~".*_Total"} + a{b=~"C.|D:"} + a{b=~"\\d"}"#, ""),
            (r#"a{b!="_Total"} + a{b!~"_Total"} + a{b=""}"#, ""),
            (r#"a{b="$instance"} + a{b=~"${x}|C:"}"#, ""),
            (r#"{b="c"} + {__name__=~"a_.*", b="c"}"#, ""),
            (r#"a{b="c" or d="e"}"#, ""),
        ] {
            let found = references(expression).unwrap_or_else(|error| panic!("{expression}: {error}"));
            let shown = found.into_iter().filter_map(|reference| match reference {
                Reference::Labelled(fixed) => Some(format!("{}{{{fixed}}}", fixed.metric)),
                _ => None,
            });
            assert_eq!(shown.collect::<Vec<_>>().join(" "), expected, "{expression}");
        }
    }

    #[test]
    fn variables_of_grafana_are_no_mistakes() {
        for (expression, expected) in [
            ("rate(a{instance=~\"$instance\"}[$__rate_interval])", "a"),
            ("rate(a{instance=~\"[[instance:regex]]\"}[${window}m] offset $past)", "a"),
            ("rate(a[$__range:$__interval]) / $__range_s", "a"),
            ("a{$filter, ${label:raw}=\"b\"}", "a"),
            ("topk($n, a)", "a"),
            ("sum(a) by ($label)", "a"),
            ("$agg(a) + $agg by (b) (c)", "a c"),
            ("$func(a[5m])", "a"),
            ("a_${kind}_total + a_$rest", "~a_.* ~a_.*_total"),
            ("$metric{job=\"b\"}", "=${metric}"),
            ("{__name__=~\"$metric\"}", "=${metric}"),
            ("{__name__=~\"a_$metric\"}", "~a_.*"),
            ("quantile(0.$q, a)", "a"),
        ] {
            assert_eq!(shown(references(expression)), expected, "{expression}");
        }
    }

    #[test]
    fn variables_are_read_as_grafana_reads_them() {
        for (query, expected) in [
            ("label_values(a, b)", "a"),
            (" label_values(a{b=\"c,d\", e=~\"$f\"}, g) ", "a"),
            ("label_values(g)", ""),
            ("query_result(topk(3, a))", "a"),
            ("metrics(windows_)", "~.*(?:windows_).*"),
            ("a{b=\"c\"}", "a"),
            ("", ""),
        ] {
            assert_eq!(shown(references_of_variable(query)), expected, "{query}");
        }
    }

    #[test]
    fn what_is_no_promql_is_an_error_in_the_words_of_the_file() {
        assert!(shown(references("rate(")).starts_with("error: "));
        assert!(!shown(references("$x(a[")).contains("grafanaVariable"));
        assert!(shown(references(&"a+".repeat(20_000))).contains("more than 16384 bytes"));
    }

    #[test]
    fn an_expression_may_be_as_deep_as_its_length_allows() {
        let half = EXPRESSION_BYTES_MAX / 2 - 1;
        for deep in [format!("a{}", "+a".repeat(half)), format!("{}a", "-".repeat(2 * half))] {
            assert_eq!(shown(references(&deep)), "a");
        }
        assert_eq!(shown(references(&format!("{}a{}", "(".repeat(half), ")".repeat(half)))), "a");
    }
}
