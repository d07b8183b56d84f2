use std::sync::Arc;

use dcerpc::SyntaxId;
use ssp::Credentials;
use tokio::sync::Mutex;
use tokio::time::Instant;
use transport::{ByteCounter, Connector};

use crate::connecting::Connecting;
use crate::rpc_client::SmbConnection;
use crate::{Endpoint, HostInfo, Options, Session, SessionError, StageReport, Target};

/// A connected host with SMB negotiated, before authentication.
///
/// The next step needs credentials. They are requested only now, so that a host that does not answer never delays
/// others that wait for the same credentials.
#[must_use = "a connection that nobody logs on to is closed"]
pub struct Reached {
    target: Target,
    options: Options,
    smb: SmbConnection,
    bytes: ByteCounter,
    stages: Vec<StageReport>,
}

/// A host that accepted the credentials.
#[must_use = "a logon without a session is closed"]
pub struct LoggedOn {
    reached: Reached,
    credentials: Credentials,
    host: HostInfo,
}

impl Reached {
    /// Finds `target`, connects, and negotiates SMB, all by `deadline`.
    ///
    /// # Errors
    /// From the stages dns, tcp and smb.
    pub async fn connect(
        target: Target,
        options: Options,
        connector: &dyn Connector,
        deadline: Instant,
    ) -> Result<Self, SessionError> {
        let mut connecting = Connecting::new(&target, &options, deadline);
        let outcome = connecting.reach(connector).await;
        let (stages, bytes) = connecting.finish();
        match outcome {
            Ok(smb) => Ok(Self { target, options, smb, bytes, stages }),
            Err(error) => Err(error.with_stages(stages)),
        }
    }

    /// The stages so far.
    #[must_use]
    pub fn stages(&self) -> &[StageReport] {
        &self.stages
    }

    /// Authenticates.
    ///
    /// # Errors
    /// From the stage auth; [`SessionError::verdict`] returns what they mean for the credentials.
    pub async fn log_on(
        mut self,
        credentials: Credentials,
        deadline: Instant,
    ) -> Result<LoggedOn, SessionError> {
        let mut connecting = Connecting::new(&self.target, &self.options, deadline);
        connecting.count(&self.bytes);
        let outcome = connecting.authenticate(&mut self.smb, &credentials).await;
        self.stages.extend(connecting.finish().0);
        match outcome {
            Ok(host) => Ok(LoggedOn { reached: self, credentials, host }),
            Err(error) => Err(error.with_stages(self.stages)),
        }
    }
}

impl LoggedOn {
    /// Opens `endpoint` and binds `interfaces`. Sends the credentials once more, in RPC.
    ///
    /// # Errors From the stages pipe and bind. It is not an error if the host lacks some of the interfaces: see
    /// [`Session::contexts`].
    pub async fn open(
        self,
        endpoint: Endpoint,
        interfaces: &[SyntaxId],
        deadline: Instant,
    ) -> Result<Session, SessionError> {
        let Self { reached, credentials, host } = self;
        let Reached { target, options, mut smb, bytes, mut stages } = reached;
        let mut connecting = Connecting::new(&target, &options, deadline);
        connecting.count(&bytes);
        let opened = match connecting.connect_ipc(&mut smb).await {
            Ok(()) => {
                let connection = Arc::new(Mutex::new(smb));
                let opened = connecting.open(&connection, &credentials, endpoint, interfaces).await;
                opened.map(|association| (connection, association))
            }
            Err(error) => Err(error),
        };
        stages.extend(connecting.finish().0);
        match opened {
            Ok((connection, association)) => Ok(Session {
                target,
                credentials,
                options,
                endpoint,
                interfaces: interfaces.to_vec(),
                connection,
                association,
                bytes,
                host,
                stages,
            }),
            Err(error) => Err(error.with_stages(stages)),
        }
    }
}

impl Session {
    /// Connects to `target`, logs on, opens `endpoint` and binds `interfaces`, all by `deadline`.
    ///
    /// Sends the credentials once in SMB and, if that succeeds, once more in RPC. A caller that leases them goes step
    /// by step: [`Reached`], [`LoggedOn`], session.
    ///
    /// # Errors With the failed stage, the reason, and the durations of the stages so far.
    pub async fn connect(
        target: Target,
        credentials: Credentials,
        options: Options,
        endpoint: Endpoint,
        interfaces: &[SyntaxId],
        connector: &dyn Connector,
        deadline: Instant,
    ) -> Result<Self, SessionError> {
        let reached = Reached::connect(target, options, connector, deadline).await?;
        reached.log_on(credentials, deadline).await?.open(endpoint, interfaces, deadline).await
    }
}
