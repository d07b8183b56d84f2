//! The configured directory, before it is used.

use std::path::Path;

use rustix::fs::{Access, AtFlags, CWD, FileType, Mode, OFlags, accessat, fstat, mkdir, open, statat};
use rustix::io::Errno;

/// Whether a directory that is missing is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Makes {
    Directory,
    /// Not by a command, which may run as another user and on another machine.
    Nothing,
}

/// Why files cannot be kept in a directory, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unusable {
    pub message: String,
    pub hint: String,
}

/// Makes the directory if it is missing, and says why files cannot be kept there. The directory above it has to be there: a
/// volume that is not mounted is noticed so.
pub fn check(path: &Path, makes: Makes) -> Result<(), Unusable> {
    let shown = path.display();
    if makes == Makes::Directory {
        match mkdir(path, Mode::RWXU | Mode::RGRP | Mode::XGRP) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(Errno::NOENT) => return Err(no_parent(path)),
            Err(error) => {
                let hint = "make it for the user of the exporter, or name another".to_owned();
                return Err(Unusable { message: format!("cannot make `{shown}`: {error}"), hint });
            }
        }
    }
    let directory = match open(path, OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty()) {
        Ok(directory) => directory,
        Err(Errno::NOENT) if path.parent().is_some_and(Path::is_dir) => return Ok(()),
        Err(Errno::NOENT) => return Err(no_parent(path)),
        Err(Errno::NOTDIR | Errno::LOOP) => return Err(other_than_directory(path)),
        Err(error) => {
            let hint = "let the user of the exporter read and write it, or name another".to_owned();
            return Err(Unusable { message: format!("cannot open `{shown}`: {error}"), hint });
        }
    };
    let status = fstat(&directory).map_err(|error| {
        let hint = "name another directory".to_owned();
        Unusable { message: format!("cannot read what `{shown}` is: {error}"), hint }
    })?;
    let mode = Mode::from_raw_mode(status.st_mode);
    if mode.intersects(Mode::WGRP | Mode::WOTH) {
        let message = format!("other users can write `{shown}` (mode {:03o})", mode.bits() & 0o777);
        let hint =
            "take that away with `chmod go-w`, or name a directory in it, which the exporter then makes"
                .to_owned();
        return Err(Unusable { message, hint });
    }
    // Who asks without making it may be another user than the exporter.
    if makes == Makes::Nothing {
        return Ok(());
    }
    let user = rustix::process::geteuid().as_raw();
    if status.st_uid != user {
        let message =
            format!("`{shown}` belongs to user {}, and the exporter runs as user {user}", status.st_uid);
        let hint = "change its owner with `chown`, or name a directory in it, which the exporter then makes"
            .to_owned();
        return Err(Unusable { message, hint });
    }
    accessat(&directory, ".", Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS).map_err(|error| {
        let hint = match error {
            Errno::ROFS => "mount a volume that can be written there, or name another directory",
            _ => "let the exporter write it with `chmod u+rwx`, or name another directory",
        };
        Unusable { message: format!("cannot write `{shown}`: {error}"), hint: hint.to_owned() }
    })
}

fn no_parent(path: &Path) -> Unusable {
    let parent = path.parent().unwrap_or(path).display();
    let hint = "make it, mount the volume that has it, or name another directory".to_owned();
    Unusable { message: format!("there is no directory `{parent}`"), hint }
}

fn other_than_directory(path: &Path) -> Unusable {
    let status = statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW);
    let shown = path.display();
    match status.map(|status| FileType::from_raw_mode(status.st_mode)) {
        Ok(FileType::Symlink) => Unusable {
            message: format!("`{shown}` is a symbolic link, which may lead anywhere"),
            hint: "name the directory itself".to_owned(),
        },
        _ => Unusable {
            message: format!("`{shown}` is not a directory"),
            hint: "remove it, or name another".to_owned(),
        },
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn a_missing_directory_is_made_where_the_one_above_it_is_there() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let path = folder.path().join("files");
        assert_eq!(check(&path, Makes::Nothing), Ok(()));
        assert!(!path.exists());
        assert_eq!(check(&path, Makes::Directory), Ok(()));
        assert_eq!(check(&path, Makes::Directory), Ok(()), "it is there already");
        let mode = fs::metadata(&path).expect("it was made").permissions().mode();
        assert_eq!(mode & 0o777 & !0o750, 0, "{mode:o}");
        for makes in [Makes::Nothing, Makes::Directory] {
            let unusable = check(&folder.path().join("no/files"), makes).expect_err("nothing is above it");
            assert!(unusable.message.ends_with("/no`") && unusable.hint.contains("mount"), "{unusable:?}");
        }
    }

    #[test]
    fn what_others_can_change_or_replace_is_refused() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let message = |name: &str| {
            let path = folder.path().join(name);
            check(&path, Makes::Directory)
                .expect_err("it is refused")
                .message
                .replace(&path.display().to_string(), "IT")
        };
        fs::write(folder.path().join("file"), "").expect("the folder is ours");
        assert_eq!(message("file"), "`IT` is not a directory");
        symlink("/tmp", folder.path().join("link")).expect("the folder is ours");
        assert_eq!(message("link"), "`IT` is a symbolic link, which may lead anywhere");
        let open = folder.path().join("open");
        fs::create_dir(&open).expect("the folder is ours");
        fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).expect("it is ours");
        assert_eq!(message("open"), "other users can write `IT` (mode 777)");
    }
}
