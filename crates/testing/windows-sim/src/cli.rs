use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, ValueEnum};
use ms_smb2::Dialect;
use windows_sim::choices::Choices;
use windows_sim::model::{AggregateForm, Change, SYNTHETIC_MAX};
use windows_sim::smb::Encryption;
use windows_sim::{
    AccountState, ActivationMode, ObjectBindings, RegistryMode, RpcSecurity, RpcStateLevel, Rule,
};
use wire::FileTime;

use crate::sets::SetFiles;
use crate::share::{Share, Slow};

const EXAMPLES: &str = r"Examples:
  One host on a port of the system's choice, with values that stand still:
    windows-sim --smb-port 0 --account 'CORP\svc-metrics' --password-file secret --seed 7 --clock 2026-11-01T12:00:00Z
  A fleet on 127.0.0.1, 127.0.0.2 … with the wall clock:
    windows-sim --smb-port 4450 --account 'CORP\svc-metrics' --password-file secret --hosts 4000 --profile small
  The same, and of each hundred hosts one never answers and five take three seconds for each poll:
    windows-sim --smb-port 4450 … --hosts 4000 --profile small --black-hole 1% --slow 5%:3s
  This machine's own processors, processes and disks:
    windows-sim --smb-port 4450 --account 'CORP\svc-metrics' --password-file secret --live
  The tracker of COM+, at the host's object resolver, beside which is its endpoint mapper:
    windows-sim --epm-port 1135 --account 'CORP\svc-metrics' --password-file secret
  The same with events for subscribers, whose object resolvers are at port 2135 in place of 135:
    windows-sim --epm-port 1135 … --events-every 1s --events-port 2135
  Data collector sets of performance logs and alerts, one of them from a file, which clients may change:
    windows-sim --epm-port 1135 … --pla-set Nightly.xml --pla-changes allowed
  The pipe behind a real smbd:
    windows-sim --pipe-socket /srv/samba/ncalrpc/np/winreg --account 'CORP\svc-metrics' --password-file secret
  The third collection fails, the fourth is slow:
    windows-sim --smb-port 4450 --account 'CORP\svc-metrics' --password-file secret --fault 6+2x1=drop --fault 6+3x1=delay:3s
  The state of its calls in cells, where the third collection hangs:
    windows-sim --smb-port 4450 … --rpc-state /run/user/1000/sim --rpc-state-level full --fault 6+2x1=delay:1h
  A host that pads nothing, and about one counterset answers with faults:
    windows-sim --smb-port 4450 … --id-list-padding none --block-padding none --odd-counterset Oddities --odd-answer fault
  A host without English names, whose graphics driver is away for four of each ten minutes:
    windows-sim --smb-port 4450 … --language 1031 --fault 1.9=status:1168 --fault 1.10=status:15100 --change 'GPU Engine=absent@10m/4m'

When it is ready, it prints `listening on ADDRESS` for each address, `resolving objects on ADDRESS, which are on ADDRESS` for
each host with --epm-port, and `serving \PIPE\winreg on PATH` for the socket.
SIGTERM and SIGINT end it with 0.";

