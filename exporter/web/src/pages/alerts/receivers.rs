//! The table of receivers.

use std::sync::Arc;
use std::time::SystemTime;

use alerts::{Counts, Last};

use super::{ago, cell, head};
use crate::pages::amount::count;
use crate::pages::html::Html;

pub(super) fn table(html: &mut Html, receivers: &[Arc<Counts>], now: SystemTime) {
    if receivers.is_empty() {
        html.ours("<p class=\"empty\">Alerts are sent to nobody. To send them to Alertmanager, write ");
        html.ours(
            "<code>alerts: {alertmanagers: [{url: 'http://HOST:9093'}]}</code> in the configuration.</p>",
        );
        return;
    }
    let columns = [
        ("Receiver", ""),
        ("State", "near"),
        ("Last success", "near"),
        ("Sent", "number"),
        ("To be sent", "number"),
        ("Not delivered", "number"),
        ("Last failure", ""),
    ];
    head(html, "Receivers", columns.into_iter());
    for receiver in receivers {
        let last = receiver.last();
        html.ours("<tr role=\"row\"><th role=\"rowheader\" scope=\"row\"><strong>").name(receiver.name());
        html.ours("</strong><span class=\"sub\">").ours(receiver.kind().as_str()).ours("</span></th>");
        state(html, &last);
        cell(html, "Last success", last.success.map_or("–".to_owned(), |time| ago(now, time)));
        number(html, "Sent", receiver.sent());
        number(html, "To be sent", receiver.waiting());
        number(html, "Not delivered", receiver.dropped().iter().map(|(_, count)| count).sum());
        failure(html, &last, now);
        html.ours("</tr>\n");
    }
    html.ours("</tbody></table>");
}

fn state(html: &mut Html, last: &Last) {
    let (class, sign, word) = match last.is_up() {
        Some(true) => ("up", "✓", "up"),
        Some(false) => ("down", "✕", "failing"),
        None => ("waiting", "○", "nothing sent yet"),
    };
    html.ours("<td role=\"cell\" class=\"near\" data-label=\"State\"><span class=\"state ").ours(class);
    html.ours("\"><span aria-hidden=\"true\">").ours(sign).ours("</span> ").ours(word).ours("</span></td>");
}

fn number(html: &mut Html, name: &'static str, number: u64) {
    html.ours("<td role=\"cell\" class=\"number\"").attr("data-label", name).ours(">");
    html.text(count(number)).ours("</td>");
}

fn failure(html: &mut Html, last: &Last, now: SystemTime) {
    let Some((time, trouble, message)) = &last.failure else {
        html.ours("<td role=\"cell\"></td>");
        return;
    };
    html.ours("<td role=\"cell\" data-label=\"Last failure\"><div>").text(ago(now, *time)).ours(": <code>");
    html.text(trouble.as_str()).ours("</code><p class=\"trouble\">").prose(message).ours("</p>");
    if last.is_up() == Some(false) {
        html.ours("<p class=\"step\"><span class=\"label\">Next step:</span> ").prose(trouble.next_step());
        html.ours("</p>");
    }
    html.ours("</div></td>");
}
