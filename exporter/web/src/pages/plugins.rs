//! `/plugins`: what is loaded, and how it behaves.

use hyper::Response;
use plugin_host::{CommandInfo, Limits, Mode, PluginInfo, SourceInfo};
use targets::PluginSource;

use super::amount::count;
use super::frame::{Frame, Section};
use super::html::Html;
use super::respond;
use crate::body::Answer;
use crate::metrics::Site;

pub(super) fn page(site: &Site) -> Response<Answer> {
    let frame = Frame {
        title: "Plugins",
        section: Section::Plugins,
        root: "",
        refresh_s: None,
        has_files: site.keeps_files(),
    };
    let plugins = site.page_state.plugins.get();
    respond(frame.write(|html| {
        html.ours("<h1>Plugins</h1>");
        if plugins.is_empty() {
            html.ours("<p class=\"empty\">No plugin is loaded. List plugins under <code>plugins:</code> in the configuration.</p>");
        }
        for (index, plugin) in plugins.iter().enumerate() {
            one(html, index, plugin);
        }
        limits(html, &site.page_state.plugin_limits);
    }))
}

fn one(html: &mut Html, index: usize, plugin: &PluginSource) {
    let info = plugin.library.info();
    html.ours("<section aria-labelledby=\"plugin-")
        .text(index)
        .ours("\"><h2 id=\"plugin-")
        .text(index)
        .ours("\">");
    html.name(&plugin.name).ours("</h2><p>").name(&info.description).ours("</p><dl class=\"figures\">");
    let mut fact = |name: &'static str, text: String| {
        html.ours("<div><dt>").ours(name).ours("</dt><dd>").name(text).ours("</dd></div>");
    };
    fact("Version", info.version.clone());
    fact("ABI", info.abi.to_string());
    fact(
        "File",
        info.file.as_ref().map_or("built into the program".to_owned(), |file| file.display().to_string()),
    );
    fact("In quarantine", count(plugin.library.quarantined(plugin_host::monotonic_ns()) as u64));
    fact("Hung threads", count(plugin.library.lost_threads() as u64));
    html.ours("</dl>");
    violations(html, plugin);
    sources(html, info);
    commands(html, &plugin.name, &info.commands);
    html.ours("</section>\n");
}

fn violations(html: &mut Html, plugin: &PluginSource) {
    let mut counts = plugin.library.violations().iter().filter(|(_, count)| *count > 0).peekable();
    if counts.peek().is_none() {
        html.ours("<p>No contract violations.</p>");
        return;
    }
    html.ours("<h3>Contract violations</h3><ul class=\"counted\">");
    for (violation, times) in counts {
        html.ours("<li><strong>")
            .text(count(times))
            .ours(" ×</strong> <code>")
            .text(violation.as_str())
            .ours("</code></li>");
    }
    html.ours("</ul><p>Report them to the plugin's author.</p>");
}

fn sources(html: &mut Html, info: &PluginInfo) {
    html.ours("<h3>Sources</h3><ul class=\"plain\">");
    for SourceInfo { name, help, mode, reasons, .. } in &info.sources {
        let mode = match mode {
            Mode::Async => "asynchronous",
            Mode::Blocking => "blocking",
        };
        html.ours("<li><strong>").name(name).ours("</strong> (").ours(mode).ours("): ").name(help);
        if !reasons.is_empty() {
            html.ours("<details><summary>Reasons for failures, and what to do (").text(reasons.len());
            html.ours(")</summary><dl class=\"reasons\">");
            for reason in reasons {
                html.ours("<dt><code>").text(&reason.word).ours("</code></dt><dd>").prose(&reason.sentence);
                html.ours("<span class=\"sub\">").prose(&reason.next_step).ours("</span></dd>");
            }
            html.ours("</dl></details>");
        }
        html.ours("</li>");
    }
    html.ours("</ul>");
}

fn commands(html: &mut Html, plugin: &str, commands: &[CommandInfo]) {
    if commands.is_empty() {
        return;
    }
    html.ours("<h3>Commands</h3><dl class=\"reasons\">");
    for CommandInfo { name, help, aliases, .. } in commands {
        html.ours("<dt><code>perfmon-exporter ")
            .text(plugin)
            .ours(" ")
            .text(name)
            .ours("</code></dt><dd>")
            .name(help);
        if !aliases.is_empty() {
            html.ours("<span class=\"sub\">also <code>").text(aliases.join(", ")).ours("</code></span>");
        }
        html.ours("</dd>");
    }
    html.ours("</dl>");
}

/// Writes the limits of every plugin.
fn limits(html: &mut Html, limits: &Limits) {
    html.ours("<section aria-labelledby=\"limits\"><h2 id=\"limits\">Limits of every plugin</h2><dl class=\"figures\">");
    for (name, limit) in [
        ("Families per instance", u64::from(limits.families_max)),
        ("Series per instance", u64::from(limits.series_max)),
        ("Labels per series", u64::from(limits.labels_max)),
        ("Bytes per label value", u64::from(limits.label_value_bytes_max)),
        ("Rows per batch", u64::from(limits.batch_rows_max)),
        ("Instances", u64::from(limits.instances_max)),
        ("Concurrent collections per host", u64::from(limits.collections_per_target_max)),
        ("Faults before quarantine", u64::from(limits.faults_max)),
        ("Log bytes per second", u64::from(limits.log_bytes_per_second_max)),
    ] {
        html.ours("<div><dt>").ours(name).ours("</dt><dd>").text(count(limit)).ours("</dd></div>");
    }
    html.ours("</dl></section>");
}
