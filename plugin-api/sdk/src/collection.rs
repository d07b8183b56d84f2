//! One collection in progress.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use plugin_abi::raw::{StageCost, struct_size};
use plugin_abi::{GeneralReason, Stage};

use super::failure::Failure;
use super::handle::Handle;
use crate::credential::Credential;
use crate::output::Output;
use crate::{Target, host};

/// One collection in progress.
#[derive(Debug)]
pub struct Collection {
    pub(crate) target: Arc<Target>,
    pub(crate) handle: Handle,
    pub(crate) output: Output,
    pub(crate) stages: Stages,
    pub(crate) began: Duration,
    pub(crate) deadline: Instant,
    pub(crate) cancelled: Arc<AtomicBool>,
    pub(crate) runtime: tokio::runtime::Handle,
}

impl Collection {
    #[must_use]
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// The host's monotonic clock when it asked for the collection: a time since any fixed moment, the same for all collections
    /// of the process.
    #[must_use]
    pub fn began(&self) -> Duration {
        self.began
    }

    /// The deadline, at which it is dropped.
    #[must_use]
    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    /// The time until then.
    #[must_use]
    pub fn remaining(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// Whether the host cancelled it. An async source need not check: its future is dropped.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// The output for families, series and values.
    pub fn output(&mut self) -> &mut Output {
        &mut self.output
    }

    /// The instance's handle of the host.
    #[must_use]
    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Time counts for `stage` from now on. A timeout is reported as a failure of the stage entered last.
    pub fn enter(&self, stage: Stage) {
        self.stages.enter(stage);
    }

    /// Time counts for no stage until the next [`Collection::enter`]: it is measured elsewhere and reported with
    /// [`Stages::account`]. A timeout is still reported for the stage entered last.
    pub fn leave(&self) {
        self.stages.leave();
    }

    /// The accounts of the stages, for the driver of the connection.
    #[must_use]
    pub fn stages(&self) -> &Stages {
        &self.stages
    }

    /// Leases the secret of the target's identity, to authenticate to the target. Waits while another target tries
    /// it.
    ///
    /// # Errors If the exporter withholds it.
    pub async fn credential(&self) -> Result<Credential, Failure> {
        self.handle.credential(&self.target.host, &self.target.identity).await
    }

    /// The same for the host that was reached at `address`, if known. The exporter then checks the address that
    /// gets the secret, and not the result of another name lookup.
    ///
    /// # Errors If the exporter withholds it.
    pub async fn credential_at(&self, address: Option<IpAddr>) -> Result<Credential, Failure> {
        match address {
            Some(address) => {
                self.handle.credential(&address.to_canonical().to_string(), &self.target.identity).await
            }
            None => self.credential().await,
        }
    }

    /// The same for a [`crate::BlockingSource`], until the deadline.
    ///
    /// # Errors If the exporter withholds it, or the deadline passes while another target tries it.
    pub fn credential_blocking(&self) -> Result<Credential, Failure> {
        self.runtime.block_on(async {
            tokio::time::timeout_at(self.deadline.into(), self.credential()).await.unwrap_or_else(|_| {
                Err(Failure::new(
                    Stage::Auth,
                    GeneralReason::Timeout,
                    "waiting for the verdict of another target",
                ))
            })
        })
    }
}

/// The accounts of a collection's stages. Clones are the same accounts.
#[derive(Clone, Debug, Default)]
pub struct Stages(Arc<Mutex<Accounts>>);

#[derive(Debug, Default)]
struct Accounts {
    /// The stage entered last, and since when time counts for it.
    current: Option<(Stage, Option<u64>)>,
    costs: Vec<StageCost>,
}

impl Stages {
    /// Time counts for `stage` from now on.
    pub fn enter(&self, stage: Stage) {
        self.with(|accounts| {
            let now_ns = host::now_ns();
            accounts.pause(now_ns);
            accounts.current = Some((stage, Some(now_ns)));
            accounts.cost(stage, now_ns);
        });
    }

    pub fn leave(&self) {
        self.with(|accounts| accounts.pause(host::now_ns()));
    }

    /// Adds calls and bytes to the stage entered last.
    pub fn add(&self, calls: u64, bytes_in: u64, bytes_out: u64) {
        self.with(|accounts| {
            let Some((stage, _)) = accounts.current else { return };
            accounts.add(stage, host::now_ns(), Duration::ZERO, calls, bytes_in, bytes_out);
        });
    }

    /// Adds measured values to `stage`, which ends now. Does not change the stage entered last.
    pub fn account(&self, stage: Stage, duration: Duration, calls: u64, bytes_in: u64, bytes_out: u64) {
        self.with(|accounts| {
            let start_ns = host::now_ns().saturating_sub(nanos(duration));
            accounts.add(stage, start_ns, duration, calls, bytes_in, bytes_out);
        });
    }

    /// The stage entered last; the plugin itself if there was none.
    #[must_use]
    pub fn current(&self) -> Stage {
        self.with(|accounts| accounts.current.map_or(Stage::Plugin, |(stage, _)| stage))
    }

    /// Ends the stage entered last and returns the accounts, in the order of the stages.
    pub(crate) fn close(&self) -> Vec<StageCost> {
        self.with(|accounts| {
            accounts.pause(host::now_ns());
            accounts.current = None;
            accounts.costs.sort_by_key(|cost| cost.stage);
            std::mem::take(&mut accounts.costs)
        })
    }

    fn with<R>(&self, action: impl FnOnce(&mut Accounts) -> R) -> R {
        action(&mut self.0.lock())
    }
}

impl Accounts {
    /// Adds the elapsed time to the stage entered last.
    fn pause(&mut self, now_ns: u64) {
        if let Some((stage, since)) = &mut self.current
            && let Some(since_ns) = since.take()
        {
            let stage = *stage;
            self.cost(stage, since_ns).duration_ns += now_ns.saturating_sub(since_ns);
        }
    }

    fn add(
        &mut self,
        stage: Stage,
        start_ns: u64,
        time: Duration,
        calls: u64,
        bytes_in: u64,
        bytes_out: u64,
    ) {
        let cost = self.cost(stage, start_ns);
        cost.duration_ns += nanos(time);
        cost.calls += calls;
        cost.bytes_in += bytes_in;
        cost.bytes_out += bytes_out;
    }

    fn cost(&mut self, stage: Stage, start_ns: u64) -> &mut StageCost {
        let index = match self.costs.iter().position(|cost| cost.stage == stage.code()) {
            Some(index) => index,
            None => {
                self.costs.push(StageCost {
                    size: struct_size::<StageCost>(),
                    stage: stage.code(),
                    start_ns,
                    duration_ns: 0,
                    calls: 0,
                    bytes_in: 0,
                    bytes_out: 0,
                });
                self.costs.len() - 1
            }
        };
        &mut self.costs[index]
    }
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
