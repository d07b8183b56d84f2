//! Reads files that people, and other programs, put in our way.
//!
//! A path may lead to anything: to a pipe that nobody writes into, to a device without an end, to a disk that is slow. So
//! nothing is opened before its kind is known, nothing is waited for without a limit of time, and nothing is kept beyond
//! a limit of bytes. What a hung network file system does is not in our hands.

mod watched;

use std::fmt;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;

pub use self::watched::{Look, WatchedFile};

/// A file that is on a disk is read to its end within this time.
const FILE_TIME_MAX: Duration = Duration::from_secs(10);
const CHUNK_BYTES: usize = 64 << 10;

/// Why something was not read. Composable: it comes after the path.
#[derive(Debug)]
pub enum Error {
    /// An error of the system.
    Io(io::Error),
    /// It is something else than a file.
    Kind(&'static str),
    /// It is larger than this number of bytes.
    TooLarge(usize),
    /// It did not end within this time.
    TooSlow(Duration),
}

impl Error {
    /// Whether nothing is there.
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        self.kind() == io::ErrorKind::NotFound
    }

    /// Of what kind it is among the errors of the system.
    #[must_use]
    pub fn kind(&self) -> io::ErrorKind {
        match self {
            Self::Io(error) => error.kind(),
            Self::Kind(_) => io::ErrorKind::InvalidInput,
            Self::TooLarge(_) => io::ErrorKind::FileTooLarge,
            Self::TooSlow(_) => io::ErrorKind::TimedOut,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "cannot be read: {error}"),
            Self::Kind(kind) => write!(f, "is {kind}, not a file"),
            Self::TooLarge(bytes) => write!(f, "has more than {bytes} bytes, which is the limit"),
            Self::TooSlow(time) => write!(f, "was not read to its end within {} s", time.as_secs()),
        }
    }
}

impl std::error::Error for Error {}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// The contents of a file of at most `bytes_max` bytes. A pipe is an error: what is read from one is gone for the next
/// reader, and perhaps nobody writes into it.
pub fn read(path: &Path, bytes_max: usize) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    read_into(&mut bytes, path, bytes_max)?;
    Ok(bytes)
}

/// The same, into memory of the caller's, which may be one that is wiped. Gives back what the file is.
pub fn read_into(bytes: &mut Vec<u8>, path: &Path, bytes_max: usize) -> Result<Metadata, Error> {
    let (mut file, metadata) = open(path)?;
    if metadata.file_type().is_fifo() {
        return Err(Error::Kind("a pipe"));
    }
    let expected = usize::try_from(metadata.len()).unwrap_or(usize::MAX);
    if expected > bytes_max {
        return Err(Error::TooLarge(bytes_max));
    }
    // With room for the chunk that finds its end, so that a secret is not left behind by memory that grows.
    bytes.reserve(expected + CHUNK_BYTES);
    let end = Instant::now() + FILE_TIME_MAX;
    while read_chunk(&mut file, bytes, bytes_max)? > 0 {
        if Instant::now() >= end {
            return Err(Error::TooSlow(FILE_TIME_MAX));
        }
    }
    Ok(metadata)
}

/// The contents of a file, or of a pipe whose writer comes to its end within `patience`.
pub fn read_or_wait(path: &Path, bytes_max: usize, patience: Duration) -> Result<Vec<u8>, Error> {
    let (mut file, metadata) = open(path)?;
    if !metadata.file_type().is_fifo() {
        drop(file);
        return read(path, bytes_max);
    }
    let mut bytes = Vec::new();
    let end = Instant::now() + patience;
    loop {
        // A pipe that nobody opened yet reads like one at its end; only waiting tells them apart.
        if !is_readable_by(&file, end)? {
            return Err(Error::TooSlow(patience));
        }
        match read_chunk(&mut file, &mut bytes, bytes_max) {
            Ok(0) => return Ok(bytes),
            Err(Error::Io(error)) if error.kind() == io::ErrorKind::WouldBlock => {}
            Ok(_) => {}
            Err(error) => return Err(error),
        }
    }
}

