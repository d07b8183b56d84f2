//! Two tables: units of counters whose names do not contain them, and raw counters that only grow.

use crate::Scale;
use crate::exposition::{Exposition, Kind};
use crate::pattern::same_name;
use crate::properties::{Measure, Properties};
use crate::unit::{Unit, unit_of_name};
use crate::widen::Width;

/// What the type and the name of a momentary counter do not contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quantity {
    /// A gauge; or a counter, where a value that Windows shows as it is only grows.
    pub kind: Kind,
    pub unit: Unit,
    /// What a raw value is multiplied or divided by.
    pub scale: Scale,
}

/// The documented kind and unit of a well-known counter, by the English names of its counterset and itself. Native names,
/// profiles and OTLP take both from the family that [`crate::plan_of`] makes with them.
///
/// ```
/// use counter_types::{Kind, Unit, quantity};
///
/// assert_eq!(quantity("Process V2", "Working Set").unwrap().unit, Unit::Bytes);
/// assert_eq!(quantity("TCPv4", "Connections Reset").unwrap().kind, Kind::Counter);
/// assert_eq!(quantity("Process V2", "Thread Count"), None);
/// ```
#[must_use]
pub fn quantity(counterset: &str, counter: &str) -> Option<Quantity> {
    let contains = |names: &[&str], name: &str| names.iter().any(|known| same_name(known, name));
    let is_it = |(countersets, counters): (&[&str], &[&str])| {
        contains(countersets, counterset) && contains(counters, counter)
    };
    let amount = TABLE.iter().find(|row| is_it((row.countersets, row.counters)));
    let amount = amount.map(|row| Quantity { kind: Kind::Gauge, unit: row.unit, scale: row.scale });
    if COUNTS.iter().any(|&names| is_it(names)) {
        let (unit, scale) =
            amount.map_or((unit_of_name(counter).amount(), Scale::One), |of| (of.unit, of.scale));
        return Some(Quantity { kind: Kind::Counter, unit, scale });
    }
    amount
}

impl Quantity {
    /// The exposition of a momentary value with what is documented of it; another one as it is.
    pub(crate) fn applied(self, exposition: Exposition, properties: &Properties) -> Exposition {
        if properties.measure != Measure::Momentary {
            return exposition;
        }
        let Self { kind, unit, scale } = self;
        let wraps = kind == Kind::Counter && properties.width() == Width::Bits32;
        Exposition { kind, unit, scale, wraps, ..exposition }
    }
}

struct Row {
    countersets: &'static [&'static str],
    counters: &'static [&'static str],
    unit: Unit,
    scale: Scale,
}

