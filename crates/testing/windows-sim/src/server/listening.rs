use std::sync::Arc;

use dcerpc::{EndpointState, Transport};

use crate::host::WindowsHost;
use crate::service::Endpoint;

/// Endpoints of a host that take associations until this is dropped, as its observers see it.
pub(super) struct Listening {
    host: Arc<WindowsHost>,
    transport: Transport,
    names: Vec<String>,
}

impl Listening {
    pub(super) fn at_port(host: &Arc<WindowsHost>, number: u16) -> Self {
        Self::new(host, Transport::Tcp, vec![number.to_string()])
    }

    pub(super) fn at_pipes(host: &Arc<WindowsHost>) -> Self {
        Self::new(host, Transport::NamedPipe, host.pipes())
    }

    pub(super) fn at_pipe(host: &Arc<WindowsHost>, name: &'static str) -> Self {
        Self::new(host, Transport::NamedPipe, vec![Endpoint::NamedPipe(name).to_string()])
    }

    fn new(host: &Arc<WindowsHost>, transport: Transport, names: Vec<String>) -> Self {
        let listening = Self { host: Arc::clone(host), transport, names };
        listening.tell(EndpointState::Listening);
        listening
    }

    fn tell(&self, state: EndpointState) {
        for name in &self.names {
            self.host.observers().endpoint(self.transport, name, state);
        }
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.tell(EndpointState::Closed);
    }
}
