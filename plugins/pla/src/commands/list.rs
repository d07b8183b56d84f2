//! `list`: the sets of a category.

use std::fmt::Write as _;

use plugin_sdk::{Command, Exit, Run};
use plugin_session::ObjectStep;
use plugin_session::command::{CommandError, HostAccess};
use safe_text::one_line;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::access::{CALLS_MAX, RELEASE_MAX, WayArguments};
use super::collectors_json;
use super::text::collectors_in_words;
use crate::host::{CategoryWord, Listed, Progress, Which, collection_service, list};
use crate::series::status_word;

/// Lists the data collector sets of a host.
#[derive(Debug)]
pub(crate) struct List;

#[derive(clap::Args)]
pub(crate) struct ListArguments {
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    format: Format,
    #[arg(long, value_name = "CATEGORY", default_value = "user_defined")]
    category: CategoryWord,
    #[command(flatten)]
    way: WayArguments,
}

/// How it is printed.
#[derive(Clone, Copy, clap::ValueEnum)]
pub(super) enum Format {
    /// for reading
    Table,
    /// for programs
    Json,
}

/// What the host has.
struct Found {
    sets: Vec<Listed>,
    /// Why sets are missing whose names are not known.
    unread: Option<String>,
}

impl Command for List {
    const NAME: &'static str = "list";
    const HELP: &'static str =
        "Lists the data collector sets of a host, whether they run, and what they collect";
    type Arguments = ListArguments;

    async fn run(run: Run, arguments: ListArguments) -> Exit {
        let ListArguments { format, category, way } = arguments;
        let access = match way.access() {
            Ok(access) => access,
            Err(error) => return error.print(&run),
        };
        match find(&run, &access, category).await {
            Ok(found) => {
                run.progress("");
                run.out(&match format {
                    Format::Table => table(access.host(), category, &found),
                    Format::Json => format!("{:#}\n", json(access.host(), category, &found)),
                });
                Exit::Success
            }
            Err(error) => error.print(&run),
        }
    }
}

async fn find(run: &Run, access: &HostAccess, category: CategoryWord) -> Result<Found, CommandError> {
    let service = collection_service(category.category());
    run.progress(&format!("connecting to {}…", access.host()));
    let mut collection = access.activate(&service, run).await.map_err(|failed| failed.error)?;
    run.progress("data collector sets…");
    let mut sets = Vec::new();
    let deadline = Instant::now() + CALLS_MAX;
    let mut progress = Progress::default();
    // Of many large sets the texts are what takes memory.
    let take = |mut listed: Listed| {
        if let Ok(read) = &mut listed.read {
            read.text = String::new();
        }
        sets.push(listed);
    };
    let listed = list(&mut collection, Which::All, &mut progress, take, deadline).await;
    listed.map_err(|error| CommandError::of_object(&service, &error, ObjectStep::Call))?;
    let unread = if progress.is_complete() { progress.unread() } else { Some(progress.in_the_time()) };
    // If the host is slow, it drops the object when no pings come.
    let _ = collection.release(Instant::now() + RELEASE_MAX).await;
    sets.sort_by_key(|set| set.name.to_lowercase());
    Ok(Found { sets, unread })
}

fn table(host: &str, category: CategoryWord, found: &Found) -> String {
    let Found { sets, unread } = found;
    let mut text = format!("data collector sets of {host} ({}): {}\n", category.as_str(), sets.len());
    let names: Vec<String> = sets.iter().map(|set| one_line(&set.name)).collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).min(NAME_WIDTH_MAX);
    for (set, name) in sets.iter().zip(&names) {
        let _ = match &set.read {
            Ok(read) => {
                let status = status_word(read.status);
                let schedules = match read.document.are_schedules_enabled {
                    Some(true) => read.document.schedules.len(),
                    _ => 0,
                };
                let schedules = match schedules {
                    0 => String::new(),
                    1 => ", 1 schedule".to_owned(),
                    number => format!(", {number} schedules"),
                };
                writeln!(
                    text,
                    "  {name:width$}  {status:9}  {}{schedules}",
                    collectors_in_words(&read.document)
                )
            }
            Err(why) => writeln!(text, "  {name:width$}  not read: {}", one_line(why)),
        };
    }
    if let Some(why) = unread {
        let _ = writeln!(text, "not all sets could be read: {}", one_line(why));
    }
    text
}

fn json(host: &str, category: CategoryWord, found: &Found) -> Value {
    let Found { sets, unread } = found;
    let set = |set: &Listed| match &set.read {
        Ok(read) => json!({
            "name": set.name,
            "status": status_word(read.status),
            "serial_number": read.document.serial_number,
            "schedules_enabled": read.document.are_schedules_enabled,
            "schedules": read.document.schedules.len(),
            "collectors": collectors_json(&read.document),
            "problem": null,
        }),
        Err(why) => json!({"name": set.name, "status": null, "problem": why}),
    };
    json!({
        "host": host,
        "category": category.as_str(),
        "sets": sets.iter().map(set).collect::<Vec<_>>(),
        "problem": unread,
    })
}

/// Longer names shift what is after them.
const NAME_WIDTH_MAX: usize = 48;
