//! Sockets that were opened for plugins before the process began.

use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use plugin_abi::ListeningSockets;
use plugin_abi::raw::{INVALID, NOT_FOUND, OK};
use plugin_host::Violation;

use crate::support::{World, instance};

/// One socket, of one plugin.
struct One(TcpListener);

impl ListeningSockets for One {
    fn socket(&self, plugin: &str, name: &str) -> std::io::Result<Option<OwnedFd>> {
        let is_it = (plugin, name) == ("zoo", "events");
        is_it.then(|| self.0.try_clone().map(OwnedFd::from)).transpose()
    }
}

#[test]
fn a_plugin_gets_the_sockets_that_were_opened_for_it_by_name() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let world = World::with(|options| options.sockets = Arc::new(One(listener)));
    let library = world.load("zoo/sockets.c");
    instance(&library, "a");
    let said = |what: &str| world.log.wait_said(what);
    assert_eq!((said("events"), said("again")), (i64::from(OK), i64::from(OK)));
    assert_eq!((said("port"), said("closed on exec")), (i64::from(port), 1));
    assert_eq!(said("others"), i64::from(NOT_FOUND));
    for what in ["path", "nothing", "no name", "no room"] {
        assert_eq!(said(what), i64::from(INVALID), "{what}");
    }
    assert_eq!(said("left"), -1, "nothing is written where there is no socket");
    let violations = library.violations();
    assert_eq!((violations.of(Violation::BadName), violations.of(Violation::NullPointer)), (2, 2));
}

#[test]
fn where_nobody_opened_any_there_are_none() {
    let world = World::new();
    instance(&world.load("zoo/sockets.c"), "a");
    assert_eq!(world.log.wait_said("events"), i64::from(NOT_FOUND));
}
