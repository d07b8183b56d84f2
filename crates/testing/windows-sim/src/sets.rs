//! Data collector sets from files, and generated ones.

use std::io;
use std::path::{Path, PathBuf};

use ms_pla::Category;
use ms_pla::xml::{self, DataCollectorSet, Limits};
use windows_sim::WindowsHost;
use windows_sim::model::data_collector_sets::{SetError, Store, generated};

/// Data collector sets that each host has beside its own, from files and generated.
#[derive(Debug, clap::Args)]
pub(crate) struct SetFiles {
    /// File with a data collector set as XML, which each host has beside those that it comes with, and which clients of
    /// performance logs and alerts can list, read, start and stop. Its name is that of the XML, or of the file. Repeat it for
    /// more. Needs --epm-port.
    #[arg(long, value_name = "FILE", requires = "epm_port")]
    pub(crate) pla_set: Vec<PathBuf>,
    /// Number of generated data collector sets to add, each with ten data collectors of five counters or thresholds. Needs
    /// --epm-port.
    #[arg(long, value_name = "COUNT", default_value_t = 0, requires = "epm_port")]
    pub(crate) pla_generated_sets: u16,
}

/// Why a file is no data collector set, or not one more.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("cannot read {}: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("--pla-set {}: {source}", path.display())]
    Xml { path: PathBuf, source: xml::Error },
    #[error("--pla-set with the name `{name}`: {source}; give it another <Name>")]
    Store { name: String, source: SetError },
}

impl SetFiles {
    /// Reads all of them.
    pub(crate) fn read(&self) -> Result<Vec<DataCollectorSet>, Error> {
        let generated = generated(self.pla_generated_sets.into()).map(Ok);
        self.pla_set.iter().map(|path| read(path)).chain(generated).collect()
    }
}

fn read(path: &Path) -> Result<DataCollectorSet, Error> {
    let bytes = std::fs::read(path).map_err(|source| Error::Read { path: path.to_owned(), source })?;
    let set = DataCollectorSet::read(&bytes, &Limits::default());
    let set = set.map_err(|source| Error::Xml { path: path.to_owned(), source })?;
    let file_name = || path.file_stem().and_then(|stem| stem.to_str()).map(str::to_owned);
    let name = set.name.clone().filter(|name| !name.is_empty()).or_else(file_name);
    Ok(DataCollectorSet { name, ..set })
}

/// Stores them on a host.
pub(crate) fn store(host: &WindowsHost, sets: &[DataCollectorSet]) -> Result<(), Error> {
    for set in sets {
        let name = set.name.as_deref().unwrap_or_default();
        let stored = host.store_data_collector_set(Category::Server, name, set.clone(), Store::New);
        stored.map_err(|source| Error::Store { name: name.to_owned(), source })?;
    }
    Ok(())
}
