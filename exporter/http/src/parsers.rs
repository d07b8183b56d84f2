//! What reads requests and certificates, without a server around it, for the laws about them.

use std::sync::LazyLock;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};

use crate::gate;
use crate::heads::Heads;

/// User and password in the value of `Authorization`.
#[must_use]
pub fn credentials(header: &[u8]) -> Option<(String, Vec<u8>)> {
    gate::credentials(header)
}

/// When a certificate in DER begins and ends, in Unix seconds, and its names.
#[must_use]
pub fn certificate(der: &[u8]) -> Option<(i64, i64, Vec<String>)> {
    gate::certificate(der)
}

/// What the HTTP parser gets of what a peer sends in these pieces.
#[must_use]
pub fn heads(pieces: &[&[u8]]) -> Vec<u8> {
    // Timers need a run time, whether or not they are waited for.
    static CLOCK: LazyLock<Option<Runtime>> =
        LazyLock::new(|| Builder::new_current_thread().enable_time().build().ok());
    let Some(clock) = &*CLOCK else { return Vec::new() };
    let _entered = clock.enter();
    let mut heads = Heads::new((), Duration::from_secs(1));
    let mut passed = Vec::new();
    for piece in pieces {
        let mut piece = piece.to_vec();
        let kept = heads.check(&mut piece);
        passed.extend_from_slice(&piece[..kept]);
    }
    passed
}