/// Opens a file or a pipe, and nothing else, without waiting for anybody.
fn open(path: &Path) -> Result<(File, Metadata), Error> {
    // Opening a device may do things.
    check_kind(&fs::metadata(path)?)?;
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)?;
    let metadata = file.metadata()?;
    check_kind(&metadata)?;
    Ok((file, metadata))
}

fn check_kind(metadata: &Metadata) -> Result<(), Error> {
    let kind = metadata.file_type();
    if kind.is_file() || kind.is_fifo() {
        Ok(())
    } else if kind.is_dir() {
        Err(Error::Kind("a folder"))
    } else if kind.is_socket() {
        Err(Error::Kind("a socket"))
    } else {
        Err(Error::Kind("a device"))
    }
}

/// Appends the bytes of one read; returns their number.
fn read_chunk(file: &mut File, bytes: &mut Vec<u8>, bytes_max: usize) -> Result<usize, Error> {
    let before = bytes.len();
    // One byte more than allowed shows that there are too many.
    let room = (bytes_max - before).saturating_add(1).min(CHUNK_BYTES);
    bytes.resize(before + room, 0);
    let read = loop {
        match file.read(&mut bytes[before..]) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            read => break read,
        }
    };
    bytes.truncate(before + read.as_ref().map_or(0, |count| *count));
    if bytes.len() > bytes_max { Err(Error::TooLarge(bytes_max)) } else { Ok(read?) }
}

/// Waits until there is something to read, or the writers are gone; false at `end`.
fn is_readable_by(file: &File, end: Instant) -> Result<bool, Error> {
    loop {
        let left = end.saturating_duration_since(Instant::now());
        let timeout = Timespec::try_from(left).map_err(io::Error::other)?;
        let mut polled = [PollFd::new(file, PollFlags::IN)];
        match poll(&mut polled, Some(&timeout)) {
            Ok(0) => return Ok(false),
            Ok(_) => return Ok(true),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(Error::Io(error.into())),
        }
    }
}

/// A file that changed so short a time before it was looked at is read once more: the clock of a file system has
/// steps, and a second change within one of them leaves no trace.
const SETTLED_AFTER: Duration = Duration::from_secs(2);

/// What tells that a file was written or replaced, in whatever way: device, inode, size and both times.
#[derive(Clone, Copy, Debug)]
pub struct Stamp {
    device: u64,
    inode: u64,
    bytes: u64,
    modified: (i64, i64),
    changed: (i64, i64),
    is_settled: bool,
}

impl Stamp {
    /// The stamp of the file at `path` as it is `now`; `None` if there is none.
    #[must_use]
    pub fn look(path: &Path, now: SystemTime) -> Option<Self> {
        fs::metadata(path).ok().map(|metadata| Self::of(&metadata, now))
    }

    /// Whether a file that was `before` may have other contents now: it is another one, or changed so shortly before it
    /// was looked at that a second change would leave no trace.
    #[must_use]
    pub fn may_differ(before: Option<&Self>, now: Option<&Self>) -> bool {
        let changed = |stamp: &Self| (stamp.contents(), stamp.changed);
        before.map(changed) != now.map(changed) || before.is_some_and(|before| !before.is_settled)
    }

    /// Whether another file is there, or it was written again. A link to it or other rights leave it what it was.
    #[must_use]
    pub fn was_replaced(before: Option<&Self>, now: Option<&Self>) -> bool {
        before.map(Self::contents) != now.map(Self::contents)
    }

    /// When the file was written.
    fn modified(&self) -> Option<SystemTime> {
        let (seconds, nanoseconds) = self.modified;
        let since = Duration::new(u64::try_from(seconds).ok()?, u32::try_from(nanoseconds).ok()?);
        SystemTime::UNIX_EPOCH.checked_add(since)
    }

    /// That of a file as it is `now`.
    fn of(metadata: &Metadata, now: SystemTime) -> Self {
        let changed_s = metadata.ctime().max(metadata.mtime());
        let now_s = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let settled_s = i64::try_from(now_s.saturating_sub(SETTLED_AFTER).as_secs()).unwrap_or(i64::MAX);
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            bytes: metadata.len(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
            is_settled: changed_s < settled_s,
        }
    }

