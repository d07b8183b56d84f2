//! Laws of all declared interfaces.

use rpc_stub::{Direction, Interface};

/// Reads a message, and writes and reads it again; whether it is one. What is written is read, and written again as it
/// is.
pub(crate) fn is_read<I: Interface>(direction: Direction, opnum: u16, stub: &[u8]) -> bool {
    let recode = |stub: &[u8]| I::recode(direction, opnum, stub).expect("the method is declared");
    let Ok(written) = recode(stub) else { return false };
    // A text that just fits without the NUL that some leave out does not fit with it.
    if let Ok(written) = written {
        let again = recode(&written).expect("what is written is read");
        assert_eq!(again.as_ref(), Ok(&written), "{} {opnum}", I::NAME);
    }
    true
}
