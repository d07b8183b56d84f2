//! The inputs that fuzzing begins with: what is right, written by hand, and what once was, or would be, too much.

/// An input: its oracle, its name, and its bytes.
pub type Seed = (&'static str, &'static str, Vec<u8>);

#[must_use]
pub fn seeds() -> Vec<Seed> {
    let mut seeds = vec![("plugin_data", "honest", plugin()), ("plugin_data", "histograms", histograms())];
    seeds.extend(patterns());
    seeds.extend(rules());
    seeds.extend(files());
    seeds.extend(compat());
    seeds.extend(requests());
    seeds.extend(answers());
    seeds.extend(receivers());
    seeds
}

/// A length and the bytes.
fn chunk(bytes: &[u8]) -> Vec<u8> {
    let length = u16::try_from(bytes.len()).unwrap_or(u16::MAX).to_le_bytes();
    [&length, bytes].concat()
}

/// A family with two series, their values, and the end of a collection, as `crate::plugin` takes bytes apart.
fn plugin() -> Vec<u8> {
    /// Anything that is neither null nor misaligned, with true lengths.
    const RIGHT: u8 = 9;
    const ROWS: u8 = 0x30;
    const WORD: u8 = 0x40;
    let mut bytes = vec![0, RIGHT, 64, ROWS | 1, 1, 1, 0];
    bytes.extend((0..7).map(|word| WORD | word));
    bytes.extend([RIGHT; 2]);
    bytes.extend([2, RIGHT, 64, ROWS | 2]);
    for value in [WORD, WORD | 1] {
        bytes.extend([0, RIGHT, ROWS | 1, WORD, value, 0, 0]);
    }
    bytes.extend([RIGHT; 2]);
    bytes.extend([5, RIGHT, RIGHT, 1, RIGHT, ROWS | 2, 0, 1, RIGHT, ROWS | 2]);
    bytes.extend([1.5_f64, -2.0].iter().flat_map(|value| value.to_le_bytes()));
    bytes.extend([RIGHT, ROWS, RIGHT, ROWS, 0]);
    bytes.extend([6, 0, RIGHT, RIGHT, RIGHT, 1, RIGHT, ROWS | 1, 0, 64, ROWS | 1, 1]);
    bytes.extend([0; 8]);
    bytes.extend([0, 0, 0, WORD]);
    bytes
}

/// A family of histograms with two bounds, two series of it, a histogram for each, two that cannot be, and the end of a
/// collection.
fn histograms() -> Vec<u8> {
    /// Anything that is neither null nor misaligned, with true lengths.
    const RIGHT: u8 = 9;
    const ROWS: u8 = 0x30;
    const WORD: u8 = 0x40;
    let mut bytes = vec![0, RIGHT, 64, ROWS | 1, 4, 4, 0];
    bytes.extend((0..8).map(|word| WORD | word));
    bytes.extend([0, 0x10, RIGHT, ROWS | 2, 10, 20]);
    bytes.extend([RIGHT; 2]);
    bytes.extend([2, RIGHT, 64, ROWS | 2]);
    for value in [WORD, WORD | 1] {
        bytes.extend([0, RIGHT, ROWS | 1, WORD, value, 0, 0]);
    }
    bytes.extend([RIGHT; 2]);
    bytes.extend([9, RIGHT, RIGHT, 0, RIGHT, ROWS | 2, 0, 1]);
    bytes.extend([RIGHT, ROWS | 6, 20, 21, 22, 23, 24, 25]);
    bytes.extend([RIGHT, ROWS | 2, 3, 4, RIGHT, ROWS, RIGHT, ROWS, 0]);
    // Observations that are too many to count, and a sum below zero.
    bytes.extend([9, RIGHT, RIGHT, 0, RIGHT, ROWS | 2, 0, 1, RIGHT, ROWS | 6, 0]);
    bytes.extend([u8::MAX; 8]);
    bytes.extend([21, 22, 23, 24, 25, RIGHT, ROWS | 2, 3, 0xf0, RIGHT, ROWS, RIGHT, ROWS, 0]);
    bytes.extend([6, 0, RIGHT, RIGHT, RIGHT, 1, RIGHT, ROWS, 0, ROWS, 0, 0, WORD, 0]);
    bytes
}

