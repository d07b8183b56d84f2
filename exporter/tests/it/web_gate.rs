//! Who is let in: TLS, certificates of clients, passwords, limits; and what changes while the program runs.

use std::io::{Read, Write};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair, SanType};
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use crate::program::{Exporter, Folder};

pub(crate) struct Authority(CertifiedIssuer<'static, KeyPair>);

/// A certificate with its key.
pub(crate) struct Signed(rcgen::Certificate, KeyPair);

impl Authority {
    pub(crate) fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    pub(crate) fn sign(&self, change: impl FnOnce(&mut CertificateParams)) -> Signed {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        change(&mut params);
        Signed(params.signed_by(&key, &self.0).unwrap(), key)
    }

    pub(crate) fn write(&self, folder: &Folder, name: &str, change: impl FnOnce(&mut CertificateParams)) {
        let Signed(certificate, key) = self.sign(change);
        // The way of everybody who renews certificates: aside, and then into its place.
        for (end, text) in [("key", key.serialize_pem()), ("crt", certificate.pem())] {
            let aside = folder.write(&format!("{name}.{end}.new"), &text);
            std::fs::rename(aside, folder.path(&format!("{name}.{end}"))).unwrap();
        }
    }

    pub(crate) fn write_own(&self, folder: &Folder, file: &str) {
        folder.write(file, &self.0.pem());
    }

    /// A client that trusts this authority.
    pub(crate) fn client(&self, own: Option<&Signed>, protocols: &[&[u8]]) -> Arc<ClientConfig> {
        let mut roots = RootCertStore::empty();
        roots.add(self.0.der().clone()).unwrap();
        let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots);
        let mut config = match own {
            Some(Signed(certificate, key)) => builder
                .with_client_auth_cert(
                    vec![certificate.der().clone()],
                    PrivateKeyDer::try_from(key.serialize_der()).unwrap(),
                )
                .unwrap(),
            None => builder.with_no_client_auth(),
        };
        config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
        Arc::new(config)
    }
}

