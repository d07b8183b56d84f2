//! `query`: current values of a host.

use std::net::IpAddr;
use std::time::Duration;

use counter_poll::over_host::PerflibSession as _;
use counter_poll::paths::{FindError, Key, OpenPath, PathPlan, Readings, Sample, Value};
use counter_poll::survey;
use counter_types::{Cooked, CounterPath, InstancePath};
use host_session::{Recovery, Session};
use plugin_sdk::{Command, Exit, Run};
use plugin_session::command::{CommandError, HostAccess, HostArguments, TransportArguments, parse_duration};
use safe_text::nearest::nearest;
use tokio::time::{Instant, MissedTickBehavior, interval};

use super::table::Table;
use super::{CALL_MAX, Formatter, Json, Open};
use crate::PERFLIB;

/// Shows cooked values live, as typeperf does.
#[derive(Debug)]
pub(crate) struct Query;

#[derive(clap::Args)]
pub(crate) struct QueryArguments {
    /// The values to show; * matches any characters in each part: '\Processor Information(_Total)\% Processor Time'
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<String>,
    #[command(flatten)]
    host: HostArguments,
    /// Another name for the target in a path, besides its host [default: its name in the configuration]
    #[arg(long, value_name = "NAME")]
    target_name: Option<String>,
    /// Time between two samples, such as 500ms or 5s
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = parse_duration)]
    interval: Duration,
    /// Stops after this many rows [default: at Ctrl-C]
    #[arg(long, value_name = "N")]
    count: Option<u64>,
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    format: Format,
    #[command(flatten)]
    transport: TransportArguments,
}

struct Wish {
    access: HostAccess,
    interval: Duration,
    count: Option<u64>,
    paths: Vec<CounterPath>,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Format {
    Table,
    /// as typeperf writes it
    Csv,
    /// an object a line
    Json,
}

impl Command for Query {
    const NAME: &'static str = "query";
    const HELP: &'static str = "Shows live values of a host, computed as Windows shows them";
    const ALIASES: &'static [&'static str] = &["query"];
    type Arguments = QueryArguments;

    async fn run(run: Run, arguments: QueryArguments) -> Exit {
        let (wish, mut formatter) = match Wish::new(arguments, &run) {
            Ok(wish) => wish,
            Err(error) => return error.print(&run),
        };
        match watch(&run, &wish, &mut *formatter).await {
            Ok(()) => Exit::Success,
            Err(error) => error.print(&run),
        }
    }
}

impl Wish {
    fn new(arguments: QueryArguments, run: &Run) -> Result<(Self, Box<dyn Formatter>), CommandError> {
        let QueryArguments { paths, host, target_name, interval, count, format, transport } = arguments;
        let access = HostAccess::new(host, &transport)?;
        let paths: Vec<CounterPath> =
            paths.iter().map(|text| super::parse_path(text)).collect::<Result<_, _>>()?;
        let name = target_name.as_deref();
        if let Some(path) = paths.iter().find(|path| !is_of(path, access.host(), name)) {
            let host = access.host();
            let shown = name.map_or_else(|| format!("`{host}`"), |name| format!("`{name}` (`{host}`)"));
            return Err(CommandError::usage(format!(
                "{path}: the path is of another host than --target, which is {shown}; leave `\\\\{}` out",
                path.machine.as_deref().unwrap_or_default()
            )));
        }
        let formatter: Box<dyn Formatter> = match format {
            Format::Table => Box::new(Table::new(run.terminal_width(), interval)),
            Format::Csv => Box::new(Csv::new(access.host())),
            Format::Json => Box::new(Json::new(access.host())),
        };
        Ok((Self { access, interval, count, paths }, formatter))
    }
}

/// Whether a path is for this host: it has no machine, or the host's name, the first part of that name, or its name
/// in the configuration.
fn is_of(path: &CounterPath, host: &str, name: Option<&str>) -> bool {
    let Some(machine) = path.machine.as_deref() else { return true };
    let short = host.split('.').next().filter(|_| host.parse::<IpAddr>().is_err());
    [Some(host), short, name].into_iter().flatten().any(|known| counter_types::same_name(machine, known))
}