/// A dashboard and a rule file, and what is nearly one.
fn compat() -> Vec<Seed> {
    let file = |name, text: &str| ("compat_files", name, text.as_bytes().to_vec());
    let dashboard = r#"{"panels": [{"type": "row", "panels": [{"title": "A", "type": "stat", "targets": [
        {"expr": "sum by (core) (rate(windows_cpu_time_total{mode!=\"idle\", host=~\"$host\"}[$__rate_interval]))"},
        {"expr": "topk(${n:raw}, windows_cs_logical_processors) + windows_[[kind]]_total offset 5m"}]}]}],
        "templating": {"list": [{"name": "host", "type": "query", "query": "label_values(windows_os_info, instance)"},
        {"name": "b", "type": "query", "query": {"query": "query_result({__name__=~\"windows_(a|b)_.*\"})"}}]},
        "annotations": {"list": [{"name": "c", "expr": "changes(windows_system_boot_time_timestamp[1h:5m])"}]}}"#;
    let rules = "groups:\n- name: a\n  rules:\n  - {record: 'a:b', expr: 'windows_service_state == 0'}\n  \
                 - {alert: C, expr: 'a:b > on (d) group_left () perfmon_exporter_target_up'}\n";
    vec![
        file("dashboard", dashboard),
        file("rules", rules),
        file("no_promql", "- {expr: 'rate(a['}\n- {expr: '{__name__=~\"(\"}'}\n- {expr: 1}\n"),
        file("deep", &format!("{{\"panels\": {}", "[".repeat(5_000))),
        file("deep_expression", &format!("- {{expr: '{}a'}}", "-(".repeat(4_000))),
        file(
            "escapes",
            "{\"panels\": [{\"type\": \"a\", \"title\": \"\\u001b[2J\\u202e\", \"expr\": \"a\\u001b\"}]}",
        ),
    ]
}

fn patterns() -> Vec<Seed> {
    let pattern = |name, pattern: &str, value: &str| {
        ("rules_pattern", name, [&chunk(pattern.as_bytes())[..], value.as_bytes()].concat())
    };
    vec![
        pattern("plain", "(.*)_(a|b)+", "x_ab"),
        pattern("classes", r"[[:alpha:]\d&&^-]{1,3}\Q.*\E", "a1.*"),
        pattern("flags", r"(?i:straße)\bx|\p{^Greek}+?\x{41}\101", "STRASSE x"),
        pattern("unequal_ends", "a)|(b", "ax"),
        // Each of these looked for its end in all that follows.
        pattern("many_open_classes", &"[[:".repeat(5_000), "a"),
        pattern("nested", &"(".repeat(400), "a"),
        pattern("too_big", "(((a{100}){100}){100})", "a"),
    ]
}

fn rules() -> Vec<Seed> {
    let rules = |name, section: &str| {
        let series =
            [1, 1, b'X', 3, b'A', b'/', b's', 2, 2, 1, b'a', 1, b'1', 1, b'b', 3, 0xc3, 0xa9, b'"', 0];
        ("rules_labels", name, [&chunk(section.as_bytes())[..], &series].concat())
    };
    let doubled = |rule: &str| vec![rule; 40].join(", ");
    vec![
        rules(
            "each_kind",
            "{naming: verbatim, drop: [x.*, {name: y, labels: {a: z}}], rename: [{from: '(.*)', to: 'n.$1'}], \
             metric_relabel_configs: [{source_labels: [a], regex: '(.)', target_label: drive, replacement: '${1}:'}, \
             {action: labelmap, regex: b, replacement: c}, {action: hashmod, source_labels: [a], modulus: 7, \
             target_label: h}, {action: labeldrop, regex: env}], limits: {max_labels: 5, max_label_bytes: 64}}",
        ),
        rules(
            "new_names",
            "{metric_relabel_configs: [{source_labels: [__name__, a], target_label: __name__}]}",
        ),
        rules("names_that_double", &format!("{{rename: [{}]}}", doubled("{from: '(.*)', to: $1$1}"))),
        rules(
            "labels_that_double",
            &format!(
                "{{metric_relabel_configs: [{}]}}",
                doubled("{action: labelmap, regex: '(a+)', replacement: $1$1}")
            ),
        ),
        rules(
            "values_of_many",
            &format!(
                "{{metric_relabel_configs: [{}, {{source_labels: [{}], target_label: a}}]}}",
                doubled("{source_labels: [a, a], target_label: a}"),
                vec!["a"; 2_000].join(", ")
            ),
        ),
    ]
}

