//! A real Prometheus that knows `/sd` only: it finds the targets, scrapes each through `/probe`, and sees their
//! series vanish at once when a target dies, some intervals later where the configuration says so, and come back. Then
//! many probes of a slow host at once, which cause one collection.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::prometheus::{query, start_with};
use crate::Outcome;
use crate::Result;
use crate::http;
use crate::process::{Running, poll};
use crate::stage::Stage;
use crate::workspace::Workspace;

const TIMEOUT: Duration = Duration::from_secs(60);
/// Each scrape and each collection is a second after the last one.
const STALE_INTERVALS: u32 = 3;
/// A little less than one peer may ask at a time: three quarters of `web.max_connections_per_peer`.
const STORM: usize = 180;
/// The slow host takes its time for the first call.
const SLOW: &str = "*x1=delay:2s";
/// Lines of one host's processors, which stand for all its series.
const PROCESSORS: &str = "perfmon_processor_information_processor_time_inactive_seconds_total";

pub(crate) fn run(workspace: &Workspace) -> Result<Outcome> {
    let stage = Stage::new(workspace)?;
    let statistics = stage.path("statistics.json");
    // One of its countersets is away for a third of the time.
    let away = ["--change", "HTTP Service=stopped@12s/4s"];
    let (alpha, alpha_at) = stage.simulator(&away)?;
    let (beta, beta_at) = stage.simulator(&["--bind", "127.0.0.2"])?;
    let file = statistics.display().to_string();
    let (_slow, slow_at) =
        stage.simulator(&["--bind", "127.0.0.3", "--fault", SLOW, "--stats-file", &file])?;
    let password = stage.password_file()?;
    let configuration = configuration(&password, [alpha_at, beta_at, slow_at]);
    let (mut exporter, address) = stage.exporter_with(&configuration)?;
    let sd = format!(
        "  - job_name: windows\n    http_sd_configs: [{{url: 'http://{address}/sd', refresh_interval: 1s}}]\n"
    );
    let (_prometheus, prometheus) = start_with(&stage, &sd)?;

    let seen = finds_and_scrapes(prometheus).map_err(|error| exporter.complaint(&error.to_string()))?;
    a_part_goes_and_comes(prometheus)?;
    let at_once = dies(prometheus, "alpha", alpha)?;
    let later = dies(prometheus, "beta", beta)?;
    if later < Duration::from_secs(u64::from(STALE_INTERVALS) - 1) {
        return Err(format!("beta's series should outlive three intervals, and went after {later:?}").into());
    }
    let port = alpha_at.port().to_string();
    let (_alpha, _) = stage.simulator(&["--smb-port", &port])?;
    poll("alpha's series are back", TIMEOUT, || present(prometheus, &processors("alpha")))?;
    leads_into_the_networks(address)?;
    let storm = storm(address, &statistics)?;
    Ok(Outcome::Ran(format!(
        "{seen} series of two targets by /sd alone; gone {:.1} s after a failure, {:.1} s with stale_after; {storm}",
        at_once.as_secs_f64(),
        later.as_secs_f64()
    )))
}

/// Both targets are scraped under their names and with their labels, and no series says them twice.
fn finds_and_scrapes(prometheus: SocketAddr) -> Result<usize> {
    for target in ["alpha", "beta"] {
        let labelled = format!("{PROCESSORS}{{instance=\"{target}\",site=\"north\",job=\"windows\"}}");
        poll(&format!("Prometheus scrapes {target}"), TIMEOUT, || present(prometheus, &labelled))?;
        for metric in ["up", "perfmon_probe_success"] {
            let one = format!("{metric}{{instance=\"{target}\",site=\"north\"}} == 1");
            poll(&one, TIMEOUT, || present(prometheus, &one))?;
        }
    }
    for twice in [
        "{exported_target!=\"\"}",
        "{job=\"windows\",target=\"\",__name__=~\"perfmon_.*\"}",
        "{exported_site!=\"\"}",
        "{__name__=~\"perfmon_exporter_.*\"}",
    ] {
        if let Some(series) = query(prometheus, twice)?.first() {
            return Err(format!("{twice} finds a series of instance {:?}", series.label("instance")).into());
        }
    }
    Ok(query(prometheus, "{job=\"windows\",__name__=~\"perfmon_.*\"}")?.len())
}

/// The counterset that is away now and then takes its own series along, and no others.
fn a_part_goes_and_comes(prometheus: SocketAddr) -> Result<()> {
    let part = "{__name__=~\"perfmon_http_service_.+\",instance=\"alpha\"}";
    poll("the counterset is there", TIMEOUT, || present(prometheus, part))?;
    poll("its series go alone", TIMEOUT, || {
        let others = query(prometheus, &processors("alpha"))?.len();
        Ok((query(prometheus, part)?.is_empty() && others > 0).then_some(()))
    })?;
    poll("the counterset is back", TIMEOUT, || present(prometheus, part))
}