/// What the program answers to a GET over TLS, head and body; or why there was no answer.
pub(crate) fn get(
    exporter: &Exporter,
    client: &Arc<ClientConfig>,
    path: &str,
) -> Result<String, std::io::Error> {
    let name = ServerName::try_from("localhost").unwrap();
    let connection = ClientConnection::new(Arc::clone(client), name).unwrap();
    let mut stream = StreamOwned::new(connection, exporter.connect());
    // A page in one piece, and not in chunks.
    write!(stream, "GET {path} HTTP/1.0\r\nHost: localhost\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}

/// The program with this web configuration.
fn serve(folder: &Folder, web: &str) -> Exporter {
    folder.write("web.yml", web);
    folder.serve(r#"web: {listen: ["127.0.0.1:0"], config_file: web.yml, handshake_timeout: 500ms}"#)
}

const TLS: &str = "tls_server_config: {cert_file: web.crt, key_file: web.key}\n";

#[test]
fn a_certificate_that_ended_is_told_and_a_renewed_one_is_taken() {
    let folder = Folder::new();
    let authority = Authority::new();
    authority.write(&folder, "web", |params| params.not_after = rcgen::date_time_ymd(2020, 1, 1));
    let mut exporter = serve(&folder, TLS);
    let client = authority.client(None, &[]);
    let refused = get(&exporter, &client, "/metrics").unwrap_err().to_string();
    assert!(refused.contains("expired"), "{refused}");
    authority.write(&folder, "web", |params| params.not_after = rcgen::date_time_ymd(2120, 1, 1));
    exporter.wait_for_line("Web configuration reloaded");
    let page = get(&exporter, &client, "/metrics").unwrap();
    let has = |line: &str| assert!(page.contains(line), "{line}\n{page}");
    // `date -ud 2120-01-01 +%s`
    has("perfmon_exporter_web_certificate_expiry_timestamp_seconds{key=\"cert_file\"} 4733510400\n");
    has("perfmon_exporter_web_config_last_read_success 1\n");
    has("perfmon_exporter_web_handshakes_refused_total{reason=\"by_client\"} 1\n");
}

#[test]
fn a_certificate_that_ends_while_the_program_runs_is_told_once() {
    let folder = Folder::new();
    let authority = Authority::new();
    let epoch = rcgen::date_time_ymd(1970, 1, 1);
    let soon = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap() + Duration::from_secs(2);
    authority.write(&folder, "web", |params| params.not_after = epoch + soon);
    let mut exporter = serve(&folder, TLS);
    let line = exporter.wait_for_line("Certificate has expired");
    assert!(line.contains("WARN") && line.contains("key=\"cert_file\""), "{line}");
    let client = authority.client(None, &[]);
    assert!(get(&exporter, &client, "/metrics").is_err());
    authority.write(&folder, "web", |_| {});
    let told = exporter.wait_for_line("Web configuration");
    assert!(told.contains("reloaded"), "{told}");
    get(&exporter, &client, "/metrics").unwrap();
    exporter.terminate();
    exporter.wait();
    let rest = exporter.rest_of_log();
    assert!(!rest.contains("Certificate has expired"), "{rest}");
}

#[test]
fn what_cannot_be_used_is_told_once_and_the_last_good_state_stays() {
    let folder = Folder::new();
    let authority = Authority::new();
    authority.write(&folder, "web", |_| {});
    let mut exporter = serve(&folder, TLS);
    let client = authority.client(None, &[]);
    let in_force = |exporter: &Exporter, failures: u32| {
        let page = get(exporter, &client, "/metrics").unwrap();
        let is_good = u32::from(failures == 0);
        assert!(
            page.contains(&format!("perfmon_exporter_web_config_last_read_success {is_good}\n")),
            "{page}"
        );
        let count = format!("perfmon_exporter_web_config_failures_total {failures}\n");
        assert!(page.contains(&count), "{count}{page}");
    };
    in_force(&exporter, 0);
    folder.write("web.key", "no key\n");
    let line = exporter.wait_for_line("Web configuration refused");
    assert!(line.contains("holds no private key"), "{line}");
    in_force(&exporter, 1);
    // Half a file, as it is while it is written.
    folder.write("web.yml", "");
    let line = exporter.wait_for_line("Web configuration refused");
    assert!(line.contains("`tls_server_config` was removed"), "{line}");
    in_force(&exporter, 2);
    authority.write(&folder, "web", |_| {});
    folder.write("web.yml", TLS);
    exporter.wait_for_line("Web configuration reloaded");
    let page = get(&exporter, &client, "/metrics").unwrap();
    assert!(page.contains("perfmon_exporter_web_config_last_read_success 1\n"), "{page}");
    exporter.terminate();
    exporter.wait();
    let rest = exporter.rest_of_log();
    assert!(!rest.contains("Web configuration"), "{rest}");
}

#[test]
fn each_kind_of_client_is_let_in_as_the_five_types_say() {
    let (ours, theirs) = (Authority::new(), Authority::new());
    let folder = Folder::new();
    ours.write(&folder, "web", |_| {});
    ours.write_own(&folder, "clients.crt");
    let named = |params: &mut CertificateParams| {
        params.subject_alt_names = vec![SanType::Rfc822Name("ops@example.com".try_into().unwrap())];
    };
    let (good, strange, named) = (ours.sign(|_| {}), theirs.sign(|_| {}), ours.sign(named));
    let old = ours.sign(|params| params.not_after = rcgen::date_time_ymd(2020, 1, 1));
    let clients = [None, Some(&good), Some(&strange), Some(&old), Some(&named)];
    let clients = clients.map(|own| ours.client(own, &[]));
    let ca = ", client_ca_file: clients.crt";
    for (auth, more, expected, reasons) in [
        ("NoClientCert", "", [true, true, true, true, true], ""),
        ("RequestClientCert", "", [true, true, true, true, true], ""),
        ("RequireAnyClientCert", "", [false, true, true, true, true], "no_certificate 1"),
        ("VerifyClientCertIfGiven", ca, [true, true, false, false, true], "certificate 2"),
        (
            "RequireAndVerifyClientCert",
            ca,
            [false, true, false, false, true],
            "certificate 2, no_certificate 1",
        ),
        (
            "RequireAndVerifyClientCert",
            ", client_ca_file: clients.crt, client_allowed_sans: [a.example, ops@example.com]",
            [false, false, false, false, true],
            "certificate 2, certificate_name 1, no_certificate 1",
        ),
        (
            "RequireAnyClientCert",
            ", client_allowed_sans: [localhost]",
            [false, true, true, true, false],
            "certificate_name 1, no_certificate 1",
        ),
    ] {
        let tls = TLS.replace('}', &format!(", client_auth_type: {auth}{more}}}"));
        let exporter = serve(&folder, &tls);
        let let_in = clients.each_ref().map(|client| get(&exporter, client, "/-/healthy").is_ok());
        assert_eq!(let_in, expected, "{auth}{more}");
        let page =
            get(&exporter, &clients[4], "/metrics").or_else(|_| get(&exporter, &clients[1], "/metrics"));
        let counted: Vec<String> =
            reasons.split(", ").filter(|reason| !reason.is_empty()).map(str::to_owned).collect();
        for (reason, count) in counted.iter().filter_map(|reason| reason.split_once(' ')) {
            let count = count.parse::<u32>().unwrap()
                // The last of them was refused once more, before the other one got the page.
                + u32::from(!expected[4] && reason == "certificate_name");
            let line =
                format!("perfmon_exporter_web_handshakes_refused_total{{reason=\"{reason}\"}} {count}\n");
            assert!(page.as_ref().unwrap().contains(&line), "{auth}: {line}{page:?}");
        }
    }
}

#[test]
fn who_speaks_no_tls_is_told_or_dropped() {
    let folder = Folder::new();
    let authority = Authority::new();
    authority.write(&folder, "web", |_| {});
    let exporter = serve(&folder, TLS);
    let told = exporter.get("/metrics");
    assert_eq!((told.status, told.body.as_str()), (400, "TLS is spoken here; write https:// instead\n"));
    // Nothing, half a hello, and what is no TLS at all.
    for bytes in [&b""[..], b"\x16\x03\x01\x02\x00\x01", b"\x16\x03\x01\x00\x05hello", b"\0\0\0\0\0\0\0\0"] {
        let mut stream = exporter.connect();
        stream.write_all(bytes).unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        assert!(!String::from_utf8_lossy(&answer).contains("HTTP/"));
    }
    let page = get(&exporter, &authority.client(None, &[]), "/metrics").unwrap();
    let refused = "perfmon_exporter_web_handshakes_refused_total";
    for (reason, count) in [("timeout", 2), ("not_tls", 3)] {
        assert!(page.contains(&format!("{refused}{{reason=\"{reason}\"}} {count}\n")), "{reason}\n{page}");
    }
}

/// Two of bcrypt's published test vectors (Openwall crypt_blowfish, `wrapper.c`): the passwords `U*U` and `U*U*`.
pub(crate) const U_U: &str = "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW";
const U_U_U: &str = "$2a$05$CCCCCCCCCCCCCCCCCCCCC.VGOzA784oUp/Z0DY336zx7pLYAy0lwK";

pub(crate) fn ask(exporter: &Exporter, path: &str, authorization: &str) -> crate::program::Answer {
    let line =
        if authorization.is_empty() { String::new() } else { format!("Authorization: {authorization}\r\n") };
    exporter.ask(&format!("GET {path} HTTP/1.1\r\nHost: here\r\nConnection: close\r\n{line}\r\n"))
}

#[test]
fn passwords_are_asked_for_everywhere_and_change_while_the_program_runs() {
    let folder = Folder::new();
    let mut exporter = serve(&folder, &format!("basic_auth_users: {{alice: {U_U}}}\n"));
    // base64 of `alice:U*U`, `alice:U*U*`, `bob:U*U`
    let (first, second, bob) = ("Basic YWxpY2U6VSpV", "Basic YWxpY2U6VSpVKg==", "Basic Ym9iOlUqVQ==");
    for path in ["/metrics", "/", "/-/healthy", "/-/ready", "/nothing"] {
        let refused = ask(&exporter, path, "");
        assert_eq!(refused.status, 401, "{path}");
        assert!(refused.head.contains("www-authenticate: Basic realm="), "{}", refused.head);
    }
    for authorization in [second, bob, "Bearer x", "Basic", "Basic x", "Basic Og=="] {
        assert_eq!(ask(&exporter, "/metrics", authorization).status, 401, "{authorization}");
    }
    let page = ask(&exporter, "/metrics", first);
    assert_eq!(page.status, 200);
    for (reason, count) in [("missing", 8), ("rejected", 3), ("busy", 0)] {
        let line = format!("perfmon_exporter_web_auth_failures_total{{reason=\"{reason}\"}} {count}\n");
        assert!(page.body.contains(&line), "{line}{}", page.body);
    }
    folder.write("web.yml", &format!("basic_auth_users: {{alice: {U_U_U}}}\n"));
    exporter.wait_for_line("Web configuration reloaded");
    assert_eq!((ask(&exporter, "/", first).status, ask(&exporter, "/", second).status), (401, 200));
    // No password, no hash, in no log.
    folder.write("web.yml", "basic_auth_users: {alice: U*U}\n");
    let line = exporter.wait_for_line("Web configuration refused");
    assert!(line.contains("is not a bcrypt hash") && !line.contains("U*U"), "{line}");
    assert_eq!(ask(&exporter, "/", second).status, 200);
}

#[test]
fn headers_are_put_on_each_answer_and_requests_are_limited() {
    let folder = Folder::new();
    let web = "http_server_config: {headers: {X-Frame-Options: deny, Content-Security-Policy: default-src *}}\n\
               rate_limit: {interval: 1h, burst: 3}\n";
    let mut exporter = serve(&folder, web);
    let (index, nothing) = (exporter.get("/"), exporter.get("/nothing"));
    for answer in [&index, &nothing] {
        assert!(answer.head.contains("x-frame-options: deny"), "{}", answer.head);
        assert_eq!(answer.head.matches("content-security-policy: ").count(), 1, "{}", answer.head);
        assert!(answer.head.contains("content-security-policy: default-src *"), "{}", answer.head);
    }
    assert_eq!(exporter.get("/-/healthy").status, 200);
    let refused = exporter.get("/-/healthy");
    assert_eq!(refused.status, 429);
    let retry_after = refused.head.split("retry-after: ").nth(1).unwrap().lines().next().unwrap();
    assert!((3500..=3600).contains(&retry_after.parse::<u32>().unwrap()), "{retry_after}");
    folder.write("web.yml", "rate_limit: {interval: 0, burst: 3}\n");
    exporter.wait_for_line("Web configuration reloaded");
    let page = exporter.get("/metrics");
    assert!(!page.head.contains("x-frame-options"), "{}", page.head);
    assert!(page.body.contains("perfmon_exporter_web_requests_refused_total{reason=\"rate_limit\"} 1\n"));
}
