//! Honest calls of `mgmt`, whose laws are those of interfaces.

use rpc::endpoints::mgmt::management::{
    InqIfIdsReply, InqIfIdsRequest, InqPrincNameRequest, InqStatsRequest, IsServerListeningReply,
    IsServerListeningRequest, StopServerListeningReply, StopServerListeningRequest,
};
use rpc::endpoints::mgmt::types::{AuthenticationService, Statistics};
use rpc::{ErrorStatus, SyntaxId};

use crate::epm::both;

/// A call of each method: opnum, request, and what a server that is right answers.
pub(crate) fn honest_calls() -> Vec<(u16, Vec<u8>, Vec<u8>)> {
    let status = ErrorStatus::RPC_S_OK;
    let stats = InqStatsRequest { room: Statistics::COUNT };
    let counted = Statistics { calls_in: 7, calls_out: 1, packets_in: 12, packets_out: 9 };
    let name = InqPrincNameRequest { authn_proto: AuthenticationService::WINNT, room: 64 };
    let named = name.answer("host/web1".to_owned()).expect("there is room");
    vec![
        both(&InqIfIdsRequest {}, &InqIfIdsReply::new([rpc::endpoints::mgmt::SYNTAX_ID, SyntaxId::NDR])),
        both(&stats, &stats.answer(counted)),
        both(&IsServerListeningRequest {}, &IsServerListeningReply { is_listening: 1, status }),
        both(
            &StopServerListeningRequest {},
            &StopServerListeningReply { status: ErrorStatus::ACCESS_DENIED },
        ),
        both(&name, &named),
    ]
}