/// Simulates Windows hosts that serve their performance counters over SMB 2 and 3.
#[derive(Debug, Parser)]
#[command(name = "windows-sim", version, after_help = EXAMPLES)]
pub(crate) struct Options {
    /// Address of the first host.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1")]
    pub(crate) bind: IpAddr,
    /// SMB port of every host; 0 lets the system choose.
    #[arg(long, value_name = "N", required_unless_present_any = ["pipe_socket", "epm_port"])]
    pub(crate) smb_port: Option<u16>,
    /// Port of every host's object resolver and endpoint mapper, 135 on Windows; 0 lets the system choose. The objects are served on one more
    /// port of the system's choice. Without it there are none.
    #[arg(long, value_name = "N")]
    pub(crate) epm_port: Option<u16>,
    /// How often the event systems of the hosts call subscribers of the COM+ tracker; never without it. Needs --epm-port.
    #[arg(long, value_name = "DURATION", value_parser = humantime::parse_duration, requires = "epm_port")]
    pub(crate) events_every: Option<Duration>,
    /// Port of the object resolvers of subscribers: Windows asks no other than 135.
    #[arg(long, value_name = "N", default_value_t = com::dcom::RESOLVER_PORT)]
    pub(crate) events_port: u16,
    /// Serves the pipe `winreg` on this socket, for a Samba server in front; may be all that is served.
    #[arg(long, value_name = "PATH")]
    pub(crate) pipe_socket: Option<PathBuf>,
    /// An account that may read counters. Repeat it for more.
    #[arg(long, value_name = r"DOMAIN\USER", required = true)]
    pub(crate) account: Vec<String>,
    /// File with the account's password; one trailing newline is dropped. One for all accounts, or one for each.
    #[arg(long, value_name = "FILE", required = true)]
    pub(crate) password_file: Vec<PathBuf>,
    /// Keytab with the keys of `cifs/HOST`, `RPCSS/HOST` and `host/HOST`: the hosts take Kerberos, by the library of the
    /// system. The realm is the account's domain.
    #[arg(long, value_name = "FILE")]
    pub(crate) keytab: Option<PathBuf>,
    /// NTLM is switched off.
    #[arg(long, requires = "keytab")]
    pub(crate) no_ntlm: bool,
    /// Decides everything that differs between hosts; host number i has this plus i.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// The time of the hosts. It stands still, unless --clock-speed says otherwise. Without it: the wall clock.
    #[arg(long, value_name = "RFC3339", value_parser = parse_time)]
    pub(crate) clock: Option<FileTime>,
    /// How many times as fast as real time --clock runs.
    #[arg(long, value_name = "FACTOR", default_value_t = 0.0, requires = "clock")]
    pub(crate) clock_speed: f64,
    /// How many hosts to serve, on consecutive loopback addresses.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) hosts: u32,
    /// Serves this Linux machine's own processors, processes and disks.
    #[arg(long, conflicts_with_all = ["clock", "hosts"])]
    pub(crate) live: bool,
    /// What size the hosts have; the three options that follow change parts of it.
    #[arg(long, value_enum, default_value_t = Profile::Default)]
    pub(crate) profile: Profile,
    /// Logical processors of each host. [default: 4]
    #[arg(long, value_name = "N")]
    pub(crate) processors: Option<u32>,
    /// Services that run on each host all the time. [default: 8; small: 4]
    #[arg(long, value_name = "N")]
    pub(crate) services: Option<u32>,
    /// Places in which short-lived processes come and go. [default: 6; small: 0]
    #[arg(long, value_name = "N")]
    pub(crate) slots: Option<u32>,
    /// Number of additional small countersets. With 240 of them one call cannot enumerate all.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(..=i64::from(SYNTHETIC_MAX)))]
    pub(crate) countersets: u32,
    /// How countersets of the aggregate types without named instances (4 and 0xC) are sent.
    #[arg(long, value_enum, default_value_t = Aggregates::Instances)]
    pub(crate) aggregates: Aggregates,
    /// Language of the hosts, as an LCID: 1033 is English, 1031 is German.
    #[arg(long, value_name = "LCID", default_value_t = 1033)]
    pub(crate) language: u32,
    /// Ticks a second of the performance clock.
    #[arg(long, value_name = "HZ", default_value_t = 10_000_000)]
    pub(crate) perf_freq: u64,
    /// Keeps a JSON file with the logons by account, connections, pipes and calls up to date.
    #[arg(long, value_name = "FILE")]
    pub(crate) stats_file: Option<PathBuf>,
    /// Keeps the state of RPC calls in a file of this directory, where `perfmon-exporter rpc-state --directory DIR` shows it.
    /// The directory is made if it is missing; nobody else may write to it.
    #[arg(long, value_name = "DIR")]
    pub(crate) rpc_state: Option<PathBuf>,
    /// How much of the state is kept.
    #[arg(long, value_name = "LEVEL", value_enum, default_value_t, requires = "rpc_state")]
    pub(crate) rpc_state_level: RpcStateLevel,
    #[command(flatten)]
    pub(crate) sets: SetFiles,
    #[command(flatten)]
    pub(crate) faults: Faults,
    #[command(flatten)]
    pub(crate) choices: Choices,
}

