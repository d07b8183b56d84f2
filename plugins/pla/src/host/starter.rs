//! Starts sets of the host, for alerts.

use host_session::Target;
use plugin_sdk::{Collection, Failure, GeneralReason, Stage};
use plugin_session::{ObjectConnection, TransportSettings};
use tokio::time::Instant;
use wire::HResult;

use super::category::CategoryWord;
use super::named::{NamedError, Order, control};
use super::service::set_service;
use crate::reasons::{REASONS, explain};

/// The object that starts sets of the host. It is activated when the first alert needs it, and kept.
#[derive(Debug)]
pub(crate) struct Starter {
    connection: ObjectConnection,
}

/// What became of a set that was to be started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Started {
    Now,
    Before,
}

impl Starter {
    pub(crate) fn new(target: Target, transport: TransportSettings) -> Self {
        // As with commands, only sets that people made.
        let service = set_service(CategoryWord::UserDefined.category(), &REASONS, explain);
        // [MS-PLA] 2.1: the host may act as the account.
        let connection = ObjectConnection::new(target, service, transport).permit_impersonation();
        Self { connection }
    }

    pub(crate) fn reconfigure(&mut self, transport: TransportSettings) {
        self.connection.reconfigure(transport);
    }

    /// Has the host start the set of this name.
    ///
    /// # Errors
    /// If the host cannot be reached, has no such set, or does not start it.
    pub(crate) async fn start(
        &mut self,
        set: &str,
        collection: &Collection,
        deadline: Instant,
    ) -> Result<Started, Failure> {
        let mut object = self.connection.take(collection, deadline).await.map_err(|error| error.failure)?;
        match control(&mut object, set, Order::Start, deadline).await {
            Ok(()) => {
                self.connection.put_back(object);
                Ok(Started::Now)
            }
            Err(NamedError::Session(error)) if error.hresult == Some(HResult::PLA_E_DCS_IN_USE) => {
                self.connection.put_back(object);
                Ok(Started::Before)
            }
            Err(NamedError::Session(error)) => Err(self.connection.fail(object, &error).failure),
            Err(NamedError::Answer(message)) => {
                self.connection.put_back(object);
                Err(Failure::new(Stage::Query, GeneralReason::Other, message))
            }
        }
    }

    /// Gives the object back to the host.
    pub(crate) async fn release(&mut self, deadline: Instant) {
        self.connection.release(deadline).await;
    }
}
