/// What a [`PerflibV2Client`](super::PerflibV2Client) accepts from a server. What is above is an error before memory is taken for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum calls of one method whose buffer is too small.
    pub retries_max: u32,
    /// Bytes in one buffer.
    pub reply_bytes_max: u32,
    /// Counters in one counterset, and counters in one query.
    pub counters_max: u32,
    /// Instances of one counterset.
    pub instances_max: u32,
    /// Room offered in the first call of a method, in bytes; saves the second call mostly.
    pub first_reply_bytes: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            retries_max: 4,
            reply_bytes_max: 64 << 20,
            counters_max: 1 << 13,
            instances_max: 1 << 17,
            first_reply_bytes: 64 << 10,
        }
    }
}
