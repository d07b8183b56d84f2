use std::collections::HashMap;
use std::fs::{File, Metadata};
use std::io::Read;
use std::net::IpAddr;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use std::{fs, io};

use parking_lot::Mutex;
use tokio::time::Instant;
use tracing::{debug, warn};

use crate::resolver::servers::Servers;

/// The files that configure how names are looked up.
#[derive(Clone, Debug)]
pub struct Files {
    pub hosts: PathBuf,
    pub resolv_conf: PathBuf,
    /// The port of name servers: 53, except in tests.
    pub port: u16,
}

impl Default for Files {
    fn default() -> Self {
        Self { hosts: "/etc/hosts".into(), resolv_conf: "/etc/resolv.conf".into(), port: 53 }
    }
}

/// The contents of the files. Both are read again when they change.
pub(crate) struct System {
    files: Files,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    looked_at: Option<Instant>,
    hosts: Kept<Hosts>,
    servers: Kept<Servers>,
}

/// The contents of a file, and its stamp when it was read.
struct Kept<T> {
    stamp: Option<Stamp>,
    contents: Option<Arc<T>>,
}

/// File metadata that changes when the file is written or replaced.
type Stamp = (u64, u64, u64, Option<SystemTime>);

/// The files' contents for one look-up.
pub(crate) struct Current {
    pub(crate) hosts: Option<Arc<Hosts>>,
    /// None when the file cannot be used.
    pub(crate) servers: Option<Arc<Servers>>,
    /// The name servers differ from the last time.
    pub(crate) servers_changed: bool,
}

impl System {
    pub(crate) fn new(files: Files) -> Self {
        Self { files, state: Mutex::default() }
    }

    pub(crate) fn current(&self, now: Instant) -> Current {
        let Files { hosts, resolv_conf, port } = &self.files;
        let mut state = self.state.lock();
        let mut servers_changed = false;
        if state.looked_at.is_none_or(|before| now.saturating_duration_since(before) >= LOOK_AGAIN) {
            state.looked_at = Some(now);
            state.hosts.read_again(hosts, |text| Some(Hosts::parse(text)));
            // Without the file the name server is this machine, as in the C library.
            let parse = |text: &[u8]| {
                let servers = Servers::parse(text, *port);
                servers.inspect_err(|error| warn!(%error, "Name servers cannot be asked")).ok()
            };
            servers_changed = state.servers.read_again(resolv_conf, parse);
        }
        let (hosts, servers) = (state.hosts.contents.clone(), state.servers.contents.clone());
        Current { hosts, servers, servers_changed }
    }
}

impl<T> Kept<T> {
    /// Reads the file if it has changed, and returns whether it has. A missing file counts as empty.
    fn read_again(&mut self, path: &Path, parse: impl FnOnce(&[u8]) -> Option<T>) -> bool {
        let stamp = fs::metadata(path).ok().map(|metadata| stamp(&metadata));
        if self.contents.is_some() && stamp == self.stamp {
            return false;
        }
        let text = match read(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => {
                if stamp != self.stamp || self.contents.is_none() {
                    warn!(file = %path.display(), %error, "File cannot be read, keeping its previous contents");
                }
                Vec::new()
            }
        };
        debug!(file = %path.display(), bytes = text.len(), "Resolver file read");
        self.stamp = stamp;
        let contents = parse(&text).map(Arc::new);
        let is_first = self.contents.is_none();
        self.contents = contents.or_else(|| self.contents.take());
        !is_first
    }
}

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Self { stamp: None, contents: None }
    }
}

fn stamp(metadata: &Metadata) -> Stamp {
    (metadata.dev(), metadata.ino(), metadata.len(), metadata.modified().ok())
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    // A pipe or a device would block this thread.
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("is no file"));
    }
    let mut text = Vec::new();
    let read = File::open(path)?.take(FILE_BYTES_MAX + 1).read_to_end(&mut text)?;
    if read as u64 > FILE_BYTES_MAX {
        return Err(io::Error::other(format!("has more than {FILE_BYTES_MAX} bytes")));
    }
    Ok(text)
}

/// Minimum time between two checks of the files.
const LOOK_AGAIN: Duration = Duration::from_secs(1);
/// Maximum size of a file. Hosts files with lists of blocked names have some megabytes.
const FILE_BYTES_MAX: u64 = 32 << 20;

/// The names of a hosts file, in lower case, each with its addresses in the file's order.
#[derive(Debug, Default)]
pub(crate) struct Hosts(HashMap<String, Vec<IpAddr>>);

impl Hosts {
    /// Reads a hosts file as hosts(5) describes it. Lines that do not begin with an address are skipped.
    pub(crate) fn parse(text: &[u8]) -> Self {
        let mut hosts: HashMap<String, Vec<IpAddr>> = HashMap::new();
        for line in String::from_utf8_lossy(text).trim_start_matches('\u{feff}').lines() {
            let line = line.split_once('#').map_or(line, |(before, _comment)| before);
            let mut words = line.split_whitespace();
            let Some(address) = words.next().and_then(|word| word.parse::<IpAddr>().ok()) else { continue };
            for name in words {
                let addresses = hosts.entry(name.to_lowercase()).or_default();
                if !addresses.contains(&address) {
                    addresses.push(address);
                }
            }
        }
        Self(hosts)
    }

    /// The addresses of a name in lower case.
    pub(crate) fn find(&self, name: &str) -> Option<&[IpAddr]> {
        self.0.get(name).map(Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_with_all_their_addresses_and_comments_are_none() {
        let hosts = Hosts::parse(
            b"\xEF\xBB\xBF# 192.0.2.9 web9\n192.0.2.1\tWEB_1.corp.example web_1 # 192.0.2.2 web2\n\
              2001:db8::1 web_1\n192.0.2.1 web_1\nnonsense web3\n\xff\xfe\n",
        );
        let found =
            |name: &str| hosts.find(name).map(|found| found.iter().map(ToString::to_string).collect());
        assert_eq!(found("web_1"), Some(vec!["192.0.2.1".to_owned(), "2001:db8::1".to_owned()]));
        assert_eq!(found("web_1.corp.example"), Some(vec!["192.0.2.1".to_owned()]));
        for none in ["web2", "web3", "web9", "#"] {
            assert_eq!(found(none), None::<Vec<String>>, "{none}");
        }
    }
}
