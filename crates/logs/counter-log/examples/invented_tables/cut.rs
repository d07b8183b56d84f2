//! A proxy that cuts connections at the worst moment: while a transaction is committed.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt, copy};
use tokio::net::{TcpListener, TcpStream};

/// What tokio-postgres sends to commit.
const COMMIT: &[u8] = b"COMMIT\0";

/// Listens on a free port of loopback, and cuts a connection to the server at `port` at each `every`th commit.
pub(crate) async fn start(port: u16, every: u32) -> io::Result<u16> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let listens = listener.local_addr()?.port();
    let commits = Arc::new(AtomicU32::new(0));
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let commits = Arc::clone(&commits);
            tokio::spawn(async move { pass(client, port, &commits, every).await });
        }
    });
    Ok(listens)
}

/// Passes bytes on until a commit is to be cut. Dropping the streams closes them.
async fn pass(mut client: TcpStream, port: u16, commits: &AtomicU32, every: u32) -> io::Result<()> {
    let mut server = TcpStream::connect(("127.0.0.1", port)).await?;
    let (mut from_client, mut to_client) = client.split();
    let (mut from_server, mut to_server) = server.split();
    let (mut buffer, mut answer) = (vec![0; 64 << 10], vec![0; 4 << 10]);
    let cut = async {
        loop {
            let length = from_client.read(&mut buffer).await?;
            if length == 0 {
                return Ok(None);
            }
            if buffer[..length].ends_with(COMMIT) {
                let count = commits.fetch_add(1, Ordering::Relaxed) + 1;
                if count.is_multiple_of(every) {
                    return io::Result::Ok(Some((count / every, length)));
                }
            }
            to_server.write_all(&buffer[..length]).await?;
        }
    };
    let cut = tokio::select! {
        cut = cut => cut?,
        end = copy(&mut from_server, &mut to_client) => return end.map(|_| ()),
    };
    let Some((number, length)) = cut else { return Ok(()) };
    match number % 3 {
        // The server commits, and only the answer is lost.
        0 => {
            to_server.write_all(&buffer[..length]).await?;
            let length = from_server.read(&mut answer).await?;
            assert!(length > 0, "the server has answered");
        }
        // The server may commit after the client has connected again.
        1 => to_server.write_all(&buffer[..length]).await?,
        // It never hears of it.
        _ => {}
    }
    Ok(())
}
