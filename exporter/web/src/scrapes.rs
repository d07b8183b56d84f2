use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use exposition::{Coding, Cost, Format};
use support::telemetry::{Metric, Timing, Timings, WAIT_S, WORK_S, Writer};

/// How a request for the page ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScrapeOutcome {
    /// The reader got all of it.
    Complete,
    /// The reader went away, or took nothing for too long.
    Aborted,
    /// Too many at a time.
    Rejected,
    /// The reader took too little while another one waited for the permit of its page.
    Displaced,
}

impl ScrapeOutcome {
    pub const ALL: [Self; 4] = [Self::Complete, Self::Aborted, Self::Rejected, Self::Displaced];

    /// The word for labels.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Aborted => "aborted",
            Self::Rejected => "rejected",
            Self::Displaced => "displaced",
        }
    }
}

/// The peers that are distinguished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageOf {
    Metrics,
    /// `/probe`: one of them. Such pages are small and come as often as there are targets, so that they would hide what
    /// the others take.
    Probe,
}

/// What serving pages costs.
#[derive(Debug)]
pub struct Scrapes {
    counts: [AtomicU64; ScrapeOutcome::ALL.len()],
    bytes: AtomicU64,
    probes: [AtomicU64; PROBES_END.len()],
    probe_bytes: AtomicU64,
    /// Connections that are open.
    pub connections: AtomicU64,
    formats: [OfFormat; FORMATS.len()],
    compression: [Timing; CODINGS.len()],
}

/// What pages of one format take.
#[derive(Debug)]
struct OfFormat {
    duration: Timing,
    first_piece: Timing,
    encoding: Timing,
    size: Timing,
}

/// A page that was sent.
#[derive(Clone, Copy, Debug)]
pub struct Scrape {
    pub of: PageOf,
    pub format: Format,
    pub coding: Coding,
    /// How much of it.
    pub bytes: u64,
    /// From the request to the last byte.
    pub took: Duration,
    /// From the request to the first piece.
    pub first_piece: Duration,
    /// What the processor did for it.
    pub cost: Cost,
}

impl Default for Scrapes {
    fn default() -> Self {
        Self::new(&Timings::default())
    }
}

impl Scrapes {
    /// Nothing was read yet.
    #[must_use]
    pub fn new(timings: &Timings) -> Self {
        Self {
            counts: Default::default(),
            bytes: AtomicU64::new(0),
            probes: Default::default(),
            probe_bytes: AtomicU64::new(0),
            connections: AtomicU64::new(0),
            formats: FORMATS.map(|(_, word)| OfFormat {
                duration: timings.get(&DURATION, &[word]),
                first_piece: timings.get(&FIRST_PIECE, &[word]),
                encoding: timings.get(&ENCODING, &[word]),
                size: timings.get(&SIZE, &[word]),
            }),
            compression: CODINGS.map(|(_, word)| timings.get(&COMPRESSION, &[word])),
        }
    }

