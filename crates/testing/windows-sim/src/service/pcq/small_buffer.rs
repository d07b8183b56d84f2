use wire::Win32Error;

use super::corrupt::returns_buffer;
use crate::choices::SmallBuffer;

/// Replaces `ERROR_NOT_ENOUGH_MEMORY` about the client's buffer by the status that the host chooses.
pub(crate) fn answer(choice: SmallBuffer, opnum: u16, response: &mut [u8]) {
    let status_at = response.len().saturating_sub(4);
    let says_too_small = response[status_at..] == Win32Error::ERROR_NOT_ENOUGH_MEMORY.0.to_le_bytes();
    if returns_buffer(opnum) && says_too_small {
        response[status_at..].copy_from_slice(&choice.status().0.to_le_bytes());
        if choice == SmallBuffer::MoreData {
            response[4 /* pdwOutSize */..8].fill(0);
        }
    }
}
