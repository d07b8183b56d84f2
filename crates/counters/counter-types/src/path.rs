use core::fmt;
use core::str::FromStr;

use crate::pattern::{PatternText, WILDCARDS, same_name};

/// A counter path as the tools of Windows read and show it: [MS-PLA] 2.2.10 and the Win32 page "Specifying a
/// Counter Path".
///
/// ```text
/// \\Machine\Counterset(Parent/Instance#Index)\Counter
/// ```
///
/// Machine, instance, parent and index may be left out, and the backslash before a counterset without a machine: `typeperf`,
/// `Get-Counter` and templates of sets write `Memory\*`. `*` stands for any characters and `?` for one, in every part
/// but the machine.
///
/// Windows has no escapes, and names may contain any of these characters. A path is split like this:
///
/// - The counter begins after the last `\`. It may contain parentheses (`Average Wait Time (ms)`) and slashes
///   (`Bytes/sec`), and a counter whose name contains `\` has no path.
/// - The counterset ends at the first `(` or `\`, whichever comes first.
/// - The instance is all from there to the `)` before the last `\`, so that it may contain parentheses, slashes and
///   backslashes itself (`pid_4(x)`, `http://+:80/\`). Windows replaces some of these characters in names of
///   instances, mostly only in those of old providers.
/// - `#` and a number at the end of an instance are the index, counted from 0; `#*` is any. Numbers with leading
///   zeros (`#01`) and any other `#` (`C# app`) belong to the name.
/// - The first `/` ends the parent, unless one of the two would be empty. Instances in [MS-PCQ] have no parent:
///   compare them with [`InstancePath::matches`], which joins the two again.
///
/// `Display` writes a parsed path exactly as it was, with a backslash before it.
///
/// ```
/// use counter_types::CounterPath;
///
/// let path: CounterPath = r"\\web7\Processor Information(0,*)\% Processor Time".parse()?;
/// assert_eq!(path.machine.as_deref(), Some("web7"));
/// assert_eq!(path.counterset, "Processor Information");
/// assert_eq!(path.to_string(), r"\\web7\Processor Information(0,*)\% Processor Time");
///
/// let error = r"\Processor Information(0,*\% Processor Time".parse::<CounterPath>().unwrap_err();
/// assert_eq!(error.to_string(), "counter path: `)` is missing before this backslash, at character 27");
/// # Ok::<(), counter_types::PathError>(())
/// ```
#[doc(alias = "PDH_COUNTER_PATH_ELEMENTS")]
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CounterPath {
    /// The host, if the path names one.
    pub machine: Option<String>,
    pub counterset: String,
    /// The instance; none for a counterset with a single instance.
    pub instance: Option<InstancePath>,
    pub counter: String,
}

/// The text in the parentheses.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct InstancePath {
    /// The parent of the instance.
    pub parent: Option<String>,
    pub name: String,
    /// Which one of the instances with this name. To Windows, none means the first one.
    pub index: Option<InstanceIndex>,
}

/// Which one of the instances that share a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InstanceIndex {
    /// This one, counted from 0.
    Number(u32),
    Any,
}

/// A text that is not a valid counter path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("counter path: {reason}, at character {}", position + 1)]
pub struct PathError {
    /// Characters before the mistake.
    pub position: usize,
    /// What is wrong there.
    pub reason: &'static str,
}

impl CounterPath {
    /// The pattern of countersets.
    #[must_use]
    pub fn counterset_pattern(&self) -> PatternText {
        pattern(self.counterset.clone())
    }

    /// The pattern of counters.
    #[must_use]
    pub fn counter_pattern(&self) -> PatternText {
        pattern(self.counter.clone())
    }
}

impl InstancePath {
    /// The pattern of instances, by whole names; the caller checks the index.
    #[must_use]
    pub fn pattern(&self) -> PatternText {
        pattern(self.whole_name())
    }

    /// Whether it selects the instance of this name with `index` others of the same name before it. For many
    /// instances compile the pattern once: [`InstancePath::pattern`] and [`InstancePath::wants_index`].
    ///
    /// It also selects an instance whose own name looks like one with an index (`svchost#1`, as old providers
    /// write).
    #[must_use]
    pub fn matches(&self, name: &str, index: u32) -> bool {
        let is_named = |pattern: PatternText| {
            crate::NamePattern::new(&pattern).is_ok_and(|pattern| pattern.matches(name))
        };
        let is_called_so = self.index.is_some() && same_name(&self.to_string(), name);
        is_called_so || (self.wants_index(index) && is_named(self.pattern()))
    }

    /// Whether it selects the instance with `index` others of the same name before it. Without an index it selects
    /// the first one, or all of them if the name has a wildcard.
    #[must_use]
    pub fn wants_index(&self, index: u32) -> bool {
        match self.index {
            Some(InstanceIndex::Number(number)) => number == index,
            Some(InstanceIndex::Any) => true,
            None => index == 0 || matches!(self.pattern(), PatternText::Wildcard(_)),
        }
    }

