//! Which association group a client gets into.

use dcerpc::client::ClientConfig;
use dcerpc::pdu::{Body, Pdu};
use dcerpc::server::{AssociationGroups, ServerConfig};

use crate::pair::{PASSWORD, Pair, WINREG, server_config};

fn config(groups: &AssociationGroups, machine: &str) -> ServerConfig {
    ServerConfig { groups: groups.clone(), client_machine: machine.to_owned(), ..server_config() }
}

/// An association of an endpoint, and the group that its client was told; none if it was refused.
fn bind(groups: &AssociationGroups, machine: &str, asked: u32) -> (Pair, Option<u32>) {
    let client = ClientConfig { assoc_group_id: asked, ..ClientConfig::default() };
    let mut pair = Pair::with(client, config(groups, machine), None, PASSWORD);
    pair.client.bind(&[WINREG]).unwrap();
    let is_bound = pair.try_drive().is_ok();
    let told = is_bound.then(|| pair.client.assoc_group_id());
    assert_eq!(pair.server.assoc_group_id(), told, "both sides mean the same");
    (pair, told)
}

/// C706 12.6.4.3: zero asks for a new group.
#[test]
fn clients_that_name_no_group_get_one_each() {
    let groups = AssociationGroups::default();
    let (_first, first) = bind(&groups, "web1", 0);
    let (_second, second) = bind(&groups, "web1", 0);
    assert!(first.is_some_and(|id| id != 0));
    assert!(second.is_some_and(|id| id != 0));
    assert_ne!(first, second);
}

#[test]
fn a_live_group_is_joined_and_any_other_refused_by_a_bind_nak() {
    let groups = AssociationGroups::default();
    let (first, id) = bind(&groups, "web1", 0);
    let id = id.unwrap();
    let (second, joined) = bind(&groups, "web1", id);
    assert_eq!(joined, Some(id));

    for (machine, asked) in [("web1", id + 1), ("web2", id)] {
        let (mut refused, told) = bind(&groups, machine, asked);
        assert_eq!(told, None);
        let nak = refused.server.poll_transmit().unwrap();
        assert!(matches!(Pdu::decode(&nak).unwrap().body, Body::BindNak(_)));
        let error = refused.client.handle_bytes(&nak).unwrap_err();
        assert_eq!(error.to_string(), "bind refused: REASON_NOT_SPECIFIED");
    }

    drop((first, second));
    assert_eq!(bind(&groups, "web1", id).1, None, "it ended with its last association");
}
