use crate::ndr::Limits;
use crate::{Channel, Client, Message, SyntaxId};
use wire::DecodeError;

use super::{
    InqIfIdsReply, InqIfIdsRequest, InqPrincNameRequest, InqStatsRequest, IsServerListeningRequest, Mgmt,
};
use crate::endpoints::mgmt::Error;
use crate::endpoints::mgmt::types::{AuthenticationService, Statistics};

/// Interfaces, and bytes of a name, that a client takes; a server has a few dozen.
const ELEMENTS_MAX: u32 = 4096;

/// A client of a server's management interface.
#[derive(Debug)]
pub struct Management<C> {
    rpc: Client<C, Mgmt>,
}

impl<C: Channel> Management<C> {
    /// A client of the server at the other end of `channel`.
    pub fn new(channel: C) -> Self {
        let limits =
            Limits { array_elements_max: ELEMENTS_MAX, string_units_max: ELEMENTS_MAX, ..Limits::default() };
        Self { rpc: Client::new(channel).with_limits(limits) }
    }

    /// The interfaces that the server offers.
    ///
    /// # Errors
    /// When the call failed.
    pub async fn interfaces(&mut self) -> Result<Vec<SyntaxId>, Error<C::Error>> {
        let InqIfIdsReply { if_id_vector, .. } = self.rpc.call(&InqIfIdsRequest {}).await?;
        Ok(if_id_vector.map(|vector| vector.interfaces().collect()).unwrap_or_default())
    }

    /// What the server has counted.
    ///
    /// # Errors
    /// When the call failed, or the server answers fewer figures than there are.
    pub async fn statistics(&mut self) -> Result<Statistics, Error<C::Error>> {
        let request = InqStatsRequest { room: Statistics::COUNT };
        let reply = self.rpc.call(&request).await?;
        Statistics::from_slice(&reply.statistics.0).ok_or_else(|| {
            let method = InqStatsRequest::METHOD;
            let source =
                DecodeError::invalid_field(method.name, "statistics", 0, "has fewer than 4 elements");
            Error::Stub { method, source: source.into() }
        })
    }

    /// Whether the server takes calls.
    ///
    /// # Errors
    /// When the call failed.
    pub async fn is_listening(&mut self) -> Result<bool, Error<C::Error>> {
        Ok(self.rpc.call(&IsServerListeningRequest {}).await?.is_listening != 0)
    }

    /// The name under which the server authenticates.
    ///
    /// # Errors
    /// When the call failed: that is the answer, too, where the server has no name for this service.
    pub async fn principal_name(
        &mut self,
        authn_proto: AuthenticationService,
    ) -> Result<String, Error<C::Error>> {
        let request = InqPrincNameRequest { authn_proto, room: ELEMENTS_MAX };
        Ok(self.rpc.call(&request).await?.name.text)
    }
}
