//! C706 appendix Q, the interface `mgmt`: the methods, and both sides of them.

use wire::DecodeError;

use super::Error;
use super::types::Statistics;
use crate::endpoints::mgmt::types::{AuthenticationService, RpcIfIdVector};
use crate::ndr::{Conformant, Limits, NarrowString};
use crate::{Channel, Client, ErrorStatus, Message, SyntaxId};

crate::interface! {
    /// C706 appendix Q: remote management, version 1.0.
    #[doc(alias = "mgmt")]
    pub interface Mgmt("afa8bd80-7d8a-11c9-bef4-08002b102989", 1.0) -> ErrorStatus {
        /// C706 appendix Q: the interfaces that the server offers.
        0 => rpc__mgmt_inq_if_ids as inq_if_ids() -> (if_id_vector: Option<Box<RpcIfIdVector>>);

        /// C706 appendix Q: what the server has counted: [`Statistics`](crate::endpoints::mgmt::types::Statistics), as far as there is room.
        1 => rpc__mgmt_inq_stats as inq_stats(#[ndr(name = "count")] room: u32) -> (
            count: u32, #[ndr(size_is = count)] statistics: Conformant<u32>,
        );

        /// C706 appendix Q: whether the server takes calls.
        2 => rpc__mgmt_is_server_listening as is_server_listening() -> (
            #[ndr(name = "return value", returned)] is_listening: u32,
        );

        /// C706 appendix Q: stops the server.
        3 => rpc__mgmt_stop_server_listening as stop_server_listening();

        /// C706 appendix Q: the name under which the server authenticates.
        4 => rpc__mgmt_inq_princ_name as inq_princ_name(
            authn_proto: AuthenticationService, #[ndr(name = "princ_name_size", range = 0..=4096)] room: u32,
        ) -> (#[ndr(name = "princ_name", size_is = room)] name: NarrowString);
    }
}

// How a server's answers are made of what it knows.

impl InqIfIdsReply {
    #[must_use]
    pub fn new(interfaces: impl IntoIterator<Item = SyntaxId>) -> Self {
        let if_id_vector = Some(Box::new(RpcIfIdVector::new(interfaces)));
        Self { if_id_vector, status: ErrorStatus::RPC_S_OK }
    }
}

impl InqStatsRequest {
    /// These figures, as far as there is room for them.
    #[must_use]
    pub fn answer(&self, statistics: Statistics) -> InqStatsReply {
        let count = self.room.min(Statistics::COUNT);
        let figures = (0..count).zip(statistics.to_array()).map(|(_, figure)| figure);
        InqStatsReply { count, statistics: Conformant(figures.collect()), status: ErrorStatus::RPC_S_OK }
    }
}

impl InqPrincNameRequest {
    /// This name.
    ///
    /// # Errors
    /// `INSUFFICIENT_BUFFER` if there is no room for it.
    pub fn answer(&self, name: String) -> Result<InqPrincNameReply, ErrorStatus> {
        let size = u32::try_from(name.chars().count() + 1 /* NUL */).unwrap_or(u32::MAX);
        if size <= self.room {
            let name = NarrowString { max_count: self.room, text: name };
            Ok(InqPrincNameReply { name, status: ErrorStatus::RPC_S_OK })
        } else {
            Err(ErrorStatus::INSUFFICIENT_BUFFER)
        }
    }
}

// A client.

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
