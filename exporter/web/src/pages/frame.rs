//! The header and footer of all pages.

use super::html::{Html, Url};

/// Which part of the site a page belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Section {
    Targets,
    Alerts,
    Logs,
    Plugins,
    RpcState,
    Config,
    /// No part: an error page.
    None,
}

/// A page without its contents.
pub(super) struct Frame<'a> {
    pub(super) title: &'a str,
    pub(super) section: Section,
    /// The relative path to the first page.
    pub(super) root: &'static str,
    /// How often the script refreshes the page; `None` if the page does not change.
    pub(super) refresh_s: Option<u64>,
    /// Whether files of targets are kept, so that there is a page of them.
    pub(super) has_files: bool,
}

impl Frame<'_> {
    /// Writes the page; `fill` writes the contents of `<main>`.
    pub(super) fn write(&self, fill: impl FnOnce(&mut Html)) -> Html {
        let mut html = Html::new(self.root);
        html.ours("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
        html.ours("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
        html.ours("<meta name=\"color-scheme\" content=\"light dark\">\n<title>").text(self.title);
        html.ours(" – perfmon-exporter</title>\n<link rel=\"stylesheet\"").href(&Url::of("page.css"));
        html.ours(">\n<link rel=\"icon\" type=\"image/svg+xml\"").href(&Url::of("icon.svg"));
        html.ours(">\n<script defer src=\"").ours(self.root).ours("page.js\"></script>\n</head>\n<body");
        if let Some(refresh_s) = self.refresh_s {
            html.attr("data-refresh", refresh_s);
        }
        html.ours(">\n<a class=\"skip\" href=\"#main\">Skip to the content</a>\n");
        self.write_header(&mut html);
        html.ours("<main id=\"main\" tabindex=\"-1\">\n");
        fill(&mut html);
        html.ours("\n</main>\n<footer><p>perfmon-exporter ").text(env!("CARGO_PKG_VERSION"));
        html.ours(" · <a").href(&Url::of("metrics")).ours(">metrics</a> · <a").href(&Url::of("-/healthy"));
        html.ours(">healthy</a> · <a")
            .href(&Url::of("-/ready"))
            .ours(">ready</a></p></footer>\n</body>\n</html>\n");
        html
    }

    fn write_header(&self, html: &mut Html) {
        html.ours("<header><div class=\"bar\"><a class=\"brand\"").href(&Url::of(""));
        html.ours("><img alt=\"\" width=\"22\" height=\"22\" src=\"").ours(self.root);
        html.ours("icon.svg\">perfmon-exporter</a><nav aria-label=\"Pages\"><ul>");
        let pages = [
            (Section::Targets, "", "Targets"),
            (Section::Alerts, "alerts", "Alerts"),
            (Section::Logs, "logs", "Counter logs"),
            (Section::Plugins, "plugins", "Plugins"),
            (Section::RpcState, "rpc-state", "RPC state"),
            (Section::Config, "config", "Configuration"),
        ];
        let is_there = |section| section != Section::Logs || self.has_files;
        for (section, path, name) in pages.into_iter().filter(|(section, ..)| is_there(*section)) {
            html.ours("<li><a").href(&Url::of(path));
            if section == self.section {
                html.ours(" aria-current=\"page\"");
            }
            html.ours(">").ours(name).ours("</a></li>");
        }
        html.ours("</ul></nav><div id=\"refresh\"></div></div></header>\n");
    }
}

/// Links to the pages above this one.
pub(super) fn crumbs(html: &mut Html, steps: &[(&str, Url)]) {
    html.ours("<nav class=\"crumbs\" aria-label=\"Breadcrumb\"><ol>");
    for (name, url) in steps {
        html.ours("<li><a").href(url).ours(">").name(name).ours("</a></li>");
    }
    html.ours("</ol></nav>");
}
