//! Parts that several pages have: tiles, sections, and tables whose rows become cards on a phone.

use super::amount::count;
use super::html::Html;

/// A figure with its name. `class` is that of a state, or `plain`.
pub(super) fn tile(
    html: &mut Html,
    class: &'static str,
    sign: &'static str,
    figure: &str,
    label: &'static str,
) {
    html.ours("<li class=\"tile ").ours(class).ours("\"><span class=\"figure\">");
    if !sign.is_empty() {
        html.ours("<span class=\"sign\" aria-hidden=\"true\">").ours(sign).ours("</span>");
    }
    html.text(figure).ours("</span> <span class=\"label\">").ours(label).ours("</span></li>");
}

/// A part of a page with its heading, and how many rows it has.
pub(super) fn section(html: &mut Html, title: &'static str, rows: usize, write: impl FnOnce(&mut Html)) {
    html.ours("<section").attr("aria-label", title).ours("><h2>").ours(title);
    if rows > 0 {
        html.ours(" <span class=\"of\">").text(count(rows as u64)).ours("</span>");
    }
    html.ours("</h2>");
    write(html);
    html.ours("</section>\n");
}

/// Begins a table whose rows become cards on a phone. Of each column the name and the class.
pub(super) fn head(
    html: &mut Html,
    caption: &'static str,
    columns: impl Iterator<Item = (&'static str, &'static str)>,
) {
    html.ours("<table class=\"cards state-rows\" role=\"table\"><caption class=\"unseen\">").ours(caption);
    html.ours("</caption><thead role=\"rowgroup\"><tr role=\"row\">");
    for (name, class) in columns {
        html.ours("<th role=\"columnheader\" scope=\"col\"").attr("class", class).ours(">").ours(name);
        html.ours("</th>");
    }
    html.ours("</tr></thead><tbody role=\"rowgroup\">\n");
}

/// A short text in such a table.
pub(super) fn cell(html: &mut Html, name: &'static str, text: impl std::fmt::Display) {
    html.ours("<td role=\"cell\" class=\"near\"").attr("data-label", name).ours(">").text(text).ours("</td>");
}
