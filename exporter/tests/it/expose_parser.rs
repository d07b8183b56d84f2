//! A reader of pages that forgives nothing.
//!
//! Written after the format descriptions of Prometheus and OpenMetrics 1.0, and sharing nothing with the encoders.

use std::collections::{BTreeMap, HashSet};

use perfmon_exporter::expose::Format;

/// One sample: its name and labels, and its value as it was written.
pub(crate) type Samples = BTreeMap<(String, BTreeMap<String, String>), String>;

/// Reads a page, or says what is wrong with it.
pub(crate) fn parse(format: Format, page: &str) -> Result<Samples, String> {
    let mut body = page;
    if format == Format::OpenMetrics {
        body = page.strip_suffix("# EOF\n").ok_or("the end is missing")?;
    }
    if !body.is_empty() && !body.ends_with('\n') {
        return Err("the last line does not end".into());
    }
    let mut reader = Reader { format, ..Reader::default() };
    for line in body.split_terminator('\n') {
        reader.line(line).map_err(|problem| format!("{problem}: {line:?}"))?;
    }
    Ok(reader.samples)
}

#[derive(Default)]
struct Reader {
    format: Format,
    samples: Samples,
    /// Every name that any family so far takes up.
    taken: HashSet<String>,
    family: String,
    kind: Option<String>,
}

impl Reader {
    fn line(&mut self, line: &str) -> Result<(), String> {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            let (name, text) = rest.split_once(' ').ok_or("HELP without a text")?;
            self.begin(name)?;
            unescape(text, if self.format == Format::OpenMetrics { "\\n\"" } else { "\\n" })?;
            Ok(())
        } else if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').ok_or("TYPE without a type")?;
            if self.family != name || self.kind.is_some() {
                self.begin(name)?;
            }
            self.claim(kind)?;
            self.kind = Some(kind.to_owned());
            Ok(())
        } else if let Some(rest) = line.strip_prefix("# UNIT ") {
            let (name, unit) = rest.split_once(' ').ok_or("UNIT without a unit")?;
            let fits = self.format == Format::OpenMetrics && self.kind.is_some() && name == self.family;
            let fits = fits && !unit.is_empty() && name.ends_with(&format!("_{unit}"));
            if fits && self.kind.as_deref() != Some("info") {
                Ok(())
            } else {
                Err("UNIT does not fit".into())
            }
        } else if line.starts_with('#') {
            Err("a comment".into())
        } else {
            self.sample(line)
        }
    }

    fn begin(&mut self, name: &str) -> Result<(), String> {
        if !is_name(name) {
            return Err("the family's name is invalid".into());
        }
        self.family = name.to_owned();
        self.kind = None;
        Ok(())
    }

    /// A family's name and those of its samples may be taken by no other.
    fn claim(&mut self, kind: &str) -> Result<(), String> {
        let suffixes: &[&str] = match (self.format, kind) {
            (_, "gauge") | (Format::OpenMetrics, "unknown") | (Format::Text, "untyped" | "counter") => &[""],
            (Format::OpenMetrics, "counter") => &["", "_total", "_created"],
            (Format::OpenMetrics, "info") => &["", "_info"],
            (_, "histogram") => &["", "_bucket", "_sum", "_count", "_created"],
            _ => return Err("an unknown type".into()),
        };
        let new = suffixes.iter().all(|suffix| self.taken.insert(format!("{}{suffix}", self.family)));
        if new { Ok(()) } else { Err("the family was there before".into()) }
    }

    fn sample(&mut self, line: &str) -> Result<(), String> {
        let end = line.find(['{', ' ']).ok_or("no value")?;
        let (name, rest) = line.split_at(end);
        let suffix = name.strip_prefix(self.family.as_str()).ok_or("a sample of no family")?;
        let kind = self.kind.as_deref().ok_or("a sample without a type")?;
        let allowed: &[&str] = match (self.format, kind) {
            (Format::OpenMetrics, "counter") => &["_total"],
            (Format::OpenMetrics, "info") => &["_info"],
            (_, "histogram") => &["_bucket", "_sum", "_count"],
            _ => &[""],
        };
        if !is_name(name) || !allowed.contains(&suffix) {
            return Err("a sample's name does not fit its family".into());
        }
        let (labels, value) = labels(rest)?;
        check_value(kind, value)?;
        let is_new = self.samples.insert((name.to_owned(), labels), value.to_owned()).is_none();
        if is_new { Ok(()) } else { Err("a sample twice".into()) }
    }
}