const TABLE: &[Row] = &[
    // Win32_PerfFormattedData_PerfProc_Process: "in bytes".
    Row {
        countersets: &["Process V2", "Process"],
        counters: &["Working Set", "Working Set Peak", "Working Set - Private"],
        unit: Unit::Bytes,
        scale: Scale::One,
    },
    // Win32_PerfFormattedData_PerfProc_JobObjectDetails and Win32_PerfFormattedData_TermService_TerminalServicesSession:
    // "in bytes".
    Row {
        countersets: &["Job Object Details", "Terminal Services Session"],
        counters: &["Working Set", "Working Set Peak"],
        unit: Unit::Bytes,
        scale: Scale::One,
    },
    // Win32_PerfFormattedData_PerfOS_Memory: "Amount of virtual memory, in bytes, that can be committed …".
    Row { countersets: &["Memory"], counters: &["Commit Limit"], unit: Unit::Bytes, scale: Scale::One },
    // Win32_PerfFormattedData_PerfDisk_LogicalDisk: "unallocated space … in megabytes (1 MB = 1,048,576 bytes)". `Available
    // MBytes` of Memory stays as it is: `Available Bytes` says the same.
    Row {
        countersets: &["LogicalDisk"],
        counters: &["Free Megabytes"],
        unit: Unit::Bytes,
        scale: Scale::Megabytes,
    },
    Row {
        countersets: &["NUMA Node Memory"],
        counters: &[
            "Total MBytes",
            "Free & Zero Page List MBytes",
            "Standby List MBytes",
            "Available MBytes",
        ],
        unit: Unit::Bytes,
        scale: Scale::Megabytes,
    },
    // The name says seconds, as "(s)".
    Row {
        countersets: &["Memory"],
        counters: &["Long-Term Average Standby Cache Lifetime (s)"],
        unit: Unit::Seconds,
        scale: Scale::One,
    },
    // "Performance counters in the .NET Framework": each of them "in bytes".
    Row {
        countersets: &[".NET CLR Memory"],
        counters: &["Gen 0 heap size", "Gen 1 heap size", "Gen 2 heap size", "Large Object Heap size"],
        unit: Unit::Bytes,
        scale: Scale::One,
    },
    // Windows shows the memory of graphics adapters in bytes.
    Row {
        countersets: &[
            "GPU Adapter Memory",
            "GPU Process Memory",
            "GPU Local Adapter Memory",
            "GPU Non Local Adapter Memory",
        ],
        counters: &["Total Committed", "Dedicated Usage", "Shared Usage", "Local Usage", "Non Local Usage"],
        unit: Unit::Bytes,
        scale: Scale::One,
    },
    // The time for which an engine ran, in 100 ns: `Utilization Percentage`, of the same value, is a timer of 100 ns.
    Row {
        countersets: &["GPU Engine"],
        counters: &["Running Time"],
        unit: Unit::Seconds,
        scale: Scale::HundredNanoseconds,
    },
    // "Windows Time service tools and settings": both "in microseconds".
    Row {
        countersets: &["Windows Time Service"],
        counters: &["Computed Time Offset", "NTP Roundtrip Delay"],
        unit: Unit::Seconds,
        scale: Scale::Microseconds,
    },
    // "Processor Frequency is the frequency of the current processor in megahertz."
    Row {
        countersets: &["Processor Information"],
        counters: &["Processor Frequency"],
        unit: Unit::Hertz,
        scale: Scale::Megahertz,
    },
    // "Current Bandwidth is an estimate of the current bandwidth of the network interface in bits per second".
    Row {
        countersets: &["Network Interface", "Network Adapter"],
        counters: &["Current Bandwidth"],
        unit: Unit::Bits,
        scale: Scale::One,
    },
    // DFS Replication: "the size (in bytes) of files received".
    Row {
        countersets: &["DFS Replication Connections", "DFS Replicated Folders"],
        counters: &[
            "Size of Files Received",
            "Compressed Size of Files Received",
            "RDC Size of Files Received",
            "RDC Compressed Size of Files Received",
        ],
        unit: Unit::Bytes,
        scale: Scale::One,
    },
    // "Temperature of the thermal zone, in degrees Kelvin"; the precise one is in tenths of them.
    Row {
        countersets: &["Thermal Zone Information"],
        counters: &["Temperature"],
        unit: Unit::Celsius,
        scale: Scale::Kelvin,
    },
    Row {
        countersets: &["Thermal Zone Information"],
        counters: &["High Precision Temperature"],
        unit: Unit::Celsius,
        scale: Scale::Decikelvin,
    },
];

