//! The exporter's own figures, by the OpenTelemetry SDK.
//!
//! They are known when the process starts, and have no gaps: what the SDK's observable instruments carry. It reads them
//! at each interval, in a thread of its own, and sends them through our client.

use std::collections::BTreeSet;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use http_body_util::Full;
use hyper::header::{HOST, HeaderName, USER_AGENT as USER_AGENT_HEADER};
use hyper::{Request, Response, Uri};
use opentelemetry::KeyValue;
use opentelemetry::metrics::{Meter, MeterProvider};
use opentelemetry_http::{Bytes, HttpClient, HttpError};
use opentelemetry_otlp::{MetricExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::metrics::{Instrument, PeriodicReader, SdkMeterProvider, Stream};
use support::http_client::{Connection, Connector, Failure, NetConnector, Trouble, USER_AGENT, header_value};
use support::telemetry::{Metric, MetricKind, histogram};
use tokio::runtime::Handle;

use super::OtlpEndpoint;
use super::Signal;

/// What reads a metric of the exporter's own: the labels and values of its series.
pub type Read = Arc<dyn Fn(&'static Metric) -> Vec<(Vec<(String, String)>, f64)> + Send + Sync>;

/// Sends the exporter's own figures until it is stopped.
#[derive(Debug)]
pub struct OwnTelemetry {
    provider: SdkMeterProvider,
}

impl OwnTelemetry {
    /// Begins to send `metrics` to `endpoint`, all but histograms, which are recorded in [`Self::meter`]. Each of them is read
    /// once an interval, in this order. The client works on `runtime`.
    ///
    /// # Errors
    /// When the SDK refuses its settings.
    pub fn start(
        endpoint: &Arc<OtlpEndpoint>,
        runtime: Handle,
        metrics: &[&'static Metric],
        read: &Read,
    ) -> Result<Self, String> {
        let scheme = if endpoint.secure { "https" } else { "http" };
        let (host, port, path) = (&endpoint.host, endpoint.port, &endpoint.path);
        let connector = Arc::new(NetConnector::new(endpoint.server()));
        let exporter = MetricExporter::builder()
            .with_http()
            .with_http_client(Client { endpoint: Arc::clone(endpoint), connector, runtime })
            .with_endpoint(format!("{scheme}://{host}:{port}{path}{}", Signal::Metrics.http_path()))
            .with_timeout(endpoint.timeout)
            .build()
            .map_err(|error| error.to_string())?;
        let reader = PeriodicReader::builder(exporter).with_interval(endpoint.interval).build();
        let resource = Resource::builder_empty().with_service_name("perfmon-exporter");
        let resource = resource.with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")));
        let provider = SdkMeterProvider::builder().with_reader(reader).with_resource(resource.build());
        // The SDK joins what is above 2,000 series of a metric; some have one a target, or more. It takes memory for as many as
        // there may be at once.
        let of_targets = metrics.iter().filter(|metric| metric.labels.contains(&"target"));
        let of_targets: BTreeSet<String> = of_targets.map(|metric| metric.otel_name()).collect();
        let provider = provider.with_view(move |instrument: &Instrument| {
            let has_many = of_targets.contains(instrument.name());
            has_many.then(|| Stream::builder().with_cardinality_limit(SERIES_MAX).build().ok()).flatten()
        });
        let provider = provider.build();
        let meter = provider.meter("perfmon-exporter");
        metrics.iter().for_each(|metric| observe(&meter, metric, Arc::clone(read)));
        Ok(Self { provider })
    }

    /// Makes instruments whose figures are sent with the others.
    #[must_use]
    pub fn meter(&self) -> Meter {
        self.provider.meter("perfmon-exporter")
    }

    /// Sends the figures a last time. To be called where waiting is allowed.
    ///
    /// # Errors
    /// When they are not taken.
    pub fn stop(self) -> Result<(), String> {
        self.provider.shutdown().map_err(|error| error.to_string())
    }
}

/// Makes the instrument of a metric, which lives on in the meter.
fn observe(meter: &Meter, metric: &'static Metric, read: Read) {
    let rows = move || {
        read(metric).into_iter().map(|(labels, value)| {
            let attributes = labels.into_iter().map(|(name, text)| KeyValue::new(name, text));
            (attributes.collect::<Vec<_>>(), value)
        })
    };
    let (name, unit) = (metric.otel_name(), metric.otel_unit());
    match metric.kind {
        MetricKind::Counter => {
            let counter = meter.f64_observable_counter(name).with_unit(unit).with_description(metric.help);
            counter
                .with_callback(move |out| rows().for_each(|(with, value)| out.observe(value, &with)))
                .build();
        }
        MetricKind::Gauge | MetricKind::Info => {
            let gauge = meter.f64_observable_gauge(name).with_unit(unit).with_description(metric.help);
            gauge
                .with_callback(move |out| rows().for_each(|(with, value)| out.observe(value, &with)))
                .build();
        }
        // Made now: where one of its rows comes first, the SDK locks what it holds while it reads the others.
        MetricKind::Histogram(_) => drop(histogram(meter, metric)),
    }
}

/// Of one metric that has series of targets.
const SERIES_MAX: usize = 100_000;

/// Our client in the SDK's eyes. Each call has a connection of its own: they are far apart.
#[derive(Clone)]
struct Client {
    endpoint: Arc<OtlpEndpoint>,
    connector: Arc<dyn Connector>,
    runtime: Handle,
}

impl Client {
    async fn send(self, request: Request<Bytes>) -> Result<Response<Bytes>, Failure> {
        let timeout = self.endpoint.timeout;
        let answer = tokio::time::timeout(timeout, self.exchange(request)).await;
        answer.map_err(|_| Failure::new(Trouble::Timeout, format!("no answer within {timeout:?}")))?
    }

    async fn exchange(self, request: Request<Bytes>) -> Result<Response<Bytes>, Failure> {
        let malformed =
            |error: &dyn std::error::Error| Failure::of(Trouble::Unexpected, "make a request", error);
        let (mut head, body) = request.into_parts();
        let authority = head.uri.authority().map(ToString::to_string).unwrap_or_default();
        head.headers.insert(HOST, authority.parse().map_err(|error| malformed(&error))?);
        let path = head.uri.path_and_query().map_or("/", |path| path.as_str());
        head.uri = path.parse::<Uri>().map_err(|error| malformed(&error))?;
        head.headers.insert(USER_AGENT_HEADER, USER_AGENT.parse().map_err(|error| malformed(&error))?);
        for (name, source) in &self.endpoint.headers {
            let name = name.parse::<HeaderName>().map_err(|error| malformed(&error))?;
            head.headers.insert(name, header_value(source)?);
        }
        let mut connection = Connection::open(&*self.connector, self.endpoint.server()).await?;
        let answer = connection.send(Request::from_parts(head, Full::new(body))).await?;
        let mut response = Response::new(Bytes::from(answer.body));
        *response.status_mut() = answer.status;
        *response.headers_mut() = answer.headers;
        Ok(response)
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("endpoint", &self.endpoint.name).finish_non_exhaustive()
    }
}

/// Written as the trait's macro would: the SDK asks from a thread that is none of the run time's.
impl HttpClient for Client {
    fn send_bytes<'a, 'b>(
        &'a self,
        request: Request<Bytes>,
    ) -> Pin<Box<dyn Future<Output = Result<Response<Bytes>, HttpError>> + Send + 'b>>
    where
        'a: 'b,
        Self: 'b,
    {
        let answer = self.runtime.spawn(self.clone().send(request));
        Box::pin(async {
            let answer = answer.await?;
            answer.map_err(|failure| format!("{}: {}", failure.trouble.as_str(), failure.message).into())
        })
    }
}
