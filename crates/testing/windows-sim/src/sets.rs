//! Data collector sets from files.

use std::path::{Path, PathBuf};

use ms_pla::Category;
use ms_pla::xml::{DataCollectorSet, Limits};
use windows_sim::WindowsHost;
use windows_sim::model::data_collector_sets::Store;

use crate::run::{Error, cannot};

/// Data collector sets that each host has beside its own.
#[derive(Debug, clap::Args)]
pub(crate) struct SetFiles {
    /// File with a data collector set as XML, which each host has beside those that it comes with, and which clients of
    /// performance logs and alerts can list, read, start and stop. Its name is that of the XML, or of the file. Repeat it for
    /// more. Needs --epm-port.
    #[arg(long, value_name = "FILE", requires = "epm_port")]
    pub(crate) pla_set: Vec<PathBuf>,
}

impl SetFiles {
    /// Reads all of them.
    pub(crate) fn read(&self) -> Result<Vec<DataCollectorSet>, Error> {
        self.pla_set.iter().map(|path| read(path)).collect()
    }
}

fn read(path: &Path) -> Result<DataCollectorSet, Error> {
    let bytes = std::fs::read(path).map_err(cannot(format!("read {}", path.display())))?;
    let set = DataCollectorSet::read(&bytes, &Limits::default());
    let set = set.map_err(|error| Error::Options(format!("--pla-set {}: {error}", path.display())))?;
    let file_name = || path.file_stem().and_then(|stem| stem.to_str()).map(str::to_owned);
    let name = set.name.clone().filter(|name| !name.is_empty()).or_else(file_name);
    Ok(DataCollectorSet { name, ..set })
}

/// Stores them on a host.
pub(crate) fn store(host: &WindowsHost, sets: &[DataCollectorSet]) -> Result<(), Error> {
    for set in sets {
        let name = set.name.as_deref().unwrap_or_default();
        let stored = host.store_data_collector_set(Category::Server, name, set.clone(), Store::New);
        stored.map_err(|error| Error::Options(format!("--pla-set with the name `{name}`: {error}")))?;
    }
    Ok(())
}