/// Counts that only grow, by countersets and counters. Windows shows them as they are, so that their type is that of a state.
const COUNTS: &[(&[&str], &[&str])] = &[
    // "The number of … packets" since the driver was started: its `OID_GEN_STATISTICS`.
    (
        &["Network Interface", "Network Adapter"],
        &[
            "Packets Received Discarded",
            "Packets Received Errors",
            "Packets Received Unknown",
            "Packets Outbound Discarded",
            "Packets Outbound Errors",
        ],
    ),
    // RFC 4022: `tcpActiveOpens`, `tcpPassiveOpens`, `tcpAttemptFails`, `tcpEstabResets`, each a Counter32.
    (
        &["TCPv4", "TCPv6"],
        &["Connection Failures", "Connections Active", "Connections Passive", "Connections Reset"],
    ),
    // RFC 4113: `udpInErrors`.
    (&["UDPv4", "UDPv6"], &["Datagrams Received Errors"]),
    // RFC 4293: Counter32 of `ipSystemStatsTable`.
    (
        &["IPv4", "IPv6"],
        &[
            "Datagrams Received Header Errors",
            "Datagrams Received Address Errors",
            "Datagrams Received Unknown Protocol",
            "Datagrams Received Discarded",
            "Datagrams Outbound Discarded",
            "Datagrams Outbound No Route",
            "Fragment Re-assembly Failures",
            "Fragmentation Failures",
        ],
    ),
    // RFC 4293: Counter32 of `icmpStatsTable` and `icmpMsgStatsTable`.
    (
        &["ICMP", "ICMPv6"],
        &[
            "Messages Received Errors",
            "Messages Outbound Errors",
            "Received Dest. Unreachable",
            "Received Time Exceeded",
            "Received Parameter Problem",
            "Received Source Quench",
            "Received Address Mask",
            "Received Address Mask Reply",
            "Received Packet Too Big",
            "Received Membership Query",
            "Received Membership Report",
            "Received Membership Reduction",
            "Received Router Solicit",
            "Received Router Advert",
            "Received Neighbor Solicit",
            "Received Neighbor Advert",
            "Sent Destination Unreachable",
            "Sent Time Exceeded",
            "Sent Parameter Problem",
            "Sent Source Quench",
            "Sent Address Mask",
            "Sent Address Mask Reply",
            "Sent Packet Too Big",
            "Sent Membership Query",
            "Sent Membership Report",
            "Sent Membership Reduction",
            "Sent Router Solicit",
            "Sent Router Advert",
            "Sent Neighbor Solicit",
            "Sent Neighbor Advert",
        ],
    ),
    // "The number of calls to allocate space in the paged pool".
    (&["Memory"], &["Pool Paged Allocs", "Pool Nonpaged Allocs"]),
    // `STAT_SERVER_0`, and "the number of times".
    (
        &["Server"],
        &[
            "Sessions Timed Out",
            "Sessions Errored Out",
            "Sessions Logged Off",
            "Sessions Forced Off",
            "Errors Logon",
            "Errors Access Permissions",
            "Errors Granted Access",
            "Errors System",
            "Blocking Requests Rejected",
            "Work Item Shortages",
            "Pool Nonpaged Failures",
            "Pool Paged Failures",
            "Files Opened Total",
            "Logon Total",
            "Total Durable Handles",
            "Reconnected Durable Handles",
        ],
    ),
    // "The number of files which have been opened … since the server started".
    (
        &["SMB Server Shares", "SMB Server Sessions"],
        &[
            "Total File Open Count",
            "Total Durable Handle Reopen Count",
            "Total Failed Durable Handle Reopen Count",
            "Total Persistent Handle Reopen Count",
            "Total Failed Persistent Handle Reopen Count",
            "Total Resilient Handle Reopen Count",
            "Total Failed Resilient Handle Reopen Count",
        ],
    ),
    // Bytes since the host was started.
    (&["FileSystem Disk Activity"], &["FileSystem Bytes Read", "FileSystem Bytes Written"]),
    // `STAT_WORKSTATION_0`.
    (
        &["Redirector"],
        &[
            "Server Reconnects",
            "Server Disconnects",
            "Connects Core",
            "Connects Lan Manager 2.0",
            "Connects Lan Manager 2.1",
            "Connects Windows NT",
        ],
    ),
    // "Over the lifetime of the security channel connection, or since system startup".
    (&["Netlogon"], &["Semaphore Acquires", "Semaphore Timeouts"]),
    // "The total number of … since the service started".
    (
        &["Web Service"],
        &[
            "Total Bytes Received",
            "Total Bytes Sent",
            "Total Anonymous Users",
            "Total Blocked Async I/O Requests",
            "Total CGI Requests",
            "Total Connection Attempts (all instances)",
            "Total Other Request Methods",
            "Total Copy Requests",
            "Total Delete Requests",
            "Total Get Requests",
            "Total Head Requests",
            "Total Lock Requests",
            "Total Mkcol Requests",
            "Total Move Requests",
            "Total Options Requests",
            "Total Post Requests",
            "Total Propfind Requests",
            "Total Proppatch Requests",
            "Total Put Requests",
            "Total Search Requests",
            "Total Trace Requests",
            "Total Unlock Requests",
            "Total Files Received",
            "Total Files Sent",
            "Total ISAPI Extension Requests",
            "Total Locked Errors",
            "Total Logon Attempts",
            "Total NonAnonymous Users",
            "Total Not Found Errors",
            "Total Rejected Async I/O Requests",
            "Total Method Requests",
            "Total Allowed Async I/O Requests",
        ],
    ),
    // The same of caches: "ever added", "removed", "lookups".
    (
        &["Web Service Cache", "W3SVC_W3WP"],
        &[
            "File Cache Flushes",
            "File Cache Hits",
            "Total Files Cached",
            "Total Flushed Files",
            "Total Flushed URIs",
            "URI Cache Hits",
            "Kernel: URI Cache Hits",
            "Total URIs Cached",
            "Kernel: Total Flushed URIs",
            "Metadata Cache Flushes",
            "Total Metadata Cached",
            "Total Flushed Metadata",
            "Output Cache Total Hits",
            "Output Cache Total Flushed Items",
            "Output Cache Total Flushes",
            "Total HTTP Requests Served",
            "Metadata Cache Hits",
            "File Cache Misses",
            "URI Cache Flushes",
            "URI Cache Misses",
            "Metadata Cache Misses",
            "Output Cache Total Misses",
            "Kernel: URI Cache Flushes",
            "Kernel: URI Cache Misses",
            "Kernel: Total URIs Cached",
        ],
    ),
    (
        &["HTTP Service"],
        &["UriCacheFlushes", "UriCacheHits", "UriCacheMisses", "TotalUrisCached", "TotalFlushedUris"],
    ),
    (&["HTTP Service Url Groups"], &["AllRequests", "GetRequests", "HeadRequests", "ConnectionAttempts"]),
    (&["HTTP Service Request Queues"], &["RejectedRequests"]),
    // "Performance counters for ASP.NET": totals since the application was started, or the web server.
    (
        &["ASP.NET", "ASP.NET Applications"],
        &[
            "Application Restarts",
            "Worker Process Restarts",
            "Requests Rejected",
            "Requests Total",
            "Requests Succeeded",
            "Requests Failed",
            "Requests Not Found",
            "Requests Not Authorized",
            "Requests Timed Out",
            "Request Bytes In Total",
            "Request Bytes Out Total",
            "Errors Total",
            "Errors During Preprocessing",
            "Errors During Compilation",
            "Errors During Execution",
            "Errors Unhandled During Execution",
            "Sessions Total",
            "Sessions Abandoned",
            "Sessions Timed Out",
            "Transactions Total",
            "Transactions Committed",
            "Transactions Aborted",
            "Compilations Total",
            "Cache Total Hits",
            "Cache Total Misses",
            "Cache API Hits",
            "Cache API Misses",
            "Output Cache Hits",
            "Output Cache Misses",
        ],
    ),
    (
        &["Microsoft FTP Service"],
        &[
            "Total Files Sent",
            "Total Files Received",
            "Total Files Transferred",
            "Total Anonymous Users",
            "Total NonAnonymous Users",
            "Total Connection Attempts",
            "Total Logon Attempts",
        ],
    ),
    (
        &["SMTP Server"],
        &[
            "Badmailed Messages (Bad Pickup File)",
            "Badmailed Messages (Hop Count Exceeded)",
            "Badmailed Messages (NDR of DSN)",
            "Badmailed Messages (No Recipients)",
            "Badmailed Messages (Triggered via Event)",
            "Bytes Sent Total",
            "Bytes Received Total",
            "Total Connection Errors",
            "Directory Drops Total",
            "Total DSN Failures",
            "DNS Queries Total",
            "ETRN Messages Total",
            "Inbound Connections Total",
            "Message Bytes Received Total",
            "Message Bytes Sent Total",
            "Message Delivery Retries",
            "Message Send Retries",
            "Messages Delivered Total",
            "Messages Received Total",
            "Messages Refused for Address Objects",
            "Messages Refused for Mail Objects",
            "Messages Refused for Size",
            "Messages Sent Total",
            "Total messages submitted",
            "NDRs Generated",
            "Outbound Connections Refused",
            "Outbound Connections Total",
            "Pickup Directory Messages Retrieved Total",
            "Routing Table Lookups Total",
        ],
    ),
    // "Performance counters in the .NET Framework": "since the application started".
    (&[".NET CLR Exceptions"], &["# of Exceps Thrown"]),
    (&[".NET CLR Interop"], &["# of marshalling"]),
    (&[".NET CLR Jit"], &["# of Methods Jitted", "# of IL Bytes Jitted", "Total # of IL Bytes Jitted"]),
    (
        &[".NET CLR Loading"],
        &[
            "Total Appdomains",
            "Total appdomains unloaded",
            "Total Assemblies",
            "Total Classes Loaded",
            "Total # of Load Failures",
        ],
    ),
    (&[".NET CLR LocksAndThreads"], &["# of total recognized threads", "Total # of Contentions"]),
    (
        &[".NET CLR Memory"],
        &["# Gen 0 Collections", "# Gen 1 Collections", "# Gen 2 Collections", "# Induced GC"],
    ),
    (&[".NET CLR Remoting"], &["Channels", "Context Proxies", "Total Remote Calls"]),
    (&[".NET CLR Security"], &["# Link Time Checks", "Total Runtime Checks"]),
    // "Since boot".
    (
        &["DirectoryServices", "NTDS"],
        &[
            "DRA Sync Requests Made",
            "DRA Sync Requests Successful",
            "DRA Sync Failures on Schema Mismatch",
            "DRA Inbound Bytes Total Since Boot",
            "DRA Inbound Bytes Not Compressed (Within Site) Since Boot",
            "DRA Inbound Bytes Compressed (Between Sites, Before Compression) Since Boot",
            "DRA Inbound Bytes Compressed (Between Sites, After Compression) Since Boot",
            "DRA Outbound Bytes Total Since Boot",
            "DRA Outbound Bytes Not Compressed (Within Site) Since Boot",
            "DRA Outbound Bytes Compressed (Between Sites, Before Compression) Since Boot",
            "DRA Outbound Bytes Compressed (Between Sites, After Compression) Since Boot",
        ],
    ),
    (
        &["AD FS"],
        &[
            "AD Login Connection Failures",
            "Certificate Authentications",
            "Device Authentications",
            "Extranet Account Lockouts",
            "Federated Authentications",
            "Microsoft Passport Authentications",
            "Passive Requests",
            "Password Change Failed Requests",
            "Password Change Successful Requests",
            "Token Requests",
            "Windows Integrated Authentications",
            "OAuth AuthZ Requests",
            "OAuth Client Authentications",
            "OAuth Client Authentications Failures",
            "OAuth Client Credentials Request Failures",
            "OAuth Client Credentials Requests",
            "OAuth Client Private Key Jwt Authentication Failures",
            "OAuth Client Private Key Jwt Authentications",
            "OAuth Client Secret Basic Authentication Failures",
            "OAuth Client Secret Basic Authentications",
            "OAuth Client Secret Post Authentication Failures",
            "OAuth Client Secret Post Authentications",
            "OAuth Client Windows Integrated Authentication Failures",
            "OAuth Client Windows Integrated Authentications",
            "OAuth Logon Certificate Request Failures",
            "OAuth Logon Certificate Token Requests",
            "OAuth Password Grant Request Failures",
            "OAuth Password Grant Requests",
            "OAuth Token Requests",
            "SAML-P Token Requests",
            "SSO Authentication Failures",
            "SSO Authentications",
            "WS-Fed Token Requests",
            "WS-Trust Token Requests",
            "U/P Authentication Failures",
            "U/P Authentications",
            "External Authentication Failures",
            "External Authentications",
            "Artifact Database Connection Failures",
            "Configuration Database Connection Failures",
            "Federation Metadata Requests",
        ],
    ),
    // "The total number of … by the DNS server".
    (
        &["DNS"],
        &[
            "AXFR Request Received",
            "IXFR Request Received",
            "AXFR Request Sent",
            "IXFR Request Sent",
            "Zone Transfer Request Received",
            "AXFR Response Received",
            "IXFR Response Received",
            "AXFR Success Received",
            "IXFR TCP Success Received",
            "IXFR UDP Success Received",
            "AXFR Success Sent",
            "IXFR Success Sent",
            "Zone Transfer Failure",
            "Dynamic Update NoOperation",
            "Dynamic Update Written to Database",
            "Dynamic Update Rejected",
            "Dynamic Update TimeOuts",
            "Notify Received",
            "Notify Sent",
            "Secure Update Failure",
            "Secure Update Received",
            "TCP Query Received",
            "UDP Query Received",
            "TCP Response Sent",
            "UDP Response Sent",
            "Recursive Queries",
            "Recursive Query Failure",
            "WINS Lookup Received",
            "WINS Reverse Lookup Received",
            "WINS Response Sent",
            "WINS Reverse Response Sent",
            "Unmatched Responses Received",
            "Total Query Received",
            "Total Response Sent",
            "Dynamic Update Received",
            "Zone Transfer SOA Request Sent",
            "Zone Transfer Success",
        ],
    ),
    (
        &["DHCP Server"],
        &[
            "Denied due to match.",
            "Failover: Transitions to COMMUNICATION-INTERRUPTED state.",
            "Failover: Transitions to PARTNER-DOWN state.",
            "Failover: Transitions to RECOVER state.",
            "Failover: BndUpd Dropped.",
        ],
    ),
    (
        &["DFS Replication Connections", "DFS Replicated Folders", "DFS Replication Service Volumes"],
        &[
            "Total Bytes Received",
            "Compressed Size of Files Received",
            "Total Files Received",
            "RDC Bytes Received",
            "RDC Compressed Size of Files Received",
            "RDC Number of Files Received",
            "RDC Size of Files Received",
            "Size of Files Received",
            "Conflict Bytes Cleaned Up",
            "Conflict Bytes Generated",
            "Conflict Files Cleaned Up",
            "Conflict Files Generated",
            "Conflict folder Cleanups Completed",
            "Deleted Bytes Cleaned Up",
            "Deleted Bytes Generated",
            "Deleted Files Cleaned Up",
            "Deleted Files Generated",
            "File Installs Retried",
            "File Installs Succeeded",
            "Staging Bytes Cleaned Up",
            "Staging Bytes Generated",
            "Staging Files Cleaned Up",
            "Staging Files Generated",
            "Updates Dropped",
            "Database Commits",
            "Database Lookups",
            "USN Journal Records Accepted",
            "USN Journal Records Read",
        ],
    ),
    (
        &["MSExchangeTransport Queues"],
        &[
            "Messages Queued For Delivery Total",
            "Messages Submitted Total",
            "Messages Delayed Total",
            "Messages Completed Delivery Total",
            "Items Completed Delivery Total",
            "Items Queued For Delivery Expired Total",
            "Items Queued For Delivery Total",
            "Items Resubmitted Total",
        ],
    ),
    // "Running total since the transaction manager was last started".
    (
        &["Distributed Transaction Coordinator"],
        &[
            "Aborted Transactions",
            "Committed Transactions",
            "Force Aborted Transactions",
            "Force Committed Transactions",
        ],
    ),
    (&["MSMQ Service"], &["Total Incoming Messages", "Total Outgoing Messages"]),
    // "Since the last restart".
    (
        &["Print Queue"],
        &[
            "Total Jobs Printed",
            "Total Pages Printed",
            "Job Errors",
            "Not Ready Errors",
            "Out of Paper Errors",
            "Add Network Printer Calls",
            "Enumerate Network Printer Calls",
        ],
    ),
    // "The total number of … for this connection".
    (
        &["RAS Port", "RAS Total"],
        &[
            "Bytes Transmitted",
            "Bytes Received",
            "Frames Transmitted",
            "Frames Received",
            "CRC Errors",
            "Timeout Errors",
            "Serial Overrun Errors",
            "Alignment Errors",
            "Buffer Overrun Errors",
            "Total Errors",
        ],
    ),
    (&["RemoteFX Network"], &["Total Received Bytes", "Total Sent Bytes"]),
    // What is pending goes down again.
    (&["Remote Desktop Connection Broker Counterset"], &["Successful Connections", "Failed Connections"]),
    (&["Windows Time Service"], &["NTP Server Outgoing Responses", "NTP Server Incoming Requests"]),
    // "Cumulative".
    (
        &["Hyper-V Dynamic Memory VM"],
        &["Added Memory", "Memory Add Operations", "Memory Remove Operations", "Removed Memory"],
    ),
    (&["Hyper-V Legacy Network Adapter"], &["Frames Dropped"]),
    // "The total number of errors that have occurred".
    (&["Hyper-V Virtual Storage Device"], &["Error Count"]),
    (&["Hyper-V Virtual Switch"], &["Learned Mac Addresses", "Packets Flooded", "Purged Mac Addresses"]),
];

