//! How a server's answers are made of what it knows.

use crate::ndr::{Conformant, NarrowString};
use crate::{ErrorStatus, SyntaxId};

use super::{InqIfIdsReply, InqPrincNameReply, InqPrincNameRequest, InqStatsReply, InqStatsRequest};
use crate::endpoints::mgmt::types::{RpcIfIdVector, Statistics};

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
