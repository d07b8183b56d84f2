//! Pages of metrics, read by a reader of our own that shares nothing with what writes them.

use std::collections::BTreeMap;

use crate::Result;

pub(crate) type Labels = BTreeMap<String, String>;

/// What OpenMetrics says of families, and their samples.
#[derive(Debug, Default)]
pub(crate) struct Page {
    pub(crate) kinds: BTreeMap<String, String>,
    pub(crate) units: BTreeMap<String, String>,
    pub(crate) samples: Vec<Sample>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sample {
    /// The family of the TYPE line above it.
    pub(crate) family: String,
    pub(crate) name: String,
    pub(crate) labels: Labels,
    pub(crate) value: f64,
}

impl Sample {
    pub(crate) fn label(&self, name: &str) -> &str {
        self.labels.get(name).map_or("", String::as_str)
    }
}

impl Page {
    /// Reads a page of either text format.
    pub(crate) fn read(text: &str) -> Result<Self> {
        let mut page = Self::default();
        let mut family = String::new();
        for line in text.lines().filter(|line| !line.is_empty()) {
            let problem = || format!("not a line of a page: {line}");
            if let Some(comment) = line.strip_prefix("# ") {
                if comment == "EOF" {
                    break;
                }
                let (word, rest) = comment.split_once(' ').ok_or_else(problem)?;
                let (name, rest) = name_of(rest).ok_or_else(problem)?;
                match word {
                    "TYPE" => {
                        page.kinds.insert(name.clone(), rest.trim().to_owned());
                        family = name;
                    }
                    "UNIT" => {
                        page.units.insert(name, rest.trim().to_owned());
                    }
                    _ => {}
                }
                continue;
            }
            page.samples.push(sample(&family, line).ok_or_else(problem)?);
        }
        Ok(page)
    }

    /// What kind the sample's family is.
    pub(crate) fn kind(&self, sample: &Sample) -> &str {
        self.kinds.get(&sample.family).map_or("", String::as_str)
    }
}

/// `name{label="value",…} value`, or with a quoted name as the first thing in the braces.
fn sample(family: &str, line: &str) -> Option<Sample> {
    let (mut name, mut labels) = (String::new(), Labels::new());
    let end = line.find(['{', ' '])?;
    let mut rest = &line[end..];
    if end > 0 {
        line[..end].clone_into(&mut name);
    }
    if let Some(inside) = rest.strip_prefix('{') {
        rest = inside;
        while !rest.starts_with('}') {
            let (key, after) = name_of(rest)?;
            if let Some(after) = after.strip_prefix('=') {
                let (value, after) = quoted(after)?;
                labels.insert(key, value);
                rest = after;
            } else {
                name = key;
                rest = after;
            }
            rest = rest.strip_prefix(',').unwrap_or(rest);
        }
        rest = &rest[1..];
    }
    let value = rest.split_whitespace().next()?;
    Some(Sample { family: family.to_owned(), name, labels, value: value.parse().ok()? })
}

/// A name, bare or quoted, and what comes after it.
fn name_of(text: &str) -> Option<(String, &str)> {
    if text.starts_with('"') {
        return quoted(text);
    }
    let end = text.find(['=', ',', '}', ' ']).unwrap_or(text.len());
    (end > 0).then(|| (text[..end].to_owned(), &text[end..]))
}

/// A text in quotes, and what comes after it.
fn quoted(text: &str) -> Option<(String, &str)> {
    let text = text.strip_prefix('"')?;
    let mut value = String::new();
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return Some((value, &text[at + 1..])),
            '\\' => value.push(match characters.next()?.1 {
                'n' => '\n',
                other => other,
            }),
            other => value.push(other),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_values_are_read_quoted_and_bare() {
        let text = "# TYPE a counter\n# UNIT a seconds\na_total{x=\"1\",y=\"q\\\"\\\\\\n\"} 2.5\na_total 7\n\
            # TYPE \"b c\" gauge\n{\"b c\",\"l m\"=\"}, \"} +Inf\n# EOF\n";
        let page = Page::read(text).unwrap();
        assert_eq!(page.units["a"], "seconds");
        let [first, second, third] = &page.samples[..] else { unreachable!("{:?}", page.samples) };
        assert_eq!((first.label("x"), first.label("y"), first.value), ("1", "q\"\\\n", 2.5));
        assert_eq!((second.name.as_str(), second.value, page.kind(second)), ("a_total", 7.0, "counter"));
        assert_eq!((third.name.as_str(), third.label("l m"), third.value), ("b c", "}, ", f64::INFINITY));
        assert_eq!(page.kind(third), "gauge");
    }

    #[test]
    fn a_broken_line_is_shown() {
        let error = Page::read("a{b=\"c} 1\n").unwrap_err().to_string();
        assert_eq!(error, "not a line of a page: a{b=\"c} 1");
    }
}
