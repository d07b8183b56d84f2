//! Opens one file below the configured directory.

use std::io;
use std::path::Path;
use std::time::SystemTime;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use safe_files::Error;

use super::FilePath;

/// A file, and what it was when it was opened.
#[derive(Debug)]
pub struct Opened {
    pub file: std::fs::File,
    pub bytes: u64,
    pub modified: Option<SystemTime>,
}

/// Opens a regular file for reading. Blocks.
///
/// # Errors
/// [`io::ErrorKind::NotFound`] also where there is something else than directories and a regular file.
pub fn open(directory: &Path, path: &FilePath) -> io::Result<Opened> {
    let Some((file, above)) = path.names().split_last() else { return Err(io::ErrorKind::NotFound.into()) };
    let mut at = Dir::open_ambient_dir(directory, ambient_authority())?;
    for name in above {
        at = open_directory(&at, name)?;
    }
    let file = safe_files::open_file(&at, file).map_err(not_found)?;
    let status = file.metadata()?;
    Ok(Opened { file, bytes: status.len(), modified: status.modified().ok() })
}

/// Opens a directory that is no link.
pub(super) fn open_directory(above: &Dir, name: &str) -> io::Result<Dir> {
    Ok(Dir::from_std_file(safe_files::open_folder(above, name).map_err(not_found)?.into()))
}

/// Clients must not learn that a link or a device has the name: for them, there is no such file.
fn not_found(error: Error) -> io::Error {
    match error {
        Error::Refused { .. } => io::ErrorKind::NotFound.into(),
        error => error.into(),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Read;
    use std::os::unix::fs::symlink;

    use super::*;

    fn found(directory: &Path, path: &str) -> Result<String, io::ErrorKind> {
        let path = FilePath::parse(path).expect("it is a path");
        let mut opened = open(directory, &path).map_err(|error| error.kind())?;
        let mut text = String::new();
        opened.file.read_to_string(&mut text).map_err(|error| error.kind())?;
        assert_eq!(opened.bytes, text.len() as u64);
        Ok(text)
    }

    #[test]
    fn a_file_is_opened_and_no_link_pipe_or_directory_is() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let files = folder.path().join("files");
        fs::create_dir_all(files.join("web1/set/run")).expect("the folder is ours");
        fs::create_dir_all(folder.path().join("other/set")).expect("the folder is ours");
        fs::write(files.join("web1/set/run/a.csv"), "1,2").expect("the folder is ours");
        fs::write(folder.path().join("other/set/secret"), "secret").expect("the folder is ours");
        fs::write(folder.path().join("secret"), "secret").expect("the folder is ours");
        assert_eq!(found(&files, "web1/set/run/a.csv").as_deref(), Ok("1,2"));
        let run = files.join("web1/set/run");
        let links = [
            ("absolute", folder.path().join("secret")),
            ("relative", "../../../../secret".into()),
            ("inside", "a.csv".into()),
        ];
        for (name, to) in links {
            symlink(to, run.join(name)).expect("the folder is ours");
            assert_eq!(
                found(&files, &format!("web1/set/run/{name}")),
                Err(io::ErrorKind::NotFound),
                "{name}"
            );
        }
        // Of a directory on the way, too, as far up as a source can write.
        symlink(folder.path(), files.join("web1/set/up")).expect("the folder is ours");
        assert_eq!(found(&files, "web1/set/up/secret"), Err(io::ErrorKind::NotFound));
        symlink(folder.path().join("other"), files.join("web2")).expect("the folder is ours");
        assert_eq!(found(&files, "web2/set/secret"), Err(io::ErrorKind::NotFound));
        let pipe = run.join("pipe");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR, 0)
            .expect("the folder is ours");
        assert_eq!(found(&files, "web1/set/run/pipe"), Err(io::ErrorKind::NotFound));
        assert_eq!(found(&files, "web1/set/run"), Err(io::ErrorKind::NotFound));
        assert_eq!(found(&files, "web1/set/run/none"), Err(io::ErrorKind::NotFound));
    }
}
