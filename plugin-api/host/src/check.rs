//! `plugin check`: tests whether a plugin keeps the contract.

use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use plugin_abi::TargetInfo;
use serde_json::{Value, json};

use crate::error::CollectError;
use crate::host::{Host, Library};
use crate::info::{Mode, PluginInfo, SourceInfo};
use crate::instance::Instance;
use crate::options::HostOptions;
use crate::recording::{Recorded, RecordedOutcome, RecordingSink};
use crate::state::{InstanceConfig, InstanceState};

/// What a check found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Number of kept laws.
    pub passed: usize,
    /// Number of laws that could not be tested, because the source did not accept the settings.
    pub skipped: usize,
    /// The laws that were broken.
    pub failed: Vec<String>,
}

impl Report {
    /// Whether no law was broken.
    #[must_use]
    pub fn is_ok(&self) -> bool {
        self.failed.is_empty()
    }
}

/// Checks the plugin in `file` with empty settings and a target that does not exist; writes what it finds to `out`.
///
/// # Errors If `out` cannot be written.
pub fn run(file: &Path, out: &mut dyn Write) -> io::Result<Report> {
    run_with(file, &[json!({}), json!({"transport": {}})], out)
}

/// Like [`run`], with settings to try: a source gets the first ones that it accepts.
///
/// # Errors If `out` cannot be written.
pub fn run_with(file: &Path, settings: &[Value], out: &mut dyn Write) -> io::Result<Report> {
    let host = Host::new(HostOptions::default());
    let mut check = Check { out, report: Report::default() };
    match host.load(file) {
        Ok(library) => {
            check.passed("it loads, and what it declares is well-formed")?;
            describe(library.info(), check.out)?;
            for source in &library.info().sources {
                check.source(&host, &library, source, settings)?;
            }
            check.violations(&library)?;
        }
        Err(error) => check.failed(&error.to_string())?,
    }
    let Report { passed, skipped, failed } = &check.report;
    writeln!(check.out, "{passed} kept, {} broken, {skipped} not tried", failed.len())?;
    Ok(check.report)
}

fn describe(info: &PluginInfo, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{} {}: {} (ABI {})", info.name, info.version, info.description, info.abi)?;
    for source in &info.sources {
        let mode = match source.mode {
            Mode::Async => "async",
            Mode::Blocking => "blocking",
        };
        writeln!(
            out,
            "  source {} ({mode}, {} reasons): {}",
            source.name,
            source.reasons.len(),
            source.help
        )?;
    }
    for command in &info.commands {
        writeln!(out, "  command {}: {}", command.name, command.help)?;
    }
    Ok(())
}

struct Check<'a> {
    out: &'a mut dyn Write,
    report: Report,
}

