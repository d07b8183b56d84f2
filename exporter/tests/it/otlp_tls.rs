//! TLS and mutual TLS to a collector on a real socket, with certificates made here.

use std::sync::Arc;

use config::parse;
use otlp::push::{OtlpEndpoint, OtlpProtocol};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use support::http_client::{Connector, NetConnector, Trouble};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::{RootCertStore, ServerConfig};

use crate::otlp_collector::Collector;
use crate::program::Folder;

struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    fn sign(&self, name: &str) -> (rcgen::Certificate, KeyPair) {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        (params.signed_by(&key, &self.0).unwrap(), key)
    }
}

/// A collector that asks for a certificate of `authority`.
async fn listen(authority: &Authority, collector: Arc<Collector>) -> u16 {
    let (certificate, key) = authority.sign("localhost");
    let mut roots = RootCertStore::empty();
    roots.add(authority.0.der().clone()).unwrap();
    let provider = Arc::new(ring::default_provider());
    let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider));
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_client_cert_verifier(verifier.build().unwrap())
        .with_single_cert(
            vec![certificate.der().clone()],
            PrivateKeyDer::try_from(key.serialize_der()).unwrap(),
        )
        .unwrap();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            // A client without a certificate goes away again.
            if let Ok(stream) = acceptor.accept(stream).await {
                collector.welcome(stream);
            }
        }
    });
    port
}

fn endpoint(folder: &TempDir, port: u16, tls: &str) -> Arc<OtlpEndpoint> {
    let text = format!(
        "otlp: [{{endpoint: 'https://localhost:{port}', timeout: 5s, interval: 1s, tls: {{{tls}}}}}]"
    );
    let config = parse("perfmon.yml", &text, folder.path()).unwrap_or_else(|report| panic!("{report}"));
    Arc::clone(&config.otlp[0])
}

#[tokio::test]
async fn both_sides_show_their_certificates() {
    let folder = TempDir::new().unwrap();
    let (authority, other) = (Authority::new(), Authority::new());
    let (certificate, key) = authority.sign("exporter");
    let write = |name: &str, text: String| std::fs::write(folder.path().join(name), text).unwrap();
    write("ca.pem", authority.0.pem());
    write("other.pem", other.0.pem());
    write("cert.pem", certificate.pem());
    write("key.pem", key.serialize_pem());
    write("empty.pem", String::new());
    let collector = Collector::new(OtlpProtocol::Grpc, []);
    let port = listen(&authority, Arc::clone(&collector)).await;

    let tls = "ca_file: ca.pem, cert_file: cert.pem, key_file: key.pem";
    assert!(NetConnector::new(endpoint(&folder, port, tls).server()).connect().await.is_ok());

    let fails = async |tls: &str| {
        let connector = NetConnector::new(endpoint(&folder, port, tls).server());
        match connector.connect().await {
            Ok(_) => panic!("{tls}"),
            Err(failure) => (failure.trouble, failure.message),
        }
    };
    let (trouble, message) = fails("ca_file: other.pem, cert_file: cert.pem, key_file: key.pem").await;
    assert_eq!(trouble, Trouble::Tls, "{message}");
    for missing in ["nowhere.pem", "empty.pem"] {
        let (trouble, message) = fails(&format!("ca_file: {missing}")).await;
        assert_eq!(trouble, Trouble::Secret);
        assert!(message.contains(missing), "{message}");
    }
}

#[tokio::test]
async fn a_round_goes_over_mutual_tls() {
    let folder = TempDir::new().unwrap();
    let authority = Authority::new();
    let (certificate, key) = authority.sign("exporter");
    std::fs::write(folder.path().join("ca.pem"), authority.0.pem()).unwrap();
    std::fs::write(folder.path().join("cert.pem"), certificate.pem()).unwrap();
    std::fs::write(folder.path().join("key.pem"), key.serialize_pem()).unwrap();
    let collector = Collector::new(OtlpProtocol::Grpc, []);
    let port = listen(&authority, Arc::clone(&collector)).await;
    let endpoint = endpoint(&folder, port, "ca_file: ca.pem, cert_file: cert.pem, key_file: key.pem");
    // The last round needs no waiting.
    let pusher = crate::otlp_push::pusher_of(&endpoint, Arc::new(NetConnector::new(endpoint.server())));
    pusher.stop(std::time::Duration::from_secs(30)).await;
    assert_eq!(collector.received(1).await.len(), 1);
}

#[tokio::test]
async fn a_collector_that_asks_in_vain_for_our_certificate_fails_by_tls_and_not_as_if_it_were_away() {
    let folder = TempDir::new().unwrap();
    let (authority, other) = (Authority::new(), Authority::new());
    let (certificate, key) = other.sign("exporter");
    std::fs::write(folder.path().join("ca.pem"), authority.0.pem()).unwrap();
    std::fs::write(folder.path().join("cert.pem"), certificate.pem()).unwrap();
    std::fs::write(folder.path().join("key.pem"), key.serialize_pem()).unwrap();
    for (word, protocol) in [("grpc", OtlpProtocol::Grpc), ("http", OtlpProtocol::Http)] {
        let collector = Collector::new(protocol, []);
        let port = listen(&authority, Arc::clone(&collector)).await;
        // Whether the request or the refusal is faster is a matter of luck.
        for turn in 0..20 {
            let ours = if turn % 2 == 0 { "" } else { ", cert_file: cert.pem, key_file: key.pem" };
            let text = format!(
                "otlp: [{{endpoint: 'https://localhost:{port}', protocol: {word}, tls: {{ca_file: ca.pem{ours}}}}}]"
            );
            let config =
                parse("perfmon.yml", &text, folder.path()).unwrap_or_else(|report| panic!("{report}"));
            let endpoint = Arc::clone(&config.otlp[0]);
            let connector = Arc::new(NetConnector::new(endpoint.server()));
            let pusher = crate::otlp_push::pusher_of(&endpoint, connector);
            let counts = Arc::clone(&pusher.counts().get()[0]);
            pusher.stop(std::time::Duration::from_secs(30)).await;
            let reasons: Vec<&str> = counts.failures().into_iter().map(|(reason, _)| reason).collect();
            assert_eq!(reasons, ["tls"], "{word}, turn {turn}");
        }
        assert!(collector.now().is_empty());
    }
}

#[test]
fn the_log_says_what_to_do_where_a_collector_asks_for_a_certificate() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let authority = Authority::new();
    for (word, protocol) in [("grpc", OtlpProtocol::Grpc), ("http", OtlpProtocol::Http)] {
        let collector = Collector::new(protocol, []);
        let port = runtime.block_on(listen(&authority, collector));
        let folder = Folder::new();
        folder.write("ca.pem", &authority.0.pem());
        let mut exporter = folder.plugin("pulse", "pulse.c").serve(&format!(
            r#"
web: {{listen: ["127.0.0.1:0"]}}
plugins: {{path: ., load: [pulse]}}
modules: {{beat: {{plugin: pulse}}}}
targets: [{{host: heart, modules: [beat], interval: 1s}}]
otlp: [{{endpoint: 'https://localhost:{port}', protocol: {word}, interval: 1s, tls: {{ca_file: ca.pem}}}}]
"#
        ));
        let line = exporter.wait_for_line("Collector accepts no data for now");
        assert!(line.contains("reason=\"tls\"") || line.contains("reason=tls"), "{line}");
        assert!(line.contains(&format!("localhost:{port}")), "{line}");
        assert!(line.contains("name one in `tls.cert_file`, and its key in `tls.key_file`"), "{line}");
    }
}