/// Faults to inject.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Faults to inject")]
pub(crate) struct Faults {
    /// [SERVICE/]OPNUM[.CODE][+SKIP][xTIMES]=ACTION, where SERVICE is pcq (if not given), winreg, epm, mgmt, resolver,
    /// activator, rem-unknown, rem-unknown2, tracker, event-system or pla-set (data collector sets), and ACTION is
    /// fault:STATUS, status:STATUS, delay:DURATION, lose-handles, grow:PERCENT, corrupt:WHAT, stall, truncate, garbage,
    /// oversize:BYTES or drop; WHAT is out-size, total-size, block-size, instance-count, string-offset, block-count or
    /// index; CODE is the request code of opnum 1. May be repeated.
    #[arg(long, value_name = "RULE")]
    pub(crate) fault: Vec<Rule>,
    /// COUNTERSET=WHAT[@PERIOD/LENGTH], where WHAT is absent (not registered), stopped (its provider does not run),
    /// error:STATUS (its blocks say so) or updated (more counters; for `Updates` alone); for the last LENGTH of each
    /// PERIOD of the host's uptime, or always. May be repeated. An object of version 1 in place of COUNTERSET is absent
    /// from performance data, whatever WHAT is.
    #[arg(long, value_name = "CHANGE")]
    pub(crate) change: Vec<Change>,
    /// Share of the hosts that accept connections and never answer.
    #[arg(long, value_name = "PERCENT", default_value = "0%")]
    pub(crate) black_hole: Share,
    /// Share of the hosts that delay the answer to each poll, and for how long.
    #[arg(long, value_name = "PERCENT:DURATION")]
    pub(crate) slow: Option<Slow>,
    /// Number of opens of the pipe to refuse at first, as while the service starts.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) refuse_opens: u32,
    /// The status of those refusals.
    #[arg(long, value_enum, default_value_t = Refusal::NotAvailable)]
    pub(crate) refusal: Refusal,
    /// Stops the remote registry service after this idle time by the hosts' clock; never if the clock stands still.
    #[arg(long, value_name = "DURATION", value_parser = humantime::parse_duration)]
    pub(crate) idle_stop: Option<Duration>,
    /// Number of opens to refuse after each such stop, while the service starts again.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) refuse_after_stop: u32,
    /// Number of messages after which an SMB session expires.
    #[arg(long, value_name = "N")]
    pub(crate) session_expires_after: Option<u32>,
    /// The answer to a client that binds the registry's interface.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) registry: RegistryMode,
    /// Closes the root of performance data in the registry to all callers.
    #[arg(long)]
    pub(crate) refuse_performance_data: bool,
    /// Leaves out the end of the XML of its data collector sets.
    #[arg(long)]
    pub(crate) cut_set_xml: bool,
    /// The answer to a client that activates an object.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) activation: ActivationMode,
    /// Where the hosts say that their objects are.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) object_bindings: ObjectBindings,
    /// How clients authenticate to the RPC servers of the hosts, over TCP.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) rpc_security: RpcSecurity,
    /// Whether clients may or must encrypt SMB.
    #[arg(long, value_enum, default_value_t = SmbEncryption::Allowed)]
    pub(crate) smb_encryption: SmbEncryption,
    /// SMB dialects that are spoken; `1` alone is a server that knows SMB1 only.
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_enum, default_values_t = SmbDialect::MODERN)]
    pub(crate) dialects: Vec<SmbDialect>,
    /// What state all accounts are in.
    #[arg(long, value_enum, default_value_t = State::Active)]
    pub(crate) account_state: State,
    /// Number of wrong passwords after which an account is locked.
    #[arg(long, value_name = "N")]
    pub(crate) lock_after: Option<u32>,
    /// The accounts can log on and may not read counters.
    #[arg(long)]
    pub(crate) not_authorised: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Profile {
    /// What the other options say.
    Default,
    /// About 500 series in `Processor Information` and `Process V2`, and always the same ones.
    Small,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Aggregates {
    /// Each process's instance, for the client to add up.
    Instances,
    /// One instance, which the host has added up.
    Single,
}

impl From<Aggregates> for AggregateForm {
    fn from(aggregates: Aggregates) -> Self {
        match aggregates {
            Aggregates::Instances => Self::Instances,
            Aggregates::Single => Self::Single,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Refusal {
    NotAvailable,
    NotFound,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SmbEncryption {
    Disabled,
    Allowed,
    Required,
}

impl From<SmbEncryption> for Encryption {
    fn from(encryption: SmbEncryption) -> Self {
        match encryption {
            SmbEncryption::Disabled => Self::Disabled,
            SmbEncryption::Allowed => Self::Allowed,
            SmbEncryption::Required => Self::Required,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SmbDialect {
    #[value(name = "1")]
    Smb1,
    #[value(name = "2.1")]
    Smb21,
    #[value(name = "3.0")]
    Smb30,
    #[value(name = "3.0.2")]
    Smb302,
    #[value(name = "3.1.1")]
    Smb311,
}

impl SmbDialect {
    const MODERN: [Self; 4] = [Self::Smb21, Self::Smb30, Self::Smb302, Self::Smb311];

    pub(crate) const fn dialect(self) -> Option<Dialect> {
        match self {
            Self::Smb1 => None,
            Self::Smb21 => Some(Dialect::Smb2_1),
            Self::Smb30 => Some(Dialect::Smb3_0),
            Self::Smb302 => Some(Dialect::Smb3_0_2),
            Self::Smb311 => Some(Dialect::Smb3_1_1),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum State {
    Active,
    Locked,
    Disabled,
    Expired,
    PasswordExpired,
    Restricted,
}

impl From<State> for AccountState {
    fn from(state: State) -> Self {
        match state {
            State::Active => Self::Active,
            State::Locked => Self::Locked,
            State::Disabled => Self::Disabled,
            State::Expired => Self::Expired,
            State::PasswordExpired => Self::PasswordExpired,
            State::Restricted => Self::Restricted,
        }
    }
}

fn parse_time(text: &str) -> Result<FileTime, jiff::Error> {
    let time: jiff::Timestamp = text.parse()?;
    Ok(FileTime::from_unix_nanos(time.as_nanosecond()))
}
