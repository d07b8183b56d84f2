use core::fmt;
use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use dcerpc::server::{AssociationGroups, ServerConfig};
use dcerpc::{SyntaxId, Transport};
use parking_lot::Mutex;

use super::{Handler, RpcCounts, Service};
use crate::host_state::HostState;
use crate::{Place, Registered};

/// Where clients reach a service.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Endpoint {
    /// A pipe behind `IPC$`, by its name without `\PIPE\`; case does not matter.
    NamedPipe(&'static str),
    /// A TCP port, by what is served there.
    Tcp(TcpPort),
}

/// What is served at a TCP port. Which number it has depends on where the host listens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TcpPort {
    /// The object resolver: 135 on Windows.
    Resolver,
    /// The program with the host's objects, at a port that the resolver tells.
    Exporter,
}

impl Endpoint {
    /// As the endpoint mapper has it. The mapper's own port is not there.
    const fn place(&self) -> Option<Place> {
        match self {
            Self::NamedPipe(name) => Some(Place::NamedPipe(name)),
            Self::Tcp(TcpPort::Exporter) => Some(Place::Objects),
            Self::Tcp(TcpPort::Resolver) => None,
        }
    }

    /// What its PDUs are sent over.
    pub(crate) const fn transport(&self) -> Transport {
        match self {
            Self::NamedPipe(_) => Transport::NamedPipe,
            Self::Tcp(_) => Transport::Tcp,
        }
    }

    /// Whether this is the pipe that a client calls `name`, with or without a backslash in front.
    fn is_pipe(&self, name: &str) -> bool {
        match self {
            Self::NamedPipe(own) => name.trim_start_matches('\\').eq_ignore_ascii_case(own),
            Self::Tcp(_) => false,
        }
    }
}

/// As a bind_ack names it, but for TCP, where that is the number of the port.
impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NamedPipe(name) => write!(f, r"\PIPE\{name}"),
            Self::Tcp(port) => write!(f, "{port:?}"),
        }
    }
}

/// What the programs of a host with these services register with its endpoint mapper: those that have an annotation, at each
/// of their endpoints.
pub(crate) fn registered(services: &[Arc<dyn Service>]) -> Vec<Registered> {
    let annotated = services.iter().filter_map(|service| Some((service, service.annotation()?)));
    let at_endpoints = |(service, annotation): (&Arc<dyn Service>, &'static str)| {
        let interface = service.syntax_id();
        let places = service.endpoints().iter().filter_map(Endpoint::place);
        places.map(|place| Registered { interface, place, annotation }).collect::<Vec<_>>()
    };
    annotated.flat_map(at_endpoints).collect()
}

/// An endpoint of a host, the services after it, and the association groups of its clients.
pub(crate) struct ServedEndpoint {
    endpoint: Endpoint,
    services: Vec<Arc<dyn Service>>,
    counts: Arc<RpcCounts>,
    /// The association groups and their members. All clients count as one machine.
    associations: AssociationGroups,
    groups: Mutex<BTreeMap<u32, Weak<Group>>>,
}

/// What the associations of one group share. It ends with the last of them.
pub(crate) struct Group {
    /// One for each service of the endpoint, in the same order.
    handlers: Vec<SharedHandler>,
}

/// A handler for one call at a time.
pub(crate) type SharedHandler = Mutex<Box<dyn Handler>>;

impl ServedEndpoint {
    /// The endpoints of these services, each with those that are reached there.
    pub(super) fn of(services: &[Arc<dyn Service>]) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        for service in services {
            for endpoint in service.endpoints() {
                match all.iter_mut().find(|served| served.endpoint == *endpoint) {
                    Some(served) => served.services.push(Arc::clone(service)),
                    None => all.push(Self {
                        endpoint: endpoint.clone(),
                        services: vec![Arc::clone(service)],
                        counts: Arc::default(),
                        associations: AssociationGroups::default(),
                        groups: Mutex::default(),
                    }),
                }
            }
        }
        all
    }

    pub(super) fn add(&mut self, service: Arc<dyn Service>) {
        self.services.push(service);
    }

    pub(crate) const fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// What its associations count.
    pub(crate) const fn counts(&self) -> &Arc<RpcCounts> {
        &self.counts
    }

    /// Whether this is the pipe that a client calls `name`.
    pub(crate) fn is_pipe(&self, name: &str) -> bool {
        self.endpoint.is_pipe(name)
    }

    /// Whether it is behind a pipe.
    pub(crate) const fn is_pipe_endpoint(&self) -> bool {
        matches!(self.endpoint, Endpoint::NamedPipe(_))
    }

    /// What an association can bind here. Other interfaces are refused, as by Windows.
    pub(crate) fn server_config(&self) -> ServerConfig {
        let interfaces = self.services.iter().map(|service| service.syntax_id()).collect();
        let mut config = ServerConfig::new(interfaces);
        config.sec_addr = self.endpoint.to_string();
        config.groups = self.associations.clone();
        config
    }

    pub(crate) fn services(&self) -> &[Arc<dyn Service>] {
        &self.services
    }

    /// The service that a client has bound which asked for `interface`, and its part of the client's group.
    pub(crate) fn service<'a>(
        &'a self,
        interface: &SyntaxId,
        group: &'a Group,
    ) -> Option<(&'a dyn Service, &'a SharedHandler)> {
        let mut services = self.services.iter().zip(&group.handlers);
        let (service, handler) = services.find(|(service, _)| service.syntax_id().serves(interface))?;
        Some((&**service, handler))
    }

    /// The group with this id, for an association that is in it.
    pub(crate) fn group(&self, id: u32, host: &Arc<HostState>) -> Arc<Group> {
        let mut groups = self.groups.lock();
        if let Some(live) = groups.get(&id).and_then(Weak::upgrade) {
            return live;
        }
        groups.retain(|_, group| group.strong_count() > 0);
        let handlers = self.services.iter().map(|service| Mutex::new(service.handler(host))).collect();
        let new = Arc::new(Group { handlers });
        groups.insert(id, Arc::downgrade(&new));
        new
    }
}
