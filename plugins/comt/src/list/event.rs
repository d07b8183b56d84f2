//! One event of the host, which is waited for.

use std::net::SocketAddr;
use std::time::Duration;

use plugin_sdk::Run;
use plugin_session::ObjectStep;
use plugin_session::command::{CommandError, HostAccess, parse_duration};
use tokio::time::{Instant, timeout};

use crate::events::event_system::{self, EVENT_SYSTEM, SUBSCRIPTION};
use crate::events::listener::{ListenerOptions, Listening};
use crate::events::{SubscriptionId, state};
use crate::model::{HostFigures, Limits};

/// Options of `list` for an event.
#[derive(clap::Args)]
pub(super) struct EventArguments {
    /// Wait so long for an event of the host, which tells names, processes and container ids
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    event_within: Option<Duration>,
    /// Where the host calls back; Windows calls port 135
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "0.0.0.0:135")]
    event_listen: SocketAddr,
    /// The name or address at which the host reaches this machine [default: that of the interface towards the host]
    #[arg(long, value_name = "HOST")]
    event_advertise: Option<String>,
    /// The port at which the host reaches this machine [default: that of --event-listen]
    #[arg(long, value_name = "N")]
    event_advertise_port: Option<u16>,
}

/// How long all calls of the event system may take.
const CALLS_MAX: Duration = Duration::from_secs(30);
const RELEASE_MAX: Duration = Duration::from_secs(2);

/// The state that the host tells, if one is waited for.
pub(super) async fn told(
    run: &Run,
    access: &HostAccess,
    arguments: &EventArguments,
) -> Result<Option<HostFigures>, CommandError> {
    let Some(within) = arguments.event_within else { return Ok(None) };
    let options = ListenerOptions {
        listen: vec![arguments.event_listen],
        advertise: arguments.event_advertise.clone(),
        advertise_port: arguments.event_advertise_port,
    };
    let of_listener = |message: String| {
        CommandError::failed(
            message,
            "name a free port with --event-listen, and with --event-advertise the address at which the host reaches it as \
             port 135",
        )
    };
    let listening = Listening::open(&options).await.map_err(of_listener)?;
    let addresses = access.addresses().await;
    let towards = addresses.first().copied();
    let towards = towards.ok_or_else(|| of_listener(format!("{} has no address", access.host())))?;
    let advertised = listening.advertised(towards).map_err(of_listener)?;
    let place = listening.place(&advertised);
    let subscriber = listening.subscribe(addresses, advertised).map_err(of_listener)?;
    // Not that of an exporter, which goes on.
    let id = SubscriptionId::of(&format!("{place} list {}", std::process::id()), access.host());

    run.progress("subscribing to events…");
    let mut system = access.activate(&EVENT_SYSTEM, run).await.map_err(|failed| failed.error)?;
    let mut subscription = access.activate(&SUBSCRIPTION, run).await.map_err(|failed| failed.error)?;
    let deadline = Instant::now() + CALLS_MAX;
    let refused = |error| CommandError::of_object(&EVENT_SYSTEM, &error, ObjectStep::Call);
    event_system::fill(&mut subscription, id.guid(), &subscriber, deadline).await.map_err(refused)?;
    event_system::store(&mut system, &mut subscription, deadline).await.map_err(refused)?;
    run.progress(&format!("waiting for an event, at {place}…"));
    let arrived = timeout(within, subscriber.arrived()).await;
    let deadline = Instant::now() + RELEASE_MAX;
    // A host that does not answer now forgets a subscriber that does not answer.
    let _ = event_system::remove(&mut system, id.guid(), deadline).await;
    let _ = subscription.release(deadline).await;
    let _ = system.release(deadline).await;
    let unknown_peers = listening.unknown_peers();
    let event = arrived.ok().and_then(|()| subscriber.take()).ok_or_else(|| {
        let refused = unknown_peers.last.map(|last| format!("; a connection of {last}, which is not the host, was refused"));
        CommandError::failed(
            format!("no event came within {within:?} to {place}{}", refused.unwrap_or_default()),
            "let the host reach that address and its ports through the firewalls between, and wait longer for hosts whose \
             applications do little",
        )
    })?;
    let figures = state::figures_of(&event.bytes, &Limits::default());
    let figures = figures.map_err(|error| CommandError::failed(format!("read the event: {error}"), ""))?;
    Ok(Some(figures))
}
