//! What is wrong with the password files of a configuration, as they are now.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use config::{Config, Identity, Problem};
use input::secret::{self, SecretSource};
use tracing::warn;

/// The permission bits of others.
const OTHERS: u32 = 0o007;

/// Problems of password files that cannot be read or are empty.
pub(super) fn problems(config: &Config) -> Vec<Problem> {
    let unusable = config.identities.iter().filter_map(|(name, identity)| {
        let SecretSource::File(path) = &identity.secret else { return None };
        let message = secret::read(&identity.secret).err()?;
        let hint = format!("write the password into {}", path.display());
        Some(Problem {
            position: Some(identity.position),
            path: format!("identities.{name}.password_file"),
            message,
            hint: Some(hint),
        })
    });
    unusable.collect()
}

/// What is no mistake of the configuration, but will be missed, or regretted.
pub(super) fn warnings(config: &Config) -> Vec<String> {
    let of_each = |(name, identity): (&String, &Identity)| {
        let warning = warning(&identity.secret)?;
        Some(format!("identity `{name}`: {warning}"))
    };
    config.identities.iter().filter_map(of_each).collect()
}

/// Logs both: a server begins without a password as well, since its file may come later and is read when it is needed.
pub(super) fn log_problems(config: &Config) {
    for Problem { path, message, hint, .. } in problems(config) {
        let next_step = hint.unwrap_or_default();
        warn!(
            path,
            problem = message,
            next_step,
            "Password cannot be read; it is read again when it is needed"
        );
    }
    warnings(config).iter().for_each(|warning| warn!(warning, "Password"));
}

fn warning(secret: &SecretSource) -> Option<String> {
    match secret {
        // The service may have what we do not.
        SecretSource::Environment(_) => secret::read(secret).err(),
        SecretSource::File(path) => {
            let mode = fs::metadata(path).ok()?.permissions().mode();
            let path = path.display();
            (mode & OTHERS != 0).then(|| {
                format!("password file {path} is open to all users of this machine; run `chmod 600 {path}`")
            })
        }
    }
}
