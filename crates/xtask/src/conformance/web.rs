//! curl and a real Prometheus at the web server's gate: TLS, certificates of clients that OpenSSL made, passwords,
//! HTTP/2, and a certificate that is renewed while they read.

use std::fs;
use std::net::SocketAddr;
use std::process::Command;
use std::time::Duration;

use super::prometheus;
use crate::Outcome;
use crate::Result;
use crate::process::poll;
use crate::stage::Stage;
use crate::workspace::Workspace;

const TIMEOUT: Duration = Duration::from_secs(30);
const EXPIRY: &str = r#"perfmon_exporter_web_certificate_expiry_timestamp_seconds{key="cert_file"}"#;

/// A test vector of bcrypt, from Openwall's crypt_blowfish: the password is `U*U`.
const HASH: &str = "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW";
const PASSWORD: &str = "U*U";

const OPENSSL: &str = "[req]\ndistinguished_name = name\n[name]\n\
    [authority]\nbasicConstraints = critical, CA:TRUE\n\
    [leaf]\nbasicConstraints = CA:FALSE\nsubjectAltName = IP:127.0.0.1, DNS:scraper.example\n";

pub(crate) fn run(workspace: &Workspace) -> Result<Outcome> {
    let stage = Stage::new(workspace)?;
    fs::write(stage.path("openssl.cnf"), OPENSSL)?;
    for authority in ["ours", "theirs"] {
        certificate(&stage, authority, None, 30)?;
    }
    for (name, authority) in [("web", "ours"), ("client", "ours"), ("stranger", "theirs")] {
        certificate(&stage, name, Some(authority), 10)?;
    }
    fs::write(
        stage.path("web.yml"),
        format!(
            "tls_server_config: {{cert_file: web.crt, key_file: web.key, client_ca_file: ours.crt,\n  \
             client_auth_type: RequireAndVerifyClientCert, client_allowed_sans: [scraper.example]}}\n\
             basic_auth_users: {{scraper: {HASH}}}\n"
        ),
    )?;
    let config = "web: {listen: ['127.0.0.1:0'], config_file: web.yml}\n";
    let (mut exporter, address) = stage.exporter_with(config)?;
    let asked = ask(&stage, address)?;

    let (_prometheus, prometheus) = prometheus::start_with(&stage, &scrape_config(&stage, address))?;
    let expiry = |what| {
        poll(what, TIMEOUT, || Ok(prometheus::query(prometheus, EXPIRY)?.first().map(|sample| sample.value)))
    };
    let before = expiry("Prometheus scrapes over mutual TLS")?;
    certificate(&stage, "web", Some("ours"), 20)?;
    exporter.wait_for("renewed certificate", TIMEOUT, |line| {
        line.contains("Web configuration reloaded").then_some(())
    })?;
    poll("Prometheus sees the renewed certificate", TIMEOUT, || {
        let after = expiry("Prometheus goes on")?;
        Ok((after > before + 5.0 * 86_400.0).then_some(()))
    })?;
    let up = prometheus::query(prometheus, "min_over_time(up[1m])")?;
    match up.first().map(|sample| sample.value) {
        Some(up) if (up - 1.0).abs() < f64::EPSILON => {}
        other => return Err(format!("a scrape failed: min_over_time(up[1m]) is {other:?}").into()),
    }
    Ok(Outcome::Ran(format!("{asked} ways to ask by curl; Prometheus read on over a renewed certificate")))
}

