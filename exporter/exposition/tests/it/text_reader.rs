//! A reader of pages that forgives nothing.
//!
//! Written after the format descriptions of Prometheus and OpenMetrics 1.0, and sharing nothing with the encoders.

use std::collections::{BTreeMap, HashSet};

use exposition::{Escaping, Format, Representation};

/// One sample: its name and labels, and its value as it was written.
pub(crate) type Samples = BTreeMap<(String, BTreeMap<String, String>), String>;

/// Reads a page, or says what is wrong with it.
pub(crate) fn parse(representation: impl Into<Representation>, page: &str) -> Result<Samples, String> {
    let representation = representation.into();
    let mut body = page;
    if representation.format == Format::OpenMetrics {
        body = page.strip_suffix("# EOF\n").ok_or("the end is missing")?;
    }
    if !body.is_empty() && !body.ends_with('\n') {
        return Err("the last line does not end".into());
    }
    let quotes = representation.escaping == Escaping::AllowUtf8;
    let mut reader = Reader { format: representation.format, quotes, ..Reader::default() };
    for line in body.split_terminator('\n') {
        reader.line(line).map_err(|problem| format!("{problem}: {line:?}"))?;
    }
    Ok(reader.samples)
}

#[derive(Default)]
struct Reader {
    format: Format,
    /// Names in quotes may come.
    quotes: bool,
    samples: Samples,
    /// Every name that any family so far takes up.
    taken: HashSet<String>,
    family: String,
    kind: Option<String>,
    /// The labels of the sample before.
    last: BTreeMap<String, String>,
    /// The bucket before: its series' labels, its bound, and its count.
    bucket: Option<(BTreeMap<String, String>, f64, f64)>,
}

impl Reader {
    fn line(&mut self, line: &str) -> Result<(), String> {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            let (name, text) = self.name_and_rest(rest)?;
            self.begin(&name);
            unescape(text, if self.format == Format::OpenMetrics { "\\n\"" } else { "\\n" })?;
            Ok(())
        } else if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = self.name_and_rest(rest)?;
            if self.family != name || self.kind.is_some() {
                self.begin(&name);
            }
            self.claim(kind)?;
            self.kind = Some(kind.to_owned());
            Ok(())
        } else if let Some(rest) = line.strip_prefix("# UNIT ") {
            let (name, unit) = self.name_and_rest(rest)?;
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

    /// A family's name, in quotes if it needs them, and what comes after a space.
    fn name_and_rest<'a>(&self, text: &'a str) -> Result<(String, &'a str), String> {
        let (name, rest) = if text.starts_with('"') {
            self.quoted(text, |name| !is_name(name))?
        } else {
            let (name, _) = text.split_once(' ').ok_or("nothing behind a name")?;
            if !is_name(name) {
                return Err("the family's name is invalid".into());
            }
            (name.to_owned(), &text[name.len()..])
        };
        Ok((name, rest.strip_prefix(' ').ok_or("no space behind a name")?))
    }

    /// A name in quotes, which must need them.
    fn quoted<'a>(&self, text: &'a str, needs: fn(&str) -> bool) -> Result<(String, &'a str), String> {
        let (name, rest) = quoted_text(text)?;
        if self.quotes && needs(&name) && !name.is_empty() {
            Ok((name, rest))
        } else {
            Err("a name in quotes that needs none, or may not be".into())
        }
    }

    fn begin(&mut self, name: &str) {
        self.family = name.to_owned();
        self.bucket = None;
        self.kind = None;
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
        let (name, labels, value) = self.series(line)?;
        let suffix = name.strip_prefix(self.family.as_str()).ok_or("a sample of no family")?;
        let kind = self.kind.as_deref().ok_or("a sample without a type")?;
        let allowed: &[&str] = match (self.format, kind) {
            // Since when it counts is said right after the count.
            (Format::OpenMetrics, "counter") if labels == self.last => &["_total", "_created"],
            (Format::OpenMetrics, "counter") => &["_total"],
            (Format::OpenMetrics, "info") => &["_info"],
            (Format::OpenMetrics, "histogram")
                if labels == self.last || self.bucket.as_ref().is_some_and(|(of, ..)| *of == labels) =>
            {
                &["_bucket", "_sum", "_count", "_created"]
            }
            (_, "histogram") => &["_bucket", "_sum", "_count"],
            _ => &[""],
        };
        if !allowed.contains(&suffix) {
            return Err("a sample's name does not fit its family".into());
        }
        check_value(kind, value)?;
        if kind == "histogram" {
            let number = value.parse().map_err(|_| "the value is no number")?;
            self.bucket = in_order(self.bucket.take(), suffix, &labels, number)?;
        }
        self.last = labels.clone();
        let is_new = self.samples.insert((name, labels), value.to_owned()).is_none();
        if is_new { Ok(()) } else { Err("a sample twice".into()) }
    }

    /// Reads `name value`, `name{a="b"} value` or `{"name",a="b"} value`.
    fn series<'a>(&self, line: &'a str) -> Result<(String, BTreeMap<String, String>, &'a str), String> {
        let mut labels = BTreeMap::new();
        let (name, mut rest) = if let Some(inside) = line.strip_prefix('{') {
            let (name, rest) = self.quoted(inside, |name| !is_name(name))?;
            match rest.strip_prefix("} ") {
                Some(value) => return Ok((name, labels, value)),
                None => (name, rest.strip_prefix(',').ok_or("no label behind a name in quotes")?),
            }
        } else {
            let end = line.find(['{', ' ']).ok_or("no value")?;
            let (name, rest) = line.split_at(end);
            if !is_name(name) {
                return Err("a sample's name is invalid".into());
            }
            match rest.strip_prefix(' ') {
                Some(value) => return Ok((name.to_owned(), labels, value)),
                None => (name.to_owned(), rest.strip_prefix('{').ok_or("no labels")?),
            }
        };
        loop {
            let (label, behind) = if rest.starts_with('"') {
                self.quoted(rest, |name| !is_label(name))?
            } else {
                let (label, _) = rest.split_once('=').ok_or("no label where one is due")?;
                (label.to_owned(), &rest[label.len()..])
            };
            let (value, behind) = quoted_text(behind.strip_prefix('=').ok_or("no value of a label")?)?;
            // Schemes that cannot be undone may bring a leading `__` about.
            let reserved = label == "__name__" || (self.quotes && label.starts_with("__"));
            let is_valid = (self.quotes || is_label(&label)) && !reserved;
            if !is_valid || value.is_empty() || labels.insert(label, value).is_some() {
                return Err("an invalid, empty or repeated label".into());
            }
            match (behind.strip_prefix(','), behind.strip_prefix("} ")) {
                (Some(next), _) => rest = next,
                (None, Some(value)) => return Ok((name, labels, value)),
                (None, None) => return Err("labels do not end".into()),
            }
        }
    }
}

