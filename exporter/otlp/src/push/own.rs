//! The exporter's own figures, by the OpenTelemetry SDK.
//!
//! They are few, known when the process starts, and have no start times or gaps: what the SDK's observable
//! instruments carry. It reads them at each interval, in a thread of its own, and sends them through our client.

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
use opentelemetry_sdk::metrics::{PeriodicReader, SdkMeterProvider};
use support::http_client::{Connection, Connector, Failure, NetConnector, Trouble, USER_AGENT, header_value};
use tokio::runtime::Handle;

use super::OtlpEndpoint;
use super::Signal;

/// One of the exporter's own figures.
pub struct Figure {
    /// Its name, with dots.
    pub name: &'static str,
    /// Its unit as UCUM has it.
    pub unit: &'static str,
    pub help: &'static str,
    pub is_counter: bool,
    /// Reads it: a value for each set of attributes.
    pub read: Box<dyn Fn() -> Vec<Row> + Send + Sync>,
}

/// Attributes and the value that they have.
type Row = (Vec<(&'static str, String)>, f64);

/// Sends the exporter's own figures until it is stopped.
#[derive(Debug)]
pub struct OwnTelemetry {
    provider: SdkMeterProvider,
}

impl OwnTelemetry {
    /// Begins to send `figures` to `endpoint`. The client works on `runtime`.
    ///
    /// # Errors
    /// When the SDK refuses its settings.
    pub fn start(
        endpoint: &Arc<OtlpEndpoint>,
        runtime: Handle,
        figures: impl IntoIterator<Item = Figure>,
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
        let provider =
            SdkMeterProvider::builder().with_reader(reader).with_resource(resource.build()).build();
        let meter = provider.meter("perfmon-exporter");
        figures.into_iter().for_each(|figure| figure.observe_with(&meter));
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

impl Figure {
    fn observe_with(self, meter: &Meter) {
        let Self { name, unit, help, is_counter, read } = self;
        let rows = move || {
            read().into_iter().map(|(attributes, value)| {
                let attributes = attributes.into_iter().map(|(name, text)| KeyValue::new(name, text));
                (attributes.collect::<Vec<_>>(), value)
            })
        };
        // The instrument lives on in the meter.
        if is_counter {
            let counter = meter.f64_observable_counter(name).with_unit(unit).with_description(help);
            counter
                .with_callback(move |out| rows().for_each(|(with, value)| out.observe(value, &with)))
                .build();
        } else {
            let gauge = meter.f64_observable_gauge(name).with_unit(unit).with_description(help);
            gauge
                .with_callback(move |out| rows().for_each(|(with, value)| out.observe(value, &with)))
                .build();
        }
    }
}

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