async fn watch(run: &Run, wish: &Wish, formatter: &mut dyn Formatter) -> Result<(), CommandError> {
    run.progress(&format!("connecting to {}…", wish.access.host()));
    let mut session = wish.access.connect(PERFLIB, run).await.map_err(|failed| failed.error)?;
    let plan = find(run, wish, &mut session).await?;
    run.progress("waiting for the first values…");
    let mut open = Some(Open::new(session, &plan).await.map_err(|(_, error)| error)?);
    let mut ticks = interval(wish.interval);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let mut watching =
        Watching { run, wish, plan: &plan, readings: Readings::default(), rows: 0, printed: Vec::new() };
    while wish.count.is_none_or(|count| watching.rows < count) {
        ticks.tick().await;
        match open.take() {
            Some(mut at) => open = watching.step(&mut at, formatter).await?.then_some(at),
            None => open = watching.connect_again().await?,
        }
    }
    if let Some(Open { mut session, query: Some(query), .. }) = open {
        // If the host is slow to close the query, it closes it with the connection.
        let _ = query.close(&mut session.perflib(Instant::now() + CLOSE_MAX)).await;
    }
    Ok(())
}

/// Finds what the paths mean: version 2 countersets, and classic objects where no such counterset is meant or wildcards
/// may match both.
async fn find(run: &Run, wish: &Wish, session: &mut Session) -> Result<PathPlan, CommandError> {
    let deadline = Instant::now() + SEARCH_MAX;
    let progress = |index, total| run.progress(&format!("{index} of {total} countersets…"));
    let found = PathPlan::find(&mut session.perflib(deadline), &wish.paths, progress).await;
    let (mut plan, open) = match found {
        Ok(found) => found,
        Err(error) => return Err(explain(session, error)),
    };
    if open.is_empty() {
        return Ok(plan);
    }
    run.progress("classic objects…");
    let first = open.iter().find_map(OpenPath::problem).cloned();
    let found = match counter_poll::over_host::open_registry(session, deadline).await {
        Ok(mut association) => {
            plan.add_classic(&mut counter_poll::over_host::registry(&mut association, deadline), &open).await
        }
        // A wildcard has what version 2 countersets give it.
        Err(error) => return first.map_or(Ok(plan), |_| Err(CommandError::of_session(&error))),
    };
    match (found, first) {
        (Ok(()), _) | (Err(FindError::Classic(_)), None) => Ok(plan),
        (Err(error), _) => Err(explain(session, error)),
    }
}

fn explain(session: &Session, error: FindError<host_session::rpc_client::Error>) -> CommandError {
    match error {
        FindError::Path(problem) => super::explain_path(&problem),
        FindError::Call(error) => CommandError::of_session(&session.error(&error)),
        FindError::Classic(error) => {
            CommandError::of_session(&counter_poll::over_host::error_of_classic(session.target(), &error))
        }
    }
}

/// The state that is kept from sample to sample.
struct Watching<'a> {
    run: &'a Run,
    wish: &'a Wish,
    plan: &'a PathPlan,
    readings: Readings,
    rows: u64,
    /// Notes are printed once.
    printed: Vec<String>,
}

