//! Commands on the data collector sets of a host: `pla list`, `show`, `export`, `start` and `stop`. Nothing is made, changed or
//! removed there.
//!
//! | module | job |
//! | --- | --- |
//! | `access` | the options that all have, and the way to the host |
//! | `list` | all sets of a category |
//! | `show`, `text`, `json` | one set: for people, for programs |
//! | `export` | one set as XML |
//! | `control`, `audit` | a set is started or stopped, where the configuration allows it, and that is recorded |
//! | `validate` | what of exported sets is ignored or in conflict |
//! | `reasons` | what the host's answers about one set mean |

mod access;
mod control;
mod export;
mod json;
mod list;
mod reasons;
mod text;
mod validate;

pub(crate) use self::control::{Start, Stop};
pub(crate) use self::export::Export;
pub(crate) use self::list::List;
pub(crate) use self::validate::Validate;
use plugin_sdk::{Command, Exit, Run};

use crate::commands::access::WayArguments;
use crate::commands::list::Format;
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
