//! `export`: one set as XML, as the host sent it.

use std::path::PathBuf;

use plugin_sdk::{Command, Exit, Run};
use plugin_session::command::CommandError;

use super::access::{self, WayArguments};
use crate::host::CategoryWord;

/// Exports a data collector set of a host.
#[derive(Debug)]
pub(crate) struct Export;

#[derive(clap::Args)]
pub(crate) struct ExportArguments {
    /// The name of the set
    #[arg(value_name = "SET")]
    set: String,
    /// Write it to this file, in UTF-16 as Windows does, in place of the standard output
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[arg(long, value_name = "CATEGORY", default_value = "user_defined")]
    category: CategoryWord,
    #[command(flatten)]
    way: WayArguments,
}

impl Command for Export {
    const NAME: &'static str = "export";
    const HELP: &'static str =
        "Exports a data collector set of a host as XML, such as the module's settings and Windows read it";
    type Arguments = ExportArguments;

    async fn run(run: Run, arguments: ExportArguments) -> Exit {
        match export(&run, arguments).await {
            Ok(()) => Exit::Success,
            Err(error) => error.print(&run),
        }
    }
}

async fn export(run: &Run, arguments: ExportArguments) -> Result<(), CommandError> {
    let ExportArguments { set, output, category, way } = arguments;
    let read = access::read(run, &way.access()?, category.category(), &set).await?;
    let Some(file) = output else {
        run.out(&read.text);
        return Ok(());
    };
    // The text says that it is UTF-16, as the host sent it.
    let units = std::iter::once(BYTE_ORDER_MARK).chain(read.text.encode_utf16());
    let bytes: Vec<u8> = units.flat_map(u16::to_le_bytes).collect();
    std::fs::write(&file, bytes).map_err(|error| {
        let next_step = "name a file in a directory that this user may write to";
        CommandError::failed(format!("{}: {error}", file.display()), next_step)
    })
}

const BYTE_ORDER_MARK: u16 = 0xfeff;
