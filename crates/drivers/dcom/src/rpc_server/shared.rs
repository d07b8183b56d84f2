use std::net::IpAddr;
use std::sync::Arc;

use dcerpc::server::{AssociationGroups, ServerAssociation, ServerConfig};
use dcerpc::{AssociationInfo, FaultStatus, Role, SyntaxId, Transport};

use crate::rpc_server::admission::Admission;
use crate::rpc_server::counters::Counters;
use crate::rpc_server::interface::{Call, Interface};
use crate::rpc_server::limits::Limits;
use crate::rpc_server::options::Options;

/// What the connections of a server share.
pub(crate) struct Shared {
    pub(crate) options: Options,
    interfaces: Vec<Arc<dyn Interface>>,
    groups: AssociationGroups,
    pub(crate) admission: Admission,
    pub(crate) counters: Counters,
}

impl Shared {
    pub(crate) fn new(options: Options, interfaces: Vec<Arc<dyn Interface>>) -> Self {
        Self {
            options,
            interfaces,
            groups: AssociationGroups::default(),
            admission: Admission::default(),
            counters: Counters::default(),
        }
    }

    /// An association that a peer can bind at a port.
    pub(crate) fn association(&self, peer: IpAddr, port: u16) -> ServerAssociation {
        let Limits { fragment_bytes_max, association, .. } = self.options.limits;
        let interfaces = self.interfaces.iter().map(|interface| interface.syntax_id()).collect();
        let config = ServerConfig {
            max_xmit_frag: fragment_bytes_max,
            max_recv_frag: fragment_bytes_max,
            groups: self.groups.clone(),
            client_machine: peer.to_string(),
            sec_addr: port.to_string(),
            limits: association,
            ..ServerConfig::new(interfaces)
        };
        let observer = self.options.observers.association(&AssociationInfo {
            role: Role::Server,
            transport: Transport::Tcp,
            server: "",
            endpoint: &config.sec_addr,
            peer: Some(peer),
        });
        let acceptor = Arc::clone(&self.options.acceptor);
        let mut association = ServerAssociation::new(config, move |service| acceptor(service));
        association.set_observer(observer);
        association
    }

    /// Executes a call of an interface that was bound.
    pub(crate) fn dispatch(&self, bound: &SyntaxId, call: &Call<'_>) -> Result<Vec<u8>, FaultStatus> {
        let interface = self.interfaces.iter().find(|interface| interface.syntax_id().serves(bound));
        interface.ok_or(FaultStatus::NCA_S_UNK_IF)?.call(call)
    }
}
