//! For all methods: no bytes panic, and what is read is written and read again as it is.

use proptest::collection::vec;
use proptest::prelude::*;
use rpc::Direction;

use crate::methods::{interfaces, stubs, table};

/// Reads a stub of any method, and what it writes, which has to stay as it is.
fn check(interface: &str, opnum: u16, direction: Direction, stub: &[u8]) {
    let all = interfaces();
    let interface = all.iter().find(|one| one.name == interface).unwrap();
    if let Ok(Ok(written)) = (interface.recode)(direction, opnum, stub).unwrap() {
        let again = (interface.recode)(direction, opnum, &written).unwrap();
        assert_eq!(again.unwrap().unwrap(), written, "{} {opnum} {direction:?} {stub:02x?}", interface.name);
    }
}

proptest! {
    #[test]
    fn stubs_that_were_damaged_are_read_alike_or_refused(
        method in any::<prop::sample::Index>(),
        damage in vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        end in any::<prop::sample::Index>(),
        is_cut in any::<bool>(),
    ) {
        let table = table();
        let (interface, opnum, _, requests, replies) = method.get(&table);
        for (direction, mut stub) in stubs(requests, replies) {
            for (at, byte) in &damage {
                let at = at.index(stub.len());
                stub[at] = *byte;
            }
            if is_cut {
                stub.truncate(end.index(stub.len()));
            }
            check(interface, *opnum, direction, &stub);
        }
    }

    #[test]
    fn any_bytes_are_read_alike_or_refused(method in any::<prop::sample::Index>(), stub in vec(any::<u8>(), 0..200)) {
        let table = table();
        let (interface, opnum, ..) = method.get(&table);
        check(interface, *opnum, Direction::Request, &stub);
        check(interface, *opnum, Direction::Reply, &stub);
    }
}

#[test]
fn arrays_of_any_size_take_no_memory_before_their_bytes_are_there() {
    for count in [u32::MAX, 0x1000_0000, 70_000] {
        // ORPCTHAT; two pointers; dimensions; the array: features, size, locks, BSTRs, their number, a pointer; bounds; them.
        let head = [0, 0, 1, 2, 1, 0x0180_0001, 4, 8 << 16, 8, count, 3, count, 0, count];
        let stub = [head.map(u32::to_le_bytes).concat(), vec![0; 1024]].concat();
        let all = interfaces();
        let used = allocation_counter::measure(|| {
            let error = (all[0].recode)(Direction::Reply, 16, &stub).unwrap().unwrap_err();
            assert!(
                error.to_string().contains("aBstr") || error.to_string().contains("SAFEARR_BSTR"),
                "{error}"
            );
        });
        assert!(used.bytes_max < 4096, "{count:#x}: {used:?}");
    }
}
