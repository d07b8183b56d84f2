//! `discover`: the countersets of a host, and a module that selects them.

use std::collections::BTreeMap;
use std::time::Duration;

use counter_poll::classic::{self, Reach, Survey};
use counter_poll::over_host::PerflibSession as _;
use counter_poll::registration::{self, Name};
use counter_poll::survey::{self, Counterset};
use counter_types::{NamePattern, PatternText, same_name};
use counters::pcq::types::{CounterId, Lcid};
use counters::pcq::wire::CounterRegInfo;
use host_session::{HostInfo, Session, SessionError};
use plugin_sdk::{Command, Display, Exit, FamilyDef, Run, ValueKind};
use plugin_session::command::{CommandError, HostAccess, HostArguments, TransportArguments};
use safe_text::nearest::nearest;
use tokio::time::Instant;
use wire::Guid;

use super::describe::{Findings, Found};
use crate::PERFLIB;
use crate::config::DetailSettings;
use crate::series::kind_of;

/// Lists the countersets of a host.
#[derive(Debug)]
pub(crate) struct Discover;

#[derive(clap::Args)]
pub(crate) struct DiscoverArguments {
    #[command(flatten)]
    host: HostArguments,
    /// Only countersets with this name; * matches any characters: 'Process*'
    #[arg(long = "counterset", value_name = "PATTERN", value_parser = wildcard)]
    patterns: Vec<(String, NamePattern)>,
    /// Asks for all classic objects: the host calls every provider, one that hangs included [default: those with names
    /// that many hosts have]
    #[arg(long)]
    global: bool,
    /// Excludes counters above
    #[arg(long, value_name = "LEVEL")]
    detail: Option<DetailSettings>,
    /// Also shows the host's names in this language; 1031 is German
    #[arg(long, value_name = "N")]
    lcid: Option<u32>,
    #[arg(long, value_name = "FORMAT", default_value = "yaml")]
    format: Format,
    #[command(flatten)]
    transport: TransportArguments,
}

struct Wish {
    access: HostAccess,
    /// The patterns as written, and compiled. If empty, everything.
    patterns: Vec<(String, NamePattern)>,
    reach: Reach,
    lcid: Option<Lcid>,
    detail: Option<DetailSettings>,
    format: Format,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Format {
    /// a configuration
    Yaml,
    /// for reading
    Table,
    /// everything
    Json,
}

impl Command for Discover {
    const NAME: &'static str = "discover";
    const HELP: &'static str = "Lists the countersets of a host, and writes a module that selects them";
    const ALIASES: &'static [&'static str] = &["discover"];
    type Arguments = DiscoverArguments;

    async fn run(run: Run, arguments: DiscoverArguments) -> Exit {
        let discovered = match Wish::new(arguments) {
            Ok(wish) => discover(&run, &wish).await,
            Err(error) => Err(error),
        };
        match discovered {
            Ok(text) => {
                run.progress("");
                run.out(&text);
                Exit::Success
            }
            Err(error) => error.print(&run),
        }
    }
}

impl Wish {
    fn new(arguments: DiscoverArguments) -> Result<Self, CommandError> {
        let DiscoverArguments { host, patterns, global, detail, lcid, format, transport } = arguments;
        let reach = if global { Reach::Global } else { Reach::Named };
        let access = HostAccess::new(host, &transport)?;
        Ok(Self { access, patterns, reach, lcid: lcid.map(Lcid), detail, format })
    }

    fn wants(&self, name: &str) -> bool {
        self.patterns.is_empty() || self.patterns.iter().any(|(_, pattern)| pattern.matches(name))
    }
}

/// A pattern with its text.
fn wildcard(text: &str) -> Result<(String, NamePattern), String> {
    let pattern = NamePattern::new(&PatternText::Wildcard(text.to_owned()));
    pattern.map(|pattern| (text.to_owned(), pattern)).map_err(|error| error.to_string())
}

async fn discover(run: &Run, wish: &Wish) -> Result<String, CommandError> {
    run.progress(&format!("connecting to {}…", wish.access.host()));
    let mut session = wish.access.connect(PERFLIB, run).await.map_err(|failed| failed.error)?;
    let names = names(run, &mut session).await?;
    run.progress("classic objects…");
    let classic = classic_objects(&mut session, wish).await;
    let found = classic.iter().flat_map(|survey| &survey.found).map(|(one, _)| one.name.text.as_str());
    check_patterns(&wish.patterns, &names.iter().map(|(_, name)| name.text.as_str()).chain(found))?;
    let mut findings = Findings {
        host: wish.access.host().to_owned(),
        about: about(session.host()),
        found: Vec::new(),
        refused: Vec::new(),
        detail: wish.detail,
    };
    let mut wanted: Vec<_> = names.into_iter().filter(|(_, name)| wish.wants(&name.text)).collect();
    wanted.sort_by_cached_key(|(guid, name)| (name.text.to_lowercase(), guid.to_string()));
    let total = wanted.len();
    for (index, (guid, name)) in wanted.into_iter().enumerate() {
        run.progress(&format!("{} of {total} countersets: {}", index + 1, name.text));
        look_at(run, &mut session, guid, name, wish, &mut findings).await?;
    }
    findings.add_classic(run, classic);
    let width = run.terminal_width().and_then(|width| usize::try_from(width).ok()).unwrap_or(WIDTH);
    Ok(match wish.format {
        Format::Yaml => findings.yaml(),
        Format::Table => findings.table(width),
        Format::Json => findings.json(),
    })
}

