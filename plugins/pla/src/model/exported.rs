//! Sets as hosts export them.

use std::collections::HashMap;
use std::time::Duration;

use ms_pla::xml::{AlertDataCollector, DataCollectorSet, Limits};
use pla_engine::{TaskArgumentsError, Threshold, ThresholdError};
use safe_text::{is_hidden, one_line};

use super::{
    ALERTS_MAX, Alert, NAME_CHARS_MAX, Origin, Problem, ProblemKind, SampleInterval, Set, Start, TaskCall,
    USER_TEXT_CHARS_MAX, check,
};

impl Set {
    /// The set of a document. `name` is used if that has none.
    pub(crate) fn of_document(document: &DataCollectorSet, name: &str, origin: Origin) -> Self {
        let own_name = [&document.name, &document.display_name].into_iter().flatten();
        let name =
            own_name.map(|name| clean(name)).find(|name| !name.is_empty()).unwrap_or_else(|| clean(name));
        let collectors = [
            document.counters.len(),
            document.traces.len(),
            document.api_traces.len(),
            document.configurations.len(),
            document.alerts.len(),
        ];
        let mut set = Self {
            name,
            origin,
            start: Start::Always,
            duration: Duration::from_secs(document.duration_s.unwrap_or_default().into()),
            alerts: Vec::new(),
            logs: None,
            is_optional: false,
            collectors,
            problems: Vec::new(),
            problems_left_out: 0,
        };
        for error in document.unread() {
            let instead = if error.path.contains("/Schedule/") {
                "the schedule starts nothing"
            } else {
                "it counts as missing"
            };
            set.report("", ProblemKind::Value, format!("{error}: {instead}"));
        }
        for (index, collector) in document.alerts.iter().enumerate() {
            if !set.add_collector(collector, index) {
                break;
            }
        }
        set.distinguish();
        if set.origin == Origin::Host && !document.counters.is_empty() {
            let count = document.counters.len();
            let message =
                format!("{count} data collectors of counters are not run here: the host runs them itself");
            set.report("", ProblemKind::Collector, message);
        }
        let others = [
            ("traces", document.traces.len()),
            ("configuration", document.configurations.len()),
            ("API traces", document.api_traces.len()),
        ];
        for (kind, count) in others.into_iter().filter(|(_, count)| *count > 0) {
            let message =
                format!("{count} data collectors of {kind} are not run here: only counters and alerts are");
            set.report("", ProblemKind::Collector, message);
        }
        set
    }

    /// Returns false at the limit, which is said.
    fn add_collector(&mut self, collector: &AlertDataCollector, index: usize) -> bool {
        let named = collector.name.as_deref().map(clean).filter(|name| !name.is_empty());
        // As Windows names them.
        let name = named.unwrap_or_else(|| format!("DataCollector{:02}", index + 1));
        let task = self.task(&name, collector);
        let start_set = collector.trigger_data_collector_set.as_deref().map(clean);
        let start_set = start_set.filter(|set| !set.is_empty());
        let interval =
            collector.sample_interval_s.map_or(SampleInterval::DEFAULT, SampleInterval::of_seconds);
        for text in &collector.alerts {
            let threshold: Threshold = match text.trim().parse() {
                Ok(threshold) => threshold,
                Err(error) => {
                    self.report(&name, ProblemKind::Threshold, about(text.trim(), &error));
                    continue;
                }
            };
            if let Err(reason) = check(&threshold) {
                self.report(&name, ProblemKind::Threshold, format!("`{}`: {reason}", shown(text.trim())));
                continue;
            }
            if self.alerts.len() >= ALERTS_MAX {
                self.report(
                    &name,
                    ProblemKind::Limit,
                    format!("thresholds above {ALERTS_MAX} are not judged"),
                );
                return false;
            }
            let logs_events = collector.logs_events.unwrap_or(true);
            self.alerts.push(Alert {
                name: name.clone(),
                threshold,
                interval,
                hold: Duration::ZERO,
                logs_events,
                task: task.clone(),
                start_set: start_set.clone(),
                is_optional: false,
            });
        }
        true
    }

    /// The task of a collector. Whether there is such a task is a matter of the module.
    fn task(&mut self, alert: &str, collector: &AlertDataCollector) -> Option<TaskCall> {
        let AlertDataCollector { task, task_arguments, task_user_text_arguments, .. } = collector;
        self.task_call(alert, task.as_deref(), task_arguments.as_deref(), task_user_text_arguments.as_deref())
    }

    /// The task of the set itself.
    pub(super) fn task_of_set(&mut self, document: &DataCollectorSet) -> Option<TaskCall> {
        let DataCollectorSet { task, task_arguments, task_user_text_arguments, .. } = document;
        self.task_call("", task.as_deref(), task_arguments.as_deref(), task_user_text_arguments.as_deref())
    }

