//! Writes HTML so that foreign text cannot become markup: markup is `&'static str`, everything else is escaped, and
//! a link is a [`Url`] whose parts are encoded one by one.
//!
//! Template crates such as maud escape only markup. Control characters and marks that reverse the direction of text
//! would need a wrapper at each place, and nothing would detect a missing one.

use std::fmt::{self, Display, Write};

use config::PasswordFiles;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use safe_text::html_entity;

/// A document that is being written.
#[derive(Debug, Default)]
pub(super) struct Html {
    out: String,
    /// The relative path from this page to the first one, so that the pages work below any path.
    root: &'static str,
    /// Paths that are hidden from this reader.
    hidden: PasswordFiles,
}

impl Html {
    pub(super) fn new(root: &'static str) -> Self {
        Self { out: String::with_capacity(16 << 10), root, hidden: PasswordFiles::default() }
    }

    /// Removes these paths from the details of failures from now on.
    pub(super) fn hide(&mut self, hidden: PasswordFiles) {
        self.hidden = hidden;
    }

    /// The details of a failure.
    pub(super) fn detail(&mut self, detail: &str) -> &mut Self {
        let shown = self.hidden.hide(detail).into_owned();
        self.prose(&shown)
    }

    /// Markup that is part of this program.
    pub(super) fn ours(&mut self, markup: &'static str) -> &mut Self {
        self.out.push_str(markup);
        self
    }

    /// A text, escaped for use between tags and in quoted attributes.
    pub(super) fn text(&mut self, text: impl Display) -> &mut Self {
        // Writing into a string does not fail.
        let _ = write!(Escaping(&mut self.out), "{text}");
        self
    }

    /// A foreign name. Its direction of writing does not affect the text around it.
    pub(super) fn name(&mut self, name: impl Display) -> &mut Self {
        self.ours("<bdi>").text(name).ours("</bdi>")
    }

    /// Sentences of this program or of a plugin, in which names stand between back-quotes.
    pub(super) fn prose(&mut self, text: &str) -> &mut Self {
        if text.matches('`').count() % 2 == 1 {
            return self.name(text);
        }
        self.ours("<bdi>");
        for (index, part) in text.split('`').enumerate() {
            match index % 2 {
                0 => self.text(part),
                _ => self.ours("<code>").text(part).ours("</code>"),
            };
        }
        self.ours("</bdi>")
    }

    /// An attribute of the tag that is open.
    pub(super) fn attr(&mut self, name: &'static str, value: impl Display) -> &mut Self {
        self.ours(" ").ours(name).ours("=\"").text(value).ours("\"")
    }

    pub(super) fn href(&mut self, url: &Url) -> &mut Self {
        let root = self.root;
        self.ours(" href=\"").ours(root).text(&url.0).ours(url.1).ours("\"")
    }

    /// The attribute `action`, of a form whose answer is `url`.
    pub(super) fn action(&mut self, url: &Url) -> &mut Self {
        let root = self.root;
        self.ours(" action=\"").ours(root).text(&url.0).ours(url.1).ours("\"")
    }

    pub(super) fn finish(self) -> String {
        self.out
    }
}

struct Escaping<'a>(&'a mut String);

impl fmt::Write for Escaping<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for c in text.chars() {
            if let Some(entity) = html_entity(c) {
                self.0.push_str(entity);
                continue;
            }
            match c {
                '\u{7f}' => self.0.push('\u{2421}'),
                // The symbol of the control character, so that a newline in a name is visible.
                '\0'..' ' => self.0.push(char::from_u32(0x2400 + u32::from(c)).unwrap_or('\u{fffd}')),
                // Marks that reverse the direction of text are written as their code points, so they have no
                // effect.
                '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                    write!(self.0, "[U+{:04X}]", u32::from(c))?;
                }
                c => self.0.push(c),
            }
        }
        Ok(())
    }
}

