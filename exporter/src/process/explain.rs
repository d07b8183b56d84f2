//! `explain REASON`: what the closed words of failures, and of series that are left out, mean, and what to do about
//! them. The sentences are those that pages, the log and metrics have: the general reasons of the ABI, what plugins declare, and
//! what the pipeline refuses.

use std::fmt::Write;
use std::path::Path;

use plugin_abi::{GeneralReason, Reason, Stage};
use plugin_host::{Host, HostOptions};
use safe_text::nearest::suggestion;
use series::pipeline::Refusal;
use support::{errln, outln};

use super::{OK, USAGE, output};

/// A word with what it means.
struct Entry {
    word: String,
    what: String,
    next_step: String,
    /// The plugin that declares the reason. `None` where the exporter does.
    plugin: Option<String>,
}

/// `explain [REASON]`, with the plugins of `config`, or else of the program's folder.
pub(super) fn explain(word: Option<&str>, config: Option<&Path>) -> u8 {
    let reasons = reasons(config);
    let Some(word) = word else {
        output::out(list(&reasons));
        return OK;
    };
    // As the log and `check-config --online` write it: `auth: wrong_credentials`.
    let word = word.rsplit([' ', ':', '/']).next().unwrap_or_default();
    let stage = Stage::ALL.into_iter().find(|stage| stage.as_str() == word);
    let found: Vec<&Entry> = reasons.iter().filter(|entry| entry.word == word).collect();
    if let Some(stage) = stage {
        outln!("{stage} (stage)\n  {}", stage.sentence());
    }
    for Entry { word, what, next_step, plugin } in &found {
        let plugin = plugin.as_ref().map_or_else(String::new, |plugin| format!(" of plugin {plugin}"));
        outln!("{word} (reason{plugin})\n  {what}\n  next: {next_step}");
    }
    if stage.is_some() || !found.is_empty() {
        return OK;
    }
    let stages = Stage::ALL.iter().map(|stage| stage.as_str());
    let known: Vec<&str> = reasons.iter().map(|entry| entry.word.as_str()).chain(stages).collect();
    let hint = suggestion(word, known.iter().copied());
    let hint = hint.unwrap_or_else(|| "`perfmon-exporter explain` lists all".to_owned());
    errln!("there is no reason or stage `{word}`; {hint}");
    USAGE
}

fn list(reasons: &[Entry]) -> String {
    let mut text = "Stages, in their order:\n".to_owned();
    for stage in Stage::ALL {
        let _ = writeln!(text, "  {:24}  {}", stage.as_str(), stage.sentence());
    }
    text += "\nReasons:\n";
    for Entry { word, what, .. } in reasons {
        let _ = writeln!(text, "  {word:24}  {what}");
    }
    text += "\n`perfmon-exporter explain REASON` says what to do.\n";
    text
}

fn reasons(config: Option<&Path>) -> Vec<Entry> {
    let general = GeneralReason::ALL.iter().map(|reason| entry(&Reason::General(*reason), None));
    let left_out = Refusal::ALL.into_iter().map(|refusal| Entry {
        word: refusal.as_str().to_owned(),
        what: refusal.sentence().to_owned(),
        next_step: refusal.next_step().to_owned(),
        plugin: None,
    });
    let mut entries: Vec<Entry> = general.chain(left_out).collect();
    let folder = config.and_then(|file| config::load(file).ok()).map(|config| config.plugins.folder());
    let folder = folder.unwrap_or_else(config::beside_program);
    let host = Host::new(HostOptions::default());
    for library in config::plugin_files(&folder).iter().filter_map(|file| host.load(file).ok()) {
        let name = &library.info().name;
        let declared = library.info().sources.iter().flat_map(|source| &source.reasons);
        entries.extend(declared.map(|reason| entry(&Reason::Declared(reason.clone()), Some(name))));
    }
    entries
}

fn entry(reason: &Reason, plugin: Option<&String>) -> Entry {
    Entry {
        word: reason.as_str().to_owned(),
        what: reason.sentence().to_owned(),
        next_step: reason.next_step().to_owned(),
        plugin: plugin.cloned(),
    }
}
