//! What the web configuration file may say, and what is said of it when it is wrong.

use std::path::Path;
use std::time::SystemTime;

use config::web_file::{ClientAuth, WebFile};
use expect_test::{Expect, expect};
use http_server::Gate;

use crate::program::Folder;
use crate::web_gate::Authority;

fn check(text: &str, expected: &Expect) {
    let said = match WebFile::parse("web.yml", text, Path::new("/etc")) {
        Ok(_) => "fine".to_owned(),
        Err(report) => report.to_string(),
    };
    expected.assert_eq(&said);
}

#[test]
fn every_key_of_the_format_is_read() {
    // The keys are those of docs/web-configuration.md in prometheus/exporter-toolkit.
    let text = "
tls_server_config:
  cert_file: web.crt
  key_file: web.key
  client_auth_type: RequireAndVerifyClientCert
  client_ca_file: clients.crt
  client_allowed_sans: [prometheus.example]
  min_version: TLS12
  max_version: TLS13
  cipher_suites: [TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, TLS_AES_128_GCM_SHA256]
  prefer_server_cipher_suites: false
  curve_preferences: [X25519, CurveP256]
http_server_config:
  http2: false
  headers:
    Content-Security-Policy: default-src 'self'
    X-Frame-Options: deny
    X-Content-Type-Options: nosniff
    X-XSS-Protection: ''
    Strict-Transport-Security: max-age=31536000
basic_auth_users:
  alice: $2y$10$mDwo.lAisC94iLAyP81MCesa29IzH37oigHC/42V2pdJlUprsJPze
rate_limit: {interval: 1.5s, burst: 20}
";
    let file = WebFile::parse("web.yml", text, Path::new("/etc")).unwrap();
    let tls = file.tls.unwrap();
    assert_eq!(
        format!("{:?} {:?}", tls.certificate.source, tls.key.source),
        r#""/etc/web.crt" "/etc/web.key""#
    );
    assert_eq!(tls.client_auth, ClientAuth::RequireAndVerifyClientCert);
    assert_eq!((tls.cipher_suites.len(), tls.curves.len(), tls.prefer_server_cipher_suites), (2, 2, false));
    assert!(!file.http2 && file.headers.len() == 4 && file.users.len() == 1);
    assert_eq!(file.rate_limit.unwrap().interval.as_millis(), 1500);
    // The same keys in their other forms.
    let inline = "tls_server_config: {cert: a, key: b, client_ca: c, client_auth_type: RequireClientCert}";
    let tls = WebFile::parse("web.yml", inline, Path::new("/etc")).unwrap().tls.unwrap();
    assert_eq!(tls.client_auth, ClientAuth::RequireAnyClientCert);
    assert!(!format!("{tls:?}").contains('b'), "{tls:?}");
    for nothing in
        ["", "tls_server_config:\n", "rate_limit: {interval: 0, burst: 20}", "basic_auth_users: {}"]
    {
        check(nothing, &expect!["fine"]);
    }
}