#[cfg(test)]
mod tests {
    use crate::clocks::RawClocks;
    use crate::exposition::Value;
    use crate::plan::plan_of;
    use crate::{Kind, Unit};
    use counters::pcq::types::{CounterId, CounterType as T};
    use counters::pcq::wire::CounterRegInfo;

    fn exported(counterset: &str, counter: &str, raw: u64) -> (String, Option<Value>) {
        let info = CounterRegInfo::new(CounterId(0), T::PERF_COUNTER_LARGE_RAWCOUNT);
        let exposition = plan_of(counterset, &[info], |_| Some(counter))[0].exposition;
        (exposition.unit.to_string(), exposition.export(raw, &RawClocks::default()))
    }

    // 300 K are 26.85 °C, and 3,000,000,000 Hz are 3,000 MHz.
    #[test]
    fn what_documents_say_of_a_unit_goes_out_in_base_units() {
        let check = |counterset, counter, raw, unit: &str, value| {
            assert_eq!(exported(counterset, counter, raw), (unit.to_owned(), Some(value)), "{counter}");
        };
        check("Process V2", "Working Set", 4_096, "bytes", Value::U64(4_096));
        check("process v2", "working set - private", 4_096, "bytes", Value::U64(4_096));
        check("Process", "Working Set Peak", 4_096, "bytes", Value::U64(4_096));
        check("Terminal Services Session", "Working Set", 4_096, "bytes", Value::U64(4_096));
        check("Memory", "Commit Limit", 4_096, "bytes", Value::U64(4_096));
        check("LogicalDisk", "Free Megabytes", 3, "bytes", Value::U64(3_145_728));
        check("NUMA Node Memory", "Total MBytes", 3, "bytes", Value::U64(3_145_728));
        check("Memory", "Long-Term Average Standby Cache Lifetime (s)", 3, "seconds", Value::U64(3));
        check(".NET CLR Memory", "Gen 2 heap size", 4_096, "bytes", Value::U64(4_096));
        check("GPU Process Memory", "Non Local Usage", 7, "bytes", Value::U64(7));
        check("GPU Engine", "Running Time", 25_000_000, "seconds", Value::F64(2.5));
        check("Windows Time Service", "NTP Roundtrip Delay", 1_500, "seconds", Value::F64(0.0015));
        check("Network Interface", "Current Bandwidth", 1_000, "bits", Value::U64(1_000));
        check("Processor Information", "Processor Frequency", 3_000, "hertz", Value::U64(3_000_000_000));
        check("Thermal Zone Information", "Temperature", 300, "celsius", Value::F64(26.85));
        check("Thermal Zone Information", "High Precision Temperature", 3_000, "celsius", Value::F64(26.85));
    }

