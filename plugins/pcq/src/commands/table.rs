use std::fmt::Write;
use std::time::Duration;

use counter_poll::paths::{Instance, Key, PathPlan, Sample, Value, is_shown_as_read};
use counter_types::{Cooked, display, display_exact, shown_as};
use safe_text::one_line;

use super::Formatter;

/// A table for people. If all values fit into one line, there is a line for each sample. Otherwise there is a block
/// for each sample, with a row for each instance and a column for each counter.
#[derive(Debug)]
pub(super) struct Table {
    width: usize,
    is_terminal: bool,
    with_milliseconds: bool,
    /// The last heading, and the number of lines since then.
    heading: Option<Heading>,
}

#[derive(Debug)]
struct Heading {
    keys: Vec<Key>,
    widths: Vec<usize>,
    lines: usize,
}

impl Table {
    pub(super) fn new(terminal_width: Option<u32>, interval: Duration) -> Self {
        let width = terminal_width.and_then(|width| usize::try_from(width).ok()).unwrap_or(WIDTH);
        let is_terminal = terminal_width.is_some();
        Self { width, is_terminal, with_milliseconds: interval < Duration::from_secs(1), heading: None }
    }

    fn time(&self, sample: &Sample) -> String {
        super::time_of_day(sample.time, self.with_milliseconds)
    }

    /// The columns' widths and heads, if all fit into one line.
    fn columns(&self, plan: &PathPlan, sample: &Sample) -> Option<(Vec<usize>, Vec<Vec<String>>)> {
        if sample.values.len() > COLUMNS_MAX {
            return None;
        }
        let cells: Vec<String> = sample.values.iter().map(|(key, value)| cell(plan, key, value)).collect();
        // Short heads if long ones do not fit.
        [HEAD_MAX, HEAD_MAX / 2].into_iter().find_map(|head_max| {
            let heads = sample.values.iter().map(|(key, _)| head(plan, key, head_max));
            let heads: Vec<Vec<String>> = heads.collect();
            let widths = heads.iter().zip(&cells);
            let widths: Vec<usize> =
                widths.map(|(head, cell)| widest(head).max(length(cell)).max(CELL_MIN)).collect();
            let all = self.time(sample).len() + widths.iter().map(|width| width + GAP.len()).sum::<usize>();
            (all <= self.width).then_some((widths, heads))
        })
    }

    fn line(
        &mut self,
        plan: &PathPlan,
        sample: &Sample,
        widths: Vec<usize>,
        heads: &[Vec<String>],
    ) -> String {
        let keys: Vec<Key> = sample.values.iter().map(|(key, _)| key.clone()).collect();
        let time = self.time(sample);
        let mut text = String::new();
        let stands = self.heading.take().filter(|heading| {
            heading.keys == keys && !(self.is_terminal && heading.lines >= LINES_BETWEEN_HEADINGS)
        });
        let mut heading = stands.unwrap_or_else(|| {
            let height = heads.iter().map(Vec::len).max().unwrap_or(0);
            for index in 0..height {
                let time = if index + 1 == height { "Time" } else { "" };
                let mut line = format!("{time:width$}", width = self.time(sample).len());
                for (head, width) in heads.iter().zip(&widths) {
                    // Heads are aligned at the bottom.
                    let part = (index + head.len()).checked_sub(height).and_then(|index| head.get(index));
                    let _ = write!(line, "{GAP}{:>width$}", part.map_or("", String::as_str));
                }
                text += line.trim_end();
                text.push('\n');
            }
            Heading { keys, widths, lines: 0 }
        });
        text += &time;
        for ((key, value), width) in sample.values.iter().zip(&heading.widths) {
            let _ = write!(text, "{GAP}{:>width$}", cell(plan, key, value));
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
        heading.lines += 1;
        self.heading = Some(heading);
        text
    }

    fn blocks(&mut self, plan: &PathPlan, sample: &Sample) -> String {
        let mut text = format!("{}\n", self.time(sample));
        for (index, counterset) in plan.countersets.iter().enumerate() {
            let values: Vec<_> = sample.values.iter().filter(|(key, _)| key.counterset == index).collect();
            if values.is_empty() {
                continue;
            }
            let mut counters: Vec<usize> = Vec::new();
            let mut instances: Vec<Option<String>> = Vec::new();
            for (key, _) in &values {
                add_new(&mut counters, key.counter);
                add_new(&mut instances, key.instance.as_ref().map(Instance::shown));
            }
            let title = &one_line(&counterset.name.text);
            let grid = Grid { plan, title, values, counters, instances };
            text += &grid.text(self.width);
        }
        text
    }
}

impl Formatter for Table {
    fn format(&mut self, plan: &PathPlan, sample: &Sample) -> String {
        if sample.values.is_empty() {
            return format!("{}{GAP}-\n", self.time(sample));
        }
        match self.columns(plan, sample) {
            Some((widths, heads)) => self.line(plan, sample, widths, &heads),
            None => self.blocks(plan, sample),
        }
    }
}

/// The values of one counterset: a row for each instance, a column for each counter.
struct Grid<'a> {
    plan: &'a PathPlan,
    title: &'a str,
    values: Vec<&'a (Key, Value)>,
    counters: Vec<usize>,
    instances: Vec<Option<String>>,
}