type Bucket = (BTreeMap<String, String>, f64, f64);

/// Buckets of a series ascend and end at +Inf, whose count is that of the histogram. Answers the bucket that this is.
fn in_order(
    before: Option<Bucket>,
    suffix: &str,
    labels: &BTreeMap<String, String>,
    number: f64,
) -> Result<Option<Bucket>, String> {
    let mut own = labels.clone();
    let le = own.remove("le");
    if suffix != "_bucket" {
        let is_last = |(of, le, count): &Bucket| *of == *labels && *le == f64::INFINITY && *count == number;
        let fits = suffix != "_count" || before.as_ref().is_some_and(is_last);
        return if fits && le.is_none() {
            Ok(before)
        } else {
            Err("a count that is not that of +Inf".into())
        };
    }
    let text = le.ok_or("a bucket without a bound")?;
    let is_canonical = text == "+Inf" || text.contains(['.', 'e']);
    let le: f64 = text.parse().map_err(|_| "a bound is no number")?;
    let ascends = before.is_none_or(|(of, before, count)| of != own || (before < le && count <= number));
    if is_canonical && ascends { Ok(Some((own, le, number))) } else { Err("buckets out of order".into()) }
}

/// Reads `"text"`, unescaped, and answers what comes after it.
fn quoted_text(text: &str) -> Result<(String, &str), String> {
    let quoted = text.strip_prefix('"').ok_or("no quote")?;
    let mut escaped = false;
    let end = quoted.find(|char| {
        let closes = char == '"' && !escaped;
        escaped = char == '\\' && !escaped;
        closes
    });
    let end = end.ok_or("a quoted text does not end")?;
    Ok((unescape(&quoted[..end], "\\n\"")?, &quoted[end + 1..]))
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

fn is_label(name: &str) -> bool {
    is_name(name) && !name.contains(':')
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
    let utf8 = Representation::newest(Format::Text, Escaping::AllowUtf8);
    let page = "# TYPE \"a.b\" gauge\n{\"a.b\",\"c d\"=\"e\"} 1\n{\"a.b\"} 1\n";
    assert_eq!(parse(utf8, page).map(|samples| samples.len()), Ok(2));
    assert!(parse(Format::Text, page).is_err(), "quotes for who knows none");
    assert!(parse(utf8, "# TYPE a gauge\n{\"a\"} 1\n").is_err(), "quotes that nobody needs");
    assert!(parse(utf8, "# TYPE \"a.b\" gauge\na.b 1\n").is_err(), "no quotes");
    let buckets = |last: &str| {
        let page = "# TYPE a histogram\na_bucket{le=\"1.0\"} 2\na_bucket{le=\"+Inf\"} 3\na_sum 4\n";
        parse(Format::Text, &format!("{page}{last}"))
    };
    assert!(buckets("a_count 3\n").is_ok());
    for last in
        ["a_count 2\n", "a_bucket{le=\"2.0\"} 3\n", "a_bucket 3\n", "a_count{le=\"1.0\"} 3\n", "a 3\n"]
    {
        assert!(buckets(last).is_err(), "{last}");
    }
    let created =
        |first: &str| format!("# TYPE a counter\na_total{first} 1\na_created{{b=\"c\"}} 1\n# EOF\n");
    assert!(parse(Format::OpenMetrics, &created("{b=\"c\"}")).is_ok());
    assert!(parse(Format::OpenMetrics, &created("{b=\"d\"}")).is_err(), "a start of another series");
    assert!(parse(Format::OpenMetrics, "# TYPE a counter\na 1\n# EOF\n").is_err(), "no _total");
    assert!(parse(Format::OpenMetrics, "# TYPE a gauge\n# UNIT a seconds\na 1\n# EOF\n").is_err());
    assert!(parse(Format::OpenMetrics, "# TYPE a gauge\na 1\n").is_err(), "no end");
}
