//! Conformance checks: whole programs, most of them not ours, against ours. One check a file.

mod agreement;
mod alertmanager;
mod bad_input;
mod browser;
mod counter_tables;
mod counter_types;
pub(crate) mod dashboards;
mod dcom;
mod documents;
mod domain;
mod epm;
mod exporter_logs;
mod exposition;
mod go_msrpc;
mod go_objects;
mod go_performance_logs;
mod grafana;
mod impacket;
pub(crate) mod kdc;
mod kerberos;
mod lockout;
mod logs;
mod memory;
mod ndrdump;
mod otlp;
mod page;
mod performance_data;
mod pla_rules;
mod probe;
mod prometheus;
mod prometheus3;
mod registry;
mod relabel;
mod rpc_endpoints;
mod samba;
mod scapy;
mod sets;
mod smbd_front;
mod tshark;
mod victoria_metrics;
mod web;
mod wine;
mod winreg;
mod without_ntlm;

use std::fs;
use std::process::Command;

use crate::peers::{Peer, missing, python};
use crate::workspace::{Workspace, capture, cargo};
use crate::{Outcome, Report, Result};

type Run = fn(&Workspace) -> Result<Outcome>;

type Check = (&'static str, &'static [Peer], Run);

/// Name, what it needs, what it does. The order is that of the layers.
const CHECKS: [Check; 66] = [
    ("a wrong password costs one attempt in all", &[], lockout::run),
    ("bad hosts have names, and good ones do not notice", &[], bad_input::run),
    ("a host of 5,000 series takes little memory", &[], memory::run),
    ("a minute of trouble on all sides leaves good hosts alone", &[], crate::soak::minute),
    ("the commands of the documents work", &[Peer::Curl, Peer::Htpasswd], documents::run),
    ("Alertmanager hears of alerts and of their ends", &[Peer::Alertmanager, Peer::Cc], alertmanager::run),
    ("promtool reads the queries of the documents", &[Peer::Prometheus], documents::queries),
    ("Samba's ndrdump reads our stubs", &[Peer::Ndrdump], ndrdump::run),
    ("Samba's ndrdump reads our DCOM stubs", &[Peer::Ndrdump], dcom::by_ndrdump),
    ("impacket reads our DCOM structures, and we its", &[Peer::Python], dcom::by_impacket),
    ("impacket reads our COM+ messages, and we its", &[Peer::Python], by_impacket),
    ("Samba's ndrdump reads our endpoint mapper and management stubs", &[Peer::Ndrdump], epm::by_ndrdump),
    ("our client at Samba's endpoint mapper and sealed TCP RPC", &[Peer::Samba], epm::samba),
    ("the exporter shows Samba's RPC servers", &[Peer::Samba, Peer::Curl], rpc_endpoints::at_samba),
    ("Wine's NDR reads and writes our tracker's messages", &[Peer::Wine], wine::run),
    ("our client against Samba's winreg", &[Peer::Samba, Peer::Python], winreg::run),
    ("impacket against our server", &[Peer::Python], impacket::run),
    ("impacket lists our endpoint map and asks our management interface", &[Peer::Python], epm::by_impacket),
    ("impacket activates our tracker of COM+", &[Peer::Python], impacket::tracker),
    (
        "impacket lists our data collector sets by stubs of its own",
        &[Peer::Python],
        impacket::performance_logs,
    ),
    ("impacket stores a subscription and follows it to our subscriber", &[Peer::Python], impacket::events),
    ("our client reads a tracker of COM+ that is Scapy's server", &[Peer::Scapy], scapy::tracker),
    ("Scapy's client reads our tracker of COM+", &[Peer::Scapy], scapy::client),
    (
        "our event system calls a subscriber that is Scapy's server",
        &[Peer::Scapy, Peer::Python],
        scapy::events,
    ),
    (
        "MIT Kerberos takes our logons and messages, and Samba without NTLM",
        &[Peer::Kdc, Peer::Samba, Peer::Python],
        kerberos::run,
    ),
    ("MIT Kerberos finds what is wrong, and we say why", &[Peer::Kdc, Peer::Samba], kerberos::faults),
    ("the exporter is a member of Samba's domain", &[Peer::Domain], domain::run),
    ("the exporter reads hosts without NTLM, and a KDC counts", &[Peer::Kdc, Peer::Samba], without_ntlm::run),
    ("impacket and Samba's client read our registry", &[Peer::Python, Peer::Samba], registry::run),
    ("impacket and our client read the same performance data", &[Peer::Python], performance_data::run),
    ("impacket and our client see the same values", &[Peer::Python], agreement::run),
    ("go-msrpc logs in and sends wrong verification trailers", &[Peer::GoMsrpc], go_msrpc::run),
    ("go-msrpc reads our tracker of COM+ and stores a subscription", &[Peer::GoMsrpc], go_objects::run),
    (
        "go-msrpc lists our data collector sets, and starts and stops one",
        &[Peer::GoMsrpc],
        go_performance_logs::run,
    ),
    ("Python's parser reads the data collector sets that we write", &[Peer::Python], sets::run),
    ("cabextract and gcab unpack our cabinet files, and we gcab's", &[Peer::Cabinets], logs::cabinets),
    ("go-msrpc reads what we write of data collector sets", &[Peer::GoMsrpc], go_performance_logs::stubs),
    ("our server behind smbd, polled by the exporter", &[Peer::Samba], smbd_front::run),
    ("discover and query behind smbd", &[Peer::Samba, Peer::Python], agreement::behind_smbd),
    ("tshark dissects our traffic", &[Peer::Tshark, Peer::Samba], tshark::run),
    ("tshark opens our tickets", &[Peer::Tshark, Peer::Samba, Peer::Kdc], tshark::by_kerberos),
    ("tshark dissects call-backs of COM+ events", &[Peer::Tshark, Peer::Python], tshark::call_backs),
    ("promtool and the Python parser read the page", &[Peer::Prometheus, Peer::Python], exposition::run),
    ("Prometheus 3 parses every format alike", &[Peer::Prometheus3], exposition::by_textparse),
    ("Prometheus scrapes the exporter", &[Peer::Prometheus], prometheus::run),
    ("curl and Prometheus pass the web server's gate", &[Peer::Curl, Peer::Prometheus], web::run),
    ("Prometheus relabels as the exporter does", &[Peer::Prometheus], relabel::run),
    ("Prometheus probes what /sd tells it", &[Peer::Prometheus], probe::run),
    ("promtool judges rules made of alerts as pla-engine does", &[Peer::Prometheus], pla_rules::run),
    (
        "Prometheus 3 judges rules made of alerts as pla-engine does",
        &[Peer::Prometheus3],
        pla_rules::by_prometheus3,
    ),
    ("pandas and DuckDB read logs of counters", &[Peer::Pandas], logs::counter_logs),
    ("Prometheus cooks every counter type", &[Peer::Prometheus], counter_types::run),
    ("Prometheus 3 stores what every format says", &[Peer::Prometheus3], prometheus3::run),
    ("Prometheus 3 answers the dashboard and follows the rules", &[Peer::Prometheus3], dashboards::run),
    ("Prometheus 3 answers the dashboards of hosts", &[Peer::Prometheus3], dashboards::hosts::run),
    ("Prometheus 3 has what public dashboards read", &[Peer::Prometheus3], dashboards::public::run),
    ("Grafana's schema describes the dashboards", &[Peer::GrafanaSchema], grafana::run),
    ("the OpenTelemetry Collector takes what is pushed", &[Peer::Otelcol, Peer::Cc], otlp::run),
    (
        "promtool, Prometheus and a collector read a plugin's histograms",
        &READERS_OF_HISTOGRAMS,
        otlp::histograms,
    ),
    ("VictoriaMetrics scrapes and takes what is pushed", &[Peer::VictoriaMetrics], victoria_metrics::run),
    ("rotel takes what is pushed", &[Peer::Otelcol, Peer::Rotel], otlp::by_rotel),
    (
        "psql and sqlite3 read logs of counters by PDH's joins",
        &[Peer::Postgres, Peer::Sqlite],
        counter_tables::run,
    ),
    ("counter logs of the exporter, read by pandas, psql and sqlite3", &READERS_OF_LOGS, exporter_logs::run),
    ("Chromium looks at the pages for people", &[Peer::Chromium], page::run),
    ("xmllint reads our reports and evaluates rules as we do", &[Peer::Xmllint], logs::by_xmllint),
    ("Chromium looks at the reports of counters", &[Peer::Chromium], logs::by_chromium),
];

