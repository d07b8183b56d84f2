//! The grammar that Accept and Accept-Encoding share.

/// The entries of a header, each with its q.
#[derive(Clone, Debug)]
pub(super) struct Ranges<'a> {
    entries: std::iter::Take<std::str::Split<'a, char>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Range<'a> {
    /// `text/plain` or `gzip`, in lower case.
    pub(super) name: String,
    /// The rest of the entry, for [`parameters`].
    pub(super) parameters: &'a str,
    pub(super) quality: u16,
}

impl<'a> Ranges<'a> {
    pub(super) fn of(header: &'a str) -> Self {
        Self { entries: header.split(',').take(RANGES_MAX) }
    }
}

impl<'a> Iterator for Ranges<'a> {
    type Item = Range<'a>;

    /// The next entry that can be read.
    fn next(&mut self) -> Option<Range<'a>> {
        self.entries.by_ref().find_map(|entry| {
            let (name, rest) = entry.split_once(';').unwrap_or((entry, ""));
            let name = name.trim().to_ascii_lowercase();
            let q = parameters(rest).find(|(name, _)| name.eq_ignore_ascii_case("q"));
            let quality = q.map_or(Some(QUALITY_MAX), |(_, q)| thousandths(q))?;
            (!name.is_empty()).then_some(Range { name, parameters: rest, quality })
        })
    }
}

pub(super) fn parameters(rest: &str) -> impl Iterator<Item = (&str, &str)> {
    let pairs = rest.split(';').filter_map(|parameter| parameter.split_once('='));
    pairs.map(|(name, value)| (name.trim(), value.trim().trim_matches('"')))
}

/// `0.75` is 750. A q has at most three decimals.
fn thousandths(quality: &str) -> Option<u16> {
    let (whole, decimals) = quality.split_once('.').unwrap_or((quality, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(decimals) || whole.len() > 1 || decimals.len() > 3 {
        return None;
    }
    let number: u16 = format!("{whole:0>1}{decimals:0<3}").parse().ok()?;
    Some(number.min(QUALITY_MAX))
}

pub(super) const QUALITY_MAX: u16 = 1_000;
/// Maximum entries that are read.
const RANGES_MAX: usize = 64;