    #[test]
    fn another_counterset_may_mean_something_else_by_the_name() {
        assert_eq!(exported("Oven", "Temperature", 300), (String::new(), Some(Value::U64(300))));
        assert_eq!(exported("Process V2", "Thread Count", 300), (String::new(), Some(Value::U64(300))));
    }

    // 2^32 - 1 failures and one more are 2^32, for a counter of 32 bits goes round.
    #[test]
    fn what_only_grows_is_a_counter_and_what_goes_down_again_is_none() {
        let check = |counterset, counter, counter_type, expected: (Kind, Unit, bool)| {
            let info = CounterRegInfo::new(CounterId(0), counter_type);
            let exposition = plan_of(counterset, &[info], |_| Some(counter))[0].exposition;
            let found = (exposition.kind, exposition.unit, exposition.wraps);
            assert_eq!(found, expected, "{counterset} {counter}");
        };
        let (small, large) = (T::PERF_COUNTER_RAWCOUNT, T::PERF_COUNTER_LARGE_RAWCOUNT);
        for counterset in ["TCPv4", "tcpv6"] {
            check(counterset, "Connection Failures", small, (Kind::Counter, Unit::None, true));
            check(counterset, "Connections Established", small, (Kind::Gauge, Unit::None, false));
        }
        check("Network Interface", "Packets Outbound Errors", small, (Kind::Counter, Unit::None, true));
        check("Network Adapter", "Packets Outbound Errors", large, (Kind::Counter, Unit::None, false));
        check("Network Interface", "Output Queue Length", large, (Kind::Gauge, Unit::None, false));
        check(
            "FileSystem Disk Activity",
            "FileSystem Bytes Written",
            large,
            (Kind::Counter, Unit::Bytes, false),
        );
        check("Memory", "Pool Paged Allocs", small, (Kind::Counter, Unit::None, true));
        check("Memory", "Pool Paged Bytes", large, (Kind::Gauge, Unit::Bytes, false));
        check("Web Service", "Total Bytes Sent", large, (Kind::Counter, Unit::Bytes, false));
        check("DFS Replicated Folders", "Size of Files Received", large, (Kind::Counter, Unit::Bytes, false));
        check(
            "Remote Desktop Connection Broker Counterset",
            "Pending Connections",
            large,
            (Kind::Gauge, Unit::None, false),
        );
        // Another counterset may mean something else by the name, and a type that says more is believed.
        check("Oven", "Connection Failures", small, (Kind::Gauge, Unit::None, false));
        check("TCPv4", "Connection Failures", T::PERF_COUNTER_BULK_COUNT, (Kind::Counter, Unit::None, false));
    }
}
