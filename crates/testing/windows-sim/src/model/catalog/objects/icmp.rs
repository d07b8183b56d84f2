use counters::perflib_v1::write::Data;

use super::figures::Figures;

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
    let mut values = vec![0; super::object("ICMP").counters.len()];
    values[MESSAGES] = 2 * echoes + unreachable + refused;
    values[RECEIVED] = echoes + unreachable;
    values[RECEIVED_UNREACHABLE] = unreachable;
    values[RECEIVED_ECHO] = echoes;
    values[SENT] = echoes + refused;
    values[SENT_UNREACHABLE] = refused;
    values[SENT_ECHO_REPLY] = echoes;
    Data::Single(values)
}
