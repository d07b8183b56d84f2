//! Counter paths against what a host offers: which countersets are fetched, and which counters of them are shown.

use counters::{CounterPath, NamePattern, PatternText, nearest, same_name};
use host_session::Session;
use ms_dtyp::Guid;
use ms_pcq::types::InstanceType;
use ms_pcq::wire::CounterIdentifier;
use plugin_sdk::Run;
use plugin_session::command::CommandError;
use tokio::time::Instant;

use crate::session::PerflibSession as _;
use counter_poll::registration::Name;
use counter_poll::survey::{self, Counterset};
use counter_poll::{classic, registration};

/// Everything that is asked for, found at the host.
#[derive(Debug)]
pub(super) struct Plan {
    /// Each once.
    pub(super) countersets: Vec<Counterset>,
    /// In the order of the command line.
    pub(super) picks: Vec<Pick>,
}

/// What one path means in one counterset.
#[derive(Debug)]
pub(super) struct Pick {
    /// The path as it was written.
    pub(super) path: CounterPath,
    /// Which of [`Plan::countersets`].
    pub(super) counterset: usize,
    /// Which instances; all of a counterset that has one only.
    pub(super) instances: Option<NamePattern>,
    /// Which of its counters.
    pub(super) counters: Vec<usize>,
}

/// Reads a counter path.
///
/// # Errors
/// The path with a caret below the place where it goes wrong.
pub(super) fn parse(text: &str) -> Result<CounterPath, CommandError> {
    text.parse().map_err(|error: counters::PathError| {
        let before: usize = text.chars().take(error.position).count();
        CommandError::usage(format!(
            "no counter path: {}\n  {text}\n  {:before$}^\nwrite it as \\Counterset(instance)\\Counter or \\Counterset\\Counter, in single quotes for the shell",
            error.reason, ""
        ))
    })
}

/// Names of countersets, asked for one after the other.
struct Catalog {
    unread: Vec<Guid>,
    read: Vec<(Guid, Name)>,
    total: usize,
}

/// Why a search ended.
pub(super) enum Failed {
    /// A call failed; the session tells what is left.
    Call(ms_pcq::Error<rpc_client::Error>),
    /// The host has no such thing.
    Error(CommandError),
}

impl From<ms_pcq::Error<rpc_client::Error>> for Failed {
    fn from(error: ms_pcq::Error<rpc_client::Error>) -> Self {
        Self::Call(error)
    }
}

impl Plan {
    /// Finds what the paths mean.
    ///
    /// # Errors
    /// When the host has none of what a path names.
    pub(super) async fn find(
        run: &Run,
        session: &mut Session,
        paths: &[CounterPath],
        deadline: Instant,
    ) -> Result<Self, Failed> {
        let mut unread = session.perflib(deadline).enumerate_counter_set().await?;
        unread.reverse();
        let mut catalog = Catalog { total: unread.len(), unread, read: Vec::new() };
        let mut plan = Self { countersets: Vec::new(), picks: Vec::new() };
        for path in paths {
            for (guid, name) in catalog.matching(run, session, path, deadline).await? {
                let known = plan.countersets.iter().position(|known| known.guid == guid);
                let counterset = match known {
                    Some(known) => known,
                    None => {
                        let text = name.text.clone();
                        let mut client = session.perflib(deadline);
                        let found = survey::counterset(&mut client, guid, name, None).await?;
                        let found = found.map_err(|trouble| {
                            let next_step = "see whether its provider runs on the host";
                            Failed::Error(CommandError::failed(
                                format!("counterset `{text}`: {trouble}"),
                                next_step,
                            ))
                        })?;
                        plan.countersets.push(found);
                        plan.countersets.len() - 1
                    }
                };
                let pick = pick(path, counterset, &plan.countersets[counterset]).map_err(Failed::Error)?;
                plan.picks.push(pick);
            }
        }
        run.progress("");
        Ok(plan)
    }

    /// What the query is given: instances by name where one is meant, and all where a wildcard is.
    pub(super) fn identifiers(&self) -> Vec<(usize, CounterIdentifier)> {
        let mut identifiers: Vec<(usize, CounterIdentifier)> = Vec::new();
        for (index, counterset) in self.countersets.iter().enumerate() {
            let guid = counterset.guid;
            // Those that are added up as one take no name either, and answer with all their instances.
            if !counterset.instance_type.is_multiple() {
                identifiers.push((index, CounterIdentifier::single_instance(guid)));
                continue;
            }
            let picks = self.picks.iter().filter(|pick| pick.counterset == index);
            let names: Option<Vec<&str>> = picks.map(Pick::only_instance).collect();
            let Some(names) = names else {
                identifiers.push((index, CounterIdentifier::all_instances(guid)));
                continue;
            };
            let mut added: Vec<&str> = Vec::new();
            for name in names {
                if !added.iter().any(|earlier| same_name(earlier, name)) {
                    let all = CounterIdentifier::all_instances(guid);
                    let instance_name = Some(name.to_owned());
                    identifiers.push((index, CounterIdentifier { instance_name, ..all }));
                    added.push(name);
                }
            }
        }
        identifiers
    }
}

