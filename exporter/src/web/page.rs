use std::fmt::{self, Write};
use std::time::{Duration, Instant};

use crate::telemetry::{Book, TargetEntry, TargetStatus};

pub(super) const STYLE: &str = "\
body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:72rem;padding:0 1rem;color:#1b1f24;background:#fff}
table{border-collapse:collapse;width:100%}
th,td{text-align:left;vertical-align:top;padding:.4rem .6rem;border-bottom:1px solid #d0d7de}
.up{color:#116329;font-weight:600}.down{color:#a40e26;font-weight:600}.waiting{color:#57606a}
small{color:#57606a;display:block}
@media(prefers-color-scheme:dark){body{color:#e6edf3;background:#0d1117}th,td{border-color:#30363d}.up{color:#56d364}.down{color:#ff7b72}.waiting,small{color:#8b949e}a{color:#58a6ff}}
@media(max-width:40rem){thead{display:none}tr,td{display:block;border:0}tr{border-bottom:1px solid #d0d7de;padding:.5rem 0}}
";

/// The page for people. Every text that is not ours goes through [`Escaped`].
pub(super) fn index(book: &Book) -> String {
    let mut page = String::new();
    // Writing into a string cannot fail.
    let _ = write_index(&mut page, book);
    page
}

fn write_index(out: &mut String, book: &Book) -> fmt::Result {
    let targets: Vec<(&TargetEntry, TargetStatus)> =
        book.targets().iter().map(|entry| (entry, entry.status())).collect();
    let up = targets.iter().filter(|(_, status)| status.is_up() == Some(true)).count();
    out.write_str(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>perfmon-exporter</title>\n<link rel=\"stylesheet\" href=\"page.css\">\n</head>\n<body>\n\
         <h1>perfmon-exporter</h1>\n",
    )?;
    writeln!(
        out,
        "<p>Version {}. <a href=\"metrics\">Metrics</a>, <a href=\"-/healthy\">healthy</a>, \
         <a href=\"-/ready\">ready</a>.</p>\n<h2>Targets</h2>\n<p>{up} of {} up.</p>",
        env!("CARGO_PKG_VERSION"),
        targets.len()
    )?;
    out.write_str(
        "<table>\n<thead><tr><th scope=\"col\">Target</th><th scope=\"col\">State</th>\
         <th scope=\"col\">Series</th><th scope=\"col\">Last collection</th></tr></thead>\n<tbody>\n",
    )?;
    for (entry, status) in &targets {
        write_target(out, entry, status)?;
    }
    out.write_str("</tbody>\n</table>\n</body>\n</html>\n")
}

fn write_target(out: &mut String, entry: &TargetEntry, status: &TargetStatus) -> fmt::Result {
    write!(out, "<tr><td>{}", Escaped(&entry.name))?;
    if entry.host != entry.name {
        write!(out, "<small>{}</small>", Escaped(&entry.host))?;
    }
    out.write_str("</td><td>")?;
    let since = status.since.map(|since| Ago(since.elapsed()));
    match (status.is_up(), status.down()) {
        (_, Some(down)) => {
            let detail = if down.message.is_empty() { &down.sentence } else { &down.message };
            write!(out, "<span class=\"down\">down</span>")?;
            if let Some(since) = since {
                write!(out, " for {since}")?;
            }
            write!(
                out,
                "<small>{} at {}: {}</small><small>{}</small>",
                Escaped(&down.reason),
                down.stage,
                Escaped(detail),
                Escaped(&down.next_step)
            )?;
        }
        (Some(true), None) => {
            write!(out, "<span class=\"up\">up</span>")?;
            if let Some(since) = since {
                write!(out, " for {since}")?;
            }
        }
        _ => write!(out, "<span class=\"waiting\">waiting for the first collection</span>")?,
    }
    write!(out, "</td><td>{}</td><td>", status.series())?;
    let durations: Vec<Duration> = status.jobs.iter().filter_map(|job| job.last_duration).collect();
    if durations.is_empty() {
        out.write_str("none")?;
    } else {
        write!(out, "{} ms", durations.iter().sum::<Duration>().as_millis())?;
    }
    if status.jobs.iter().any(|job| job.running_since.is_some_and(|since| since <= Instant::now())) {
        out.write_str("<small>collecting now</small>")?;
    }
    out.write_str("</td></tr>\n")
}

/// Text that is safe between tags and in quoted attributes.
struct Escaped<'a>(&'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

/// A time to the unit that matters.
struct Ago(Duration);

impl fmt::Display for Ago {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_secs() {
            seconds @ 0..120 => write!(f, "{seconds} s"),
            seconds @ 120..7200 => write!(f, "{} min", seconds / 60),
            seconds @ 7200..172_800 => write!(f, "{} h", seconds / 3600),
            seconds => write!(f, "{} d", seconds / 86_400),
        }
    }
}