impl Grid<'_> {
    fn text(&self, width: usize) -> String {
        if self.instances == [None] {
            return self.list();
        }
        let shown = |instance: &Option<String>| one_line(instance.as_deref().unwrap_or_default());
        let names: Vec<String> = self.instances.iter().map(shown).collect();
        let left = names.iter().map(|name| length(name)).chain([length(self.title)]).max().unwrap_or(0);
        let left = left.min(width / 3);
        let mut text = String::new();
        let mut rest = self.columns();
        while !rest.is_empty() {
            let mut room = width.saturating_sub(left + INDENT.len());
            let fitting = rest.iter().take_while(|(_, width, _)| {
                let fits = room >= width + GAP.len();
                room = room.saturating_sub(width + GAP.len());
                fits
            });
            let fitting = fitting.count().max(1);
            let later = rest.split_off(fitting);
            self.part(&mut text, &names, left, &rest);
            rest = later;
        }
        text
    }

    /// Head, width and cells of each counter.
    fn columns(&self) -> Vec<(Vec<String>, usize, Vec<String>)> {
        let columns = self.counters.iter().map(|counter| {
            let Some(name) = self.values.iter().find(|(key, _)| key.counter == *counter) else {
                return (Vec::new(), 0, Vec::new());
            };
            let counterset = &self.plan.countersets[name.0.counterset];
            let head = wrapped(&counterset.counters[*counter].name, HEAD_MAX);
            let cells: Vec<String> =
                self.instances.iter().map(|instance| self.cell(*counter, instance.as_deref())).collect();
            let width = widest(&head).max(widest(&cells)).max(CELL_MIN);
            (head, width, cells)
        });
        columns.collect()
    }

    fn cell(&self, counter: usize, instance: Option<&str>) -> String {
        let found = self.values.iter().find(|(key, _)| {
            key.counter == counter && key.instance.as_ref().map(Instance::shown).as_deref() == instance
        });
        found.map_or_else(|| NOTHING.to_owned(), |(key, value)| cell(self.plan, key, value))
    }

    fn part(
        &self,
        text: &mut String,
        names: &[String],
        left: usize,
        columns: &[(Vec<String>, usize, Vec<String>)],
    ) {
        let height = columns.iter().map(|(head, ..)| head.len()).max().unwrap_or(0);
        for index in 0..height {
            let title = if index + 1 == height { self.title } else { "" };
            let mut line = format!("{INDENT}{:left$}", cut(title, left));
            for (head, width, _) in columns {
                let part = (index + head.len()).checked_sub(height).and_then(|index| head.get(index));
                let _ = write!(line, "{GAP}{:>width$}", part.map_or("", String::as_str));
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        for (row, name) in names.iter().enumerate() {
            let _ = write!(text, "{INDENT}{:left$}", cut(name, left));
            for (_, width, cells) in columns {
                let _ = write!(text, "{GAP}{:>width$}", cells.get(row).map_or(NOTHING, String::as_str));
            }
            text.truncate(text.trim_end().len());
            text.push('\n');
        }
        text.push('\n');
    }

    /// A counterset without instances: a row for each counter.
    fn list(&self) -> String {
        let rows = self.values.iter().map(|(key, value)| {
            let counterset = &self.plan.countersets[key.counterset];
            (one_line(&counterset.counters[key.counter].name), cell(self.plan, key, value))
        });
        let rows: Vec<(String, String)> = rows.collect();
        let left = rows.iter().map(|(name, _)| length(name)).max().unwrap_or(0);
        let right = rows.iter().map(|(_, cell)| length(cell)).max().unwrap_or(0).max(CELL_MIN);
        let mut text = format!("{INDENT}{}\n", self.title);
        for (name, cell) in rows {
            let line = format!("{INDENT}{INDENT}{name:left$}{GAP}{cell:>right$}");
            let _ = writeln!(text, "{}", line.trim_end());
        }
        text + "\n"
    }
}

/// Counterset, instance and counter, one per line.
fn head(plan: &PathPlan, key: &Key, width: usize) -> Vec<String> {
    let counterset = &plan.countersets[key.counterset];
    let mut lines = wrapped(&counterset.name.text, width);
    if let Some(instance) = &key.instance {
        lines.extend(wrapped(&instance.shown(), width));
    }
    lines.extend(wrapped(&counterset.counters[key.counter].name, width));
    lines
}

fn cell(plan: &PathPlan, key: &Key, value: &Value) -> String {
    let info = &plan.countersets[key.counterset].counters[key.counter].info;
    let attrib = shown_as(info.counter_type, info.attrib);
    match value {
        Value::Number(reading, Cooked::Value(_)) if is_shown_as_read(info) => {
            display_exact(reading.value, attrib)
        }
        Value::Number(_, Cooked::Value(value)) => aligned(display(*value, attrib)),
        Value::Number(..) | Value::Nothing => NOTHING.to_owned(),
        Value::Text(text) => cut(&one_line(text), HEAD_MAX),
    }
}

/// Padded to the maximum decimals, so that the decimal points of a column are aligned.
fn aligned(number: String) -> String {
    let decimals = match number.split_once('.') {
        _ if number.starts_with("0x") => return number,
        Some((_, decimals)) => 1 + decimals.len(),
        None => 0,
    };
    let missing = " ".repeat((1 + DECIMALS).saturating_sub(decimals));
    number + &missing
}

fn add_new<T: PartialEq>(known: &mut Vec<T>, new: T) {
    if !known.contains(&new) {
        known.push(new);
    }
}

/// Lines of at most `width` characters, wrapped between words; a longer word is a line of its own.
pub(super) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in one_line(text).split(' ') {
        match lines.last_mut() {
            Some(line) if length(line) + 1 + length(word) <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// At most `width` characters, with an ellipsis if it was cut.
pub(super) fn cut(text: &str, width: usize) -> String {
    if length(text) <= width {
        return text.to_owned();
    }
    text.chars().take(width.saturating_sub(1)).chain(['…']).collect()
}

fn widest(lines: &[String]) -> usize {
    lines.iter().map(|line| length(line)).max().unwrap_or(0)
}

fn length(text: &str) -> usize {
    text.chars().count()
}

/// Shown if there is no value.
const NOTHING: &str = "-    ";
const GAP: &str = "  ";
const INDENT: &str = "  ";
const CELL_MIN: usize = 9;
const HEAD_MAX: usize = 22;
/// Maximum decimals of [`display`].
const DECIMALS: usize = 3;
const COLUMNS_MAX: usize = 16;
const LINES_BETWEEN_HEADINGS: usize = 20;
/// Width if the output is not a terminal.
const WIDTH: usize = 120;