/// Ends a host; answers how long its series were there after Prometheus knew of it. The exporter itself stays up.
fn dies(prometheus: SocketAddr, target: &str, host: Running) -> Result<Duration> {
    host.end()?;
    let down = format!("perfmon_probe_success{{instance=\"{target}\"}} == 0");
    poll(&down, TIMEOUT, || present(prometheus, &down))?;
    let known = Instant::now();
    poll(&format!("{target}'s series are gone"), TIMEOUT, || {
        Ok(query(prometheus, &processors(target))?.is_empty().then_some(()))
    })?;
    let after = known.elapsed();
    let reason = format!("perfmon_probe_failure_info{{instance=\"{target}\"}}");
    for still in [reason, format!("up{{instance=\"{target}\"}} == 1")] {
        present(prometheus, &still)?.ok_or_else(|| format!("{still} is not there"))?;
    }
    Ok(after)
}

/// A name is asked where the list has all its addresses, and its secret goes there alone.
fn leads_into_the_networks(exporter: SocketAddr) -> Result<()> {
    let page =
        http::get(exporter, "/probe?target=localhost&module=os&identity=one&transport=alpha", "text/plain")?;
    let is_good = page.status == 200 && page.body.contains("\nperfmon_probe_success 1\n");
    if is_good { Ok(()) } else { Err(format!("localhost: {} {}", page.status, page.body).into()) }
}

/// Concurrent probes get the series of one collection.
fn storm(exporter: SocketAddr, statistics: &Path) -> Result<String> {
    let ask = || {
        let path = "/probe?target=127.0.0.3&module=os&identity=one&transport=slow";
        http::get(exporter, path, "text/plain").map_err(|error| error.to_string())
    };
    let began = Instant::now();
    let answers: Vec<_> = std::thread::scope(|scope| {
        let asking: Vec<_> = (0..STORM).map(|_| scope.spawn(ask)).collect();
        asking.into_iter().map(std::thread::ScopedJoinHandle::join).collect()
    });
    let took = began.elapsed();
    for answer in answers {
        let page = answer.map_err(|_| "an asker panicked")??;
        let is_good = page.status == 200 && page.body.contains("\nperfmon_probe_success 1\n");
        if !is_good || !page.body.contains(PROCESSORS) {
            return Err(format!("a probe of the storm was answered {}: {}", page.status, page.body).into());
        }
    }
    let logons: Value = serde_json::from_slice(&fs::read(statistics)?)?;
    let accepted = &logons["accounts"][r"sim\metrics"]["accepted"];
    // One over SMB and one over RPC.
    if *accepted != 2 {
        return Err(format!("{STORM} probes at once made {accepted} logons instead of one pair").into());
    }
    Ok(format!("{STORM} probes at once of a slow host in {:.1} s, one collection", took.as_secs_f64()))
}

fn configuration(password: &Path, [alpha, beta, slow]: [SocketAddr; 3]) -> String {
    let transport = |name: &str, at: SocketAddr| format!("  {name}: {{smb: {{port: {}}}}}\n", at.port());
    let target = |name: &str, at: SocketAddr, more: &str| {
        format!(
            "  - {{name: {name}, host: {}, identity: one, transport: {name}, modules: [os], labels: {{site: north}}{more}}}\n",
            at.ip()
        )
    };
    format!(
        "web: {{listen: ['127.0.0.1:0']}}\nplugins: {{load: [pcq]}}\nscrape: {{interval: 1s}}\n\
         probe: {{allow_targets: [127.0.0.0/8, '::1', localhost]}}\n\
         identities:\n  one: {{kind: ntlm, domain: SIM, username: metrics, password_file: {}, \
         allow_hosts: [127.0.0.0/8, '::1']}}\n\
         modules: {{os: {{plugin: pcq, countersets: [{{name: Processor Information}}, {{name: HTTP Service}}]}}}}\n\
         transports:\n{}{}{}targets:\n{}{}",
        password.display(),
        transport("alpha", alpha),
        transport("beta", beta),
        transport("slow", slow),
        target("alpha", alpha, ""),
        target("beta", beta, &format!(", stale_after: {STALE_INTERVALS}")),
    )
}

fn processors(target: &str) -> String {
    format!("{PROCESSORS}{{instance=\"{target}\"}}")
}

fn present(prometheus: SocketAddr, text: &str) -> Result<Option<()>> {
    Ok((!query(prometheus, text)?.is_empty()).then_some(()))
}
