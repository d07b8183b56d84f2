//! The table of all alerts that are watched, whatever their state, the worst first.

use std::borrow::Cow;
use std::time::{Duration, SystemTime};

use super::series::{Figures, Row, Source, figures, state_of};
use super::value::Compared;
use super::{ROWS_MAX, STATES, cell, head, labels, place_of, since, target};
use crate::metrics::Site;
use crate::pages::Paging;
use crate::pages::amount::{count, span};
use crate::pages::catalogue::instance;
use crate::pages::html::{Html, Query, Url};
use crate::pages::wanted::contains;

/// The label that names an alert.
const NAME: &str = "alert";
/// The part of the page.
const PART: &str = "#watched";

/// Which alerts a reader asked to see.
pub(super) struct Wanted {
    text: String,
    /// The place of a state.
    state: Option<usize>,
    page: usize,
}

impl Wanted {
    pub(super) fn of(query: &Query<'_>) -> Self {
        let word = query.get("state");
        let state = Some(place_of(&word)).filter(|place| word_of(*place) == word);
        Self { text: query.get("q").trim().to_owned(), state, page: query.number("watched") }
    }

    fn url(&self, state: Option<usize>) -> Url {
        Url::of("alerts").with("q", &self.text).with("state", state.map_or("", word_of)).at(PART)
    }

    /// Whether the target's name or a label has the text, which is given in lower case.
    fn has_text(row: &Row<'_>, needle: &str) -> bool {
        needle.is_empty()
            || contains(&row.source.entry.name, needle)
            || row.point.labels().any(|(name, value)| row.source.identifies(name) && contains(&value, needle))
    }
}

/// The state of this place in an address.
fn word_of(place: usize) -> &'static str {
    let word = STATES[place].word;
    if word.is_empty() { "other" } else { word }
}

pub(super) fn search(html: &mut Html, wanted: &Wanted) {
    html.ours("<form class=\"search\" role=\"search\" method=\"get\"").action(&Url::of("alerts").at(PART));
    html.ours("><label for=\"q\">Search watched alerts</label>");
    html.ours("<input id=\"q\" name=\"q\" type=\"search\" autocomplete=\"off\"").attr("value", &wanted.text);
    html.ours(" placeholder=\"target, alert, set or instance\">");
    html.ours("<label for=\"state\">State</label><select id=\"state\" name=\"state\"><option value=\"\">any</option>");
    for (place, state) in STATES.iter().enumerate() {
        html.ours("<option").attr("value", word_of(place));
        html.ours(if wanted.state == Some(place) { " selected>" } else { ">" })
            .ours(state.title)
            .ours("</option>");
    }
    html.ours("</select><button type=\"submit\">Show</button>");
    if !wanted.text.is_empty() || wanted.state.is_some() {
        html.ours("<a").href(&Url::of("alerts").at(PART)).ours(">Show all</a>");
    }
    html.ours("</form>\n");
}

pub(super) fn table(html: &mut Html, site: &Site, sources: &[Source<'_>], wanted: &Wanted, now: SystemTime) {
    let mut counts = [0_u64; STATES.len()];
    let mut rows: Vec<Row<'_>> = Vec::new();
    let needle = wanted.text.to_lowercase();
    for row in sources.iter().flat_map(Source::rows).filter(|row| Wanted::has_text(row, &needle)) {
        counts[row.state] += 1;
        if wanted.state.is_none_or(|state| state == row.state) {
            rows.push(row);
        }
    }
    tiles(html, wanted, &counts);
    let paging =
        Paging::new(wanted.page, rows.len(), ROWS_MAX).of_parameter("watched", "More watched alerts");
    let range = paging.range();
    if rows.is_empty() {
        html.ours("<p class=\"empty\">No watched alert matches.</p>");
        return;
    }
    // Only those up to the end of the page are sorted.
    if range.end < rows.len() {
        rows.select_nth_unstable_by(range.end, worst_first);
        rows.truncate(range.end);
    }
    rows.sort_unstable_by(worst_first);
    let shown = &rows[range];
    let columns = [("Alert", ""), ("Target", ""), ("Value", ""), ("For", "near"), ("Labels", "")];
    head(html, "Watched alerts, the worst first", columns.into_iter());
    for (row, figures) in shown.iter().zip(figures(site, shown)) {
        write(html, row, figures, now);
    }
    html.ours("</tbody></table>");
    paging.write(html, &wanted.url(wanted.state));
}

fn worst_first(one: &Row<'_>, other: &Row<'_>) -> std::cmp::Ordering {
    let of_target = || one.source.entry.name.cmp(&other.source.entry.name);
    let of_series = || one.point.prefix.cmp(other.point.prefix);
    one.state.cmp(&other.state).then_with(of_target).then_with(of_series)
}

/// The number of alerts in each state that there is, as links to those alerts.
fn tiles(html: &mut Html, wanted: &Wanted, counts: &[u64; STATES.len()]) {
    html.ours("<ul class=\"tiles\">");
    let mut tile = |state: Option<usize>, alerts: u64| {
        let (class, sign, title) = match state {
            Some(place) => (STATES[place].class, STATES[place].sign, STATES[place].title),
            None => ("all", "", "All"),
        };
        html.ours("<li><a class=\"tile ").ours(class).ours(if alerts == 0 { " none\"" } else { "\"" });
        html.href(&wanted.url(state));
        html.ours(if wanted.state == state { " aria-current=\"true\">" } else { ">" });
        html.ours("<span class=\"figure\">");
        if !sign.is_empty() {
            html.ours("<span class=\"sign\" aria-hidden=\"true\">").ours(sign).ours("</span>");
        }
        html.text(count(alerts)).ours("</span> <span class=\"label\">").ours(title).ours("</span></a></li>");
    };
    tile(None, counts.iter().sum());
    for (place, alerts) in counts.iter().enumerate() {
        let is_always_shown = matches!(STATES[place].word, "firing" | "ok") || wanted.state == Some(place);
        if *alerts > 0 || is_always_shown {
            tile(Some(place), *alerts);
        }
    }
    html.ours("</ul>");
}

fn write(html: &mut Html, row: &Row<'_>, figures: Figures, now: SystemTime) {
    let Row { source, state, point } = row;
    let (entry, shown) = (source.entry, &STATES[*state]);
    let name = point.labels().find(|(name, value)| *name == NAME && !value.is_empty());
    html.ours("<tr role=\"row\"><th role=\"rowheader\" scope=\"row\"><strong>");
    html.name(name.map_or_else(|| Cow::Owned(instance(point, entry)), |(_, name)| name));
    html.ours("</strong> <span class=\"state ").ours(shown.class).ours("\"><span aria-hidden=\"true\">");
    html.ours(shown.sign).ours("</span> ").text(state_of(point).replace('_', " ")).ours("</span></th>");
    target(html, &entry.name, source.module(), |_| true);
    let changed_at = figures.changed_at.and_then(|at| Duration::try_from_secs_f64(at).ok());
    let changed_at = changed_at.and_then(|at| SystemTime::UNIX_EPOCH.checked_add(at));
    Compared::of_series(row, figures).write(html);
    cell(html, "For", changed_at.map_or("–".to_owned(), |at| span(since(now, at))));
    let own: Vec<_> =
        point.labels().filter(|(name, value)| source.identifies(name) && !value.is_empty()).collect();
    let own = own.iter().map(|(name, value)| (*name, &**value));
    labels(html, own.filter(|(name, _)| *name != NAME));
    html.ours("</tr>\n");
}