#[test]
fn what_is_wrong_is_said_with_its_place_and_the_way_out() {
    check(
        "
tls_server_config:
  cert_file: web.crt
  cert: text
  kee_file: web.key
  client_auth_type: RequireAndVerifyClientcert
  min_version: TLS10
  cipher_suites: [TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA, TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA25]
  curve_preferences: [CurveP521, P256]
http_server_config:
  headers: {X-Frame-Option: deny, X-Content-Type-Options: sniff, Server: me}
basic_auth_users:
  alice: secret
  'b:b': $2y$10$mDwo.lAisC94iLAyP81MCesa29IzH37oigHC/42V2pdJlUprsJPze
  carol: $2y$31$mDwo.lAisC94iLAyP81MCesa29IzH37oigHC/42V2pdJlUprsJPze
rate_limit: {interval: 1 second}
ratelimit: {}
",
        &expect![[r#"
            web.yml:3:3: tls_server_config: `key_file` is missing; without TLS leave tls_server_config out
            web.yml:3:14: tls_server_config.cert_file: `cert` is also set; keep one of them
            web.yml:5:3: tls_server_config: unknown key `kee_file`; did you mean `key_file`?
            web.yml:6:21: tls_server_config.client_auth_type: `RequireAndVerifyClientcert` is not a choice; did you mean `RequireAndVerifyClientCert`?
            web.yml:7:16: tls_server_config.min_version: `TLS10` is not supported: it is insecure, and the TLS library lacks it; write `TLS12` or `TLS13`
            web.yml:8:19: tls_server_config.cipher_suites[0]: `TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA` is not offered here: the TLS library has suites with GCM or ChaCha20 and forward secrecy only; remove it
            web.yml:8:55: tls_server_config.cipher_suites[1]: `TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA25` is not a choice; did you mean `TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256`?
            web.yml:9:23: tls_server_config.curve_preferences[0]: `CurveP521` is not offered here: the TLS library has X25519, CurveP256 and CurveP384; remove it
            web.yml:9:34: tls_server_config.curve_preferences[1]: `P256` is not a choice; there is `CurveP256`, `CurveP384`, `X25519`
            web.yml:11:29: http_server_config.headers.X-Frame-Option: this header cannot be set; did you mean `X-Frame-Options`?
            web.yml:11:59: http_server_config.headers.X-Content-Type-Options: `sniff` is not a choice; write nosniff
            web.yml:11:74: http_server_config.headers.Server: this header cannot be set; there is `Content-Security-Policy`, `Strict-Transport-Security`, `X-Content-Type-Options`, `X-Frame-Options`, `X-XSS-Protection`
            web.yml:13:10: basic_auth_users.alice: is not a bcrypt hash; make one with `htpasswd -nBC 10 "" | tr -d ':\n'`
            web.yml:14:10: basic_auth_users.b:b: this user could never log in; basic authentication cannot carry an empty name, a colon or a control character
            web.yml:15:10: basic_auth_users.carol: the hash has the cost 31; only 4 to 18 are compared; make one with `htpasswd -nBC 10 "" | tr -d ':\n'`
            web.yml:16:24: rate_limit.interval: `1 second` is not a valid time; write it like `1s` or `250ms`
            web.yml:17:1: unknown key `ratelimit`; did you mean `rate_limit`?"#]],
    );
    check(
        "
tls_server_config:
  cert_file: a
  key_file: b
  client_auth_type: VerifyClientCertIfGiven
  client_allowed_sans: [prometheus.example]
  min_version: TLS13
  max_version: TLS12
",
        &expect![[r#"
            web.yml:3:3: tls_server_config: `client_ca_file` is missing; name the authority of your clients' certificates; without it every client with a certificate of a public authority would be accepted
            web.yml:6:24: tls_server_config.client_allowed_sans: a client without a certificate has no names to compare; write `client_auth_type: RequireAndVerifyClientCert`, so that each client shows one
            web.yml:7:16: tls_server_config.min_version: is above `max_version`"#]],
    );
    check(
        "tls_server_config: {cert_file: a, key_file: b, client_ca_file: c}",
        &expect![
            "web.yml:1:64: tls_server_config: `client_ca_file` is given, but no client is asked for a certificate; write `client_auth_type: RequireAndVerifyClientCert`"
        ],
    );
    check(
        "tls_server_config: {cert_file: a, key_file: b, cipher_suites: [TLS_AES_128_GCM_SHA256]}",
        &expect![
            "web.yml:1:63: tls_server_config.cipher_suites: has no suite for TLS 1.2; add a suite such as `TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256`, or write `min_version: TLS13`"
        ],
    );
    check(
        "tls_server_config: {min_version: TLS13}",
        &expect![[r#"
        web.yml:1:20: tls_server_config: `cert_file` is missing; without TLS leave tls_server_config out
        web.yml:1:20: tls_server_config: `key_file` is missing; without TLS leave tls_server_config out"#]],
    );
    check(
        "rate_limit: {interval: 1s, burst: 0}",
        &expect!["web.yml:1:35: rate_limit.burst: nothing would ever be answered; write `burst: 1` or more"],
    );
}

#[test]
fn files_that_are_named_are_read_and_belong_together() {
    let folder = Folder::new();
    let authority = Authority::new();
    authority.write(&folder, "web", |_| {});
    authority.write(&folder, "other", |_| {});
    folder.write("empty.pem", "");
    let path = folder.path("");
    let check = |text: &str, expected: &Expect| {
        let file = folder.write("web.yml", text);
        let said = match Gate::open(Some(&file), SystemTime::now()) {
            Ok(gate) => gate.warnings(SystemTime::now()).join("\n"),
            Err(report) => report.to_string(),
        };
        expected.assert_eq(&said.replace(&*path.to_string_lossy(), ""));
    };
    check("tls_server_config: {cert_file: web.crt, key_file: web.key}", &expect![[""]]);
    check(
        "tls_server_config: {cert_file: web.crt, key_file: other.key}",
        &expect![
            "web.yml:1:51: tls_server_config.key_file: other.key: is not the key of the certificate; renew both, or name the files that belong together"
        ],
    );
    check(
        "tls_server_config: {cert_file: none.crt, key_file: web.key}",
        &expect![
            "web.yml:1:32: tls_server_config.cert_file: none.crt: cannot be read: No such file or directory (os error 2)"
        ],
    );
    check(
        "tls_server_config: {cert_file: empty.pem, key_file: web.key}",
        &expect![
            "web.yml:1:32: tls_server_config.cert_file: empty.pem: holds no certificate; it begins with -----BEGIN CERTIFICATE-----"
        ],
    );
    check(
        "tls_server_config: {cert_file: web.crt, key_file: web.crt}",
        &expect![
            "web.yml:1:51: tls_server_config.key_file: web.crt: holds no private key; it begins with -----BEGIN PRIVATE KEY-----; keys with a passphrase are not supported: `openssl pkey -in KEY -out KEY.plain` removes it"
        ],
    );
    check(
        "tls_server_config: {cert_file: web.crt, key_file: web.key, client_ca_file: web.key,\n  \
         client_auth_type: RequireAndVerifyClientCert}",
        &expect![
            "web.yml:1:76: tls_server_config.client_ca_file: web.key: holds no certificate; it begins with -----BEGIN CERTIFICATE-----"
        ],
    );
    authority.write(&folder, "old", |params| params.not_after = rcgen::date_time_ymd(2020, 1, 1));
    check(
        "tls_server_config: {cert_file: old.crt, key_file: old.key}",
        &expect!["the certificate in cert_file has expired; renew it"],
    );
    authority.write(&folder, "young", |params| params.not_before = rcgen::date_time_ymd(2120, 1, 1));
    check(
        "tls_server_config: {cert_file: young.crt, key_file: young.key}",
        &expect!["the certificate in cert_file is not valid yet"],
    );
    let hash = "$2y$10$mDwo.lAisC94iLAyP81MCesa29IzH37oigHC/42V2pdJlUprsJPze";
    check(
        &format!("basic_auth_users: {{alice: {hash}}}"),
        &expect!["requires passwords without TLS: they are sent over the network unencrypted"],
    );
    check("{}", &expect!["requires neither TLS nor passwords: everybody can read"]);
}

#[test]
fn check_config_reads_the_web_configuration_too() {
    let folder = Folder::new();
    folder.write("perfmon.yml", "web: {config_file: web.yml}\n");
    folder.write("web.yml", "tls_server_config: {cert_file: none.crt}\n");
    let output = folder.run(&["check-config", "perfmon.yml"]);
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("web.yml:1:20: tls_server_config: `key_file` is missing"), "{said}");
    // The flag wins.
    folder.write("open.yml", "rate_limit: {interval: 1s, burst: 5}\n");
    let output = folder.run(&["check-config", "perfmon.yml", "--web.config.file", "open.yml"]);
    assert_eq!(output.status.code(), Some(0));
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("open.yml: warning: requires neither TLS nor passwords"), "{said}");
}
