//! What `debug=true` shows to people, in front of the page.

use std::collections::BTreeSet;
use std::fmt::{self, Write};

use config::{Config, PasswordFiles, Secret, Target, shown_module};

use targets::{TargetHealth, TargetState};
use web::Probed;

/// The report. `lines` is the log of the collection, where that was made for this probe.
pub(super) fn of(
    config: &Config,
    target: &Target,
    entry: &TargetState,
    modules: &[usize],
    probed: &Probed,
    lines: Option<Vec<String>>,
    shows_identity: bool,
) -> String {
    let mut out = String::new();
    // Writing into a string cannot fail.
    let _ = write_report(&mut out, target, entry, modules, probed, lines);
    let _ = write_settings(&mut out, config, target, shows_identity);
    if shows_identity {
        return out;
    }
    // Why a password could not be read is said with its file.
    let mut files = PasswordFiles::default();
    files.add(&config.identities);
    files.hide(&out).into_owned()
}

fn write_report(
    out: &mut String,
    target: &Target,
    entry: &TargetState,
    modules: &[usize],
    probed: &Probed,
    lines: Option<Vec<String>>,
) -> fmt::Result {
    let (state, age) = (probed.state.unwrap_or(TargetHealth::Down).as_str(), probed.age.as_secs_f64());
    writeln!(out, "Probe of {}\n", target.name)?;
    writeln!(out, "state:     {state}")?;
    match &lines {
        Some(_) => writeln!(out, "answered:  by a collection for this probe")?,
        None => writeln!(out, "answered:  from the target's schedule, {age:.3} s after the last collection")?,
    }
    writeln!(out, "took:      {:.3} s", probed.duration.as_secs_f64())?;
    let status = entry.status();
    writeln!(out, "\nStages\n")?;
    for &module in modules {
        writeln!(out, "  module {}: {} series", entry.modules[module], status.jobs[module].series)?;
        for ((stage, _), cost) in probed.stages.iter().zip(&status.jobs[module].last_stages) {
            let seconds = cost.duration.as_secs_f64();
            if cost.calls > 0 || seconds > 0.0 {
                let (calls, bytes_in, bytes_out) = (cost.calls, cost.bytes_in, cost.bytes_out);
                writeln!(
                    out,
                    "    {stage:<8} {seconds:8.3} s  {calls} calls, {bytes_in} B in, {bytes_out} B out"
                )?;
            }
        }
    }
    let failures = modules
        .iter()
        .filter_map(|&module| status.jobs[module].down.as_ref().or(status.jobs[module].partial.as_ref()));
    for down in failures {
        let detail = down.detail();
        writeln!(out, "\nFailure\n\n  module {}: {}: {}: {detail}", down.module, down.stage, down.reason)?;
        if !down.next_step.is_empty() {
            writeln!(out, "  next: {}", down.next_step)?;
        }
    }
    if let Some(lines) = lines {
        writeln!(out, "\nLog\n")?;
        if lines.is_empty() {
            writeln!(out, "  (nothing was logged)")?;
        }
        lines.iter().try_for_each(|line| writeln!(out, "{line}"))?;
    }
    Ok(())
}

fn write_settings(out: &mut String, config: &Config, target: &Target, shows_identity: bool) -> fmt::Result {
    writeln!(out, "\nConfiguration\n")?;
    writeln!(out, "  host: {}\n  transport: {}", target.host, target.transport)?;
    if let Some(transport) = config.transports.get(&target.transport) {
        writeln!(out, "    connect_timeout: {}", humantime::format_duration(transport.connect_timeout))?;
        let modules = target.modules.iter().filter_map(|name| config.modules.get(name));
        let lines: BTreeSet<String> = modules.flat_map(|module| transport.shown(&module.schema)).collect();
        lines.iter().try_for_each(|line| writeln!(out, "    {line}"))?;
    }
    if let Some((name, identity)) =
        target.identity.as_ref().and_then(|name| Some((name, config.identities.get(name)?)))
    {
        writeln!(out, "  identity: {name}")?;
        if shows_identity {
            let secret = match identity.secret {
                Secret::Password(_) => "password ***",
                Secret::Keytab(_) => "keytab ***",
                Secret::Cache(_) => "tickets of a cache",
            };
            writeln!(out, "    account: {}, {}, {secret}", identity.account_name(), identity.kind())?;
            writeln!(out, "    allow_hosts: {}", identity.allow_hosts)?;
        }
    }
    for name in &target.modules {
        let Some(module) = config.modules.get(name) else { continue };
        write!(out, "  module {name}:\n{}", shown_module(name, module, 4))?;
    }
    Ok(())
}