    /// What a write or a replacement changes, unless somebody sets the time back.
    fn contents(&self) -> (u64, u64, u64, (i64, i64)) {
        (self.device, self.inode, self.bytes, self.modified)
    }

    #[cfg(test)]
    fn is_settled(&self) -> bool {
        self.is_settled
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::net::UnixListener;
    use std::path::PathBuf;
    use std::sync::mpsc;

    use tempfile::TempDir;

    use super::*;

    fn pipe(folder: &TempDir) -> PathBuf {
        let path = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        path
    }

    #[test]
    fn a_file_of_just_the_limit_is_read_and_one_byte_more_is_not() {
        let file = tempfile::NamedTempFile::new().unwrap();
        for bytes in [0, 1, CHUNK_BYTES - 1, CHUNK_BYTES, 3 * CHUNK_BYTES + 7] {
            let text = vec![b'x'; bytes];
            fs::write(file.path(), &text).unwrap();
            assert_eq!(read(file.path(), bytes).unwrap(), text);
            if let Some(less) = bytes.checked_sub(1) {
                assert!(matches!(read(file.path(), less), Err(Error::TooLarge(limit)) if limit == less));
            }
        }
    }

    #[test]
    fn a_file_of_eight_terabytes_without_contents_is_refused_by_its_size() {
        let file = tempfile::NamedTempFile::new().unwrap();
        // More than there is memory for, were it made before the limit is looked at.
        file.as_file().set_len(8 << 40).unwrap();
        assert_eq!(
            read(file.path(), 1_000).unwrap_err().to_string(),
            "has more than 1000 bytes, which is the limit"
        );
    }

    #[test]
    fn what_is_no_file_is_called_by_its_name_and_nobody_waits_for_it() {
        let folder = tempfile::tempdir().unwrap();
        let refused = |path: &Path| read(path, 100).unwrap_err().to_string();
        assert_eq!(refused(&pipe(&folder)), "is a pipe, not a file");
        assert_eq!(refused(folder.path()), "is a folder, not a file");
        assert_eq!(refused(Path::new("/dev/zero")), "is a device, not a file");
        let socket = folder.path().join("socket");
        let _listener = UnixListener::bind(&socket).unwrap();
        assert_eq!(refused(&socket), "is a socket, not a file");
        assert!(read(&folder.path().join("nothing"), 100).unwrap_err().is_not_found());
    }

    #[test]
    fn a_pipe_is_waited_for_as_long_as_was_said() {
        let folder = tempfile::tempdir().unwrap();
        let path = pipe(&folder);
        let (begun, patience) = (Instant::now(), Duration::from_millis(50));
        assert!(matches!(read_or_wait(&path, 100, patience), Err(Error::TooSlow(_))));
        assert!((patience..FILE_TIME_MAX).contains(&begun.elapsed()), "{:?}", begun.elapsed());
        // A writer that opens it and writes nothing.
        let writer = OpenOptions::new().read(true).write(true).open(&path).unwrap();
        assert!(matches!(read_or_wait(&path, 100, patience), Err(Error::TooSlow(_))));
        drop(writer);
        let (ready, begun) = mpsc::channel();
        let there = path.clone();
        let writing = std::thread::spawn(move || {
            ready.send(()).unwrap();
            // Waits for the reader, and then says it in pieces.
            let mut writer = OpenOptions::new().write(true).open(there).unwrap();
            writer.write_all(b"one ").unwrap();
            writer.write_all(b"two").unwrap();
        });
        begun.recv().unwrap();
        assert_eq!(read_or_wait(&path, 7, Duration::from_secs(60)).unwrap(), b"one two");
        writing.join().unwrap();
        let there = path.clone();
        // It may find its reader gone, which had enough.
        let writing = std::thread::spawn(move || drop(fs::write(there, [b'x'; 100])));
        assert!(matches!(read_or_wait(&path, 7, Duration::from_secs(60)), Err(Error::TooLarge(7))));
        writing.join().unwrap();
    }
}
