use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

use crate::Stream;

/// The direction of bytes, from the side of the stream's owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Bytes that are read.
    Received,
    /// Bytes that are written.
    Sent,
}

/// The faults of a [`Faulty`] stream. The default has none; the same plan always has the same effect.
///
/// Offsets count the bytes of one direction from the beginning of the stream.
#[derive(Clone, Debug, Default)]
pub struct FaultPlan {
    /// Seed of the lengths of pieces and of delays.
    pub seed: u64,
    /// Reads and writes are cut into pieces of one to this many bytes.
    pub split_bytes_max: Option<usize>,
    /// A read goes on until its buffer is full or no more data is available.
    pub coalesce: bool,
    /// Maximum delay of a piece, by tokio's clock.
    pub delay_max: Duration,
    /// The stream ends after this many bytes: reads see the end, writes a broken pipe.
    pub cut: Option<(Direction, u64)>,
    /// The byte at this offset arrives inverted.
    pub corrupt: Option<(Direction, u64)>,
    /// After this many bytes the stream stays open and nothing moves in either direction.
    pub stall: Option<(Direction, u64)>,
}

/// A stream with the faults of a [`FaultPlan`].
pub struct Faulty<S> {
    inner: S,
    plan: FaultPlan,
    random: SplitMix64,
    received: Way,
    sent: Way,
}

struct Way {
    direction: Direction,
    offset_bytes: u64,
    delay: Pin<Box<Sleep>>,
    delay_is_set: bool,
}

impl<S: Stream> Faulty<S> {
    /// Puts the faults of `plan` around `inner`.
    pub fn new(inner: S, plan: FaultPlan) -> Self {
        let random = SplitMix64(plan.seed);
        Self { inner, plan, random, received: Way::new(Direction::Received), sent: Way::new(Direction::Sent) }
    }

    fn is_stalled(&self) -> bool {
        self.has_passed(self.plan.stall)
    }

    fn is_cut(&self) -> bool {
        self.has_passed(self.plan.cut)
    }

    fn has_passed(&self, mark: Option<(Direction, u64)>) -> bool {
        match mark {
            Some((Direction::Received, offset)) => self.received.offset_bytes >= offset,
            Some((Direction::Sent, offset)) => self.sent.offset_bytes >= offset,
            None => false,
        }
    }
}

impl FaultPlan {
    /// How many of `wanted` bytes may pass now, so that every fault hits its offset exactly.
    fn allowance(&self, way: &Way, wanted: usize, random: &mut SplitMix64) -> usize {
        let split = self.split_bytes_max.map_or(usize::MAX, |max| random.one_to(max));
        let left = |mark: Option<(Direction, u64)>| match mark {
            Some((direction, offset)) if direction == way.direction => {
                usize::try_from(offset.saturating_sub(way.offset_bytes)).unwrap_or(usize::MAX)
            }
            _ => usize::MAX,
        };
        wanted.min(split).min(left(self.cut)).min(left(self.stall))
    }

    /// Inverts the byte at the offset to corrupt, if it is in `bytes`.
    fn corrupt(&self, way: &Way, bytes: &mut [u8]) {
        if let Some((direction, offset)) = self.corrupt
            && direction == way.direction
            && let Some(index) = offset.checked_sub(way.offset_bytes)
            && let Some(byte) = usize::try_from(index).ok().and_then(|index| bytes.get_mut(index))
        {
            *byte = !*byte;
        }
    }
}

impl Way {
    fn new(direction: Direction) -> Self {
        Self { direction, offset_bytes: 0, delay: Box::pin(sleep(Duration::ZERO)), delay_is_set: false }
    }

    /// Waits once for each piece.
    fn poll_delay(&mut self, cx: &mut Context<'_>, delay_max: Duration, random: &mut SplitMix64) -> Poll<()> {
        if delay_max.is_zero() {
            return Poll::Ready(());
        }
        if !self.delay_is_set {
            let share =
                f64::from(u32::try_from(random.next() >> 32).unwrap_or(u32::MAX)) / f64::from(u32::MAX);
            self.delay.as_mut().reset(Instant::now() + delay_max.mul_f64(share));
            self.delay_is_set = true;
        }
        ready!(self.delay.as_mut().poll(cx));
        self.delay_is_set = false;
        Poll::Ready(())
    }
}

impl<S: Stream> AsyncRead for Faulty<S> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.is_cut() {
            return Poll::Ready(Ok(()));
        }
        if this.is_stalled() {
            return Poll::Pending;
        }
        ready!(this.received.poll_delay(cx, this.plan.delay_max, &mut this.random));
        let wanted = this.plan.allowance(&this.received, buf.remaining(), &mut this.random);
        let mut piece = vec![0; wanted.min(PIECE_BYTES_MAX)];
        let mut filled = 0;
        while filled < piece.len() {
            let mut part = ReadBuf::new(&mut piece[filled..]);
            match Pin::new(&mut this.inner).poll_read(cx, &mut part) {
                Poll::Ready(Ok(())) if part.filled().is_empty() => break,
                Poll::Ready(Ok(())) => filled += part.filled().len(),
                Poll::Ready(Err(error)) if filled == 0 => return Poll::Ready(Err(error)),
                Poll::Pending if filled == 0 => return Poll::Pending,
                Poll::Ready(Err(_)) | Poll::Pending => break,
            }
            if !this.plan.coalesce {
                break;
            }
        }
        this.plan.corrupt(&this.received, &mut piece[..filled]);
        buf.put_slice(&piece[..filled]);
        this.received.offset_bytes += filled as u64;
        Poll::Ready(Ok(()))
    }
}

impl<S: Stream> AsyncWrite for Faulty<S> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        if this.is_cut() {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        if this.is_stalled() {
            return Poll::Pending;
        }
        ready!(this.sent.poll_delay(cx, this.plan.delay_max, &mut this.random));
        let allowed = this.plan.allowance(&this.sent, bytes.len(), &mut this.random).min(PIECE_BYTES_MAX);
        let mut piece = bytes.get(..allowed).unwrap_or(bytes).to_vec();
        this.plan.corrupt(&this.sent, &mut piece);
        let written = ready!(Pin::new(&mut this.inner).poll_write(cx, &piece))?;
        this.sent.offset_bytes += written as u64;
        Poll::Ready(Ok(written))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().inner).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().inner).poll_shutdown(cx)
    }
}

/// Steele, Lea and Flood's SplitMix64: small, and the same on every machine.
struct SplitMix64(u64);

impl SplitMix64 {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn one_to(&mut self, max: usize) -> usize {
        let bound = u64::try_from(max.max(1)).unwrap_or(u64::MAX);
        usize::try_from(self.next() % bound).unwrap_or(0) + 1
    }
}

/// Maximum bytes of one read or write.
const PIECE_BYTES_MAX: usize = 64 * 1024;
