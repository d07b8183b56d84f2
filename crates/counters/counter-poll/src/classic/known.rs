//! The names of classic objects, and the version 2 countersets that show something like them.
//!
//! The names are those of Microsoft's public pages and of typeperf's list on a plain Windows Server.

use counter_types::same_name;

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
