use core::future::{Future, ready};

use counters::rrp::winreg::RegistryClient;
use dcerpc::{Channel, FaultStatus};
use test_support::future::now;

use super::*;
use crate::Accounts;
use crate::model::{Host, HostOptions, ValueSource};

struct Loop(RegistryService);

impl Channel for Loop {
    type Error = FaultStatus;

    fn call(
        &mut self,
        opnum: u16,
        _object: Option<Guid>,
        stub: &[u8],
    ) -> impl Future<Output = Result<Vec<u8>, FaultStatus>> + Send {
        ready(self.0.dispatch(&CallInfo::default(), opnum, stub))
    }
}

fn client(is_granted: bool) -> (Vec<Guid>, RegistryClient<Loop>) {
    let source: Arc<dyn ValueSource> = Arc::new(Host::new(HostOptions::default()));
    let mut guids: Vec<Guid> = source.countersets().iter().map(|set| set.guid).collect();
    guids.sort_unstable();
    let accounts = Arc::new(Accounts::new(Vec::new()));
    let mut service = RegistryService::new(Arc::new(HostState::new("web1".to_owned(), source, accounts)));
    service.set_granted(is_granted);
    (guids, RegistryClient::new(Loop(service)))
}

#[test]
fn the_registry_lists_what_the_host_counts() {
    let (guids, mut client) = client(true);
    let found = now(counters::rrp::enumerate_counter_sets(&mut client));
    assert_eq!(found.map(|found| found.counter_sets).ok(), Some(guids));
    assert!(client.channel().0.keys.is_empty(), "the client closed all keys");
}

#[test]
fn the_registry_is_closed_to_whom_the_counters_are_closed_to() {
    let (_, mut client) = client(false);
    let refused = now(client.open_local_machine());
    assert_eq!(refused.map_err(|error| error.status()), Err(Some(Win32Error::ERROR_ACCESS_DENIED)));
}
