//! What libFuzzer prints: how much it did, and what it wrote down.

use std::collections::VecDeque;
use std::path::PathBuf;

const LINES_KEPT: usize = 30;

/// The facts of a run, read line by line.
#[derive(Debug, Default)]
pub(super) struct Output {
    /// Inputs that were written down as findings.
    pub(super) artifacts: Vec<PathBuf>,
    /// From `stat::`, which a run without -fork prints at its end.
    final_executions: Option<u64>,
    /// From the last line of progress.
    last_executions: u64,
    last: VecDeque<String>,
}

impl Output {
    /// Reads one line of the standard output or error.
    pub(super) fn read(&mut self, line: &str) {
        if let Some((_, path)) = line.split_once("Test unit written to ") {
            let path = PathBuf::from(path.trim());
            // With -fork the process that found it prints it, and then the one that started it.
            if !self.artifacts.contains(&path) {
                self.artifacts.push(path);
            }
            return;
        }
        if let Some(rest) = line.strip_prefix("stat::number_of_executed_units:") {
            self.final_executions = rest.trim().parse().ok();
        } else if let Some(count) = executions(line) {
            self.last_executions = count;
            // Progress explains no failure.
            return;
        }
        if self.last.len() == LINES_KEPT {
            self.last.pop_front();
        }
        self.last.push_back(line.to_owned());
    }

    /// Inputs that were run.
    pub(super) fn executions(&self) -> u64 {
        self.final_executions.unwrap_or(self.last_executions)
    }

    /// The last lines of output, to find out what went wrong.
    pub(super) fn last_lines(&self) -> String {
        self.last.iter().map(|line| format!("    {line}\n")).collect::<String>().trim_end().to_owned()
    }
}

/// The count of a line such as `#4096  pulse cov: …`, or with -fork `#4096: cov: …`.
fn executions(line: &str) -> Option<u64> {
    let (count, _) = line.strip_prefix('#')?.split_once(['\t', ' ', ':'])?;
    count.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Output {
        let mut output = Output::default();
        text.lines().for_each(|line| output.read(line));
        output
    }

    #[test]
    fn executions_come_from_the_final_figures_or_else_from_progress() {
        let progress = "#2\tINITED cov: 10 ft: 11 corp: 1/1b exec/s: 0 rss: 40Mb\n\
                        #65536\tpulse  cov: 12 ft: 19 corp: 4/9b lim: 652 exec/s: 32768 rss: 41Mb\n";
        assert_eq!(read(progress).executions(), 65_536);
        let finals = "stat::number_of_executed_units: 70001\nstat::average_exec_per_sec:     35000\n";
        assert_eq!(read(&format!("{progress}{finals}")).executions(), 70_001);
        let forks =
            "#812: cov: 3 ft: 4 corp: 2 exec/s: 406 oom/timeout/crash: 0/0/0 time: 2s job: 2 dft_time: 0\n";
        assert_eq!(read(forks).executions(), 812);
        assert_eq!(read("").executions(), 0);
    }

    #[test]
    fn a_finding_is_the_file_that_was_written_and_each_file_is_told_once() {
        let output = read(
            "#9\tNEW    cov: 1 ft: 1\n==1== ERROR: libFuzzer: deadly signal\n\
             artifact_prefix='a/'; Test unit written to a/crash-1\nBase64: AA==\n\
             artifact_prefix='a/'; Test unit written to a/crash-1\n",
        );
        assert_eq!(output.artifacts, [PathBuf::from("a/crash-1")]);
        // Progress would push out what explains the failure.
        assert_eq!(output.last_lines(), "    ==1== ERROR: libFuzzer: deadly signal\n    Base64: AA==");
    }

    #[test]
    fn what_is_kept_of_the_output_has_a_limit() {
        let output = read(&"word\n".repeat(10 * LINES_KEPT));
        assert_eq!(output.last.len(), LINES_KEPT);
    }
}