/// Reads `{a="b"} value` or ` value`.
fn labels(rest: &str) -> Result<(BTreeMap<String, String>, &str), String> {
    let mut labels = BTreeMap::new();
    let Some(mut rest) = rest.strip_prefix('{') else {
        return Ok((labels, rest.strip_prefix(' ').ok_or("no space before the value")?));
    };
    loop {
        let (name, quoted) = rest.split_once("=\"").ok_or("no label where one is due")?;
        let is_valid = is_name(name) && !name.contains(':') && !name.starts_with("__");
        let mut escaped = false;
        let end = quoted.find(|char| {
            let closes = char == '"' && !escaped;
            escaped = char == '\\' && !escaped;
            closes
        });
        let end = end.ok_or("a label's value does not end")?;
        let value = unescape(&quoted[..end], "\\n\"")?;
        if !is_valid || value.is_empty() || labels.insert(name.to_owned(), value).is_some() {
            return Err("an invalid, empty or repeated label".into());
        }
        rest = &quoted[end + 1..];
        match (rest.strip_prefix(','), rest.strip_prefix("} ")) {
            (Some(next), _) => rest = next,
            (None, Some(value)) => return Ok((labels, value)),
            (None, None) => return Err("labels do not end".into()),
        }
    }
}

fn check_value(kind: &str, value: &str) -> Result<(), String> {
    let special = ["NaN", "+Inf", "-Inf"].contains(&value);
    let digits = value.bytes().all(|byte| byte.is_ascii_digit() || b"+-.e".contains(&byte));
    let number: f64 = value.parse().map_err(|_| "the value is no number")?;
    let fits = match kind {
        "counter" => number >= 0.0,
        "info" => value == "1",
        _ => true,
    };
    if fits && (special || digits) { Ok(()) } else { Err("the value does not fit".into()) }
}

fn unescape(text: &str, allowed: &str) -> Result<String, String> {
    let mut plain = String::new();
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        match char {
            '\\' => match chars.next().filter(|&char| allowed.contains(char)) {
                Some('n') => plain.push('\n'),
                Some(char) => plain.push(char),
                None => return Err("an unknown escape".into()),
            },
            '"' if allowed.contains('"') => return Err("a bare quote".into()),
            '\0' | '\r' => return Err("a control character".into()),
            char => plain.push(char),
        }
    }
    Ok(plain)
}

fn is_name(name: &str) -> bool {
    let valid = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b':';
    name.bytes().all(valid) && name.bytes().next().is_some_and(|first| !first.is_ascii_digit())
}

#[test]
fn the_parser_itself_refuses_broken_pages() {
    for page in [
        "a 1\n",
        "# TYPE a gauge\na 1",
        "# TYPE a gauge\na{b=\"c} 1\n",
        "# TYPE a gauge\na{b=\"\\x\"} 1\n",
        "# TYPE a gauge\na one\n",
        "# TYPE a gauge\na 1\na 2\n",
        "# TYPE a gauge\na 1\n# TYPE b gauge\nb 1\na{c=\"d\"} 1\n",
        "# TYPE a gauge\na 1\n# TYPE b gauge\n# TYPE a gauge\n",
        "# TYPE a counter\na -1\n",
        "# TYPE a gauge\na 1\n\n",
    ] {
        assert!(parse(Format::Text, page).is_err(), "{page:?}");
    }
    assert!(parse(Format::OpenMetrics, "# TYPE a counter\na 1\n# EOF\n").is_err(), "no _total");
    assert!(parse(Format::OpenMetrics, "# TYPE a gauge\n# UNIT a seconds\na 1\n# EOF\n").is_err());
    assert!(parse(Format::OpenMetrics, "# TYPE a gauge\na 1\n").is_err(), "no end");
}
