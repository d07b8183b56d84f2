//! `tls:` of a server that data is sent to.

use std::path::Path;

use support::http_client::{ClientCertificate, ClientTls};

use crate::item::Item;

pub(super) fn tls(item: &Item<'_>, base: &Path) -> ClientTls {
    let Some(mut section) = item.section(&["server_name", "insecure_skip_verify"]) else {
        return ClientTls::default();
    };
    let ca_file = section.file("ca_file", base);
    let cert_file = section.file("cert_file", base);
    let key_file = section.file("key_file", base);
    if cert_file.is_some() != key_file.is_some() {
        item.problem("`cert_file` and `key_file` need each other", None);
    }
    section.finish();
    let client =
        cert_file.zip(key_file).map(|(cert_file, key_file)| ClientCertificate { cert_file, key_file });
    ClientTls { ca_file, client }
}