/// Asks in each way, and compares with what must come out: a status and a version of HTTP, or no answer.
fn ask(stage: &Stage<'_>, address: SocketAddr) -> Result<usize> {
    let (ours, theirs) = ("--cacert ours.crt", "--cacert theirs.crt");
    let (client, stranger) = ("--cert client.crt --key client.key", "--cert stranger.crt --key stranger.key");
    let (user, wrong) = (format!("-u scraper:{PASSWORD}"), "-u scraper:wrong");
    let cases = [
        (format!("{ours} {client} {user} --http2"), Some("200 2")),
        (format!("{ours} {client} {user} --http1.1"), Some("200 1.1")),
        (format!("{ours} {client} {user} --http1.0"), Some("200 1")),
        (format!("{ours} {client} {user} --http2 --tls-max 1.2"), Some("200 2")),
        (format!("{ours} {client} {user} --http2 --compressed"), Some("200 2")),
        (format!("{ours} {client} {wrong} --http2"), Some("401 2")),
        (format!("{ours} {client} {wrong} --http1.1"), Some("401 1.1")),
        (format!("{ours} {client} --http1.1"), Some("401 1.1")),
        (format!("{ours} {client} {user} --http1.1 --data x"), Some("400 1.1")),
        (format!("{theirs} {client} {user}"), None),
        (format!("{ours} {user}"), None),
        (format!("{ours} {stranger} {user}"), None),
        (format!("{ours} {client} {user} --tls-max 1.1"), None),
    ];
    for (arguments, expected) in &cases {
        let answer = curl(stage, &format!("https://{address}/metrics"), arguments)?;
        if answer.as_deref() != *expected {
            return Err(format!("curl {arguments}: {answer:?} instead of {expected:?}").into());
        }
    }
    let plain = curl(stage, &format!("http://{address}/metrics"), "--http1.1")?;
    if plain.as_deref() != Some("400 1.1") {
        return Err(format!("curl without TLS: {plain:?}").into());
    }
    Ok(cases.len() + 1)
}

/// Status and version of the answer; nothing where the two could not agree to talk.
fn curl(stage: &Stage<'_>, url: &str, arguments: &str) -> Result<Option<String>> {
    let output = Command::new("curl")
        .current_dir(stage.path(""))
        .args([
            "-sS",
            "-o",
            "page",
            "--max-time",
            "20",
            "--noproxy",
            "*",
            "-w",
            "%{http_code} %{http_version}",
        ])
        .args(arguments.split_whitespace())
        .arg(url)
        .output()?;
    // What curl calls it: no TLS connection, no data, a broken connection, a certificate that it does not trust.
    match output.status.code() {
        Some(0) => Ok(Some(String::from_utf8(output.stdout)?)),
        Some(35 | 52 | 55 | 56 | 60) => Ok(None),
        code => {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            Err(format!("curl {arguments} {url} ended with {code:?}: {said}").into())
        }
    }
}

/// `NAME.crt` and `NAME.key`, signed by `authority` or by itself.
fn certificate(stage: &Stage<'_>, name: &str, authority: Option<&str>, days: u32) -> Result<()> {
    let mut openssl = Command::new("openssl");
    openssl.current_dir(stage.path(""));
    openssl.args([
        "req",
        "-x509",
        "-config",
        "openssl.cnf",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:P-256",
    ]);
    openssl.args(["-nodes", "-subj", &format!("/CN={name}"), "-days", &days.to_string()]);
    openssl.args(["-keyout", "new.key", "-out", "new.crt"]);
    match authority {
        Some(authority) => {
            let (certificate, key) = (format!("{authority}.crt"), format!("{authority}.key"));
            openssl.args(["-extensions", "leaf", "-CA", &certificate, "-CAkey", &key]);
        }
        None => {
            openssl.args(["-extensions", "authority"]);
        }
    }
    let output = openssl.output()?;
    if !output.status.success() {
        return Err(format!("openssl req: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    for end in ["key", "crt"] {
        fs::rename(stage.path(&format!("new.{end}")), stage.path(&format!("{name}.{end}")))?;
    }
    Ok(())
}

fn scrape_config(stage: &Stage<'_>, exporter: SocketAddr) -> String {
    let file = |name: &str| stage.path(name).display().to_string();
    format!(
        "  - job_name: perfmon\n    scheme: https\n    tls_config: {{ca_file: {}, cert_file: {}, key_file: {}}}\n    \
         basic_auth: {{username: scraper, password: '{PASSWORD}'}}\n    \
         static_configs: [{{targets: ['{exporter}']}}]\n",
        file("ours.crt"),
        file("client.crt"),
        file("client.key")
    )
}
