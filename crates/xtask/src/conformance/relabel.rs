//! Rules of the exporter against those of a real Prometheus: one host is watched once without rules and once for each
//! set of rules. Prometheus scrapes the former with the same set as its `metric_relabel_configs`, and the latter as it
//! is; series by series, both must be the same.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::time::Duration;

use super::prometheus;
use crate::Outcome;
use crate::Result;
use crate::process::poll;
use crate::stage::{self, Stage};
use crate::workspace::Workspace;

const TIMEOUT: Duration = Duration::from_secs(60);
/// The target without rules.
const PLAIN: &str = "plain";

/// Lists of rules as both configurations have them.
const SETS: [&str; 18] = [
    r"{source_labels: [counter_instance], regex: '(\d+),(\d+)', target_label: cpu, replacement: '$2/$1'}",
    "{source_labels: [__name__], regex: 'perfmon_processor_information_(.+)_seconds_total', target_label: __name__,
      replacement: 'cpu_${1}_seconds_total'}",
    "{source_labels: [__name__], regex: '(.+)_total', target_label: __name__, replacement: 'bare_$1'}",
    "{source_labels: [__name__], regex: '.+_seconds_total', action: keep}",
    r"{source_labels: [env, counter_instance], separator: '/', regex: 'prod/\d,[0-3]', action: drop}",
    "{source_labels: [__name__, counter_instance], modulus: 7, target_label: shard, action: hashmod},
     {source_labels: [shard], regex: '[0-2]', action: keep}",
    "{regex: 'counter_(.*)', replacement: 'the_$1', action: labelmap}",
    "{regex: 'counter_instance|env', action: labeldrop}",
    "{regex: '__name__|target|job|instance|counter_.*', action: labelkeep}",
    "{source_labels: [counter_instance], target_label: counter_instance, action: UPPERCASE},
     {source_labels: [env, __name__], target_label: both, action: lowercase}",
    "{source_labels: [env], target_label: copy}, {source_labels: [env], target_label: copy, action: keepequal}",
    "{source_labels: [counter_instance], regex: '(_Total)', target_label: total},
     {source_labels: [counter_instance], target_label: total, action: dropequal}",
    r"{source_labels: [__name__, counter_instance], regex: '(.+?)(_total)?;(\d+),(\d+)', target_label: __name__,
       replacement: 'moved_${1}_${4}${2}'}, {regex: counter_instance, action: labeldrop}",
    "{source_labels: [env], regex: 'nobody', target_label: env, replacement: ''},
     {source_labels: [nobody], target_label: env}",
    r"{source_labels: [__name__], regex: '(?i)PERFMON_\Qprocessor\E_[[:alpha:]]+_(\pL{1,40})_.*', target_label: word},
      {source_labels: [word], regex: 'x{,3}', action: drop}",
    "{source_labels: [counter_instance, env], regex: '(.+);(.*)', target_label: '${2}_label', replacement: '$1$$$3'},
     {source_labels: [counter_instance], target_label: '$1', replacement: never}",
    "{target_label: site, replacement: ber}, {source_labels: [site, site], target_label: twice},
     {source_labels: [twice], regex: 'ber;(.)er', target_label: site, replacement: ''}",
    "{source_labels: [__name__], regex: 'perfmon_(http|thermal).*', action: drop},
     {source_labels: [__name__], target_label: __name__, action: uppercase}",
];

type Series = BTreeSet<Vec<(String, String)>>;