/// A link to one of our pages, relative to the first one, and to a part of it.
#[derive(Clone, Debug)]
pub(super) struct Url(String, &'static str);

impl Url {
    /// A path of this site without leading or trailing slash; empty for the first page.
    pub(super) fn of(path: &'static str) -> Self {
        Self(if path.is_empty() { "./".to_owned() } else { path.to_owned() }, "")
    }

    /// The part of the page with this id, written `#id`.
    pub(super) fn at(self, part: &'static str) -> Self {
        Self(self.0, part)
    }

    /// Appends a path segment.
    pub(super) fn step(mut self, name: &str) -> Self {
        self.0.push('/');
        encode(name, &mut self.0);
        self
    }

    /// Appends a parameter, unless it is empty.
    pub(super) fn with(mut self, name: &'static str, value: impl Display) -> Self {
        let value = value.to_string();
        if !value.is_empty() {
            self.0.push(if self.0.contains('?') { '&' } else { '?' });
            self.0.push_str(name);
            self.0.push('=');
            encode(&value, &mut self.0);
        }
        self
    }
}

/// Appends `text` for use in a path segment or in the value of a parameter.
fn encode(text: &str, out: &mut String) {
    const KEPT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
    out.extend(utf8_percent_encode(text, KEPT));
}

/// Undoes [`encode`]; what is not UTF-8 becomes U+FFFD.
pub(super) fn decode(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

/// The query parameters of a request.
#[derive(Debug, Default)]
pub(super) struct Query<'a>(&'a str);

/// Maximum bytes of a parameter; longer ones are cut off.
const PARAMETER_BYTES_MAX: usize = 2_048;

impl<'a> Query<'a> {
    pub(super) fn of(uri: &'a hyper::Uri) -> Self {
        Self(uri.query().unwrap_or_default())
    }

    /// The first value of a parameter; empty if there is none.
    pub(super) fn get(&self, name: &str) -> String {
        let found = self.0.split('&').find_map(|pair| {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            (key == name).then_some(value)
        });
        let mut value = decode(&found.unwrap_or_default().replace('+', " "));
        value.truncate(value.floor_char_boundary(PARAMETER_BYTES_MAX));
        value
    }

    /// The page number, from 1.
    pub(super) fn page(&self) -> usize {
        self.number("page")
    }

    /// The page number in this parameter, from 1.
    pub(super) fn number(&self, name: &str) -> usize {
        self.get(name).parse().unwrap_or(1).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_never_becomes_markup() {
        let mut html = Html::new("../");
        let nasty = "<script>alert(\"1\")</script>&'\n\u{202e}x\0";
        html.ours("<a").attr("title", nasty).href(&Url::of("targets").step(nasty)).ours(">").name(nasty);
        assert_eq!(
            html.finish(),
            "<a title=\"&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;&#39;␊[U+202E]x␀\" \
             href=\"../targets/%3Cscript%3Ealert%28%221%22%29%3C%2Fscript%3E%26%27%0A%E2%80%AEx%00\">\
             <bdi>&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;&#39;␊[U+202E]x␀</bdi>"
        );
    }

    #[test]
    fn what_goes_into_a_link_comes_back_from_the_request() {
        for text in ["a b+c&d=e?f#g/h%i", "é\u{1f600}", "", "%", "%zz", "..", "\n"] {
            let url = Url::of("targets").step("x").with("q", text);
            let uri: hyper::Uri = format!("/{}", url.0).parse().expect("it is a path and a query");
            assert_eq!(Query::of(&uri).get("q"), text);
            let step = Url::of("targets").step(text);
            assert_eq!(decode(step.0.strip_prefix("targets/").expect("it begins so")), text);
        }
    }

    #[test]
    fn what_a_browser_sends_is_read() {
        let uri: hyper::Uri = "/?q=a+b%20c&page=0&q=2&state".parse().expect("it is an address");
        let query = Query::of(&uri);
        assert_eq!((query.get("q").as_str(), query.page(), query.get("state").as_str()), ("a b c", 1, ""));
        let long: hyper::Uri = format!("/?q={}", "%C3%A9".repeat(3_000)).parse().expect("it is an address");
        assert_eq!(Query::of(&long).get("q").len(), PARAMETER_BYTES_MAX);
    }
}
