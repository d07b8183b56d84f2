//! A subscriber of COM+ events on loopback, for hosts on loopback and for programs that play one.
//!
//! Prints `listening on ADDRESS`, the OBJREF of the subscriber as `reference HEX`, and for each event that it takes how long
//! it is, and how many components it lists; then a line `container ID of APPLICATION` for each container.

use std::error::Error;
use std::fmt::Write as _;
use std::net::{IpAddr, Ipv4Addr};

use com::comt::tracking::{Component, Container, Limits, Process, Visitor, read};
use dcom::callbacks::{AdvertisedAddress, Exporter, SubscriberLimits, Subscribers};
use dcom::rpc_server::{Deadlines, TcpListeners};
use tokio::net::TcpListener;

/// What is printed of an event.
#[derive(Default)]
struct Listed {
    components: usize,
    containers: String,
}

impl<'a> Visitor<'a> for Listed {
    fn container(&mut self, _: Option<&Process<'a>>, container: &Container<'a>) {
        if let Some(id) = container.container_id {
            let _ = write!(self.containers, "\ncontainer {id} of {}", container.application_id);
        }
    }

    fn component(&mut self, _: Option<&Process<'a>>, _: &Container<'a>, _: &Component<'a>) {
        self.components += 1;
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let loopback = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let exporter = Exporter::new(Subscribers::INTERFACES);
    let listener = TcpListener::bind((loopback, 0)).await?;
    let address = listener.local_addr()?;
    let server = exporter.server(dcom::rpc_server::Limits::default(), Deadlines::default());
    let _listening = TcpListeners::start(&server, vec![listener])?;
    let subscribers = Subscribers::new(exporter, SubscriberLimits::default());
    let subscriber =
        subscribers.subscribe([loopback], AdvertisedAddress::new(loopback.to_string(), address.port())?)?;
    println!("listening on {address}");
    let mut reference = String::new();
    for byte in subscriber.objref().to_pointer()?.data.iter() {
        write!(reference, "{byte:02x}")?;
    }
    println!("reference {reference}");
    loop {
        subscriber.arrived().await;
        let Some(event) = subscriber.take() else { continue };
        let mut listed = Listed::default();
        match read(&event.bytes, &Limits::default(), &mut listed) {
            Ok(size) => {
                println!("event of {size} bytes, {} components{}", listed.components, listed.containers);
            }
            Err(error) => println!("event of {} bytes cannot be read: {error}", event.bytes.len()),
        }
    }
}
