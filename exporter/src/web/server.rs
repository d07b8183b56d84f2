use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;
use tracing::{debug, info, warn};

use super::patient::Patient;
use super::routes::{Limits, Site};

/// A request's head has so many bytes at most.
const HEAD_BYTES_MAX: usize = 32 << 10;
/// After an error of `accept` (no file descriptors left) it is tried again.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Opens the listeners of `addresses`.
///
/// # Errors
/// The first address that cannot be had, by name.
pub async fn bind(addresses: &[String]) -> io::Result<Vec<TcpListener>> {
    let mut listeners = Vec::with_capacity(addresses.len());
    for address in addresses {
        let listener = TcpListener::bind(address.as_str()).await.map_err(|error| {
            io::Error::new(
                error.kind(),
                format!("listen on {address}: {error}; is another exporter running?"),
            )
        })?;
        let local = listener.local_addr()?;
        info!(address = %local, "Listening");
        listeners.push(listener);
    }
    Ok(listeners)
}

/// Accepts connections until it is stopped.
pub struct Server {
    stop: watch::Sender<bool>,
    accepting: JoinSet<()>,
    connections: Arc<GracefulShutdown>,
}

impl Server {
    /// Serves `site` on `listeners`.
    #[must_use]
    pub fn start(site: &Arc<Site>, limits: Limits, listeners: Vec<TcpListener>) -> Self {
        let (stop, stopped) = watch::channel(false);
        let connections = Arc::new(GracefulShutdown::new());
        let places = Arc::new(Semaphore::new(limits.connections_max));
        let mut accepting = JoinSet::new();
        for listener in listeners {
            let door = Door {
                site: Arc::clone(site),
                limits,
                places: Arc::clone(&places),
                connections: Arc::clone(&connections),
            };
            accepting.spawn(door.accept(listener, stopped.clone()));
        }
        Self { stop, accepting, connections }
    }

    /// Closes the listeners, lets answers that are under way end for `grace`, and drops the rest.
    pub async fn stop(mut self, grace: Duration) {
        // The doors hold the other end until they are shut.
        let _ = self.stop.send(true);
        while self.accepting.join_next().await.is_some() {}
        // The doors are shut, so ours is the last hold on it.
        let Some(connections) = Arc::into_inner(self.connections) else { return };
        let left = connections.count();
        if tokio::time::timeout(grace, connections.shutdown()).await.is_err() {
            warn!(left, "Connections dropped in the middle of an answer");
        }
    }
}

/// One listener and what a connection from it needs.
struct Door {
    site: Arc<Site>,
    limits: Limits,
    places: Arc<Semaphore>,
    connections: Arc<GracefulShutdown>,
}

impl Door {
    async fn accept(self, listener: TcpListener, mut stopped: watch::Receiver<bool>) {
        loop {
            tokio::select! {
                _ = stopped.changed() => return,
                next = self.next(&listener) => match next {
                    Ok((stream, peer, place)) => self.welcome(stream, peer, place),
                    Err(error) => {
                        warn!(%error, "Connection not accepted");
                        tokio::time::sleep(ACCEPT_PAUSE).await;
                    }
                },
            }
        }
    }

    async fn next(
        &self,
        listener: &TcpListener,
    ) -> io::Result<(TcpStream, SocketAddr, OwnedSemaphorePermit)> {
        let place = Arc::clone(&self.places).acquire_owned().await.map_err(io::Error::other)?;
        let (stream, peer) = listener.accept().await?;
        Ok((stream, peer, place))
    }

    fn welcome(&self, stream: TcpStream, peer: SocketAddr, place: OwnedSemaphorePermit) {
        // Answers go out in large pieces; waiting for more would only delay the last one.
        let _ = stream.set_nodelay(true);
        let stream = TokioIo::new(Patient::new(stream, self.limits.write_timeout));
        let site = Arc::clone(&self.site);
        let service = service_fn(move |request| {
            let response = site.answer(&request);
            async move { Ok::<_, Infallible>(response) }
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(self.limits.header_timeout)
            .max_buf_size(HEAD_BYTES_MAX)
            .serve_connection(stream, service);
        let connection = self.connections.watch(connection);
        let scrapes = Arc::clone(self.site.scrapes());
        tokio::spawn(async move {
            scrapes.connections.fetch_add(1, Ordering::Relaxed);
            if let Err(error) = connection.await {
                debug!(%peer, %error, "Connection ended early");
            }
            scrapes.connections.fetch_sub(1, Ordering::Relaxed);
            drop(place);
        });
    }
}