impl Watching<'_> {
    /// Takes a sample and shows it. Returns false if the connection is lost.
    async fn step(&mut self, open: &mut Open, formatter: &mut dyn Formatter) -> Result<bool, CommandError> {
        let deadline = Instant::now() + CALL_MAX.max(self.wish.interval);
        let (data, classic) = match open.fetch(deadline).await {
            Ok(fetched) => fetched,
            Err(error) => {
                let failed = CommandError::of_session(&error);
                if error.recovery == Recovery::Nothing {
                    return Err(failed);
                }
                self.run.progress("");
                self.run.err(&format!("{}; connecting again\n", failed.line()));
                return Ok(false);
            }
        };
        let is_first = self.readings.is_empty();
        let data = open.query.as_ref().zip(data.as_ref());
        let sample = Sample::read(self.plan, data, classic.as_ref(), &mut self.readings).await;
        for refused in sample.refused.iter().chain(&open.problems(self.plan)) {
            self.note_once(refused.clone());
        }
        if !(is_first && sample.needs_another) {
            self.run.progress("");
            let text = formatter.format(self.plan, &sample);
            self.run.out(&text);
            self.rows += 1;
            if let Some(note) = formatter.note() {
                self.note_once(note);
            }
        }
        if sample.refused.is_empty() && open.problems(self.plan).is_empty() {
            self.note_missing(open, &sample).await;
        }
        Ok(true)
    }

    /// Prints notes about paths without values, with suggestions.
    async fn note_missing(&mut self, open: &mut Open, sample: &Sample) {
        let plan = self.plan;
        for pick in &plan.matches {
            let is_there = sample.values.iter().any(|(key, _)| key.counterset == pick.counterset);
            let note = format!("{}: no such instance now; it is shown as soon as there is one", pick.path);
            if is_there || self.printed.iter().any(|printed| printed.starts_with(&note)) {
                continue;
            }
            let mut client = open.session.perflib(Instant::now() + CALL_MAX);
            let counterset = &plan.countersets[pick.counterset];
            // Only a hint: the next sample reports errors.
            let there = survey::instances(&mut client, counterset).await.unwrap_or_default();
            let wanted = pick.path.instance.as_ref().map(InstancePath::whole_name);
            let names = there.iter().map(|instance| instance.name.as_str());
            let hint = wanted.and_then(|wanted| near_instance(&wanted, names).map(str::to_owned));
            let hint = hint.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default();
            self.note_once(format!("{note}{hint}"));
        }
    }

    fn note_once(&mut self, note: String) {
        if !self.printed.contains(&note) && self.printed.len() < NOTES_MAX {
            self.run.err(&format!("{note}\n"));
            self.printed.push(note);
        }
    }

    /// One attempt; the next tick tries again.
    async fn connect_again(&mut self) -> Result<Option<Open>, CommandError> {
        let session = match self.wish.access.connect(PERFLIB, self.run).await {
            Ok(session) => session,
            Err(failed) if failed.is_final => return Err(failed.error),
            Err(failed) => {
                self.run.progress(&format!("{}; trying again…", failed.error.line()));
                return Ok(None);
            }
        };
        match Open::new(session, self.plan).await {
            Ok(open) => {
                self.run.progress("");
                self.run.err("connected again\n");
                Ok(Some(open))
            }
            Err((Recovery::Nothing, error)) => Err(error),
            Err((_, error)) => {
                self.run.progress(&format!("{}; trying again…", error.line()));
                Ok(None)
            }
        }
    }
}

/// The instance that was probably meant: one with this prefix, such as `chrome:4242`, or one with a similar name.
fn near_instance<'a>(wanted: &str, names: impl Iterator<Item = &'a str> + Clone) -> Option<&'a str> {
    let begins = |name: &&str| name.to_lowercase().starts_with(&wanted.to_lowercase());
    names.clone().find(begins).or_else(|| nearest(wanted, names))
}

/// Names are read one by one, possibly over a slow connection.
const SEARCH_MAX: Duration = Duration::from_secs(120);
const CLOSE_MAX: Duration = Duration::from_secs(1);
const NOTES_MAX: usize = 100;

/// The format of typeperf: everything in quotes, the paths in the first line, then a line for each sample.
///
/// The columns are those of the first sample, because the first line cannot be changed later.
#[derive(Debug)]
pub(super) struct Csv {
    host: String,
    columns: Option<Vec<Key>>,
    left_out: bool,
}

impl Csv {
    pub(super) fn new(host: &str) -> Self {
        Self { host: host.to_owned(), columns: None, left_out: false }
    }
}

impl Formatter for Csv {
    fn format(&mut self, plan: &PathPlan, sample: &Sample) -> String {
        let mut text = String::new();
        let columns = self.columns.get_or_insert_with(|| {
            let columns: Vec<Key> = sample.values.iter().map(|(key, _)| key.clone()).collect();
            let paths = columns.iter().map(|key| format!("\\\\{}{}", self.host, key.path(plan)));
            let title = "(PDH-CSV 4.0) (Coordinated Universal Time)(0)".to_owned();
            text += &line(std::iter::once(title).chain(paths));
            columns
        });
        let values: std::collections::HashMap<&Key, &Value> =
            sample.values.iter().map(|(key, value)| (key, value)).collect();
        self.left_out = columns.iter().filter(|key| values.contains_key(key)).count() < values.len();
        let cells = columns.iter().map(|key| cell(values.get(key).copied()));
        text + &line(std::iter::once(super::american_time(sample.time)).chain(cells))
    }

    fn note(&mut self) -> Option<String> {
        let note = "instances came after the first line was written, and are left out";
        self.left_out.then(|| note.to_owned())
    }
}

/// A space if there is no value, as in typeperf.
fn cell(value: Option<&Value>) -> String {
    match value {
        Some(Value::Number(_, Cooked::Value(value))) => format!("{value:.6}"),
        Some(Value::Text(text)) => text.clone(),
        _ => " ".to_owned(),
    }
}

fn line(cells: impl Iterator<Item = String>) -> String {
    let quoted: Vec<String> = cells.map(|cell| format!("\"{}\"", cell.replace('"', "\"\""))).collect();
    quoted.join(",") + "\r\n"
}
