use std::io;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tracing::{debug, warn};

use super::Server;
use crate::rpc_server::Incoming;

/// Pause after an accept that failed for lack of descriptors or memory.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// A [`Server`] that listens. Dropped, it closes its ports and ends all connections at once.
#[derive(Debug)]
pub struct TcpListeners {
    tasks: JoinSet<()>,
    stopping: watch::Sender<bool>,
}

impl TcpListeners {
    /// Serves on these ports.
    ///
    /// # Errors
    /// When a listener has no address.
    pub fn start(server: &Server, listeners: Vec<TcpListener>) -> io::Result<Self> {
        let (stopping, stopped) = watch::channel(false);
        let mut tasks = JoinSet::new();
        for listener in listeners {
            let address = listener.local_addr()?;
            debug!(%address, "Listening");
            tasks.spawn(listen(server.clone(), listener, address.port(), stopped.clone()));
        }
        Ok(Self { tasks, stopping })
    }

    /// Closes the ports and the connections, and waits until they are closed. An answer that is being sent is sent.
    pub async fn stop(mut self) {
        self.stopping.send_replace(true);
        while self.tasks.join_next().await.is_some() {}
    }
}

async fn listen(server: Server, listener: TcpListener, port: u16, mut stopped: watch::Receiver<bool>) {
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            _ = stopped.wait_for(|stopped| *stopped) => break,
            accepted = listener.accept() => accepted,
        };
        while connections.try_join_next().is_some() {}
        match accepted {
            Ok((stream, peer)) => {
                // Answers are small and awaited: Nagle's algorithm would hold each back.
                if let Err(error) = stream.set_nodelay(true) {
                    debug!(%peer, %error, "Connection lost");
                    continue;
                }
                let (server, mut stopped) = (server.clone(), stopped.clone());
                connections.spawn(async move {
                    // A sender that went stops as well.
                    let stop = async move { drop(stopped.wait_for(|stopped| *stopped).await) };
                    let stream = Box::new(stream);
                    server.serve(Incoming { stream, peer: peer.ip(), port }, stop).await;
                });
            }
            Err(error) => {
                warn!(%error, "Accept failed");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    drop(listener);
    while connections.join_next().await.is_some() {}
}
