//! What identities say of their realms, as a file that the Kerberos library reads before that of the system.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::sync::OnceLock;

use config::Identity;
use parking_lot::Mutex;
use rustix::fs::{MemfdFlags, memfd_create};
use tracing::warn;

/// In memory, so that a file system that cannot be written is no hindrance.
static FILE: OnceLock<Mutex<File>> = OnceLock::new();

/// Names the file to the library. It belongs to the start of a program: the library is told by the environment, which may
/// be changed while there is one thread alone.
pub(crate) fn begin() {
    let made = memfd_create("krb5.conf", MemfdFlags::CLOEXEC).map(File::from);
    let Ok(file) = made else { return };
    if gssapi::read_first(&format!("/proc/self/fd/{}", file.as_raw_fd())).is_ok() {
        // It is the first call of the program.
        let _ = FILE.set(Mutex::new(file));
    }
}

/// Writes what these identities say. The library notices it by itself.
pub(super) fn write(identities: &BTreeMap<String, Identity>) {
    let text = text(identities, |name, problem| {
        warn!(
            identity = name,
            problem,
            next_step = "correct krb5_conf, and reload",
            "Kerberos configuration left out"
        );
    });
    let written = match FILE.get() {
        None if text.is_empty() => Ok(()),
        None => Err("the kernel gives no file in memory, or the program did not begin with it".to_owned()),
        Some(file) => {
            let (file, len) = (file.lock(), text.len() as u64);
            let written = file.write_all_at(text.as_bytes(), 0).and_then(|()| file.set_len(len));
            written.map_err(|error| error.to_string())
        }
    };
    if let Err(problem) = written {
        let next_step = "name the KDCs in /etc/krb5.conf instead";
        warn!(problem, next_step, "The KDCs of the configuration are not used");
    }
}

fn text(identities: &BTreeMap<String, Identity>, mut left_out: impl FnMut(&str, &str)) -> String {
    let (mut text, mut realms) = (String::new(), BTreeMap::new());
    let mut allows_rc4 = false;
    for (name, identity) in identities {
        let Some(kerberos) = identity.kerberos() else { continue };
        if let Some(path) = &kerberos.krb5_conf {
            // A file that cannot be read would end the whole configuration of the library.
            match File::open(path) {
                Ok(_) => {
                    let _ = writeln!(text, "include {}", path.display());
                }
                Err(error) => left_out(name, &format!("{}: {error}", path.display())),
            }
        }
        allows_rc4 |= kerberos.allow_rc4;
        if !kerberos.kdc.is_empty() {
            realms.entry(&identity.domain).or_insert(&kerberos.kdc);
        }
    }
    // The library asks for it from 1.21 on; which identity uses it, its own types say.
    if allows_rc4 {
        text.push_str("[libdefaults]\nallow_rc4 = true\n");
    }
    if !realms.is_empty() {
        text.push_str("[realms]\n");
    }
    for (realm, kdcs) in realms {
        let _ = writeln!(text, "{realm} = {{");
        kdcs.iter().for_each(|kdc| {
            let _ = writeln!(text, "kdc = {kdc}");
        });
        text.push_str("}\n");
    }
    text
}