pub(crate) fn run(workspace: &Workspace) -> Result<Outcome> {
    let stage = Stage::new(workspace)?;
    let (_simulator, host) = stage.simulator(&[])?;
    let configuration = configuration(host, &stage.password_file()?.display().to_string());
    let (mut exporter, address) = stage.exporter_with(&configuration)?;
    stage::page_when_up(&mut exporter, address, PLAIN)?;
    let jobs: String = SETS.iter().enumerate().map(|(index, set)| job(index, set, address)).collect();
    let (_prometheus, prometheus) = prometheus::start_with(&stage, &(jobs + &plain_job(address)))?;
    let mut compared = 0;
    for (index, set) in SETS.iter().enumerate() {
        let target = format!("ruled{index}");
        stage::page_when_up(&mut exporter, address, &target)?;
        let mut seen = (Series::new(), Series::new());
        let agreed = poll("both agree", TIMEOUT, || {
            let theirs = series(prometheus, &format!("{{job=\"set{index}\"}}"))?;
            let ours = series(prometheus, &format!("{{job=\"{PLAIN}\",target=\"{target}\"}}"))?;
            let agree = ours == theirs && !ours.is_empty();
            seen = (ours, theirs);
            Ok(agree.then_some(()))
        });
        let (ours, theirs) = seen;
        agreed.map_err(|_| difference(set, &ours, &theirs))?;
        if ours == series(prometheus, &format!("{{job=\"{PLAIN}\",target=\"{PLAIN}\"}}"))? {
            return Err(format!("rules {set} change nothing, and so prove nothing").into());
        }
        compared += ours.len();
    }
    Ok(Outcome::Ran(format!("{} sets of rules, {compared} series alike", SETS.len())))
}

fn difference(set: &str, ours: &Series, theirs: &Series) -> String {
    let first = |left: &Series, right: &Series| {
        left.difference(right).take(3).map(|series| format!("\n  {series:?}")).collect::<String>()
    };
    format!(
        "rules {set}: {} series of ours, {} of Prometheus\nonly ours:{}\nonly theirs:{}",
        ours.len(),
        theirs.len(),
        first(ours, theirs),
        first(theirs, ours)
    )
}

/// The host's series in Prometheus, without the labels of targets and jobs.
fn series(prometheus: SocketAddr, selector: &str) -> Result<Series> {
    let samples = prometheus::query(prometheus, selector)?;
    let labels = samples.iter().map(|sample| {
        let labels = sample.labels().filter(|(name, _)| !["target", "job", "instance"].contains(name));
        labels.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    });
    let of_prometheus = |labels: &Vec<(String, String)>| {
        labels
            .iter()
            .any(|(name, value)| name == "__name__" && (value == "up" || value.starts_with("scrape_")))
    };
    Ok(labels.filter(|labels| !of_prometheus(labels)).collect())
}

/// A job that sees the target without rules, by the rules of a set.
fn job(index: usize, set: &str, exporter: SocketAddr) -> String {
    format!(
        "  - job_name: set{index}\n    static_configs: [{{targets: ['{exporter}']}}]\n    metric_relabel_configs: \
         [{{source_labels: [target], regex: {PLAIN}, action: keep}},\n     \
         {{source_labels: [__name__], regex: 'perfmon_exporter_.*|.*_created', action: drop}},\n     {set}]\n"
    )
}

fn plain_job(exporter: SocketAddr) -> String {
    format!(
        "  - job_name: {PLAIN}\n    static_configs: [{{targets: ['{exporter}']}}]\n    metric_relabel_configs: \
         [{{source_labels: [__name__], regex: 'perfmon_exporter_.*|.*_created', action: drop}}]\n"
    )
}

fn configuration(host: SocketAddr, password_file: &str) -> String {
    let (domain, user) = stage::ACCOUNT.split_once('\\').unwrap_or(("", stage::ACCOUNT));
    let (address, port) = (host.ip(), host.port());
    let mut text = format!(
        "web: {{listen: ['127.0.0.1:0']}}\nplugins: {{load: [pcq]}}\nscrape: {{interval: 2s}}\n\
         identities:\n  sim: {{kind: ntlm, domain: {domain}, username: {user}, password_file: {password_file}, \
         allow_hosts: ['{address}']}}\ntransports:\n  default: {{smb: {{port: {port}}}}}\n\
         modules:\n  os: {{plugin: pcq, countersets: [{{name: Processor Information, totals: keep}}, {{name: HTTP Service}}, \
         {{name: Thermal Zone Information}}]}}\n\
         target_defaults: {{identity: sim, modules: [os], labels: {{env: prod}}}}\ntargets:\n  \
         - {{name: {PLAIN}, host: {address}}}\n"
    );
    for (index, set) in SETS.iter().enumerate() {
        text += &format!(
            "  - name: ruled{index}\n    host: {address}\n    normalize: {{metric_relabel_configs: [{set}]}}\n"
        );
    }
    text
}
