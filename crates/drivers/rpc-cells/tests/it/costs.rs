use rpc_cells::{CallOrigin, CallTarget, Capacity, ClientCall, Level, ServerCall, Writer};

use crate::levels::memory;

#[test]
fn a_call_from_its_first_update_to_its_last_allocates_nothing() {
    let writer = Writer::over(memory(Level::FULL, Capacity::default())).expect("the header is good");
    let allocated = allocation_counter::measure(|| {
        let mut call = writer.server_call(ServerCall::default());
        call.update(|call| call.call_id = 1);
        let mut client =
            writer.client_call(CallOrigin::ServerCall, ClientCall::default(), CallTarget::default());
        client.update(5, |client| client.opnum = 2);
        assert!(call.is_shown() && client.call().is_shown());
    });
    assert_eq!(allocated.count_total, 0);
}
