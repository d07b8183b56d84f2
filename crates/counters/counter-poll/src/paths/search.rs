//! A search for what paths mean, which can be interrupted.

use counter_types::{CounterPath, NamePattern};
use safe_text::nearest::nearest;
use wire::Guid;

use super::plan::{OpenPath, PathPlan, compiled, pick};
use super::problem::{FindError, PathProblem};
use crate::registration::{self, Client, Error, HostChannel, Name, Trouble};
use crate::stalls::{self, Stalls};
use crate::{classic, survey};

/// A search for what paths mean among version 2 countersets, of which some may mean nothing. What it has found stays when a
/// call fails, or when it is dropped within one, so that a slow host is searched in several collections.
#[derive(Debug)]
pub struct PathSearch {
    paths: Vec<CounterPath>,
    /// The first path that was not searched for.
    next: usize,
    names: Names,
    plan: PathPlan,
    open: Vec<OpenPath>,
}

/// Names of countersets, asked for one after the other.
#[derive(Debug)]
struct Names {
    unread: Vec<Guid>,
    read: Vec<(Guid, Name)>,
    /// How many countersets did not answer when they were asked for their names.
    silent: usize,
    total: usize,
}

impl PathPlan {
    /// Finds what the paths mean among version 2 countersets, and answers those that may mean classic objects: what they mean
    /// [`add_classic`](Self::add_classic) finds. `progress` hears how many of how many names were asked for so far.
    ///
    /// # Errors
    /// When a call fails, or a counterset has none of what a path names.
    pub async fn find<C: HostChannel>(
        client: &mut Client<C>,
        paths: &[CounterPath],
        mut progress: impl FnMut(usize, usize) + Send,
    ) -> Result<(Self, Vec<OpenPath>), FindError<C::Error>> {
        let guids = client.enumerate_counter_set().await?;
        let mut search = PathSearch::new(guids, paths.to_vec());
        while search.step(client, &mut progress).await? {
            if let Some((_, problem)) = search.problems().first() {
                return Err(problem.clone().into());
            }
        }
        Ok(search.finish())
    }
}

impl PathSearch {
    /// A search for `paths`; `guids` are the host's countersets.
    #[must_use]
    pub fn new(mut guids: Vec<Guid>, paths: Vec<CounterPath>) -> Self {
        guids.reverse();
        let names = Names { total: guids.len(), unread: guids, read: Vec::new(), silent: 0 };
        Self { paths, next: 0, names, plan: PathPlan::default(), open: Vec::new() }
    }

    /// Searches for the next path. Returns whether there was one. `progress` hears how many of how many names were asked
    /// for so far.
    ///
    /// # Errors
    /// When a call fails. The next step goes on there.
    pub async fn step<C: HostChannel>(
        &mut self,
        client: &mut Client<C>,
        progress: &mut (impl FnMut(usize, usize) + Send),
    ) -> Result<bool, Error<C>> {
        self.add_next(client, &mut Stalls::default(), progress).await
    }

    /// The same, past countersets whose providers hang: each question about one has a part of the time only. One that lets it
    /// pass is an error, after which `stalls` knows it, the channel takes no other call, and the next step goes on without it.
    ///
    /// # Errors
    /// When a call fails. The next step goes on there.
    pub async fn step_past<C: HostChannel>(
        &mut self,
        client: &mut Client<C>,
        stalls: &mut Stalls<Guid>,
    ) -> Result<bool, Error<C>> {
        let patience = stalls::patience(client.channel());
        client.channel().limit_calls(patience);
        let stepped = self.add_next(client, stalls, &mut |_, _| {}).await;
        client.channel().limit_calls(None);
        stepped
    }

    async fn add_next<C: HostChannel>(
        &mut self,
        client: &mut Client<C>,
        stalls: &mut Stalls<Guid>,
        progress: &mut (impl FnMut(usize, usize) + Send),
    ) -> Result<bool, Error<C>> {
        let Some(path) = self.paths.get(self.next).cloned() else { return Ok(false) };
        if let Err(problem) = self.add(client, &path, stalls, progress).await? {
            self.plan.problems.push((self.next, problem));
        }
        self.next += 1;
        Ok(true)
    }

    /// The paths that mean nothing, so far.
    #[must_use]
    pub fn problems(&self) -> &[(usize, PathProblem)] {
        &self.plan.problems
    }

    /// What was found, and the paths that may mean classic objects: [`PathPlan::add_each_classic`] finds those.
    #[must_use]
    pub fn finish(self) -> (PathPlan, Vec<OpenPath>) {
        (self.plan, self.open)
    }

