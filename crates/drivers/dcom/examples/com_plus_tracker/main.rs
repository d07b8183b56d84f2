//! A client and a server of the COM+ tracker and its process dumps, for a program that is not ours on the other side.
//! Each prints what is asked and what is answered, field by field; the other side prints the same.
//!
//! ```text
//! com_plus_tracker call 127.0.0.1:49555
//! com_plus_tracker serve
//! ```
//!
//! `serve` says on standard error where it listens, which is on loopback. Neither has any security.

mod call_ids;
mod client;
mod made_up;
mod server;
mod transcript;

use std::error::Error;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["call", address] => client::call(&address.parse()?).await,
        ["serve"] => server::serve().await,
        _ => Err("usage: com_plus_tracker call ADDRESS:PORT, or com_plus_tracker serve".into()),
    }
}