    pub fn count(&self, outcome: ScrapeOutcome) {
        self.counts[outcome as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// Counts one that reached its end or its reader's.
    pub fn ended(&self, outcome: ScrapeOutcome, scrape: &Scrape) {
        if scrape.of == PageOf::Probe {
            let counts = PROBES_END.iter().zip(&self.probes);
            let count = counts.filter(|(end, _)| **end == outcome).map(|(_, count)| count);
            count.for_each(|count| _ = count.fetch_add(1, Ordering::Relaxed));
            self.probe_bytes.fetch_add(scrape.bytes, Ordering::Relaxed);
            return;
        }
        self.count(outcome);
        self.bytes.fetch_add(scrape.bytes, Ordering::Relaxed);
        if outcome != ScrapeOutcome::Complete {
            return;
        }
        let of_format = FORMATS.iter().zip(&self.formats).find(|((format, _), _)| *format == scrape.format);
        if let Some((_, timings)) = of_format {
            timings.duration.took(scrape.took);
            timings.first_piece.took(scrape.first_piece);
            timings.encoding.took(scrape.cost.encoding);
            #[expect(clippy::cast_precision_loss, reason = "a page has less than 2⁵³ bytes")]
            timings.size.observe(scrape.bytes as f64);
        }
        let of_coding =
            CODINGS.iter().zip(&self.compression).find(|((coding, _), _)| *coding == scrape.coding);
        if let Some((_, compression)) = of_coding {
            compression.took(scrape.cost.compression);
        }
    }

    /// How many of `/metrics` ended so.
    #[must_use]
    pub fn of(&self, outcome: ScrapeOutcome) -> u64 {
        self.counts[outcome as usize].load(Ordering::Relaxed)
    }

    pub fn write(&self, out: &mut Writer<'_, '_>) -> fmt::Result {
        let rows = ScrapeOutcome::ALL.map(|outcome| ([outcome.as_str()], self.of(outcome)));
        out.rows(&SCRAPES, rows)?;
        out.row(&SENT_BYTES, self.bytes.load(Ordering::Relaxed))?;
        let probes = PROBES_END.iter().zip(&self.probes);
        out.rows(
            &PROBE_PAGES,
            probes.map(|(outcome, count)| ([outcome.as_str()], count.load(Ordering::Relaxed))),
        )?;
        out.row(&PROBE_SENT_BYTES, self.probe_bytes.load(Ordering::Relaxed))?;
        out.row(&CONNECTIONS, self.connections.load(Ordering::Relaxed))
    }
}

/// How pages of probes end: those that there are too many of are counted among the probes.
const PROBES_END: [ScrapeOutcome; 2] = [ScrapeOutcome::Complete, ScrapeOutcome::Aborted];
const FORMATS: [(Format, &str); 3] =
    [(Format::Text, "text"), (Format::OpenMetrics, "openmetrics"), (Format::Protobuf, "protobuf")];
const CODINGS: [(Coding, &str); 2] = [(Coding::Gzip, "gzip"), (Coding::Zstd, "zstd")];

/// What this file shows.
pub const METRICS: &[&Metric] = &[
    &DURATION,
    &FIRST_PIECE,
    &ENCODING,
    &SIZE,
    &COMPRESSION,
    &SCRAPES,
    &SENT_BYTES,
    &PROBE_PAGES,
    &PROBE_SENT_BYTES,
    &CONNECTIONS,
];

static DURATION: Metric = Metric::histogram(
    "perfmon_exporter_scrape_duration_seconds",
    WAIT_S,
    &["format"],
    "Time from a request for /metrics to its last byte.",
);
static FIRST_PIECE: Metric = Metric::histogram(
    "perfmon_exporter_scrape_first_piece_seconds",
    WAIT_S,
    &["format"],
    "Time from a request for /metrics to the first part of its page.",
);
static ENCODING: Metric = Metric::histogram(
    "perfmon_exporter_scrape_encoding_seconds",
    WORK_S,
    &["format"],
    "Time to encode a page of /metrics, without compression and without waiting for the reader.",
);
static COMPRESSION: Metric = Metric::histogram(
    "perfmon_exporter_scrape_compression_seconds",
    WORK_S,
    &["coding"],
    "Time to compress a page of /metrics.",
);
static SIZE: Metric = Metric::histogram(
    "perfmon_exporter_scrape_size_bytes",
    &[1e4, 1e5, 1e6, 1e7, 1e8],
    &["format"],
    "Size of a page of /metrics as sent.",
);
static SCRAPES: Metric = Metric::counter(
    "perfmon_exporter_scrapes",
    &["outcome"],
    "Requests for /metrics by outcome: complete; aborted: the reader disconnected or was too slow; \
     rejected: too many pages at a time; displaced: the reader was too slow while another one waited.",
);
static SENT_BYTES: Metric =
    Metric::counter("perfmon_exporter_scrape_sent_bytes", &[], "Bytes sent as pages of /metrics.");
static PROBE_PAGES: Metric = Metric::counter(
    "perfmon_exporter_probe_pages",
    &["outcome"],
    "Pages of /probe by how their transmission ended; they are not counted as scrapes.",
);
static PROBE_SENT_BYTES: Metric =
    Metric::counter("perfmon_exporter_probe_sent_bytes", &[], "Bytes sent as pages of /probe.");
static CONNECTIONS: Metric =
    Metric::gauge("perfmon_exporter_http_connections", &[], "Open HTTP connections.");
