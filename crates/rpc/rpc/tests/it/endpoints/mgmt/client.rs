//! Both sides together.

use core::convert::Infallible;
use core::future::{Future, ready};

use rpc::endpoints::mgmt::management::{
    InqIfIdsReply, InqIfIdsRequest, InqPrincNameReply, InqPrincNameRequest, InqStatsReply, InqStatsRequest,
    IsServerListeningReply, IsServerListeningRequest, Management, MgmtServer,
};
use rpc::endpoints::mgmt::types::{AuthenticationService, Statistics};
use rpc::ndr::{Conformant, NarrowString, WithRoom as _};
use rpc::{
    CallInfo, Channel, ErrorStatus, FaultStatus, Message, Method, ServerResult, Status as _, SyntaxId,
};
use test_support::future::now;
use wire::Guid;

const COUNTED: Statistics = Statistics { calls_in: 7, calls_out: 1, packets_in: 12, packets_out: 9 };

fn interfaces() -> Vec<SyntaxId> {
    vec![rpc::endpoints::mgmt::SYNTAX_ID, SyntaxId::new(Guid::from_u128(7), 2, 1)]
}

/// A server, or one that refuses everything with this status.
#[derive(Default)]
struct Server(ErrorStatus);

impl MgmtServer for Server {
    fn authorize(&mut self, _call: &CallInfo, _method: &Method) -> ServerResult<(), ErrorStatus> {
        if self.0.is_success() { Ok(()) } else { Err(self.0.into()) }
    }

    fn inq_if_ids(&mut self, _: &InqIfIdsRequest) -> ServerResult<InqIfIdsReply, ErrorStatus> {
        Ok(InqIfIdsReply::new(interfaces()))
    }

    fn inq_stats(&mut self, request: &InqStatsRequest) -> ServerResult<InqStatsReply, ErrorStatus> {
        Ok(request.answer(COUNTED))
    }

    fn is_server_listening(
        &mut self,
        _: &IsServerListeningRequest,
    ) -> ServerResult<IsServerListeningReply, ErrorStatus> {
        Ok(IsServerListeningReply { is_listening: 1, status: ErrorStatus::RPC_S_OK })
    }

    fn inq_princ_name(
        &mut self,
        request: &InqPrincNameRequest,
    ) -> ServerResult<InqPrincNameReply, ErrorStatus> {
        match request.authn_proto {
            AuthenticationService::WINNT => Ok(request.answer("host/web1".to_owned())?),
            _ => Err(ErrorStatus::RPC_S_UNKNOWN_AUTHN_SERVICE.into()),
        }
    }
}

impl Channel for Server {
    type Error = FaultStatus;

    fn call(
        &mut self,
        opnum: u16,
        _object: Option<Guid>,
        stub: &[u8],
    ) -> impl Future<Output = Result<Vec<u8>, FaultStatus>> + Send {
        ready(self.dispatch(&CallInfo::default(), opnum, stub))
    }
}

/// Answers the same to every call.
struct Canned(Vec<u8>);

impl Channel for Canned {
    type Error = Infallible;

    fn call(
        &mut self,
        _opnum: u16,
        _object: Option<Guid>,
        _stub: &[u8],
    ) -> impl Future<Output = Result<Vec<u8>, Infallible>> + Send {
        ready(Ok(self.0.clone()))
    }
}

#[test]
fn a_server_says_what_it_has_and_counted() {
    let mut client = Management::new(Server::default());
    assert_eq!(now(client.interfaces()).unwrap(), interfaces());
    assert_eq!(now(client.statistics()).unwrap(), COUNTED);
    assert!(now(client.is_listening()).unwrap());
    assert_eq!(now(client.principal_name(AuthenticationService::WINNT)).unwrap(), "host/web1");
    let error = now(client.principal_name(AuthenticationService::GSS_KERBEROS)).unwrap_err();
    assert_eq!(error.to_string(), "inq princ name: RPC_S_UNKNOWN_AUTHN_SERVICE");
}

#[test]
fn a_server_that_refuses_is_one_of_each_method() {
    let mut client = Management::new(Server(ErrorStatus::ACCESS_DENIED));
    let refused =
        |error: rpc::endpoints::mgmt::Error<FaultStatus>| error.status() == Some(ErrorStatus::ACCESS_DENIED);
    assert!(refused(now(client.interfaces()).unwrap_err()));
    assert!(refused(now(client.statistics()).unwrap_err()));
    assert!(refused(now(client.is_listening()).unwrap_err()));
    assert!(refused(now(client.principal_name(AuthenticationService::WINNT)).unwrap_err()));
}

#[test]
fn figures_are_answered_as_far_as_there_is_room() {
    for (room, expected) in [(0, &[][..]), (3, &[7, 1, 12]), (9, &[7, 1, 12, 9])] {
        let reply = InqStatsRequest { room }.answer(COUNTED);
        assert_eq!((reply.statistics.0.as_slice(), reply.count), (expected, room.min(4)));
    }
    let short = InqStatsReply { count: 3, statistics: Conformant(vec![1; 3]), status: ErrorStatus::RPC_S_OK };
    let error = now(Management::new(Canned(short.to_stub().unwrap())).statistics()).unwrap_err();
    assert!(error.to_string().contains("`statistics`: has fewer than 4 elements"), "{error}");
    assert_eq!(Statistics::from_slice(&[1, 2, 3, 4, 5]).unwrap().to_array(), [1, 2, 3, 4]);
}

#[test]
fn a_name_without_room_is_refused() {
    let request = |room| InqPrincNameRequest { authn_proto: AuthenticationService::WINNT, room };
    let answer = request(10).answer("host/web1".to_owned()).unwrap();
    assert_eq!(answer.name, NarrowString { max_count: 10, text: "host/web1".to_owned() });
    let refused = request(9).answer("host/web1".to_owned());
    assert_eq!(refused, Err(ErrorStatus::INSUFFICIENT_BUFFER));
    // What a method answers that failed: an empty name in the room that there is, also if that is none.
    for room in [0, 9] {
        let stub = Server::default().dispatch(&CallInfo::default(), 4, &request(room).to_stub().unwrap());
        let expected = InqPrincNameReply {
            name: NarrowString::with_room(room),
            status: ErrorStatus::INSUFFICIENT_BUFFER,
        };
        assert_eq!(stub.unwrap(), expected.to_stub().unwrap());
    }
}
