//! `show`: one set.

use plugin_sdk::{Command, Exit, Run};

use super::access::{self, WayArguments};
use super::list::Format;
use super::{json, text};
use crate::host::CategoryWord;

/// Shows a data collector set of a host.
#[derive(Debug)]
pub(crate) struct Show;

#[derive(clap::Args)]
pub(crate) struct ShowArguments {
    /// The name of the set
    #[arg(value_name = "SET")]
    set: String,
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    format: Format,
    #[arg(long, value_name = "CATEGORY", default_value = "user_defined")]
    category: CategoryWord,
    #[command(flatten)]
    way: WayArguments,
}

impl Command for Show {
    const NAME: &'static str = "show";
    const HELP: &'static str = "Shows a data collector set of a host: status, schedules, data collectors, counters, thresholds, providers of traces";
    type Arguments = ShowArguments;

    async fn run(run: Run, arguments: ShowArguments) -> Exit {
        let ShowArguments { set, format, category, way } = arguments;
        let access = match way.access() {
            Ok(access) => access,
            Err(error) => return error.print(&run),
        };
        match access::read(&run, &access, category.category(), &set).await {
            Ok(read) => {
                run.out(&match format {
                    Format::Table => text::set(&set, &read),
                    Format::Json => format!("{:#}\n", json::set(access.host(), &set, &read)),
                });
                Exit::Success
            }
            Err(error) => error.print(&run),
        }
    }
}
