//! What a program says of the records that it writes, compared with what is in the tables.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::{COUNTERS, Row};
use crate::Result;
use crate::process::Running;

const TIMEOUT: Duration = Duration::from_secs(60);

/// What a program said of its records.
#[derive(Default)]
pub(super) struct Transcript {
    lines: RefCell<Vec<String>>,
    pub(super) written: BTreeSet<u32>,
    pub(super) dropped: BTreeSet<u32>,
    pub(super) failures: usize,
    /// The last of them.
    pub(super) last_failure: String,
}

impl Transcript {
    pub(super) fn of(program: &mut Running) -> Result<Self> {
        Self::default().until_end(program)
    }

    pub(super) fn until_end(self, program: &mut Running) -> Result<Self> {
        self.hear(program, "end", |line| line == "end")?;
        self.read()
    }

    pub(super) fn hear(&self, program: &mut Running, what: &str, is_it: impl Fn(&str) -> bool) -> Result<()> {
        program.wait_for(what, TIMEOUT, |line| {
            self.lines.borrow_mut().push(line.to_owned());
            is_it(line).then_some(())
        })
    }

    pub(super) fn read(mut self) -> Result<Self> {
        for line in self.lines.take() {
            let words: Vec<&str> = line.split(' ').collect();
            match words[..] {
                ["written", first, last] => self.written.extend(first.parse::<u32>()?..=last.parse()?),
                ["dropped", record] => {
                    self.dropped.insert(record.parse()?);
                }
                ["failed", ..] => {
                    self.failures += 1;
                    line.clone_into(&mut self.last_failure);
                }
                _ => {}
            }
        }
        Ok(self)
    }

    /// Each record that is written is there once, with its values, and in order. Answers how many are there that are not
    /// said to be.
    pub(super) fn compare(&self, found: &[Row]) -> Result<usize> {
        let mut records: BTreeMap<u32, (String, BTreeSet<u32>)> = BTreeMap::new();
        for row in found {
            let (Some(index), Some(record), Some(counter)) = (
                row.first(),
                row.get(5).and_then(|field| field.parse().ok()),
                row.get(6).and_then(|field| field.parse().ok()),
            ) else {
                return Err(format!("a row is wrong: {row:?}").into());
            };
            let (record, counter): (u32, u32) = (record, counter);
            let value = f64::from(record) + f64::from(counter) / 1000.0;
            let expected = [time(record), format!("worker {}", counter / 2), (counter % 2).to_string()];
            let is_right = row[1..4] == expected
                && row[4].parse() == Ok(value)
                && row[7..] == ["-1", "-1", "1"].map(str::to_owned);
            let (known, counters) = records.entry(record).or_insert((index.clone(), BTreeSet::new()));
            if !is_right || known != index || !counters.insert(counter) {
                return Err(format!("a row is wrong, or there twice: {row:?}").into());
            }
        }
        for (record, (_, counters)) in &records {
            let expected: BTreeSet<u32> =
                (0..COUNTERS).filter(|counter| *counter != record % COUNTERS).collect();
            if *counters != expected {
                return Err(format!("record {record} has only the counters {counters:?}").into());
            }
        }
        if let Some(lost) = self.written.iter().find(|record| !records.contains_key(record)) {
            return Err(format!("record {lost} was written and is not there").into());
        }
        Ok(records.len() - self.written.len())
    }
}

fn time(record: u32) -> String {
    format!("2026-03-01 00:{:02}:{:02}.000", record / 60, record % 60)
}
