//! Classic objects for people: with their instances now, and all that the host says of them.

use counters::pcq::types::{InstanceType, Lcid};
use counters::pcq::wire::InstanceInfo;
use counters::perflib_v1::{DataBlock, Definitions, GLOBAL, NameTable, ObjectType, value_name};
use counters::rrp::winreg::{Key, RegistryClient, ValueRoom};

use super::known::is_known;
use super::tables::Tables;
use super::watched::check;
use super::{CANDIDATES_MAX, ClassicError, counterset_of, text};
use crate::Pace;
use crate::reading::{Identities, ObjectReading};
use crate::registration::{HostChannel, Name};
use crate::survey::Counterset;

/// What a host has of classic objects.
#[derive(Debug, Default)]
pub struct Survey {
    /// Each object, with the instances that it has now.
    pub found: Vec<(Counterset, Vec<InstanceInfo>)>,
    /// Objects that cannot be read, in words.
    pub refused: Vec<String>,
}

/// Which objects are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Those with a name that many hosts have, or that few others match.
    Named,
    /// All: the host calls every provider, one that hangs included.
    Global,
}

/// The objects whose names `select` chooses, with names in `language` beside English.
///
/// # Errors
/// When a call fails, or the reply is no performance data.
pub async fn survey<C: HostChannel>(
    client: &mut RegistryClient<C>,
    select: impl Fn(&str) -> bool + Send + Sync,
    reach: Reach,
    language: Option<Lcid>,
) -> Result<Survey, ClassicError<C::Error>> {
    let key = client.open_performance_data().await?;
    let tables = Tables::read(client, &key, language).await?;
    let indexes = indexes(&tables.names, &select);
    let mut survey = Survey::default();
    let name = match reach {
        Reach::Global => GLOBAL.to_owned(),
        Reach::Named if indexes.is_empty() => String::new(),
        Reach::Named => value_name(&indexes),
    };
    if !name.is_empty() {
        let value = client.query_value(&key, &name, &mut ValueRoom::new(ROOM_BYTES)).await?;
        let block = DataBlock::decode(value.bytes()).map_err(ClassicError::Malformed)?;
        for object in block.objects() {
            match object {
                Ok(object) => survey.add((&block, &object), &tables, &select).await,
                Err(bad) => survey.refused.push(bad.to_string()),
            }
        }
    }
    close(client, key).await;
    Ok(survey)
}

/// Closes a key; the host closes one that cannot be closed with the connection.
pub(crate) async fn close<C: HostChannel>(client: &mut RegistryClient<C>, key: Key) {
    if let Err(error) = client.close_key(key).await {
        tracing::debug!(%error, "Key not closed");
    }
}

/// The indexes of names that `select` chooses: all where they are few, else those that many hosts have.
pub(crate) fn indexes(names: &NameTable, select: impl Fn(&str) -> bool) -> Vec<u32> {
    let chosen = || names.iter().filter(|(_, name)| select(name));
    let are_few = chosen().count() <= CANDIDATES_MAX;
    let mut indexes: Vec<u32> =
        chosen().filter(|(_, name)| are_few || is_known(name)).map(|(index, _)| index).collect();
    indexes.sort_unstable();
    indexes
}

impl Survey {
    async fn add(
        &mut self,
        (block, object): (&DataBlock<'_>, &ObjectType<'_>),
        tables: &Tables,
        select: impl Fn(&str) -> bool,
    ) {
        let name = text(&tables.names, object.name_index);
        let name = name.unwrap_or_else(|| format!("object_{}", object.name_index));
        if !select(&name) {
            return;
        }
        if let Err(reason) = check(object) {
            self.refused.push(format!("{name}: {reason}"));
            return;
        }
        let counterset = described(object, name, tables);
        let instances = match counterset.instance_type {
            InstanceType::SINGLE => Vec::new(),
            _ => instances(block, object, &counterset).await,
        };
        self.found.push((counterset, instances));
    }
}

/// The object as a counterset, with its explain text.
pub(crate) fn described(object: &ObjectType<'_>, name: String, tables: &Tables) -> Counterset {
    let counterset = counterset_of(object, &name, tables);
    Counterset {
        provider: counterset.provider,
        name: Name { text: name, is_english: true, trouble: None },
        local_name: counterset.local_name,
        help: text(&tables.helps, object.help_index).unwrap_or_default(),
        instance_type: counterset.instance_type,
        counters: counterset.counters,
    }
}

async fn instances(
    block: &DataBlock<'_>,
    object: &ObjectType<'_>,
    counterset: &Counterset,
) -> Vec<InstanceInfo> {
    let mut definitions = Definitions::default();
    definitions.update(object);
    let mut identities = Identities::default();
    identities.update(block, object, counterset.numbers(), &mut Pace::default()).await;
    let reading = ObjectReading::new(definitions.fields(), object.instances(), &identities);
    let info = reading
        .instances()
        .map(|instance| InstanceInfo { instance_id: instance.id, name: instance.name.to_string() });
    info.collect()
}

const ROOM_BYTES: u32 = 256 << 10;
