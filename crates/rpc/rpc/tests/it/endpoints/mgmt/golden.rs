//! Bytes that others wrote; each file says who.

use rpc::endpoints::mgmt::management::{
    InqIfIdsReply, InqPrincNameRequest, InqStatsReply, InqStatsRequest, IsServerListeningReply, Mgmt,
    StopServerListeningReply,
};
use rpc::endpoints::mgmt::types::{AuthenticationService, Statistics};
use rpc::{Direction, ErrorStatus, FromStub, Interface, SyntaxId};

use crate::endpoints::mgmt::hex;

macro_rules! data {
    ($name:literal) => {
        hex(include_str!(concat!("../../../data/endpoints/mgmt/", $name, ".hex")))
    };
}

#[test]
fn the_interfaces_of_a_server_of_samba_are_read_and_written_as_samba_wrote_them() {
    let stub = data!("response_inq_if_ids");
    let reply = InqIfIdsReply::from_stub(&stub).unwrap();
    let interfaces: Vec<SyntaxId> = reply.if_id_vector.as_ref().unwrap().interfaces().collect();
    let shown: Vec<String> = interfaces.iter().map(ToString::to_string).collect();
    let expected = [
        "3919286a-b10c-11d0-9ba8-00c04fd92ef5 v0.0",
        "12345778-1234-abcd-ef00-0123456789ac v1.0",
        "12345778-1234-abcd-ef00-0123456789ab v0.0",
        "afa8bd80-7d8a-11c9-bef4-08002b102989 v1.0",
    ];
    assert_eq!(shown, expected);
    assert_eq!(interfaces[3], rpc::endpoints::mgmt::SYNTAX_ID);
    assert_eq!(Mgmt::recode(Direction::Reply, 0, &stub).unwrap().unwrap().unwrap(), stub);
    assert_eq!(InqIfIdsReply::new(interfaces), reply);
}

#[test]
fn statistics_of_samba_which_counts_nothing_are_read_and_written_as_samba_wrote_them() {
    let stub = data!("response_inq_stats");
    let reply = InqStatsReply::from_stub(&stub).unwrap();
    assert_eq!((reply.count, reply.status), (4, ErrorStatus::RPC_S_OK));
    assert_eq!(Statistics::from_slice(&reply.statistics.0), Some(Statistics::default()));
    assert_eq!(Mgmt::recode(Direction::Reply, 1, &stub).unwrap().unwrap().unwrap(), stub);
    assert_eq!(InqStatsRequest { room: 4 }.answer(Statistics::default()), reply);
}

#[test]
fn the_value_of_a_method_stands_behind_its_status() {
    let stub = data!("response_is_server_listening");
    let reply = IsServerListeningReply::from_stub(&stub).unwrap();
    assert_eq!((reply.status, reply.is_listening), (ErrorStatus::RPC_S_OK, 1));
    assert_eq!(Mgmt::recode(Direction::Reply, 2, &stub).unwrap().unwrap().unwrap(), stub);
    let reply = StopServerListeningReply::from_stub(&data!("response_stop_server_listening")).unwrap();
    assert_eq!(reply.status, ErrorStatus::ACCESS_DENIED);
}

#[test]
fn requests_of_impacket_are_read() {
    let request = InqStatsRequest::from_stub(&data!("request_inq_stats")).unwrap();
    assert_eq!(request, InqStatsRequest { room: 4 });
    let request = InqPrincNameRequest::from_stub(&data!("request_inq_princ_name")).unwrap();
    let authn_proto = AuthenticationService::WINNT;
    assert_eq!(request, InqPrincNameRequest { authn_proto, room: 64 });
}