const READERS_OF_HISTOGRAMS: [Peer; 5] =
    [Peer::Prometheus, Peer::Python, Peer::Prometheus3, Peer::Otelcol, Peer::Cc];

const READERS_OF_LOGS: [Peer; 4] = [Peer::Pandas, Peer::Postgres, Peer::Sqlite, Peer::Xmllint];

/// Runs every check whose name contains `only`; without peers those that need none.
pub(crate) fn run(workspace: &Workspace, report: &mut Report, only: &str, with_peers: bool) {
    let is_chosen = |(name, needed, _): &Check| name.contains(only) && (with_peers || needed.is_empty());
    let chosen: Vec<_> = CHECKS.into_iter().filter(is_chosen).collect();
    if chosen.iter().all(|(_, needed, _)| missing(workspace, needed).is_some()) {
        for (name, needed, _) in chosen {
            report.check(name, || missing(workspace, needed).ok_or_else(|| "a peer appeared".into()));
        }
        return;
    }
    report.check("release build for the conformance checks", || {
        workspace.build_for_conformance().map(|()| Outcome::Ran(String::new()))
    });
    for (name, needed, run) in chosen {
        report.check(name, || match missing(workspace, needed) {
            Some(skipped) => Ok(skipped),
            None => run(workspace),
        });
    }
}

pub(crate) fn by_impacket(workspace: &Workspace) -> Result<Outcome> {
    let folder = tempfile::tempdir()?;
    let [ours, theirs, recoded] = ["ours", "theirs", "recoded"].map(|name| folder.path().join(name));
    let impacket = || {
        let mut command = Command::new(python(workspace));
        command.arg(workspace.root.join("crates/xtask/peers/impacket_com_plus.py"));
        command
    };
    fs::write(&ours, example(workspace, None)?)?;
    fs::write(&theirs, capture(impacket().arg("write"))?)?;
    let file = theirs.to_str().ok_or("the temporary folder has no name in UTF-8")?;
    fs::write(&recoded, example(workspace, Some(file))?)?;
    let compared = capture(impacket().arg("check").args([&ours, &theirs, &recoded]))?;
    Ok(Outcome::Ran(compared.trim().to_owned()))
}

/// What the example prints; with a file of stubs, those as the crates write them.
fn example(workspace: &Workspace, file: Option<&str>) -> Result<String> {
    let mut example = cargo();
    example.current_dir(&workspace.root).args(["run", "--quiet", "--locked", "-p", "com"]);
    capture(example.args(["--example", "com_plus_stubs", "--"]).args(file))
}
