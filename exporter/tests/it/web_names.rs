//! What a web server on a private address tells to whom: by which name it was asked for, and whether the reader is
//! known.

use crate::program::{Answer, Exporter, Folder};
use crate::web_gate::{Authority, get};

const CONFIG: &str = r#"
web: {listen: ["127.0.0.1:0"], enable_lifecycle: true, config_file: web.yml,
      allowed_hosts: ['*.corp.example'], external_url: 'http://mon.example/perfmon'}
identities:
  ours: {kind: ntlm, domain: CORP, username: svc-metrics, password_file: secret-file, allow_hosts: ['*.corp.lan']}
"#;
/// A test vector of bcrypt, from Openwall's crypt_blowfish: the password is `U*U`.
const USERS: &str =
    "basic_auth_users: {alice: $2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW}\n";
const ALICE: &str = "Authorization: Basic YWxpY2U6VSpV\r\n";
const TLS: &str = "tls_server_config: {cert_file: web.crt, key_file: web.key, client_ca_file: web-ca.crt, \
                   client_auth_type: VerifyClientCertIfGiven}\n";

/// Asks by a name, with more headers.
fn ask(exporter: &Exporter, line: &str, host: &str, more: &str) -> Answer {
    exporter.ask(&format!("{line} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{more}\r\n"))
}

fn serve(folder: &Folder, web: &str, config: &str) -> Exporter {
    folder.write("secret-file", "hunter2");
    folder.write("web.yml", web);
    folder.serve(config)
}

#[test]
fn a_site_that_leads_its_name_to_us_gets_no_page_and_no_reload() {
    let folder = Folder::new();
    let exporter = serve(&folder, "", CONFIG);
    for line in
        ["GET /", "GET /config", "GET /targets/a", "GET /probe?target=a&d%65bug=true", "POST /-/reload"]
    {
        for host in ["evil.example", "evil.example:9483", "127.0.0.1.evil.example", "evil.mon.example"] {
            // A script of that site says so, and there is no other one that it could be of.
            let refused = ask(&exporter, line, host, "Origin: http://evil.example\r\n");
            assert_eq!(refused.status, 421, "{line} by {host}: {}", refused.body);
            assert!(refused.body.contains("web.allowed_hosts"), "{}", refused.body);
        }
    }
    let machine = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let ours = ["127.0.0.1:9483", "[::1]:9483", "localhost", "exporter", "a.corp.example", "mon.example"];
    for host in ours.into_iter().chain([machine.trim()]) {
        assert_eq!(ask(&exporter, "GET /config", host, "").status, 200, "{host}");
        assert_eq!(ask(&exporter, "POST /-/reload", host, "").status, 200, "{host}");
        let script = ask(&exporter, "POST /-/reload", host, "Origin: http://evil.example\r\n");
        assert_eq!(script.status, 403, "{host}");
    }
    let page = exporter.get("/metrics").body;
    let counted = "perfmon_exporter_web_requests_refused_total{reason=\"foreign_host\"} 20\n";
    assert!(page.contains(counted), "{page}");
}

#[test]
fn prometheus_reads_by_any_name() {
    let folder = Folder::new();
    let exporter = serve(&folder, "", CONFIG);
    for path in ["/metrics", "/sd", "/-/healthy", "/-/ready"] {
        let answer = ask(&exporter, &format!("GET {path}"), "perfmon.monitoring.svc.cluster.local:9483", "");
        assert_eq!(answer.status, 200, "{path}");
    }
    let probe = ask(&exporter, "GET /probe?target=nobody", "perfmon.monitoring.svc", "");
    assert_eq!(probe.status, 403, "{}", probe.body);
}

#[test]
fn a_reader_who_gave_a_password_opens_pages_by_any_name() {
    let folder = Folder::new();
    let exporter = serve(&folder, USERS, CONFIG);
    assert_eq!(ask(&exporter, "GET /config", "evil.example", "").status, 401);
    assert_eq!(ask(&exporter, "GET /config", "proxy.example", ALICE).status, 200);
}

#[test]
fn who_identities_are_is_shown_to_known_readers_alone() {
    let secrets = ["CORP", "svc-metrics", "secret-file", "corp.lan"];
    let folder = Folder::new();
    let exporter = serve(&folder, "", CONFIG);
    let open = exporter.get("/config").body;
    assert!(open.contains("ours:") && secrets.iter().all(|secret| !open.contains(secret)), "{open}");
    drop(exporter);

    let exporter = serve(&folder, USERS, CONFIG);
    let known = ask(&exporter, "GET /config", "localhost", ALICE).body;
    assert!(secrets.iter().all(|secret| known.contains(secret)), "{known}");
    assert!(!known.contains("hunter2"));
    drop(exporter);

    let authority = Authority::new();
    authority.write(&folder, "web", |_| {});
    authority.write_own(&folder, "web-ca.crt");
    let exporter = serve(&folder, TLS, CONFIG);
    let page = get(&exporter, &authority.client(None, &[]), "/config").unwrap();
    assert!(page.contains("ours:") && secrets.iter().all(|secret| !page.contains(secret)), "{page}");
    let own = authority.sign(|_| {});
    let page = get(&exporter, &authority.client(Some(&own), &[]), "/config").unwrap();
    assert!(secrets.iter().all(|secret| page.contains(secret)), "{page}");
}

#[test]
fn a_browser_gets_errors_as_pages_and_programs_get_a_line() {
    let folder = Folder::new();
    let exporter = serve(&folder, "", CONFIG);
    let browser = "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\n";
    let page = ask(&exporter, "GET /targetz/a&b/x", "localhost", browser);
    assert_eq!(page.status, 404);
    for part in ["content-type: text/html", "content-security-policy: default-src 'none'"] {
        assert!(page.head.contains(part), "{part}\n{}", page.head);
    }
    for part in ["/targetz/a&amp;b/x", "no such page", "href=\"../../plugins\"", "href=\"../../page.css\""] {
        assert!(page.body.contains(part), "{part}\n{}", page.body);
    }
    let busy = ask(&exporter, "POST /metrics", "localhost", browser);
    assert_eq!((busy.status, busy.head.contains("allow: GET, HEAD")), (405, true), "{}", busy.head);
    let foreign = ask(&exporter, "GET /", "evil.example", browser);
    assert!(foreign.status == 421 && foreign.body.contains("<h1>") && foreign.body.contains("evil.example"));
    for accept in ["", "Accept: */*\r\n", "Accept: application/openmetrics-text;version=1.0.0\r\n"] {
        let line = ask(&exporter, "GET /nowhere", "localhost", accept);
        assert!(line.head.contains("content-type: text/plain"), "{}", line.head);
        assert_eq!(line.body, "there is no such page; try / or /metrics\n");
    }
}
