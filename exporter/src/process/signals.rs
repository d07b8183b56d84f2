//! Signals.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use support::telemetry::log;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::oneshot;
use tracing::{info, warn};

/// The signals of the process. Created first, because an unhandled signal ends the process.
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

    /// Handles signals from now on. The first SIGTERM or SIGINT is reported by name. One before the program is up,
    /// or a second one, ends the program at once, as by default.
    pub(super) fn listen(self) -> (Signal, Ending) {
        let Self { hangup, mut terminate, mut interrupt } = self;
        let (sender, receiver) = oneshot::channel();
        let is_up = Arc::new(AtomicBool::new(false));
        let ending = Ending { receiver, is_up: Arc::clone(&is_up) };
        tokio::spawn(async move {
            let (name, _) = next(&mut terminate, &mut interrupt).await;
            if !is_up.load(Ordering::SeqCst) {
                info!(signal = name, "Stopped before it was ready");
                log::flush();
                plugin_host::leave(0);
            }
            // The receiver is gone only if the process ends for another reason.
            let _ = sender.send(name);
            let (name, number) = next(&mut terminate, &mut interrupt).await;
            warn!(signal = name, "Stopped at once");
            log::flush();
            plugin_host::leave(128 + number);
        });
        (hangup, ending)
    }
}

/// Notifies the program that it should end.
pub(super) struct Ending {
    receiver: oneshot::Receiver<&'static str>,
    is_up: Arc<AtomicBool>,
}

impl Ending {
    /// Lets the first signal end the program in order from now on.
    pub(super) fn begin_orderly(self) -> oneshot::Receiver<&'static str> {
        self.is_up.store(true, Ordering::SeqCst);
        self.receiver
    }
}

async fn next(terminate: &mut Signal, interrupt: &mut Signal) -> (&'static str, i32) {
    tokio::select! {
        _ = terminate.recv() => ("SIGTERM", SignalKind::terminate().as_raw_value()),
        _ = interrupt.recv() => ("SIGINT", SignalKind::interrupt().as_raw_value()),
    }
}
