//! Counter paths whose countersets are classic objects.

use counters::perflib_v1::{DataBlock, value_name};
use counters::rrp::winreg::{Key, RegistryClient, RegistryValue, ValueRoom};

use super::PathPlan;
use super::plan::{OpenPath, compiled, pick};
use super::problem::{FindError, PathProblem};
use crate::classic::{self, ClassicError, Questions, Tables};
use crate::registration::HostChannel;
use crate::stalls;
use crate::survey::Counterset;

/// The classic objects of a [`PathPlan`], with the key that their values are read by.
#[derive(Debug)]
pub struct ClassicQuery {
    key: Key,
    objects: Vec<u32>,
    room: ValueRoom,
}

impl PathPlan {
    /// Finds what the paths in `open` mean among the host's classic objects.
    ///
    /// # Errors
    /// When a call fails, or the host has none of what a path names.
    pub async fn add_classic<C: HostChannel>(
        &mut self,
        client: &mut RegistryClient<C>,
        open: &[OpenPath],
    ) -> Result<(), FindError<C::Error>> {
        self.add_open(client, open, &mut Questions::default()).await?;
        match self.problems.drain(..).next() {
            Some((_, problem)) => Err(problem.into()),
            None => Ok(()),
        }
    }

    /// The same for paths of which some may mean nothing: they are among the [`problems`](Self::problems). So are those whose
    /// providers hang, by what `questions` know of them.
    ///
    /// # Errors
    /// When a call fails.
    pub async fn add_each_classic<C: HostChannel>(
        &mut self,
        client: &mut RegistryClient<C>,
        open: &[OpenPath],
        questions: &mut Questions,
    ) -> Result<(), ClassicError<C::Error>> {
        let patience = stalls::patience(client.channel());
        client.channel().limit_calls(patience);
        let added = self.add_open(client, open, questions).await;
        client.channel().limit_calls(None);
        added
    }

    async fn add_open<C: HostChannel>(
        &mut self,
        client: &mut RegistryClient<C>,
        open: &[OpenPath],
        questions: &mut Questions,
    ) -> Result<(), ClassicError<C::Error>> {
        let key = client.open_performance_data().await?;
        let tables = Tables::read(client, &key, None).await?;
        let patterns: Vec<_> =
            open.iter().map(|open| compiled(&open.path.counterset_pattern()).ok()).collect();
        let is_meant = |name: &str| patterns.iter().flatten().any(|pattern| pattern.matches(name));
        let indexes = classic::indexes(&tables.names, is_meant);
        let mut room = ValueRoom::new(ROOM_BYTES);
        questions.ask_for(&indexes);
        questions.ask(client, &key, &mut room).await?;
        let blocks: Result<Vec<DataBlock<'_>>, _> = questions.values().map(DataBlock::decode).collect();
        let blocks = blocks.map_err(ClassicError::Malformed)?;
        for (OpenPath { order, path, problem }, pattern) in open.iter().zip(&patterns) {
            let mut found = false;
            for object in blocks.iter().flat_map(classic::objects_of).flatten() {
                let name = tables.names.get(object.name_index);
                let is_meant = |name: &&str| pattern.as_ref().is_some_and(|pattern| pattern.matches(name));
                let Some(name) = name.filter(is_meant) else { continue };
                found = true;
                let place = self.place_of(name, || classic::described(&object, name.to_owned(), &tables));
                match pick((*order, path), place, &self.countersets[place]) {
                    Ok(pick) => self.matches.push(pick),
                    Err(problem) => self.problems.push((*order, problem)),
                }
            }
            let is_meant = |name: &str| pattern.as_ref().is_some_and(|pattern| pattern.matches(name));
            let mut names = indexes.iter().filter_map(|index| Some((*index, tables.names.get(*index)?)));
            let hanging = names.find_map(|(index, name)| {
                let trouble = questions.trouble(index).filter(|_| !found && is_meant(name))?;
                Some(PathProblem::Unusable { counterset: name.to_owned(), trouble })
            });
            let problem = hanging.or_else(|| Some(suggested(problem.clone().filter(|_| !found)?, &tables)));
            self.problems.extend(problem.map(|problem| (*order, problem)));
        }
        self.matches.sort_by_key(|one| one.order);
        self.problems.sort_by_key(|(order, _)| *order);
        classic::close(client, key).await;
        Ok(())
    }

    /// The place of the counterset of this name, which is added if it is not there.
    fn place_of(&mut self, name: &str, new: impl FnOnce() -> Counterset) -> usize {
        let known = self.countersets.iter().position(|known| known.name.text == name);
        known.unwrap_or_else(|| {
            self.countersets.push(new());
            self.countersets.len() - 1
        })
    }

    /// Whether a path means a classic object.
    #[must_use]
    pub fn has_classic(&self) -> bool {
        !self.objects().is_empty()
    }

    /// The indexes of the classic objects among the countersets.
    fn objects(&self) -> Vec<u32> {
        self.countersets.iter().filter_map(|counterset| counterset.provider.object()).collect()
    }
}

impl ClassicQuery {
    /// Opens what `plan` needs of classic objects.
    ///
    /// # Errors
    /// When the call fails.
    pub async fn open<C: HostChannel>(
        client: &mut RegistryClient<C>,
        plan: &PathPlan,
    ) -> Result<Self, ClassicError<C::Error>> {
        let key = client.open_performance_data().await?;
        Ok(Self { key, objects: plan.objects(), room: ValueRoom::new(ROOM_BYTES) })
    }

    /// Fetches the values.
    ///
    /// # Errors
    /// When the call fails.
    pub async fn fetch<C: HostChannel>(
        &mut self,
        client: &mut RegistryClient<C>,
    ) -> Result<RegistryValue, ClassicError<C::Error>> {
        Ok(client.query_value(&self.key, &value_name(&self.objects), &mut self.room).await?)
    }

    /// Fetches the values into `questions`, past objects whose providers hang: in the steady state by one call. What was
    /// answered before a failure is not asked for again in the same collection.
    ///
    /// # Errors
    /// When a call fails.
    pub async fn ask<C: HostChannel>(
        &mut self,
        client: &mut RegistryClient<C>,
        questions: &mut Questions,
    ) -> Result<(), ClassicError<C::Error>> {
        questions.ask_for(&self.objects);
        let patience = stalls::patience(client.channel());
        client.channel().limit_calls(patience);
        let asked = questions.ask(client, &self.key, &mut self.room).await;
        client.channel().limit_calls(None);
        asked
    }
}

/// The problem with the name that was meant, where a classic object of the host has it.
fn suggested(mut problem: PathProblem, tables: &Tables) -> PathProblem {
    if let PathProblem::UnknownCounterset { path, nearest } = &mut problem {
        // Objects and counters share a table.
        let objects = tables.names.iter().map(|(_, name)| name).filter(|name| classic::is_known(name));
        let known = nearest.take();
        *nearest = safe_text::nearest::nearest(&path.counterset, known.as_deref().into_iter().chain(objects))
            .map(str::to_owned);
    }
    problem
}

const ROOM_BYTES: u32 = 256 << 10;