    fn task_call(
        &mut self,
        alert: &str,
        task: Option<&str>,
        arguments: Option<&str>,
        user_text: Option<&str>,
    ) -> Option<TaskCall> {
        let name = task.map(clean).filter(|name| !name.is_empty())?;
        let user_text = user_text.unwrap_or_default().to_owned();
        let arguments = arguments.unwrap_or_default();
        let call = match arguments.parse() {
            // Whoever controls the host would choose the arguments of a program of this machine.
            _ if self.origin == Origin::Host => {
                Err("only sets of the configuration and of files start tasks".to_owned())
            }
            Ok(_) if user_text.chars().count() > USER_TEXT_CHARS_MAX => {
                Err(format!("its user text is longer than {USER_TEXT_CHARS_MAX} characters"))
            }
            Ok(arguments) => Ok(TaskCall { name: name.clone(), arguments, user_text }),
            Err(error) => Err(TaskArgumentsError::to_string(&error)),
        };
        call.map_err(|reason| {
            self.report(alert, ProblemKind::Task, format!("the task `{name}` is not started: {reason}"));
        })
        .ok()
    }

    /// Two thresholds of one counter in one collector, such as one above and one below, get names of their own.
    fn distinguish(&mut self) {
        let mut seen: HashMap<(String, String), usize> = HashMap::new();
        for alert in &mut self.alerts {
            let times = seen.entry((alert.name.clone(), alert.threshold.path.to_string())).or_default();
            *times += 1;
            if *times > 1 {
                alert.name = format!("{} ({times})", alert.name);
            }
        }
    }

    /// The last one says how many more there are.
    pub(super) fn report(&mut self, alert: &str, kind: ProblemKind, message: String) {
        if self.problems.len() < PROBLEMS_MAX {
            return self.problems.push(Problem { alert: alert.to_owned(), kind, message });
        }
        self.problems_left_out += 1;
        self.problems.truncate(PROBLEMS_MAX);
        // One of them may be an alert that is not judged.
        let message = format!("and {} more: mend those before first", self.problems_left_out);
        self.problems.push(Problem { alert: String::new(), kind: ProblemKind::Limit, message });
    }
}

/// What is wrong with a threshold, with the text.
pub(crate) fn about(text: &str, error: &ThresholdError) -> String {
    format!("`{}`: {error}", shown(text))
}

fn shown(text: &str) -> String {
    one_line(text).chars().take(THRESHOLD_CHARS_SHOWN).collect()
}

/// A name without what no label should have, and not longer than labels may be.
pub(crate) fn clean(name: &str) -> String {
    name.trim().chars().filter(|c| !is_hidden(*c)).take(NAME_CHARS_MAX).collect()
}

