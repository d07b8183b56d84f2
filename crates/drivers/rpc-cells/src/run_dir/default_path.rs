//! Where the default run directory is.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;

use super::RunDirectory;

impl RunDirectory {
    /// Where the exporter's run directory is if nobody sets another: in the service manager's directory for the service, or
    /// in the user's. `variable` gives the value of an environment variable.
    #[must_use]
    pub fn default_path(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
        let first = |variable: OsString| env::split_paths(&variable).next();
        let of = |name: &str, folder: &str| {
            let path = variable(name).and_then(first).filter(|path| path.is_absolute())?;
            Some(path.join(folder))
        };
        of("RUNTIME_DIRECTORY", "rpc-state").or_else(|| of("XDG_RUNTIME_DIR", "perfmon-exporter-rpc-state"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(variables: &[(&str, &str)], expected: Option<&str>) {
        let found = |name: &str| {
            variables.iter().find(|(variable, _)| *variable == name).map(|(_, value)| OsString::from(value))
        };
        assert_eq!(RunDirectory::default_path(found), expected.map(PathBuf::from), "{variables:?}");
    }

    #[test]
    fn the_directory_is_the_services_own_or_the_users() {
        let user = ("XDG_RUNTIME_DIR", "/run/user/7");
        check(
            &[("RUNTIME_DIRECTORY", "/run/perfmon-exporter"), user],
            Some("/run/perfmon-exporter/rpc-state"),
        );
        check(&[("RUNTIME_DIRECTORY", "/run/first:/run/second")], Some("/run/first/rpc-state"));
        check(&[user], Some("/run/user/7/perfmon-exporter-rpc-state"));
        check(&[("RUNTIME_DIRECTORY", ""), user], Some("/run/user/7/perfmon-exporter-rpc-state"));
        check(&[("XDG_RUNTIME_DIR", "run")], None);
        check(&[], None);
    }
}