/// Refuses a pattern that matches none of the names.
fn check_patterns<'a>(
    patterns: &[(String, NamePattern)],
    names: &(impl Iterator<Item = &'a str> + Clone),
) -> Result<(), CommandError> {
    for (text, pattern) in patterns {
        if names.clone().any(|name| pattern.matches(name)) {
            continue;
        }
        let next_step = "see all countersets without --counterset";
        if let Some(explanation) = classic::explain(text, names) {
            return Err(CommandError::failed(explanation, next_step));
        }
        let hint = nearest(text, names.clone()).map(|name| format!("; did you mean `{name}`?"));
        let message = format!("the host has no counterset `{text}`{}", hint.unwrap_or_default());
        return Err(CommandError::failed(message, next_step));
    }
    Ok(())
}

/// The classic objects that are asked for.
async fn classic_objects(session: &mut Session, wish: &Wish) -> Result<Survey, SessionError> {
    let deadline = Instant::now() + CLASSIC_MAX;
    let mut association = counter_poll::over_host::open_registry(session, deadline).await?;
    let mut client = counter_poll::over_host::registry(&mut association, deadline);
    let surveyed = classic::survey(&mut client, |name| wish.wants(name), wish.reach, wish.lcid).await;
    surveyed.map_err(|error| counter_poll::over_host::error_of_classic(session.target(), &error))
}

async fn names(run: &Run, session: &mut Session) -> Result<Vec<(Guid, Name)>, CommandError> {
    let mut client = session.perflib(Instant::now() + COUNTERSET_MAX);
    let guids = match client.enumerate_counter_set().await {
        Ok(guids) => guids,
        Err(error) => return Err(CommandError::of_session(&session.error(&error))),
    };
    let mut names = Vec::new();
    for guid in &guids {
        run.progress(&format!("{} of {} names…", names.len() + 1, guids.len()));
        match registration::read_name(&mut session.perflib(Instant::now() + COUNTERSET_MAX), *guid).await {
            Ok(name) => names.push((*guid, name)),
            Err(error) => return Err(CommandError::of_session(&session.error(&error))),
        }
    }
    Ok(names)
}

async fn look_at(
    run: &Run,
    session: &mut Session,
    guid: Guid,
    name: Name,
    wish: &Wish,
    findings: &mut Findings,
) -> Result<(), CommandError> {
    let text = name.text.clone();
    let mut client = session.perflib(Instant::now() + COUNTERSET_MAX);
    let looked = match survey::counterset(&mut client, guid, name, wish.lcid).await {
        Ok(Ok(counterset)) => survey::instances(&mut client, &counterset)
            .await
            .map(|instances| Ok(Found { metrics: names_of(run, &counterset), counterset, instances })),
        Ok(Err(trouble)) => Ok(Err(trouble)),
        Err(error) => Err(error),
    };
    match looked {
        Ok(Ok(found)) => findings.found.push(found),
        // Its provider may not be running; the others are still listed.
        Ok(Err(trouble)) => findings.refused.push(format!("{text}: {trouble}")),
        Err(error) => return Err(CommandError::of_session(&session.error(&error))),
    }
    Ok(())
}

impl Findings {
    /// Adds the classic objects that no version 2 counterset has the name of.
    fn add_classic(&mut self, run: &Run, survey: Result<Survey, SessionError>) {
        let Survey { found, refused } = match survey {
            Ok(survey) => survey,
            Err(error) => {
                self.refused.push(format!("classic objects: {}", error.detail()));
                return;
            }
        };
        self.refused.extend(refused);
        for (counterset, instances) in found {
            let is_it = |one: &Found| same_name(&one.counterset.name.text, &counterset.name.text);
            if !self.found.iter().any(is_it) {
                let metrics = names_of(run, &counterset);
                self.found.push(Found { metrics, counterset, instances });
            }
        }
        self.found.sort_by_cached_key(|found| found.counterset.name.text.to_lowercase());
    }
}

/// ` (WEB1, Windows 10.0.20348, 2026-01-01T12:00:00.000Z)`
fn about(host: &HostInfo) -> String {
    let names = &host.names;
    let name = names.dns_computer.clone().or_else(|| names.netbios_computer.clone());
    let version = names.os_version.map(|version| format!("Windows {version}"));
    let time = super::rfc3339(host.system_time);
    let parts: Vec<String> = name.into_iter().chain(version).chain([time]).collect();
    format!(" ({})", parts.join(", "))
}

const COUNTERSET_MAX: Duration = Duration::from_secs(10);
const CLASSIC_MAX: Duration = Duration::from_secs(30);
const WIDTH: usize = 120;

// The metric names of a host's counters.

/// The metric names of each counter, by the rules of the target's first module, or by the general rules if there is
/// none. Empty if the exporter does not provide names.
fn names_of(run: &Run, counterset: &Counterset) -> BTreeMap<CounterId, Vec<String>> {
    let infos: Vec<CounterRegInfo> = counterset.counters.iter().map(|counter| counter.info).collect();
    let name_of = |id| {
        let counter = counterset.counters.iter().find(|counter| counter.info.counter_id == id);
        counter.map(|counter| counter.name.as_str())
    };
    let module = (!run.configured().is_empty()).then_some(0);
    let mut names: BTreeMap<CounterId, Vec<String>> = BTreeMap::new();
    for family in counter_types::plan_of(&counterset.name.text, &infos, name_of) {
        let exposition = family.exposition;
        let named = run.metric_name(
            module,
            &FamilyDef {
                namespace: "",
                object: &counterset.name.text,
                item: name_of(family.item).unwrap_or_default(),
                part: exposition.part.as_str(),
                kind: kind_of(exposition.kind),
                unit: exposition.unit.as_str(),
                help: "",
                origin: "",
                value: if exposition.is_integer() { ValueKind::U64 } else { ValueKind::F64 },
                bounds: &[],
                display: Display::NONE,
            },
        );
        names.entry(family.item).or_default().extend(named);
    }
    names
}
