//! `/config`: the configuration in use.

use config::HIDDEN;
use config::target_files::FileState;
use http_server::Caller;
use hyper::Response;

use super::amount::{self, count};
use super::frame::{Frame, Section};
use super::html::{Html, Url};
use super::{Paging, Query, hidden_from, respond};
use crate::IdentityRow;
use crate::body::Answer;
use crate::metrics::Site;

/// Lines on one page.
const LINES_MAX: usize = 1_000;

pub(super) fn page(site: &Site, query: &Query<'_>, caller: &Caller) -> Response<Answer> {
    let (target_registry, has_files) = (&site.target_registry, site.keeps_files());
    let shown = target_registry.config_shown();
    let text = if caller.is_authenticated { shown.to_authenticated } else { shown.to_all };
    let lines: Vec<&str> = text.lines().collect();
    let paging = Paging::new(query.page(), lines.len(), LINES_MAX);
    let frame =
        Frame { title: "Configuration", section: Section::Config, root: "", refresh_s: None, has_files };
    respond(frame.write(|html| {
        html.ours("<h1>Configuration</h1><p>The configuration in use, without comments. Values that are ");
        html.ours("not known to be harmless are shown as <mark>")
            .ours(HIDDEN)
            .ours("</mark>. Keys that are not listed have their ");
        html.ours("defaults.</p>");
        html.hide(hidden_from(caller, site));
        if !caller.is_authenticated {
            html.ours("<p>Identities are shown by name only. Authenticated readers ");
            html.ours("(<code>web.config_file</code>) also see their accounts and hosts.</p>");
        }
        let identities = site.page_state.identities.as_ref();
        let identities = identities.map(|identities| identities.rows()).unwrap_or_default();
        let files = target_registry.files();
        if !identities.is_empty() {
            html.ours("<h2>Identities</h2><ul class=\"counted\">");
            identities.iter().for_each(|row| identity(html, row, caller.is_authenticated));
            html.ours("</ul>");
            if files.is_empty() {
                html.ours("<h2>The file</h2>");
            }
        }
        if !files.is_empty() {
            target_files(html, &files);
        }
        html.ours("<pre class=\"config\" tabindex=\"0\" aria-label=\"Configuration\"><code>");
        for line in &lines[paging.range()] {
            config_line(html, line);
        }
        html.ours("</code></pre>");
        paging.write(html, &Url::of("config"));
    }))
}

fn identity(html: &mut Html, row: &IdentityRow, shows_account: bool) {
    html.ours("<li><code>").name(&row.name).ours("</code>: ").ours(row.kind);
    if shows_account && !row.account.is_empty() {
        html.ours(", ").name(&row.account);
    }
    let told: Vec<_> = row.accounts.iter().filter(|(_, count)| *count > 0).collect();
    if told.is_empty() {
        html.ours(", not used yet");
    }
    for (word, times) in told {
        html.ours(", ").ours(word);
        if *times > 1 {
            html.ours(" (").text(count(*times)).ours(" accounts)");
        }
    }
    if let Some(ticket) = &row.ticket {
        html.ours("<span class=\"sub\">Ticket");
        if shows_account && ticket.principal != row.account {
            html.ours(" of ").name(&ticket.principal);
        }
        html.ours(" from ")
            .text(moment(ticket.obtained_unix_s))
            .ours(" to ")
            .text(moment(ticket.expires_unix_s));
        if let Some(skew) = ticket.skew_seconds {
            html.ours("; the KDC's clock is ").text(skew.unsigned_abs()).ours(" s ");
            html.ours(if skew < 0 { "behind" } else { "ahead" });
        }
        html.ours("</span>");
    }
    if let Some((reason, next_step, message)) = &row.failure {
        html.ours("<span class=\"sub\">No new ticket, <code>").ours(reason).ours("</code>: ").detail(message);
        html.ours(". ").prose(next_step).ours("</span>");
    }
    html.ours("</li>");
}

fn moment(unix_s: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "seconds of years that people live in")]
    amount::moment(unix_s as f64)
}

/// Writes a line and marks hidden values.
fn config_line(html: &mut Html, line: &str) {
    let mut parts = line.split(HIDDEN).peekable();
    while let Some(part) = parts.next() {
        html.text(part);
        if parts.peek().is_some() {
            html.ours("<mark>").ours(HIDDEN).ours("</mark>");
        }
    }
    html.ours("\n");
}

fn target_files(html: &mut Html, files: &[FileState]) {
    html.ours("<h2>Target files</h2><ul class=\"counted\">");
    for file in files {
        html.ours("<li><code>").name(&file.path).ours("</code>: ").text(file.targets).ours(" targets");
        if file.refused > 0 {
            html.ours(", ").text(file.refused).ours(" of them refused");
        }
        if !file.is_good {
            html.ours("<span class=\"sub\">The file cannot be read now").ours(match file.targets {
                0 => ".</span>",
                _ => ", so its last valid targets stay in use.</span>",
            });
        }
        for problem in &file.problems {
            html.ours("<span class=\"sub\">").name(problem).ours("</span>");
        }
        html.ours("</li>");
    }
    html.ours("</ul><h2>The file</h2>");
}