    /// Its name in [MS-PCQ].
    #[must_use]
    pub fn whole_name(&self) -> String {
        match &self.parent {
            Some(parent) => format!("{parent}/{}", self.name),
            None => self.name.clone(),
        }
    }

    /// Splits the text in the parentheses, which is not empty.
    fn cut(text: &str) -> Self {
        let (text, index) = cut_index(text);
        match text.split_once('/').filter(|(parent, name)| !parent.is_empty() && !name.is_empty()) {
            Some((parent, name)) => Self { parent: Some(parent.to_owned()), name: name.to_owned(), index },
            None => Self { parent: None, name: text.to_owned(), index },
        }
    }
}

fn pattern(text: String) -> PatternText {
    if text.contains(WILDCARDS) { PatternText::Wildcard(text) } else { PatternText::Exact(text) }
}

/// The index at the end, if there is one and a name before it.
fn cut_index(text: &str) -> (&str, Option<InstanceIndex>) {
    let index = |digits: &str| match digits {
        "*" => Some(InstanceIndex::Any),
        // Only numbers as `Display` writes them, so that the path is written exactly as it was.
        _ => {
            digits.parse().ok().filter(|number: &u32| number.to_string() == digits).map(InstanceIndex::Number)
        }
    };
    match text.rsplit_once('#').filter(|(name, _)| !name.is_empty()) {
        Some((name, digits)) => index(digits).map_or((text, None), |index| (name, Some(index))),
        None => (text, None),
    }
}

impl FromStr for CounterPath {
    type Err = PathError;

    fn from_str(text: &str) -> Result<Self, PathError> {
        let fail = |at: &str, reason| Err(PathError { position: chars_before(text, at), reason });
        // With the backslash, which `Display` adds.
        let chars_max = PATH_CHARS_MAX - usize::from(!text.starts_with('\\'));
        if let Some((position, _)) = text.chars().enumerate().nth(chars_max) {
            return Err(PathError { position, reason: "it is longer than a path may be" });
        }
        if let Some(control) = text.find(char::is_control) {
            return fail(&text[control..], "a control character");
        }
        let (machine, rest) = match text.strip_prefix(r"\\") {
            None => (None, text.strip_prefix('\\').unwrap_or(text)),
            Some(after) => match after.split_once('\\') {
                Some(("", _)) => return fail(after, "the name of the machine is empty"),
                Some((machine, rest)) => (Some(machine.to_owned()), rest),
                None => return fail(&text[text.len()..], "`\\` and a counterset are missing"),
            },
        };
        let Some(last) = rest.rfind('\\') else {
            return fail(&text[text.len()..], "`\\` and a counter are missing");
        };
        let (object, counter) = (&rest[..last], &rest[last + 1..]);
        let (counterset, in_parentheses) = match object.find(['(', '\\']) {
            None => (object, None),
            Some(at) if object[at..].starts_with('(') => (&object[..at], Some(&object[at + 1..])),
            Some(at) => return fail(&object[at..], "only a counter or an instance follows a counterset"),
        };
        let instance = match in_parentheses.map(|inside| inside.strip_suffix(')')) {
            None => None,
            Some(None) => return fail(&rest[last..], "`)` is missing before this backslash"),
            Some(Some("")) => return fail(&rest[last - 1..], "the instance is empty"),
            Some(Some(inside)) => Some(InstancePath::cut(inside)),
        };
        if counterset.is_empty() {
            return fail(rest, "the counterset is empty");
        }
        if counter.is_empty() {
            return fail(counter, "the counter is empty");
        }
        Ok(Self { machine, counterset: counterset.to_owned(), instance, counter: counter.to_owned() })
    }
}

/// Characters of `text` before its end `rest`.
fn chars_before(text: &str, rest: &str) -> usize {
    let offset = rest.as_ptr() as usize - text.as_ptr() as usize;
    text[..offset].chars().count()
}

impl fmt::Display for CounterPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(machine) = &self.machine {
            write!(f, r"\\{machine}")?;
        }
        write!(f, r"\{}", self.counterset)?;
        if let Some(instance) = &self.instance {
            write!(f, "({instance})")?;
        }
        write!(f, r"\{}", self.counter)
    }
}

impl fmt::Display for InstancePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(parent) = &self.parent {
            write!(f, "{parent}/")?;
        }
        f.write_str(&self.name)?;
        match self.index {
            Some(InstanceIndex::Number(number)) => write!(f, "#{number}"),
            Some(InstanceIndex::Any) => f.write_str("#*"),
            None => Ok(()),
        }
    }
}

/// `PDH_MAX_COUNTER_PATH`: Windows refuses longer ones.
pub const PATH_CHARS_MAX: usize = 2_048;