impl Check<'_> {
    fn source(
        &mut self,
        host: &Host,
        library: &Library,
        source: &SourceInfo,
        settings: &[Value],
    ) -> io::Result<()> {
        let name = &source.name;
        self.bad_settings(library, name)?;
        let accepted = settings.iter().map(config).find(|config| {
            library
                .validate(name, config)
                .is_ok_and(|problems| problems.iter().all(|problem| problem.is_warning))
        });
        let Some(config) = accepted else {
            self.report.skipped += 1;
            return writeln!(
                self.out,
                "skipped: {name}: it accepts none of the settings at hand, so nothing is collected"
            );
        };
        let sink = Arc::new(RecordingSink::default());
        match library.create(name, &config, Arc::<RecordingSink>::clone(&sink)) {
            Ok(instance) => {
                self.passed(&format!("{name}: an instance is made of settings that were found valid"))?;
                self.collections(host, name, &instance, &sink)?;
                let mut is_accepted = instance.reconfigure(&config).is_ok();
                // A blocking source gets them with the next collection, and is made again if it does not take them.
                if source.mode == Mode::Blocking && instance.state() == InstanceState::Idle {
                    let recorded = self.collect(host, &instance, &sink, Duration::from_secs(3), false)?;
                    is_accepted &= recorded.is_some_and(|recorded| recorded.resets == 0);
                }
                self.law(is_accepted, &format!("{name}: the same settings are accepted again"))?;
                drop(instance);
            }
            Err(error) => {
                self.failed(&format!("{name}: settings that were found valid are not accepted: {error}"))?;
            }
        }
        let left = host.wait_destroyed(Duration::from_secs(10));
        self.law(left == 0, &format!("{name}: a destroyed instance says so within 10 s"))
    }

    /// Invalid settings give problems with places, and no crash.
    fn bad_settings(&mut self, library: &Library, name: &str) -> io::Result<()> {
        for settings in [json!([]), json!({"no such setting": 1})] {
            let said = format!(
                "{name}: the settings {settings} give problems, or are accepted, but do not break it"
            );
            match library.validate(name, &config(&settings)) {
                Ok(problems) => {
                    for problem in problems {
                        writeln!(self.out, "  it says: {problem}")?;
                    }
                    self.passed(&said)?;
                }
                Err(error) => self.failed(&format!("{said}: {error}"))?,
            }
        }
        Ok(())
    }

    fn collections(
        &mut self,
        host: &Host,
        name: &str,
        instance: &Instance,
        sink: &RecordingSink,
    ) -> io::Result<()> {
        let law = format!("{name}: a collection ends by its deadline");
        if let Some(recorded) = self.collect(host, instance, sink, Duration::from_secs(3), false)? {
            self.law(is_in_time(&recorded), &law)?;
            self.outcome(&recorded)?;
        }
        let law = format!("{name}: a collection that is cancelled twice ends once");
        if let Some(recorded) = self.collect(host, instance, sink, Duration::from_secs(3), true)? {
            self.law(is_in_time(&recorded), &law)?;
        }
        Ok(())
    }

    /// One collection, driven like in the exporter. `None` if it cannot begin.
    fn collect(
        &mut self,
        host: &Host,
        instance: &Instance,
        sink: &RecordingSink,
        deadline: Duration,
        cancel: bool,
    ) -> io::Result<Option<Recorded>> {
        let before = sink.recorded().completions.len();
        let deadline_ns = crate::monotonic_ns() + u64::try_from(deadline.as_nanos()).unwrap_or(0);
        let collection = match instance.collect(deadline_ns) {
            Ok(collection) => collection,
            Err(error @ CollectError::Quarantined { .. }) => {
                self.failed(&format!("the next collection may begin: {error}"))?;
                return Ok(None);
            }
            Err(error) => {
                self.failed(&error.to_string())?;
                return Ok(None);
            }
        };
        if cancel {
            instance.cancel(collection);
            instance.cancel(collection);
        }
        // The host aborts late collections, so this ends.
        loop {
            host.poll_deadlines(crate::monotonic_ns());
            if let Some(recorded) = sink.wait_for(POLL, |recorded| recorded.completions.len() > before) {
                return Ok(Some(recorded));
            }
        }
    }

    fn outcome(&mut self, recorded: &Recorded) -> io::Result<()> {
        let Some(completion) = recorded.completions.last() else { return Ok(()) };
        let (families, series) = (recorded.families.len(), recorded.series.len());
        match &completion.outcome {
            RecordedOutcome::Full => writeln!(self.out, "  full: {families} families, {series} series"),
            RecordedOutcome::Partial(covered, _) => {
                writeln!(self.out, "  partial: {} families", covered.len())
            }
            RecordedOutcome::Failed(failure) => writeln!(self.out, "  failed, as it may: {failure}"),
        }
    }

    fn violations(&mut self, library: &Library) -> io::Result<()> {
        let mut clean = true;
        for (violation, count) in library.violations().iter().filter(|(_, count)| *count > 0) {
            clean = false;
            self.failed(&format!("nothing against the contract is sent: {violation} {count} times"))?;
        }
        if clean { self.passed("nothing against the contract was sent") } else { Ok(()) }
    }

    fn law(&mut self, kept: bool, law: &str) -> io::Result<()> {
        if kept { self.passed(law) } else { self.failed(law) }
    }

    fn passed(&mut self, law: &str) -> io::Result<()> {
        self.report.passed += 1;
        writeln!(self.out, "ok: {law}")
    }

    fn failed(&mut self, law: &str) -> io::Result<()> {
        self.report.failed.push(law.to_owned());
        writeln!(self.out, "BROKEN: {law}")
    }
}

const POLL: Duration = Duration::from_millis(5);

/// A target that does not exist: the name is reserved for that.
fn config(settings: &Value) -> InstanceConfig {
    let name = "check.invalid".to_owned();
    let target = TargetInfo {
        host: name.clone(),
        name,
        port: None,
        identity: "check".to_owned(),
        service_principal: None,
    };
    InstanceConfig { target, settings: settings.clone(), ..InstanceConfig::default() }
}

/// Whether the plugin completed the last collection, and the host did not abort it.
fn is_in_time(recorded: &Recorded) -> bool {
    !recorded.completions.last().is_some_and(|completion| match &completion.outcome {
        RecordedOutcome::Failed(failure) => failure.message.contains("did not end the collection"),
        _ => false,
    })
}
