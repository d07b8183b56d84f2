use core::fmt;
use core::str::FromStr;

use crate::pattern::{PatternText, WILDCARDS, same_name};

/// A counter path as the tools of Windows take and show it: [MS-PLA] 2.2.10 and the Win32 page "Specifying a Counter
/// Path".
///
/// ```text
/// \\Machine\Counterset(Parent/Instance#Index)\Counter
/// ```
///
/// Machine, instance, parent and index may be left out. `*` stands for any characters and `?` for one, in every part
/// but the machine.
///
/// Windows has no escapes, and names may contain any of these characters. So a path is split like this:
///
/// - The counter begins after the last `\`. It may contain parentheses (`Average Wait Time (ms)`) and slashes
///   (`Bytes/sec`), and a counter whose name contains `\` has no path.
/// - The counterset ends at the first `(` or, where that comes earlier, at `\`.
/// - The instance is all from there to the `)` before the last `\`, so that it may contain parentheses, slashes and
///   backslashes itself (`pid_4(x)`, `http://+:80/\`). Windows replaces some of these signs when it makes names of
///   instances, and mostly only for those of old providers.
/// - `#` and a number at the end of an instance are the index, counted from 0; `#*` is any. Numbers that one would not
///   write (`#01`) and any other `#` (`C# app`) belong to the name.
/// - The first `/` ends the parent, unless one of the two would be empty. What [MS-PCQ] calls an instance has no
///   parent: compare with [`InstancePath::matches`], which puts the two together again.
///
/// A path that was parsed is given back by `Display` as it was.
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
    /// The host; none where it is understood.
    pub machine: Option<String>,
    /// The counterset.
    pub counterset: String,
    /// The instance; none for a counterset that has one only.
    pub instance: Option<InstancePath>,
    /// The counter.
    pub counter: String,
}

/// What stands in the parentheses.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct InstancePath {
    /// What the instance belongs to.
    pub parent: Option<String>,
    /// The instance.
    pub name: String,
    /// Which one of those that have this name. None is the first one to Windows.
    pub index: Option<InstanceIndex>,
}

/// Which one of the instances that share a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InstanceIndex {
    /// This one, counted from 0.
    Number(u32),
    /// All of them.
    Any,
}

/// A text that is no counter path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("counter path: {reason}, at character {}", position + 1)]
pub struct PathError {
    /// Characters before the mistake.
    pub position: usize,
    /// What is wrong there.
    pub reason: &'static str,
}

impl CounterPath {
    /// Which countersets are meant.
    #[must_use]
    pub fn counterset_pattern(&self) -> PatternText {
        pattern(self.counterset.clone())
    }

    /// Which counters are meant.
    #[must_use]
    pub fn counter_pattern(&self) -> PatternText {
        pattern(self.counter.clone())
    }
}

impl InstancePath {
    /// Which instances are meant, by their whole names; the index is left to the reader.
    #[must_use]
    pub fn pattern(&self) -> PatternText {
        pattern(self.whole_name())
    }

    /// Whether the instance of this name is meant that has `index` others of the same name before it. Patterns of many
    /// instances are better compiled once: [`InstancePath::pattern`] and [`InstancePath::wants_index`].
    ///
    /// An instance whose name itself looks as if it had an index (`svchost#1`, as old providers call theirs) is meant,
    /// too.
    #[must_use]
    pub fn matches(&self, name: &str, index: u32) -> bool {
        let is_named = |pattern: PatternText| {
            crate::NamePattern::new(&pattern).is_ok_and(|pattern| pattern.matches(name))
        };
        let is_called_so = self.index.is_some() && same_name(&self.to_string(), name);
        is_called_so || (self.wants_index(index) && is_named(self.pattern()))
    }

    /// Whether the instance is meant that has `index` others of the same name before it. Without an index that is the
    /// first one, and with a wildcard in the name all of them.
    #[must_use]
    pub fn wants_index(&self, index: u32) -> bool {
        match self.index {
            Some(InstanceIndex::Number(number)) => number == index,
            Some(InstanceIndex::Any) => true,
            None => index == 0 || matches!(self.pattern(), PatternText::Wildcard(_)),
        }
    }

    /// The name that [MS-PCQ] has for it.
    #[must_use]
    pub fn whole_name(&self) -> String {
        match &self.parent {
            Some(parent) => format!("{parent}/{}", self.name),
            None => self.name.clone(),
        }
    }

    /// Cuts what stands in the parentheses. It is not empty.
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
        // Only the numbers that `Display` would write: the path is given back as it was.
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
        if let Some((position, _)) = text.chars().enumerate().nth(PATH_CHARS_MAX) {
            return Err(PathError { position, reason: "it is longer than a path may be" });
        }
        if let Some(control) = text.find(char::is_control) {
            return fail(&text[control..], "a control character");
        }
        let Some(after) = text.strip_prefix('\\') else {
            return fail(text, "a path begins with `\\`");
        };
        let (machine, rest) = match after.strip_prefix('\\') {
            None => (None, after),
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

/// `PDH_MAX_COUNTER_PATH`: Windows takes no longer ones.
pub const PATH_CHARS_MAX: usize = 2_048;