fn files() -> Vec<Seed> {
    let file = |oracle, name, text: &str| (oracle, name, text.as_bytes().to_vec());
    let long = "x".repeat(12 << 10);
    let many = vec!["1"; 4_000].join(",");
    let json = "[\n\t{\"targets\": [\"web1\"], \"labels\": {\"__param_module\": \"os\", \"env\": \"\\ud83d\\ude00\"}}\n]\n";
    vec![
        file("config_file", "reference", include_str!("../../../../../exporter/perfmon.reference.yaml")),
        file(
            "config_file",
            "least",
            "plugins: {load: [pcq]}\nmodules: {os: {plugin: pcq}}\ntargets: [{host: web1, modules: [os]}]\n",
        ),
        file("config_file", "bomb", &bomb()),
        file("config_file", "deep", &format!("targets: {}", "[".repeat(5_000))),
        file("config_file", "line_ends_in_texts", "web: {listen: [\"a\\nb\\x1b[31m\"], \"c\\nd\": 1}"),
        file(
            "config_file",
            "long_words",
            &format!("transports: {{{long}: {{}}}}\ntarget_defaults: {{transport: y{long}}}"),
        ),
        file(
            "config_file",
            "long_key_over_many",
            &format!(
                "identities: {{{long}: {{kind: ntlm, username: a, password_file: b, allow_hosts: [{many}]}}}}"
            ),
        ),
        file(
            "config_file",
            "many_modules",
            &format!("target_defaults: {{modules: [{}]}}", many.replace('1', "os")),
        ),
        file(
            "config_targets",
            "yaml",
            "- targets: [web1.corp.example.com, 10.0.0.1]\n  labels:\n    __param_module: os,sql\n    \
             __param_identity: corp\n    __scrape_interval__: 15s\n    __scrape_timeout__: 5s\n    env: prod\n",
        ),
        file("config_targets", "json", json),
        file("config_targets", "none", "[]"),
        file("config_targets", "bomb", &bomb()),
        file("config_web", "all", WEB),
        file(
            "config_web",
            "inline",
            "tls_server_config: {cert: a, key: b, client_ca: c, min_version: TLS13}\n",
        ),
    ]
}

/// Anchors that stand for ten times as much each.
fn bomb() -> String {
    let mut text = "a0: &a0 [1,1,1,1,1,1,1,1,1,1]\n".to_owned();
    for level in 1..9 {
        let aliases = vec![format!("*a{}", level - 1); 10].join(",");
        text += &format!("a{level}: &a{level} [{aliases}]\n");
    }
    text
}

