/// What is pushed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// The targets' series.
    Metrics,
    /// Events on targets.
    Logs,
    /// Collections.
    Traces,
}

impl Signal {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Metrics, Self::Logs, Self::Traces];

    /// The word for labels.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Metrics => "metrics",
            Self::Logs => "logs",
            Self::Traces => "traces",
        }
    }

    /// What a request is made of, in words.
    pub(super) const fn items(self) -> &'static str {
        match self {
            Self::Metrics => "points",
            Self::Logs => "log records",
            Self::Traces => "spans",
        }
    }

    pub(super) const fn grpc_path(self) -> &'static str {
        match self {
            Self::Metrics => "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export",
            Self::Logs => "/opentelemetry.proto.collector.logs.v1.LogsService/Export",
            Self::Traces => "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
        }
    }

    pub(super) const fn http_path(self) -> &'static str {
        match self {
            Self::Metrics => "/v1/metrics",
            Self::Logs => "/v1/logs",
            Self::Traces => "/v1/traces",
        }
    }
}
