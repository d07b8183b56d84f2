use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::oneshot;
use tracing::warn;

use crate::telemetry::log;

/// What the process hears. Made first of all, since a signal that nobody hears ends the process.
pub(super) struct Signals {
    pub(super) hangup: Signal,
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    /// To be called within the run time.
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self {
            hangup: signal(SignalKind::hangup())?,
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    /// Tells of the first SIGTERM or SIGINT by name. The second one ends the process at once, as it would have without
    /// us: whoever sends it does not want to wait for the drain.
    pub(super) fn end(self) -> (Signal, oneshot::Receiver<&'static str>) {
        let Self { hangup, mut terminate, mut interrupt } = self;
        let (told, hear) = oneshot::channel();
        tokio::spawn(async move {
            let (name, _) = next(&mut terminate, &mut interrupt).await;
            // The hearer is gone only when the process ends for another reason.
            let _ = told.send(name);
            let (name, number) = next(&mut terminate, &mut interrupt).await;
            warn!(signal = name, "Ended at once");
            log::flush();
            std::process::exit(128 + number);
        });
        (hangup, hear)
    }
}

async fn next(terminate: &mut Signal, interrupt: &mut Signal) -> (&'static str, i32) {
    tokio::select! {
        _ = terminate.recv() => ("SIGTERM", SignalKind::terminate().as_raw_value()),
        _ = interrupt.recv() => ("SIGINT", SignalKind::interrupt().as_raw_value()),
    }
}