fn requests() -> Vec<Seed> {
    let accept = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.6,\
                  application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,text/plain;q=0.3,*/*;q=0.2";
    let with = |first: &[u8], rest: &[u8]| [&chunk(first), rest].concat();
    vec![
        ("web_accept", "prometheus", with(accept.as_bytes(), b"gzip;q=0.5, zstd, identity;q=0")),
        ("web_accept", "nothing", with(b"", b"*;q=0")),
        (
            "web_probe",
            "all",
            with(b"9.5", b"target=web1%2Eexample&module=os,sql&module=x&identity=corp&debug=1&labels=no"),
        ),
        ("web_probe", "least", with(b"", b"target=a+b")),
        ("web_credentials", "made_up", b"Basic YWxpY2U6bWFkZSB1cA==".to_vec()),
        (
            "web_heads",
            "two",
            b"\x03GET / HTTP/1.1\r\nHost: a\r\n\r\n\r\nGET /b HTTP/1.1\nX: y\r\n\n".to_vec(),
        ),
        ("web_heads", "long", [b"\x0fGET /", &[b'x'; 9_000][..], b" HTTP/1.1\r\n\r\n"].concat()),
    ]
}

fn answers() -> Vec<Seed> {
    let partial = [0x0a, 0x07, 0x08, 0xac, 0x02, 0x12, 0x02, b'n', b'o'];
    // Status(code=8, message="slow down", details=[RetryInfo of 3.5 s]) in base64.
    let details =
        b"CAgSCXNsb3cgZG93bho2Cih0eXBlLmdvb2dsZWFwaXMuY29tL2dvb2dsZS5ycGMuUmV0cnlJbmZvEgoKCAgDEIDKte4B";
    // Protocol and status; then the fields of the head, each with its number and its value, and none after the body.
    let fields = |head: u8, fields: &[(u8, &[u8])]| -> Vec<u8> {
        let count = u8::try_from(fields.len()).unwrap_or(u8::MAX);
        let fields = fields.iter().flat_map(|(field, value)| [&[*field], &chunk(value)[..]].concat());
        [head, count].into_iter().chain(fields).chain([0]).collect()
    };
    let (http_200, http_503, grpc_200) = (0, 9 << 1, 1);
    vec![
        ("otlp_answer", "partial", [&fields(http_200, &[])[..], &partial].concat()),
        (
            "otlp_answer",
            "grpc_partial",
            [&fields(grpc_200, &[(1, b"0")])[..], &[0, 0, 0, 0, 9], &partial].concat(),
        ),
        ("otlp_answer", "grpc_busy", fields(grpc_200, &[(1, b"8"), (2, b"slow%20down %+1"), (3, details)])),
        ("otlp_answer", "retry_after", fields(http_503, &[(0, b"Sun, 06 Nov 2094 08:49:37 GMT")])),
        ("otlp_answer", "retry_never", fields(http_503, &[(0, b"18446744073709551615")])),
    ]
}

fn receivers() -> Vec<Seed> {
    // The status; then the fields, each with its number and its value.
    let answer = |status: u8, fields: &[(u8, &[u8])], body: &[u8]| -> Vec<u8> {
        let count = u8::try_from(fields.len()).unwrap_or(u8::MAX);
        let fields = fields.iter().flat_map(|(field, value)| [&[*field], &chunk(value)[..]].concat());
        [status, count].into_iter().chain(fields).chain(body.iter().copied()).collect()
    };
    let (ok, found, bad_request, busy) = (0, 4, 6, 14);
    vec![
        ("alerts_answer", "taken", answer(ok, &[(2, b"text/html")], b"<html>")),
        ("alerts_answer", "elsewhere", answer(found, &[(1, b"https://other.example/alerts")], b"")),
        ("alerts_answer", "invalid", answer(bad_request, &[], b"{\"message\": \"no\x1b[31m\nlabels\"}")),
        ("alerts_answer", "later", answer(busy, &[(0, b"Sun, 06 Nov 2094 08:49:37 GMT")], b"slow down")),
        ("alerts_answer", "never", answer(busy, &[(0, b"18446744073709551615")], &[0xff; 300])),
    ]
}

/// The hash is of the password `abc` in the test vectors of bcrypt.
const WEB: &str = "
tls_server_config: {cert_file: server.crt, key_file: server.key, client_auth_type: RequireAndVerifyClientCert,
  client_ca_file: ca.crt, min_version: TLS12, cipher_suites: [TLS_AES_128_GCM_SHA256], curve_preferences: [X25519]}
http_server_config: {http2: false, headers: {X-Frame-Options: deny, Strict-Transport-Security: max-age=31536000}}
basic_auth_users: {alice: $2a$06$If6bvum7DFjUnE9p2uDeDu0YHzrHM6tf.iqN8.yx.jNN1ILEf7h0i}
rate_limit: {interval: 1m30.5s, burst: 20}
";
