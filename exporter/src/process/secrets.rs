//! What is wrong with the password files of a configuration, and with its other secrets, as they are now.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use config::{Config, Identity, Problem, Secret};
use safe_text::secret::ODDITY_NEXT_STEP;
use support::http_client::HeaderSource;
use support::input::secret::{self, SecretSource};
use tracing::warn;

/// The permission bits of others.
const OTHERS: u32 = 0o007;

/// Problems of password files that cannot be read or are empty.
pub(super) fn problems(config: &Config) -> Vec<Problem> {
    let unusable = config.identities.iter().filter_map(|(name, identity)| {
        let (path, message) = (identity.secret.file()?, unreadable(identity, config)?);
        let path = path.display();
        let hint = match &identity.secret {
            Secret::Password(_) => format!("write the password into {path}"),
            Secret::Keytab(_) => format!("put the account's keytab at {path}, readable for this program"),
            Secret::Cache(_) => format!("see whether the program that renews {path} runs"),
        };
        Some(Problem {
            position: Some(identity.position),
            path: format!("identities.{name}.{}", identity.secret.key()),
            message,
            hint: Some(hint),
        })
    });
    unusable.collect()
}

fn unreadable(identity: &Identity, config: &Config) -> Option<String> {
    match (&identity.secret, identity.secret.file()) {
        (Secret::Cache(_), Some(path)) => {
            let error = fs::File::open(path).err()?;
            Some(format!("credential cache {} cannot be read: {error}", path.display()))
        }
        _ => identity.read_secret(&config.identities).err(),
    }
}

/// What is no mistake of the configuration, but will be missed, or regretted.
pub(super) fn warnings(config: &Config) -> Vec<String> {
    let of_each = |(name, identity): (&String, &Identity)| {
        let warning = match &identity.secret {
            Secret::Password(SecretSource::Environment(_)) => identity.read_secret(&config.identities).err(),
            secret => open_to_others(secret),
        }?;
        Some(format!("identity `{name}`: {warning}"))
    };
    let warnings = config.identities.iter().filter_map(of_each);
    warnings.chain(all(config).into_iter().filter_map(|(place, secret)| oddity(&place, &secret))).collect()
}

/// What of a secret was hardly meant.
fn oddity(place: &str, source: &SecretSource) -> Option<String> {
    let odd = secret::oddity(&secret::read(source).ok()?)?;
    Some(format!("{place}: {} {odd}; {ODDITY_NEXT_STEP}", source.described()))
}

/// All secrets that the exporter itself reads, each with its place. URLs of receivers are read without white space.
fn all(config: &Config) -> Vec<(String, SecretSource)> {
    let passwords = config.identities.iter().filter_map(|(name, identity)| match &identity.secret {
        Secret::Password(source) => Some((format!("identity `{name}`"), source.clone())),
        Secret::Keytab(_) | Secret::Cache(_) => None,
    });
    let mut all: Vec<_> = passwords.collect();
    let collectors = config.otlp.iter().chain(&config.telemetry).map(|one| (&one.name, &one.headers));
    let receivers = config.alerts.receivers.iter().map(|one| (&one.name, &one.headers));
    for (name, headers) in collectors.chain(receivers) {
        all.extend(headers.iter().filter_map(|(header, value)| match value {
            HeaderSource::Secret { source, .. } => {
                Some((format!("header `{header}` of `{name}`"), source.clone()))
            }
            HeaderSource::Plain(_) => None,
        }));
    }
    all
}

/// Logs both: a server begins without a password as well, since its file may come later and is read when it is needed.
pub(super) fn log_problems(config: &Config) {
    for Problem { path, message, hint, .. } in problems(config) {
        let next_step = hint.unwrap_or_default();
        warn!(
            path,
            problem = message,
            next_step,
            "Secret cannot be read; it is read again when it is needed"
        );
    }
    warnings(config).iter().for_each(|warning| warn!(warning, "Secret"));
}

/// Whether other users of this machine can read the secret.
fn open_to_others(secret: &Secret) -> Option<String> {
    let path = secret.file()?;
    let mode = fs::metadata(path).ok()?.permissions().mode();
    // Kubernetes mounts the files of a Secret as links, read-only and with the mode of the volume.
    let is_mounted = fs::read_link(path).is_ok_and(|to| to.starts_with("..data"));
    let what = match secret {
        Secret::Password(_) => "password file",
        Secret::Keytab(_) => "keytab",
        Secret::Cache(_) => "credential cache",
    };
    let path = path.display();
    let next_step = match is_mounted {
        true => "set `defaultMode: 0440` of the volume and `fsGroup` of the pod".to_owned(),
        false => format!("run `chmod 600 {path}`"),
    };
    (mode & OTHERS != 0).then(|| format!("{what} {path} is open to all users of this machine; {next_step}"))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::path::Path;

    use super::*;

    #[test]
    fn every_secret_is_looked_at_and_none_is_shown() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["pw", "token", "key"] {
            fs::write(folder.path().join(name), "hunter2 \n").unwrap();
            fs::set_permissions(folder.path().join(name), fs::Permissions::from_mode(0o600)).unwrap();
        }
        let text = "identities: {corp: {kind: ntlm, username: a, password_file: pw, allow_hosts: ['*']}}
otlp: [{endpoint: 'http://127.0.0.1:4318', name: c, headers: {authorization: {file: token, prefix: 'Bearer '}}}]
alerts: {webhooks: [{name: hook, url: 'http://127.0.0.1:1/', headers: {x-key: {file: key}}}]}";
        let config = config::parse("a.yml", text, folder.path()).unwrap();
        let said = warnings(&config);
        for place in ["identity `corp`", "header `authorization` of `c`", "header `x-key` of `hook`"] {
            let about = said
                .iter()
                .find(|warning| warning.starts_with(place))
                .unwrap_or_else(|| panic!("{place}: {said:?}"));
            assert!(about.contains("begins or ends with white space"), "{about}");
        }
        assert_eq!(said.len(), 3);
        assert!(!said.concat().contains("hunter2"));
    }

    #[test]
    fn a_secret_of_any_kind_that_all_users_can_read_is_told_with_what_to_do() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("secret");
        fs::write(&file, "made up").unwrap();
        for (secret, what) in [
            (Secret::Password(SecretSource::File(file.clone())), "password file"),
            (Secret::Keytab(file.clone()), "keytab"),
            (Secret::Cache(format!("FILE:{}", file.display())), "credential cache"),
        ] {
            for (mode, is_told) in [(0o600, false), (0o640, false), (0o644, true)] {
                fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
                let path = file.display();
                let expected =
                    format!("{what} {path} is open to all users of this machine; run `chmod 600 {path}`");
                assert_eq!(open_to_others(&secret), is_told.then_some(expected), "{mode:o}");
            }
        }
    }

    #[test]
    fn a_secret_of_kubernetes_is_not_one_to_chmod() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("..data")).unwrap();
        fs::write(folder.path().join("..data/pw"), "hunter2").unwrap();
        symlink(Path::new("..data/pw"), folder.path().join("pw")).unwrap();
        let said = |file: &str| {
            let secret = Secret::Password(SecretSource::File(folder.path().join(file)));
            open_to_others(&secret).unwrap_or_default()
        };
        assert!(
            said("pw").contains("`defaultMode: 0440`") && !said("pw").contains("chmod"),
            "{}",
            said("pw")
        );
        assert!(said("..data/pw").contains("run `chmod 600"), "{}", said("..data/pw"));
    }
}