impl Pick {
    /// The instance's name, where the path means one and no other can be meant.
    pub(super) fn only_instance(&self) -> Option<&str> {
        let instance = self.path.instance.as_ref()?;
        if instance.index.is_some() { None } else { self.instances.as_ref()?.exact_name() }
    }

    /// Whether an instance is meant that has `index` others of its name before it.
    pub(super) fn wants(&self, name: &str, index: u32) -> bool {
        let (Some(instance), Some(pattern)) = (&self.path.instance, &self.instances) else { return true };
        pattern.matches(name) && instance.wants_index(index) || same_name(&instance.to_string(), name)
    }
}

impl Catalog {
    /// The countersets that a path names. Names are asked for until the wanted one has come.
    async fn matching(
        &mut self,
        run: &Run,
        session: &mut Session,
        path: &CounterPath,
        deadline: Instant,
    ) -> Result<Vec<(Guid, Name)>, Failed> {
        let pattern = compiled(&path.counterset_pattern()).map_err(Failed::Error)?;
        loop {
            let found: Vec<_> =
                self.read.iter().filter(|(_, name)| pattern.matches(&name.text)).cloned().collect();
            if pattern.exact_name().is_some() && !found.is_empty() {
                return Ok(found);
            }
            let Some(guid) = self.unread.pop() else {
                return if found.is_empty() { Err(Failed::Error(self.unknown(path))) } else { Ok(found) };
            };
            run.progress(&format!("{} of {} countersets…", self.read.len() + 1, self.total));
            let name = registration::read_name(&mut session.perflib(deadline), guid).await?;
            self.read.push((guid, name));
        }
    }

    fn unknown(&self, path: &CounterPath) -> CommandError {
        let names = self.read.iter().map(|(_, name)| name.text.as_str());
        let next_step = "see what there is: perfmon-exporter discover --format table";
        if let Some(explanation) = classic::explain(&path.counterset, &names) {
            return CommandError::failed(format!("{path}: {explanation}"), next_step);
        }
        let hint = nearest(&path.counterset, names).map(|name| format!("; did you mean `{name}`?"));
        let hint = hint.unwrap_or_default();
        CommandError::failed(
            format!("{path}: the host has no counterset `{}`{hint}", path.counterset),
            next_step,
        )
    }
}

fn compiled(pattern: &PatternText) -> Result<NamePattern, CommandError> {
    NamePattern::new(pattern).map_err(|error| CommandError::usage(error.to_string()))
}

fn pick(path: &CounterPath, index: usize, counterset: &Counterset) -> Result<Pick, CommandError> {
    let name = &counterset.name.text;
    let instances = match (&path.instance, counterset.instance_type == InstanceType::SINGLE) {
        (Some(instance), false) => Some(compiled(&instance.pattern())?),
        (None, true) => None,
        (None, false) => {
            let right = format!("\\{name}(*)\\{}", path.counter);
            let message = format!("{path}: `{name}` has instances");
            return Err(CommandError::failed(message, format!("name one, or write {right}")));
        }
        (Some(_), true) => {
            let right = format!("\\{name}\\{}", path.counter);
            return Err(CommandError::failed(
                format!("{path}: `{name}` has no instances"),
                format!("write {right}"),
            ));
        }
    };
    let pattern = compiled(&path.counter_pattern())?;
    let is_exact = pattern.exact_name().is_some();
    let all = counterset.counters.iter().enumerate();
    let wanted = all.filter(|(_, counter)| {
        pattern.matches(&counter.name) && (is_exact || !counterset.is_helper(counter))
    });
    let mut counters: Vec<usize> = wanted.map(|(counter, _)| counter).collect();
    if is_exact {
        counters.truncate(1);
    }
    if counters.is_empty() {
        let names = counterset.counters.iter().map(|counter| counter.name.as_str());
        let hint = nearest(&path.counter, names).map(|name| format!("; did you mean `{name}`?"));
        let message =
            format!("{path}: `{name}` has no counter `{}`{}", path.counter, hint.unwrap_or_default());
        return Err(CommandError::failed(message, format!("see what there is: \\{name}(*)\\*")));
    }
    Ok(Pick { path: path.clone(), counterset: index, instances, counters })
}
