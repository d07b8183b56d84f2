use counters::pcq::types::CounterType as T;
use counters::perflib_v1::write::Data;

use super::super::super::object::{PerfCounter as C, PerfObject};
use super::figures::Figures;

/// The index is public, as are those of its counters and their types.
pub(crate) static ICMP: PerfObject =
    PerfObject::new(582, "ICMP", "Messages of ICMP version 4.", &COUNTERS).german("ICMP").advanced();

static COUNTERS: [C; 27] = [
    C::new(584, T::PERF_COUNTER_COUNTER, "Messages/sec", "Messages received and sent."),
    C::new(586, T::PERF_COUNTER_COUNTER, "Messages Received/sec", "Messages received."),
    C::new(588, T::PERF_COUNTER_RAWCOUNT, "Messages Received Errors", "Messages received with errors."),
    C::new(590, T::PERF_COUNTER_RAWCOUNT, "Received Dest. Unreachable", "Messages received that say so."),
    C::new(592, T::PERF_COUNTER_RAWCOUNT, "Received Time Exceeded", "Messages received that say so."),
    C::new(594, T::PERF_COUNTER_RAWCOUNT, "Received Parameter Problem", "Messages received that say so."),
    C::new(596, T::PERF_COUNTER_RAWCOUNT, "Received Source Quench", "Messages received that say so."),
    C::new(598, T::PERF_COUNTER_COUNTER, "Received Redirect/sec", "Redirects received."),
    C::new(600, T::PERF_COUNTER_COUNTER, "Received Echo/sec", "Echo requests received."),
    C::new(602, T::PERF_COUNTER_COUNTER, "Received Echo Reply/sec", "Echo replies received."),
    C::new(604, T::PERF_COUNTER_COUNTER, "Received Timestamp/sec", "Timestamp requests received."),
    C::new(606, T::PERF_COUNTER_COUNTER, "Received Timestamp Reply/sec", "Timestamp replies received."),
    C::new(608, T::PERF_COUNTER_RAWCOUNT, "Received Address Mask", "Address mask requests received."),
    C::new(610, T::PERF_COUNTER_RAWCOUNT, "Received Address Mask Reply", "Address mask replies received."),
    C::new(612, T::PERF_COUNTER_COUNTER, "Messages Sent/sec", "Messages sent."),
    C::new(614, T::PERF_COUNTER_RAWCOUNT, "Messages Outbound Errors", "Messages not sent because of errors."),
    C::new(616, T::PERF_COUNTER_RAWCOUNT, "Sent Destination Unreachable", "Messages sent that say so."),
    C::new(618, T::PERF_COUNTER_RAWCOUNT, "Sent Time Exceeded", "Messages sent that say so."),
    C::new(620, T::PERF_COUNTER_RAWCOUNT, "Sent Parameter Problem", "Messages sent that say so."),
    C::new(622, T::PERF_COUNTER_RAWCOUNT, "Sent Source Quench", "Messages sent that say so."),
    C::new(624, T::PERF_COUNTER_COUNTER, "Sent Redirect/sec", "Redirects sent."),
    C::new(626, T::PERF_COUNTER_COUNTER, "Sent Echo/sec", "Echo requests sent."),
    C::new(628, T::PERF_COUNTER_COUNTER, "Sent Echo Reply/sec", "Echo replies sent."),
    C::new(630, T::PERF_COUNTER_COUNTER, "Sent Timestamp/sec", "Timestamp requests sent."),
    C::new(632, T::PERF_COUNTER_COUNTER, "Sent Timestamp Reply/sec", "Timestamp replies sent."),
    C::new(634, T::PERF_COUNTER_RAWCOUNT, "Sent Address Mask", "Address mask requests sent."),
    C::new(636, T::PERF_COUNTER_RAWCOUNT, "Sent Address Mask Reply", "Address mask replies sent."),
];

/// The places of counters that move.
const MESSAGES: usize = 0;
const RECEIVED: usize = 1;
const RECEIVED_UNREACHABLE: usize = 3;
const RECEIVED_ECHO: usize = 8;
const SENT: usize = 14;
const SENT_UNREACHABLE: usize = 16;
const SENT_ECHO_REPLY: usize = 22;

/// Somebody pings the host, which answers each.
pub(super) fn data(figures: &Figures<'_>) -> Data {
    let (echoes, unreachable, refused) =
        (figures.events_at(0x1c01, 1), figures.rare(0x1c02, 60, 600), figures.rare(0x1c03, 60, 600));
    let mut values = vec![0; COUNTERS.len()];
    values[MESSAGES] = 2 * echoes + unreachable + refused;
    values[RECEIVED] = echoes + unreachable;
    values[RECEIVED_UNREACHABLE] = unreachable;
    values[RECEIVED_ECHO] = echoes;
    values[SENT] = echoes + refused;
    values[SENT_UNREACHABLE] = refused;
    values[SENT_ECHO_REPLY] = echoes;
    Data::Single(values)
}
