//! The TCP port of an interface: a fixed one, or what the host's endpoint mapper says.

use dcerpc::SyntaxId;
use rpc::endpoints::epm::ept::EndpointMapper;
use ssp::Credentials;
use tokio::time::Instant;
use transport::Connector;

use crate::{Options, Reason, Recovery, SessionError, Stage, StageReport, Target, TcpReached, TcpService};

/// Where the TCP port of an interface is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TcpPort {
    Fixed(u16),
    /// The host's endpoint mapper tells it.
    Mapped {
        interface: SyntaxId,
        /// The port of the mapper: [`rpc::endpoints::epm::PORT`] on all hosts.
        mapper: u16,
    },
}

impl TcpPort {
    /// The port that the mapper at its well-known port tells.
    #[must_use]
    pub const fn of(interface: SyntaxId) -> Self {
        Self::Mapped { interface, mapper: rpc::endpoints::epm::PORT }
    }
}

/// The endpoint mapper of a host, which runs with the host.
const MAPPER: TcpService = TcpService { class: "RPCSS", stopped: Reason::NotFound };

impl TcpReached {
    /// As [`TcpReached::connect`], to the port of `service`; the mapper is asked first if there is none. It is asked with
    /// sealed calls where credentials are given; it takes others, too. Only a port is taken from its answer, never an
    /// address: a host cannot send credentials elsewhere.
    ///
    /// # Errors
    /// From the stages dns and tcp, and auth if the mapper refuses the credentials. A service that the mapper does not know
    /// fails in stage tcp, by the reason of one that does not run.
    pub async fn connect_service(
        host: &str,
        port: TcpPort,
        service: TcpService,
        credentials: Option<&Credentials>,
        options: Options,
        connector: &dyn Connector,
        deadline: Instant,
    ) -> Result<Self, SessionError> {
        let (number, stages) = match port {
            TcpPort::Fixed(number) => (number, Vec::new()),
            TcpPort::Mapped { interface, mapper } => {
                let mapper = Target::new(host, mapper);
                let mapper = Self::connect(mapper, options.clone(), connector, deadline).await?;
                let asked = mapper.ask_mapper(interface, service, credentials, connector, deadline).await;
                asked.map_err(of_mapper)?
            }
        };
        match Self::connect(Target::new(host, number), options, connector, deadline).await {
            Ok(reached) => Ok(reached.behind(stages)),
            Err(mut error) => {
                error.stages.splice(0..0, stages);
                Err(error)
            }
        }
    }

    /// The port of `interface`, and what it took to learn it.
    async fn ask_mapper(
        self,
        interface: SyntaxId,
        service: TcpService,
        credentials: Option<&Credentials>,
        connector: &dyn Connector,
        deadline: Instant,
    ) -> Result<(u16, Vec<StageReport>), SessionError> {
        let interfaces = &[rpc::endpoints::epm::SYNTAX_ID];
        let mut session = match credentials {
            Some(credentials) => self.log_on(MAPPER, credentials, interfaces, connector, deadline).await?,
            None => self.bind(MAPPER, None, interfaces, deadline).await?,
        };
        let timer = session.start_stage(Stage::Tcp);
        let port = EndpointMapper::new(session.channel(0, deadline)).tcp_port(interface).await;
        let mut stages = session.stages().to_vec();
        stages.push(session.stop_stage(timer));
        let failed = match port {
            Ok(Some(port)) => return Ok((port, stages)),
            Ok(None) => {
                let detail = format!("the endpoint mapper knows no TCP port of {interface}");
                SessionError::new(session.target(), Stage::Tcp, service.stopped, Recovery::Connection, detail)
            }
            Err(rpc::endpoints::epm::Error::Rpc(error)) => session.error_of_method(Stage::Tcp, &error),
            Err(error) => SessionError::of_answer(session.target(), Stage::Tcp, Reason::Internal, &error),
        };
        Err(failed.with_stages(stages))
    }
}

/// A failure of the mapper is one to find the port, which is a part of stage tcp: what comes after stage auth says that the
/// service took the credentials, and that one has not seen any.
fn of_mapper(mut error: SessionError) -> SessionError {
    if error.stage > Stage::Auth {
        error.stage = Stage::Tcp;
    }
    error.recovery = Recovery::Connection;
    error
}
