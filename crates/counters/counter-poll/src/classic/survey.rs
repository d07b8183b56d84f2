//! Classic objects for people: with their instances now, and all that the host says of them.

use counter_types::same_name;
use counters::pcq::types::{InstanceType, Lcid};
use counters::pcq::wire::InstanceInfo;
use counters::perflib_v1::{DataBlock, Definitions, GLOBAL, NameTable, ObjectType, value_name};
use counters::rrp::winreg::{Key, RegistryClient, ValueRoom};

use super::watched::check;
use super::{CANDIDATES_MAX, ClassicError, Tables, counterset_of, text};
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

// The names of classic objects, and the version 2 countersets that show something like them.
//
// The names are those of Microsoft's public pages and of typeperf's list on a plain Windows Server.

/// What is said of a name that no counterset of the host has, where it is that of a classic object. `offered` is what the
/// host has.
pub fn explain<'a>(name: &str, offered: &(impl Iterator<Item = &'a str> + Clone)) -> Option<String> {
    let near = near(name)?;
    let there = near.iter().filter(|near| offered.clone().any(|offered| same_name(offered, near)));
    let there: Vec<String> = there.map(|near| format!("`{near}`")).collect();
    let instead = if there.is_empty() {
        "no counterset of this host comes near it".to_owned()
    } else {
        format!("near it: {}", there.join(", "))
    };
    Some(format!(
        "the host does not offer the classic counter object `{name}`: its provider may be disabled (`lodctr /Q` on the \
         host lists providers, and `lodctr /E:PROVIDER` enables one); {instead}"
    ))
}

/// The names of objects that many hosts have.
pub fn names() -> impl Iterator<Item = &'static str> + Clone {
    OBJECTS.iter().map(|(name, _)| *name)
}

/// Whether the name is that of an object that many hosts have.
pub(crate) fn is_known(name: &str) -> bool {
    near(name).is_some()
}

/// The version 2 countersets that show something like it; nothing where the name is not that of a classic object.
fn near(name: &str) -> Option<&'static [&'static str]> {
    let by_name = OBJECTS.iter().find(|(object, _)| same_name(object, name)).map(|(_, near)| *near);
    by_name.or_else(|| {
        let lower = name.to_lowercase();
        let is_of_family = |prefix: &&str| lower.starts_with(&prefix.to_lowercase());
        let is_named_instance = lower.starts_with("mssql$") && lower.contains(':');
        (is_named_instance || FAMILIES.iter().any(is_of_family)).then_some(&[])
    })
}

/// Objects that begin so, whatever follows.
const FAMILIES: [&str; 6] =
    ["SQLServer:", "SQLAgent:", ".NET CLR ", ".NET Data Provider ", "ASP.NET", "MSExchange"];

const NETWORK: &[&str] =
    &["Per Processor Network Interface Card Activity", "Physical Network Interface Card Activity"];
const SHARES: &[&str] = &["SMB Server Shares", "SMB Server Sessions"];

/// Each object with what has most of its counters, the nearest first.
const OBJECTS: &[(&str, &[&str])] = &[
    ("Processor", &["Processor Information"]),
    ("Process", &["Process V2"]),
    ("Thread", &[]),
    ("Job Object", &[]),
    ("Job Object Details", &[]),
    ("Memory", &[]),
    ("Cache", &[]),
    ("Paging File", &[]),
    ("Objects", &[]),
    ("System", &[]),
    ("PhysicalDisk", &[]),
    ("LogicalDisk", &[]),
    ("Network Interface", NETWORK),
    ("Network Adapter", NETWORK),
    ("TCPv4", &[]),
    ("TCPv6", &[]),
    ("UDPv4", &[]),
    ("UDPv6", &[]),
    ("IPv4", &[]),
    ("IPv6", &[]),
    ("ICMP", &[]),
    ("ICMPv6", &[]),
    ("NBT Connection", &[]),
    ("Server", SHARES),
    ("Server Work Queues", SHARES),
    ("Redirector", &["SMB Client Shares"]),
    ("Browser", &[]),
    ("Print Queue", &[]),
    ("Telephony", &[]),
    ("RAS Port", &[]),
    ("RAS Total", &[]),
    ("Terminal Services", &[]),
    ("Terminal Services Session", &[]),
    ("Web Service", &["HTTP Service Url Groups", "HTTP Service"]),
    ("Web Service Cache", &["HTTP Service"]),
    ("Internet Information Services Global", &["HTTP Service"]),
    ("Active Server Pages", &[]),
    ("FTP Service", &[]),
    ("SMTP Server", &[]),
    ("Indexing Service", &[]),
    ("DNS", &[]),
    ("DHCP Server", &[]),
    ("NTDS", &["DirectoryServices"]),
    ("Database", &[]),
    ("Database ==> Instances", &[]),
    ("Distributed Transaction Coordinator", &[]),
    ("MSMQ Queue", &[]),
    ("MSMQ Service", &[]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_classic_object_is_told_with_what_of_the_host_comes_near() {
        let offered = ["Processor Information", "process v2"];
        let said = |name| explain(name, &offered.into_iter()).unwrap_or_default();
        assert!(said("processor").ends_with("near it: `Processor Information`"));
        assert!(said("processor").contains("the classic counter object `processor`"));
        assert!(said("Process").ends_with("near it: `Process V2`"));
        for name in [
            "Memory",
            "System",
            "LogicalDisk",
            "SQLServer:Buffer Manager",
            "MSSQL$INST:Locks",
            ".net clr memory",
        ] {
            assert!(said(name).ends_with("no counterset of this host comes near it"), "{name}");
        }
        for name in ["Process V2", "Processor Infomation", "MSSQL$", ""] {
            assert_eq!(said(name), "", "{name}");
        }
    }
}
