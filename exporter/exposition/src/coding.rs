//! Pages in fewer bytes.

use std::io::{self, Write};
use std::time::Duration;

use flate2::write::GzEncoder;
use zstd::stream::write::Encoder as ZstdEncoder;

use super::Encoder;
use super::accept::{QUALITY_MAX, Ranges};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Coding {
    #[default]
    Identity,
    /// Level 1: the higher ones cost ten times the processor for a third fewer bytes.
    Gzip,
    Zstd,
}

impl Coding {
    /// The word for Content-Encoding; none for a page as it is.
    #[must_use]
    pub fn content_encoding(self) -> Option<&'static str> {
        match self {
            Self::Identity => None,
            Self::Gzip => Some("gzip"),
            Self::Zstd => Some("zstd"),
        }
    }

    /// The preferred coding of an Accept-Encoding header; `None` if it excludes all of them.
    ///
    /// Without a header pages are not compressed. Among equals zstd comes first, because it is cheaper, then gzip.
    /// What a header does not name has the q of `*`; without a `*`, it is allowed only if it is identity.
    #[must_use]
    pub fn negotiate(accept_encoding: Option<&str>) -> Option<Self> {
        let Some(header) = accept_encoding else { return Some(Self::Identity) };
        let quality = |wanted: &[&str]| {
            Ranges::of(header).find(|range| wanted.contains(&&*range.name)).map(|range| range.quality)
        };
        let others = quality(&["*"]);
        let rated = [
            (Self::Identity, quality(&["identity"]).unwrap_or(if others == Some(0) { 0 } else { 1 })),
            (Self::Gzip, quality(&["gzip", "x-gzip"]).or(others).unwrap_or(0)),
            (Self::Zstd, quality(&["zstd"]).or(others).unwrap_or(0)),
        ];
        debug_assert!(rated.iter().all(|&(_, quality)| quality <= QUALITY_MAX));
        let best = rated.into_iter().max_by_key(|&(_, quality)| quality);
        best.filter(|&(_, quality)| quality > 0).map(|(coding, _)| coding)
    }
}

/// A page that is being encoded and compressed.
///
/// Call [`CodedPage::next_chunk`] with the same emptied buffer until it answers `false`. Between calls it holds one
/// piece of the page and the state of the coding.
pub struct CodedPage {
    encoder: Encoder,
    sink: Sink,
    cost: Cost,
}

/// The time that a page took so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    pub encoding: Duration,
    /// Compressing it, or copying it where it is not compressed.
    pub compression: Duration,
}

/// A compressor of pieces; each holds its output.
enum Sink {
    Identity,
    Gzip(GzEncoder<Vec<u8>>),
    Zstd(ZstdEncoder<'static, Vec<u8>>),
    Ended,
}

impl CodedPage {
    /// A page in this coding.
    ///
    /// # Errors If there is no memory for the coding's state.
    pub fn new(encoder: Encoder, coding: Coding) -> io::Result<Self> {
        let sink = match coding {
            Coding::Identity => Sink::Identity,
            Coding::Gzip => Sink::Gzip(GzEncoder::new(Vec::new(), flate2::Compression::fast())),
            Coding::Zstd => Sink::Zstd(ZstdEncoder::new(Vec::new(), ZSTD_LEVEL)?),
        };
        Ok(Self { encoder, sink, cost: Cost::default() })
    }

    /// The time that the page took so far, by the clock of [`CodedPage::next_chunk_by`].
    #[must_use]
    pub fn cost(&self) -> Cost {
        self.cost
    }

    /// Appends the next piece to `out`: of a page as it is about 32 KiB, else what the coding has ready. Answers
    /// `false`, and appends nothing, when the page is complete.
    pub fn next_chunk(&mut self, out: &mut Vec<u8>) -> bool {
        self.next_chunk_by(out, || Duration::ZERO)
    }

    /// The same, and adds its time to [`CodedPage::cost`] by `clock`, which returns the time since any fixed
    /// moment.
    pub fn next_chunk_by(&mut self, out: &mut Vec<u8>, clock: impl Fn() -> Duration) -> bool {
        let begin = out.len();
        let wanted = if matches!(self.sink, Sink::Identity) { IDENTITY_BYTES } else { 1 };
        let mut before = clock();
        while out.len() < begin + wanted && !matches!(self.sink, Sink::Ended) {
            let piece = self.encoder.next_piece();
            let encoded = clock();
            match piece {
                Some(piece) => self.sink.take(piece, out),
                None => std::mem::replace(&mut self.sink, Sink::Ended).finish(out),
            }
            let compressed = clock();
            self.cost.encoding += encoded.saturating_sub(before);
            self.cost.compression += compressed.saturating_sub(encoded);
            before = compressed;
        }
        out.len() > begin
    }
}

impl Sink {
    /// Compresses a piece, and appends the ready output. Writing into vectors does not fail.
    fn take(&mut self, piece: &[u8], out: &mut Vec<u8>) {
        let ready = match self {
            Self::Gzip(sink) => sink.write_all(piece).map(|()| sink.get_mut()),
            Self::Zstd(sink) => sink.write_all(piece).map(|()| sink.get_mut()),
            Self::Identity => return out.extend_from_slice(piece),
            Self::Ended => return,
        };
        if let Ok(ready) = ready {
            out.append(ready);
        }
    }

    fn finish(self, out: &mut Vec<u8>) {
        let rest = match self {
            Self::Gzip(sink) => sink.finish(),
            Self::Zstd(sink) => sink.finish(),
            Self::Identity | Self::Ended => return,
        };
        out.append(&mut rest.unwrap_or_default());
    }
}

impl std::fmt::Debug for CodedPage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CodedPage").field("encoder", &self.encoder).finish_non_exhaustive()
    }
}

const ZSTD_LEVEL: i32 = 1;
/// One answer to the socket for several of the encoder's pieces.
const IDENTITY_BYTES: usize = 28 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_get_the_coding_that_they_want() {
        use Coding::{Gzip, Identity, Zstd};
        for (header, expected) in [
            // Prometheus
            ("gzip", Some(Gzip)),
            // Browsers and curl
            ("gzip, deflate, br, zstd", Some(Zstd)),
            ("deflate, gzip", Some(Gzip)),
            ("", Some(Identity)),
            ("br", Some(Identity)),
            ("*", Some(Zstd)),
            ("gzip;q=0.5", Some(Gzip)),
            ("gzip;q=0.5, zstd;q=0.4", Some(Gzip)),
            ("gzip;q=0.5, identity", Some(Identity)),
            ("GZIP;Q=1.0, zstd;q=0", Some(Gzip)),
            ("x-gzip", Some(Gzip)),
            ("gzip;q=0, *;q=0.1, zstd;q=0", Some(Identity)),
            ("gzip;q=0", Some(Identity)),
            ("identity;q=0, gzip", Some(Gzip)),
            ("identity;q=0, *", Some(Zstd)),
            ("*;q=0, gzip;q=0.1", Some(Gzip)),
            ("*;q=0, identity;q=0.1", Some(Identity)),
            ("identity;q=0", None),
            ("*;q=0", None),
            ("identity;q=0, br", None),
        ] {
            assert_eq!(Coding::negotiate(Some(header)), expected, "{header}");
        }
        assert_eq!(Coding::negotiate(None), Some(Identity));
    }
}
