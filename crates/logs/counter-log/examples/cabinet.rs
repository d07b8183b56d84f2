//! Makes a cabinet file of the files of a folder, unpacks one into a folder, or deletes folders.
//!
//! `cabinet create FOLDER` makes FOLDER/NAME.cab, as the folder action of a data manager does; `cabinet extract FILE FOLDER`
//! unpacks one; `cabinet keep COUNT FOLDER` deletes the oldest folders in FOLDER, and keeps COUNT.

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use counter_log::data_manager::{
    DataManager, ExtractLimits, FolderAction, FolderLimits, Managed, ManagerSettings, Request, extract,
};
use ms_pla::{FolderActionSteps, ResourcePolicy};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match arguments[..] {
        ["create", folder] => create(Path::new(folder)),
        ["extract", file, folder] => unpack(Path::new(file), Path::new(folder)),
        ["keep", count, folder] => keep(count, Path::new(folder)),
        _ => Err("usage: cabinet create FOLDER | extract FILE FOLDER | keep COUNT FOLDER".into()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn open(path: &Path) -> Result<Dir, Box<dyn Error>> {
    Ok(Dir::open_ambient_dir(path, ambient_authority())?)
}

/// The folder that a path is in, and its name there.
fn parent(path: &Path) -> Result<(Dir, &str), Box<dyn Error>> {
    let name = path.file_name().and_then(|name| name.to_str()).ok_or("the path has no name")?;
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Ok((open(parent)?, name))
}

fn create(folder: &Path) -> Result<(), Box<dyn Error>> {
    let (root, _) = parent(folder)?;
    let action = FolderAction {
        age_min_days: 0,
        size_min_mb: 0,
        steps: FolderActionSteps::CREATE_CAB,
        send_cab_to: String::new(),
    };
    let settings =
        ManagerSettings { is_enabled: true, folder_actions: vec![action], ..ManagerSettings::default() };
    let managed = DataManager::new(settings).run(&Request::new(&root, jiff::Timestamp::now()));
    for done in &managed.actions {
        println!("{}: {} files, {} bytes", done.folder, done.files, done.bytes);
    }
    first_failure(managed)
}

fn keep(count: &str, folder: &Path) -> Result<(), Box<dyn Error>> {
    let limits = FolderLimits { folders_max: count.parse()?, ..FolderLimits::default() };
    let policy = ResourcePolicy::DELETE_OLDEST;
    let settings = ManagerSettings { is_enabled: true, limits, policy, ..ManagerSettings::default() };
    let root = open(folder)?;
    let managed = DataManager::new(settings).run(&Request::new(&root, jiff::Timestamp::now()));
    for removed in &managed.removed {
        println!("{}: {} files, {} bytes", removed.folder, removed.files, removed.bytes);
    }
    first_failure(managed)
}

fn first_failure(managed: Managed) -> Result<(), Box<dyn Error>> {
    match managed.failures.into_iter().next() {
        Some(failure) => Err(failure.error.into()),
        None => Ok(()),
    }
}

fn unpack(file: &Path, folder: &Path) -> Result<(), Box<dyn Error>> {
    let (from, name) = parent(file)?;
    let extracted = extract(&from, name, &open(folder)?, &ExtractLimits::default(), &|| false)?;
    println!("{} files, {} bytes", extracted.files, extracted.bytes);
    Ok(())
}
