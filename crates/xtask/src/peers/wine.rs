//! Wine, and what builds programs for it: packages of Debian.

use std::path::Path;

use super::has;

/// widl makes stubs of interfaces, and these include headers of `libwine-dev`. `ip`, `unshare` and `nsenter` are for the
/// network in which Wine listens.
pub(super) const PACKAGES: &[&str] =
    &["wine64", "libwine-dev", "mingw-w64-tools", "gcc-mingw-w64-x86-64-win32", "iproute2", "util-linux"];

/// The package has no program in the path.
pub(crate) const WINE: &str = "/usr/lib/wine/wine64";
pub(crate) const WIDL: &str = "x86_64-w64-mingw32-widl";
pub(crate) const GCC: &str = "x86_64-w64-mingw32-gcc";
pub(crate) const HEADERS: &str = "/usr/include/wine";
pub(crate) const LIBRARIES: &str = "/usr/lib/x86_64-linux-gnu/wine/x86_64-windows";

pub(super) fn is_there() -> bool {
    let programs = [WIDL, GCC, "ip", "unshare", "nsenter"];
    let files = [Path::new(HEADERS).join("wine/exception.h"), Path::new(LIBRARIES).join("libwinecrt0.a")];
    programs.into_iter().all(has) && Path::new(WINE).is_file() && files.iter().all(|file| file.is_file())
}
