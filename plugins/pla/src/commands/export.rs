//! `export`: one set as XML, as the host sent it.

use std::path::PathBuf;

use ms_pla::xml::DataCollectorSet;
use plugin_sdk::{Command, Exit, Run};
use plugin_session::command::CommandError;

use super::access::{self, WayArguments};
use crate::host::CategoryWord;
use crate::model::LIMITS;

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
    let text = access::export(run, &way.access()?, category.category(), &set).await?;
    if let Err(error) = DataCollectorSet::read_each(text.as_bytes(), &LIMITS) {
        run.err(&format!("note: the XML of the set is as the host sent it, and cannot be read: {error}\n"));
    }
    let Some(file) = output else {
        run.out(&printable(&text));
        return Ok(());
    };
    // The text says that it is UTF-16, as the host sent it.
    let units = std::iter::once(BYTE_ORDER_MARK).chain(text.encode_utf16());
    let bytes: Vec<u8> = units.flat_map(u16::to_le_bytes).collect();
    std::fs::write(&file, bytes).map_err(|error| {
        let next_step = "name a file in a directory that this user may write to";
        CommandError::failed(format!("{}: {error}", file.display()), next_step)
    })
}

/// XML has no control characters but blanks and ends of lines, and others are commands to a terminal. They stay in a file.
fn printable(text: &str) -> String {
    let is_foreign = |letter: &char| letter.is_control() && !letter.is_ascii_whitespace();
    text.chars().filter(|letter| !is_foreign(letter)).collect()
}

const BYTE_ORDER_MARK: u16 = 0xfeff;
