//! Counter paths whose countersets are classic objects.

use ms_rrp::winreg::{Key, RegistryClient, RegistryValue, ValueRoom};
use perflib_v1::{DataBlock, value_name};

use super::PathPlan;
use super::plan::{OpenPath, compiled, pick};
use super::problem::FindError;
use crate::channel::HostChannel;
use crate::classic::{self, ClassicError, Tables};

/// The classic objects of a [`PathPlan`], with the key that their values are read by.
#[derive(Debug)]
pub struct ClassicQuery {
    key: Key,
    value_name: String,
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
        let key = client.open_performance_data().await.map_err(ClassicError::Call)?;
        let tables = Tables::read(client, &key, None).await.map_err(ClassicError::Call)?;
        for OpenPath { order, path, problem } in open {
            let pattern = compiled(&path.counterset_pattern())?;
            let indexes = classic::indexes(&tables.names, |name| pattern.matches(name));
            let mut found = false;
            if !indexes.is_empty() {
                let mut room = ValueRoom::new(ROOM_BYTES);
                let value = client.query_value(&key, &value_name(&indexes), &mut room).await;
                let value = value.map_err(ClassicError::Call)?;
                let block = DataBlock::decode(value.bytes()).map_err(ClassicError::Malformed)?;
                for object in block.objects().flatten() {
                    let name = tables.names.get(object.name_index).filter(|name| pattern.matches(name));
                    let Some(name) = name else { continue };
                    let known = self.countersets.iter().position(|known| known.name.text == name);
                    let place = known.unwrap_or_else(|| {
                        self.countersets.push(classic::described(&object, name.to_owned(), &tables));
                        self.countersets.len() - 1
                    });
                    self.matches.push(pick((*order, path), place, &self.countersets[place])?);
                    found = true;
                }
            }
            if let Some(problem) = problem
                && !found
            {
                return Err(problem.clone().into());
            }
        }
        self.matches.sort_by_key(|one| one.order);
        classic::close(client, key).await;
        Ok(())
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
        Ok(Self { key, value_name: value_name(&plan.objects()), room: ValueRoom::new(ROOM_BYTES) })
    }

    /// Fetches the values.
    ///
    /// # Errors
    /// When the call fails.
    pub async fn fetch<C: HostChannel>(
        &mut self,
        client: &mut RegistryClient<C>,
    ) -> Result<RegistryValue, ClassicError<C::Error>> {
        Ok(client.query_value(&self.key, &self.value_name, &mut self.room).await?)
    }
}

const ROOM_BYTES: u32 = 256 << 10;
