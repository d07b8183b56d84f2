//! The values of classic objects, over a second pipe of the host: its providers run in the host's registry service, and
//! one that hangs takes the pipe with it, not the values of the others.

use counter_poll::SelectionPoller;
use counter_poll::over_host::{PipeChannel, error_of_classic};
use counters::rrp::winreg::Key;
use host_session::{Reason, Recovery, SessionError};
use plugin_sdk::{Collection, Failure};
use plugin_session::{Backoff, OpenSession};
use tokio::time::Instant;

use crate::REGISTRY;
use crate::host_info::ReplyClocks;
use crate::series::ExporterIds;

/// What is kept open for classic objects, and what failed of it.
#[derive(Debug, Default)]
pub(crate) struct Classic {
    /// `HKEY_PERFORMANCE_DATA`, over the second pipe that is kept.
    key: Option<Key>,
    backoff: Backoff,
    clocks: Option<ReplyClocks>,
}

impl Classic {
    /// Fetches what `poller` wants over `open`.
    ///
    /// # Errors
    /// When the host does not give it, or did not lately. The connection may be lost then.
    pub(crate) async fn fetch<H>(
        &mut self,
        poller: &mut SelectionPoller<ExporterIds>,
        open: &mut OpenSession<H>,
        collection: &mut Collection,
        deadline: Instant,
    ) -> Result<(), Failure> {
        self.clocks = None;
        self.backoff.begin(collection.began())?;
        let mut is_retry = false;
        loop {
            let pipe = match open.side_pipe(REGISTRY, collection, deadline).await {
                Ok(pipe) => pipe,
                Err(failure) => {
                    self.backoff.fail(collection.began(), &failure);
                    return Err(failure);
                }
            };
            let is_new = pipe.is_new;
            if is_new {
                self.key = None;
            }
            let calls = pipe.association.calls();
            let mut client = counter_poll::over_host::registry(pipe.association, deadline);
            let fetched = poller.fetch_classic(&mut client, &mut self.key, collection.output()).await;
            let call = client.channel().last_call();
            let calls = pipe.association.calls() - calls;
            collection.stages().add(calls, 0, 0);
            let error = match fetched {
                Ok(()) => {
                    self.backoff.succeeded();
                    let clocks = poller.classic_clocks().filter(|_| calls == 1);
                    self.clocks = clocks.zip(call).map(|(clocks, call)| ReplyClocks { clocks, call });
                    return Ok(());
                }
                Err(error) => error,
            };
            let hangs = error.is_timeout::<PipeChannel<'_>>() && poller.classic_stalls_met() < STALLS_MAX;
            let error = error_of_classic(open.session().target(), &error);
            let may_help = hangs || !is_retry && !is_new && error.recovery > Recovery::Nothing;
            let failure = self.let_go(&error, open, collection);
            // Another connection is up to the collection.
            if !may_help || !open.is_connected() || Instant::now() >= deadline {
                return Err(failure);
            }
            tracing::debug!(%error, "Asking for classic objects again");
            is_retry = true;
        }
    }

    /// Closes what `error` has made useless. A right that is granted counts from the next logon on, which is not tried
    /// with each collection.
    fn let_go<H>(
        &mut self,
        error: &SessionError,
        open: &mut OpenSession<H>,
        collection: &Collection,
    ) -> Failure {
        if error.recovery > Recovery::Nothing {
            self.key = None;
        }
        let failure = open.side_pipe_failed(error);
        if !open.is_connected() {
            // What ends each new connection is not asked for with each; after a kept one it is tried again.
            self.backoff.fail_with_others(collection.began(), &failure);
        } else if error.reason == Reason::AccessDenied {
            self.backoff.fail(collection.began(), &failure);
        } else {
            self.backoff.forget();
        }
        failure
    }

    /// The second pipe is another one.
    pub(crate) fn lose_key(&mut self) {
        self.key = None;
    }

    /// Takes the clocks of the last reply, if it was that of the only call of this collection.
    pub(crate) const fn take_clocks(&mut self) -> Option<ReplyClocks> {
        self.clocks.take()
    }

    /// The connection was lost while something was asked over it, perhaps this.
    pub(crate) const fn retry(&mut self) {
        self.backoff.cut_short();
    }

    /// Forgets what failed: somebody may have changed what it failed by.
    pub(crate) fn forget(&mut self) {
        self.backoff.forget();
    }
}

/// Objects that may let their time pass in one collection; the search goes on in the next one.
const STALLS_MAX: u32 = 3;