/// What is read of a set.
pub(crate) const LIMITS: Limits = Limits { bytes_max: 8 << 20, names_max: 200_000, depth_max: 64 };
/// Problems of one set that are listed.
const PROBLEMS_MAX: usize = 1_000;
const THRESHOLD_CHARS_SHOWN: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::LogOverrides;

    #[test]
    fn a_set_of_the_host_starts_no_task() {
        let text = b"<DataCollectorSet><Name>Nightly</Name><AlertDataCollector><Name>High</Name>\
                     <Alert>\\A\\B&gt;8</Alert><Task>Tell</Task></AlertDataCollector></DataCollectorSet>";
        let set = Set::of_document(&DataCollectorSet::read(text, &LIMITS).unwrap(), "", Origin::Host);
        assert_eq!(set.alerts[0].task, None);
        let said: Vec<_> = set.problems.iter().map(|it| (it.kind, &*it.message)).collect();
        let message =
            "the task `Tell` is not started: only sets of the configuration and of files start tasks";
        assert_eq!(said, [(ProblemKind::Task, message)]);
    }

    fn read(alerts: &str) -> Set {
        let text = format!("<DataCollectorSet><Name>Nightly</Name>{alerts}</DataCollectorSet>");
        let document = DataCollectorSet::read(text.as_bytes(), &LIMITS).unwrap();
        Set::of_document(&document, "file", Origin::File("/sets/file.xml".into()))
    }

    #[test]
    fn each_threshold_is_an_alert_of_its_own() {
        let set = read(
            "<AlertDataCollector><Name>High</Name><SampleInterval>0xFFFFFFFF</SampleInterval><EventLog>0</EventLog>\
             <Alert>\\A(*)\\B&gt;80</Alert><Alert>\\A(*)\\B&lt;5</Alert></AlertDataCollector>\
             <AlertDataCollector><Alert>\\C\\D&lt;1e3</Alert></AlertDataCollector>",
        );
        let alerts: Vec<_> = set
            .alerts
            .iter()
            .map(|alert| (&*alert.name, alert.threshold.to_string(), alert.interval, alert.logs_events))
            .collect();
        assert_eq!(
            alerts,
            [
                ("High", r"\A(*)\B>80".to_owned(), SampleInterval::Once, false),
                ("High (2)", r"\A(*)\B<5".to_owned(), SampleInterval::Once, false),
                ("DataCollector02", r"\C\D<1000".to_owned(), SampleInterval::DEFAULT, true),
            ]
        );
        assert_eq!((&*set.name, &*set.problems), ("Nightly", &[][..]));
    }

    #[test]
    fn each_alert_of_a_collector_has_its_task_and_the_set_that_it_starts() {
        let set = read(
            "<Duration>600</Duration><AlertDataCollector><Name>High</Name><Alert>\\A\\B&gt;8</Alert><Alert>\\A\\C&gt;8</Alert>\
             <Task>Tell</Task><TaskArguments>--to {usertext}</TaskArguments><TaskUserTextArguments>a b</TaskUserTextArguments>\
             <TriggerDataCollectorSet>More</TriggerDataCollectorSet></AlertDataCollector>",
        );
        assert_eq!((set.problems.len(), set.alerts.len(), set.duration), (0, 2, Duration::from_secs(600)));
        for alert in &set.alerts {
            let task = alert.task.as_ref().unwrap();
            assert_eq!(
                (&*task.name, &*task.user_text, alert.start_set.as_deref()),
                ("Tell", "a b", Some("More"))
            );
            assert_eq!(task.arguments, "--to {usertext}".parse().unwrap());
        }
    }

    #[test]
    fn what_is_not_done_is_said() {
        let set = read(
            "<AlertDataCollector><Name>High</Name><Alert>\\A\\B&gt;8,5</Alert><Task>Tell</Task>\
             <TaskArguments>a \"b</TaskArguments></AlertDataCollector>\
             <TraceDataCollector><Name>x</Name></TraceDataCollector>",
        );
        let said: Vec<String> = set
            .problems
            .iter()
            .map(|it| format!("{}/{}: {}", it.alert, it.kind.as_str(), it.message))
            .collect();
        assert_eq!(
            said,
            [
                "High/task: the task `Tell` is not started: task arguments: this quotation mark is not closed, at character 3",
                r"High/threshold: `\A\B>8,5`: threshold: a comma: write decimals with a point, and thousands without a separator, at character 7",
                "/collector: 1 data collectors of traces are not run here: only counters and alerts are",
            ]
        );
    }

    #[test]
    fn problems_above_the_limit_are_counted_in_the_last_one() {
        let alerts = |count: usize| {
            let alerts = r"<Alert>\A\B&gt;1,5</Alert>".repeat(count);
            read(&format!("<AlertDataCollector><Name>High</Name>{alerts}</AlertDataCollector>"))
        };
        for (count, listed, last) in [
            (1_000, 1_000, None),
            (1_001, 1_001, Some("and 1 more: mend those before first")),
            (1_234, 1_001, Some("and 234 more: mend those before first")),
        ] {
            let set = alerts(count);
            assert_eq!(set.problems.len(), listed);
            let said = set.problems.last().filter(|problem| problem.kind == ProblemKind::Limit);
            assert_eq!(said.map(|problem| &*problem.message), last);
        }
    }

    #[test]
    fn collectors_and_schedules_above_the_limits_are_left_out_and_told() {
        // All have one name, and each is compared with those before it.
        let collector = "<PerformanceCounterDataCollector><Name>x</Name><LogFileFormat>0</LogFileFormat>\
                         <Counter>\\A\\B</Counter></PerformanceCounterDataCollector>";
        let schedule = "<Schedule><StartTime>04:00:00</StartTime><Days>127</Days></Schedule>";
        let (many, schedules) = (collector.repeat(20_000), schedule.repeat(130));
        let text = format!("<DataCollectorSet><Name>Nightly</Name>{schedules}{many}</DataCollectorSet>");
        let document = DataCollectorSet::read(text.as_bytes(), &LIMITS).unwrap();
        let mut set = Set::of_document(&document, "file", Origin::File("/sets/file.xml".into()));
        set.add_logs(&document, &LogOverrides::default());
        let said: Vec<_> = set.problems.iter().map(|it| (it.kind, &*it.message)).collect();
        let expected = [
            "it has 20000 data collectors of counters, and at most 256 log: make several sets of it",
            "it has 130 schedules, and at most 128 start it: join those that differ in their days only",
        ];
        assert_eq!(said, expected.map(|message| (ProblemKind::Limit, message)));
        let logs = set.logs.unwrap();
        assert_eq!((logs.collectors.len(), logs.schedules.len()), (256, 128));
        assert_eq!(logs.collectors[255].name, "x (256)");
    }
}
