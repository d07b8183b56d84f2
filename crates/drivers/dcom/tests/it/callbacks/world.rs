//! An exporter with subscribers, and a host that calls back as the documents have it.

use std::future::pending;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use com::comt::tracking::write;
use com::comt::{IComTrackingInfoEvents, OnNewTrackingInfoRequest};
use com::dcom::remote_unknown::{IRemUnknown2, RemQueryInterfaceRequest};
use com::dcom::resolver::{IObjectExporter, ResolveOxid2Reply, ResolveOxid2Request};
use com::dcom::types::StdObjref;
use dcerpc::client::ClientConfig;
use dcerpc::{FaultStatus, SyntaxId};
use dcom::callbacks::{AdvertisedAddress, Exporter, Subscriber, SubscriberLimits, Subscribers};
use dcom::rpc_server::{Deadlines, Incoming, Limits, Server};
use host_session::rpc_client::{Association, Interface as Bound, Security, TcpTransport};
use rpc::orpc::{ComVersion, ObjectInterface, Proxy};
use rpc::{Client, Error, Interface, Request, StatusOf};
use tokio::io::duplex;
use tokio::time::Instant;
use wire::{Guid, HResult};

pub(crate) const WEB1: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));
pub(crate) const WEB2: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2));
pub(crate) const CID: Guid = Guid::from_u128(0xc1d);

pub(crate) struct World {
    pub(crate) subscribers: Subscribers,
    pub(crate) server: Server,
}

impl World {
    pub(crate) fn new(limits: SubscriberLimits) -> Self {
        let exporter = Exporter::new(Subscribers::INTERFACES);
        let server = exporter.server(Limits::default(), Deadlines::default());
        Self { subscribers: Subscribers::new(exporter, limits), server }
    }

    pub(crate) fn subscribe(&self, address: IpAddr) -> Subscriber {
        self.subscribers.subscribe([address], AdvertisedAddress::new("198.51.100.7", 5135).unwrap()).unwrap()
    }

    /// A connection from an address, with the interface bound.
    pub(crate) async fn dial(
        &self,
        peer: IpAddr,
        interface: SyntaxId,
    ) -> Result<Association<TcpTransport>, host_session::rpc_client::Error> {
        self.dial_with(peer, interface, None).await
    }

    /// The same with credentials.
    pub(crate) async fn dial_with(
        &self,
        peer: IpAddr,
        interface: SyntaxId,
        security: Option<&Security>,
    ) -> Result<Association<TcpTransport>, host_session::rpc_client::Error> {
        let (near, far) = duplex(16 * 1024);
        let server = self.server.clone();
        let incoming = Incoming { stream: Box::new(far), peer, port: 135 };
        tokio::spawn(async move { server.serve(incoming, pending()).await });
        let transport = TcpTransport::new(Box::new(near));
        Association::bind(transport, &[interface], security, ClientConfig::default(), soon()).await
    }

    /// What the resolver says of a reference.
    pub(crate) async fn resolve(&self, peer: IpAddr, std: &StdObjref) -> ResolveOxid2Reply {
        let mut association = self.dial(peer, IObjectExporter::SYNTAX_ID).await.unwrap();
        let mut resolver = resolver(&mut association);
        resolver.reply(&ResolveOxid2Request::tcp(std.oxid)).await.unwrap()
    }

    /// Resolves a reference, and asks for the interface of events.
    pub(crate) async fn events_ipid(&self, peer: IpAddr, subscriber: &Subscriber) -> Guid {
        let std = *subscriber.objref().std().unwrap();
        let resolved = self.resolve(peer, &std).await;
        let mut association = self.dial(peer, IRemUnknown2::SYNTAX_ID).await.unwrap();
        let mut program = proxy::<IRemUnknown2>(&mut association, resolved.ipid_rem_unknown);
        let request = RemQueryInterfaceRequest::new(std.ipid, 1, vec![IComTrackingInfoEvents::IID]).unwrap();
        let reply = program.call(&request).await.unwrap();
        request.results(&reply).unwrap()[0].unwrap().ipid
    }

    /// Tells a subscriber that it can be called at, the state of the host.
    pub(crate) async fn call(&self, peer: IpAddr, ipid: Guid, event: &[u8]) -> Result<(), CallError> {
        let mut association = self.dial(peer, IComTrackingInfoEvents::SYNTAX_ID).await.unwrap();
        let mut events = proxy::<IComTrackingInfoEvents>(&mut association, ipid);
        events.call(&OnNewTrackingInfoRequest::new(event).unwrap()).await.map(drop)
    }
}

/// An event without processes, and these bytes after it, which nobody looks at.
pub(crate) fn event(bytes: &[u8]) -> Vec<u8> {
    let mut event = write::encode(&[], &write::Choices::default()).unwrap();
    event.extend_from_slice(bytes);
    event
}

/// The same with so many bytes in all, the last of which are `fill`.
pub(crate) fn event_of(bytes: usize, fill: u8) -> Vec<u8> {
    let mut event = event(&[]);
    event.resize(bytes, fill);
    event
}

pub(crate) type CallError = Error<host_session::rpc_client::Error, HResult>;

pub(crate) fn resolver(
    association: &mut Association<TcpTransport>,
) -> Client<Bound<'_, TcpTransport>, IObjectExporter> {
    Client::new(association.channel(0, soon()))
}

pub(crate) fn proxy<I: ObjectInterface>(
    association: &mut Association<TcpTransport>,
    ipid: Guid,
) -> Proxy<Bound<'_, TcpTransport>, I> {
    Proxy::new(association.channel(0, soon()), ipid, ComVersion::V5_7, CID)
}

/// The fault of a call.
pub(crate) fn fault<R: Request>(error: Error<host_session::rpc_client::Error, StatusOf<R>>) -> FaultStatus {
    match error {
        Error::Call { source: host_session::rpc_client::Error::Fault { status, .. }, .. } => status,
        other => panic!("{other}"),
    }
}

pub(crate) fn soon() -> Instant {
    Instant::now() + Duration::from_secs(3600)
}
