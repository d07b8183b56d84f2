//! What holds for all values.

use proptest::collection::vec;
use proptest::prelude::*;
use rpc::endpoints::mgmt::management::{InqIfIdsReply, InqPrincNameReply, InqStatsRequest, Mgmt};
use rpc::endpoints::mgmt::types::Statistics;
use rpc::ndr::NarrowString;
use rpc::{Direction, ErrorStatus, FromStub, Interface, Message, SyntaxId};
use wire::Guid;

proptest! {
    #[test]
    fn answers_are_read_as_they_were_written(
        ids in vec((any::<u128>(), any::<u16>(), any::<u16>()), 0..5),
        figures in any::<[u32; 4]>(),
        text in "[\u{1}-\u{ff}]{0,40}",
        room in 41_u32..4096,
    ) {
        let ids = ids.iter().map(|&(uuid, major, minor)| SyntaxId::new(Guid::from_u128(uuid), major, minor));
        let reply = InqIfIdsReply::new(ids);
        prop_assert_eq!(InqIfIdsReply::from_stub(&reply.to_stub().unwrap()).unwrap(), reply);
        let reply = InqStatsRequest { room: 4 }.answer(Statistics::from_slice(&figures).unwrap());
        prop_assert_eq!(reply.statistics.0, figures);
        let name = NarrowString { max_count: room, text };
        let reply = InqPrincNameReply { name, status: ErrorStatus::RPC_S_OK };
        prop_assert_eq!(InqPrincNameReply::from_stub(&reply.to_stub().unwrap()).unwrap(), reply);
    }

    #[test]
    fn what_is_read_is_written_as_it_is(
        opnum in 0_u16..6,
        is_request: bool,
        stub in vec(prop_oneof![6 => 0_u8..4, 1 => any::<u8>()], 0..120),
    ) {
        let direction = if is_request { Direction::Request } else { Direction::Reply };
        if let Some(Ok(Ok(written))) = Mgmt::recode(direction, opnum, &stub) {
            let again = Mgmt::recode(direction, opnum, &written).unwrap().unwrap().unwrap();
            prop_assert_eq!(again, written);
        }
    }
}