    /// Finds what the next path means. One that may mean a classic object is open.
    async fn add<C: HostChannel>(
        &mut self,
        client: &mut Client<C>,
        path: &CounterPath,
        stalls: &mut Stalls<Guid>,
        progress: &mut (impl FnMut(usize, usize) + Send),
    ) -> Result<Result<(), PathProblem>, Error<C>> {
        let pattern = match compiled(&path.counterset_pattern()) {
            Ok(pattern) => pattern,
            Err(problem) => return Ok(Err(problem)),
        };
        let found = self.names.matching(client, &pattern, stalls, progress).await?;
        let problem = found.is_empty().then(|| self.names.unknown(path));
        let mut matches = Vec::new();
        let mut unusable = None;
        for (guid, name) in found {
            let counterset = match self.counterset(client, guid, name, stalls).await? {
                Ok(counterset) => counterset,
                Err(problem) => {
                    unusable = Some(problem);
                    break;
                }
            };
            match pick((self.next, path), counterset, &self.plan.countersets[counterset]) {
                Ok(pick) => matches.push(pick),
                Err(problem) => {
                    unusable = Some(problem);
                    break;
                }
            }
        }
        // Nothing waits any more: it is all there, or nothing of it.
        if problem.is_some() || pattern.exact_name().is_none() {
            self.open.push(OpenPath { order: self.next, path: path.clone(), problem });
        }
        self.plan.matches.append(&mut matches);
        Ok(unusable.map_or(Ok(()), Err))
    }

    /// The place of a counterset in the plan, which it is added to.
    async fn counterset<C: HostChannel>(
        &mut self,
        client: &mut Client<C>,
        guid: Guid,
        name: Name,
        stalls: &mut Stalls<Guid>,
    ) -> Result<Result<usize, PathProblem>, Error<C>> {
        let countersets = &mut self.plan.countersets;
        if let Some(known) = countersets.iter().position(|known| known.provider.guid() == Some(guid)) {
            return Ok(Ok(known));
        }
        let counterset = name.text.clone();
        if let Some(trouble) = stalls.trouble(guid) {
            return Ok(Err(PathProblem::Unusable { counterset, trouble }));
        }
        let read = survey::counterset(client, guid, name, None).await;
        stalls.note(guid, client, &read);
        Ok(match read? {
            Ok(found) => {
                countersets.push(found);
                Ok(countersets.len() - 1)
            }
            Err(trouble) => Err(PathProblem::Unusable { counterset, trouble }),
        })
    }
}

impl Names {
    /// The countersets that a path names, which may be none. Names are asked for until the wanted one has come.
    async fn matching<C: HostChannel>(
        &mut self,
        client: &mut Client<C>,
        pattern: &NamePattern,
        stalls: &mut Stalls<Guid>,
        progress: &mut (impl FnMut(usize, usize) + Send),
    ) -> Result<Vec<(Guid, Name)>, Error<C>> {
        loop {
            let found: Vec<_> =
                self.read.iter().filter(|(_, name)| pattern.matches(&name.text)).cloned().collect();
            if pattern.exact_name().is_some() && !found.is_empty() {
                return Ok(found);
            }
            let Some(guid) = self.unread.last().copied() else {
                return Ok(found);
            };
            progress(self.read.len() + 1, self.total);
            let name = match stalls.trouble(guid) {
                Some(trouble) => {
                    self.silent += 1;
                    Name::unknown(guid, trouble)
                }
                None => {
                    let name = registration::read_name(client, guid).await;
                    stalls.note(guid, client, &name);
                    name?
                }
            };
            self.unread.pop();
            self.read.push((guid, name));
        }
    }

    fn unknown(&self, path: &CounterPath) -> PathProblem {
        let names = self.read.iter().map(|(_, name)| name.text.as_str());
        if let Some(explanation) = classic::explain(&path.counterset, &names) {
            return PathProblem::Classic { path: Box::new(path.clone()), explanation };
        }
        if self.silent > 0 {
            let (counterset, silent) = (path.counterset.clone(), self.silent);
            let trouble = format!(
                "not found, but the host did not answer when it was asked for the names of {silent} countersets"
            );
            return PathProblem::Unusable { counterset, trouble: Trouble::Failed(trouble) };
        }
        let nearest = nearest(&path.counterset, names).map(str::to_owned);
        PathProblem::UnknownCounterset { path: Box::new(path.clone()), nearest }
    }
}
