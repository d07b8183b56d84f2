//! What a user may write under `otlp:`, and what is said where it is wrong.

use std::path::Path;
use std::time::Duration;

use config::{SecretSource, parse};
use expect_test::{Expect, expect};
use otlp::encode::Temporality;
use otlp::push::{Compression, OtlpProtocol};
use support::http_client::HeaderSource;

fn check(text: &str, expected: &Expect) {
    let report = parse("perfmon.yml", text, Path::new("/etc/perfmon")).expect_err("a report");
    expected.assert_eq(&report.to_string());
}

#[test]
fn an_endpoint_needs_nothing_but_its_address() {
    let text = "otlp: [{endpoint: 'https://otel.example.com'}, {endpoint: 'http://[::1]/x/v1/metrics', protocol: http}]";
    let config = parse("perfmon.yml", text, Path::new(".")).unwrap();
    let [grpc, http] = &config.otlp[..] else { panic!("{:?}", config.otlp) };
    assert_eq!(
        (grpc.name.as_str(), grpc.host.as_str(), grpc.port),
        ("https://otel.example.com", "otel.example.com", 4317)
    );
    assert_eq!(
        (grpc.protocol, grpc.compression, grpc.temporality),
        (OtlpProtocol::Grpc, Compression::Gzip, Temporality::Cumulative)
    );
    assert_eq!((grpc.interval, grpc.timeout), (Duration::from_secs(30), Duration::from_secs(10)));
    assert!(grpc.secure && !http.secure);
    assert_eq!((http.host.as_str(), http.port, http.path.as_str()), ("[::1]", 4318, "/x"));
}

#[test]
fn everything_can_be_said() {
    let text = r#"
otlp:
  - name: main
    endpoint: https://otel.example.com:443
    protocol: http
    interval: 15s
    timeout: 3s
    compression: zstd
    temporality: delta
    queue_points: 10000
    request_bytes: 1000000
    headers: {X-Scope-OrgID: tenant, authorization: {file: token, prefix: 'Bearer '}, api-key: {env: OTEL_KEY}}
    tls: {ca_file: ca.pem, cert_file: cert.pem, key_file: key.pem}
"#;
    let config = parse("perfmon.yml", text, Path::new("/etc/perfmon")).unwrap();
    let endpoint = &config.otlp[0];
    assert_eq!((endpoint.temporality, endpoint.compression), (Temporality::Delta, Compression::Zstd));
    assert_eq!((endpoint.queue_points, endpoint.request_bytes), (10_000, 1_000_000));
    let file = HeaderSource::Secret {
        prefix: "Bearer ".to_owned(),
        source: SecretSource::File("/etc/perfmon/token".into()),
    };
    assert_eq!(endpoint.headers[0], ("x-scope-orgid".to_owned(), HeaderSource::Plain("tenant".to_owned())));
    assert_eq!(endpoint.headers[1], ("authorization".to_owned(), file));
    assert_eq!(endpoint.tls.client.as_ref().unwrap().key_file, Path::new("/etc/perfmon/key.pem"));
}

#[test]
fn mistakes_are_told_with_their_place_and_a_way_out() {
    check(
        r#"
otlp:
  - {endpoint: otel.example.com:4317}
  - {endpoint: 'https://a', protocol: tcp, intervall: 5s}
  - {endpoint: 'http://b:1', tls: {ca_file: x, cert_file: y}}
  - {endpoint: 'http://b:1/path'}
  - {endpoint: 'http://b:1?x=y', protocol: http}
  - {endpoint: 'http://b:1', compression: brotli, interval: 5}
  - {protocol: http}
telemetry: {endpoint: 'http://b:2', tls: {ca_file: x}}
"#,
        &expect![[r#"
            perfmon.yml:3:16: otlp[0].endpoint: is no `http://` or `https://` URL; write it like `https://collector.example.com:4317`
            perfmon.yml:4:39: otlp[1].protocol: `tcp` is not a choice; there is `grpc`, `http`
            perfmon.yml:4:44: otlp[1]: unknown key `intervall`; did you mean `interval`?
            perfmon.yml:5:35: otlp[2].tls: `cert_file` and `key_file` need each other
            perfmon.yml:5:35: otlp[2].tls: is for `https` endpoints; write `https://b:1`
            perfmon.yml:6:16: otlp[3].endpoint: has a path, which gRPC does not use; write it like `https://collector.example.com:4317`
            perfmon.yml:7:16: otlp[4].endpoint: has a `?` part, which OTLP does not use; write it like `https://collector.example.com:4317`
            perfmon.yml:8:5: otlp[5]: endpoint `http://b:1` is already defined, on line 5; give one of them another `name`
            perfmon.yml:8:43: otlp[5].compression: `brotli` is not a choice; there is `gzip`, `none`, `zstd`
            perfmon.yml:8:61: otlp[5].interval: a time needs a unit; write `5s` for seconds
            perfmon.yml:9:5: otlp[6]: `endpoint` is missing; write it like `https://collector.example.com:4317`
            perfmon.yml:10:42: telemetry.tls: is for `https` endpoints; write `https://b:2`"#]],
    );
}

#[test]
fn no_secret_stands_in_the_configuration_or_is_shown() {
    let text = r#"
otlp:
  - endpoint: 'http://user:hunter2@b:1'
    headers: {Authorization: Bearer hunter2, x-api-key: hunter2, te: x, x-token: {}}
"#;
    check(
        text,
        &expect![[r#"
            perfmon.yml:3:15: otlp[0].endpoint: a secret must not be in the configuration; put it into a file and name that in `headers: {authorization: {file: …}}`
            perfmon.yml:4:30: otlp[0].headers.Authorization: a secret must not be in the configuration; write `{file: /run/secrets/…}` or `{env: …}`; `prefix: 'Bearer '` goes before it
            perfmon.yml:4:57: otlp[0].headers.x-api-key: a secret must not be in the configuration; write `{file: /run/secrets/…}` or `{env: …}`; `prefix: 'Bearer '` goes before it
            perfmon.yml:4:66: otlp[0].headers: `te` is not a header that can be set
            perfmon.yml:4:82: otlp[0].headers.x-token: needs `file` or `env`, one of them; name the file or the variable that holds the value"#]],
    );
}
