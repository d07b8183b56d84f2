use wire::{Decode as _, NtStatus, ReadCursor};

use super::Request;
use super::connection::ServerConnection;
use crate::Error;
use crate::wire::{EmptyBody, Header, ShareType, TreeConnectRequest, TreeConnectResponse};

impl ServerConnection {
    /// There is one share, `IPC$`, and everybody with a session may use it.
    pub(super) fn handle_tree_connect(&mut self, request: &Request, message: &[u8]) -> Result<(), Error> {
        const ALL_ACCESS: u32 = 0x001F_01FF;
        let mut src = ReadCursor::new(message);
        src.skip("SMB2 TREE_CONNECT Request", "header", Header::FIXED_PART_SIZE)?;
        let path = TreeConnectRequest::decode(&mut src)?.path;
        let share = path.rsplit('\\').next().unwrap_or_default();
        if !share.eq_ignore_ascii_case("IPC$") {
            return self.refuse(request, NtStatus::STATUS_BAD_NETWORK_NAME);
        }
        let trees_max = self.config.limits.trees_max;
        let Some(session) = self.sessions.get_mut(&request.session_id) else { return Ok(()) };
        if session.trees.len() >= trees_max {
            return self.refuse(request, NtStatus::STATUS_INSUFFICIENT_RESOURCES);
        }
        self.trees_made += 1;
        let tree_id = self.trees_made;
        session.trees.push(tree_id);
        let body =
            TreeConnectResponse { share_type: ShareType::PIPE, share_flags: 0, maximal_access: ALL_ACCESS };
        self.answer(&Request { tree_id, ..*request }, &body)
    }

    pub(super) fn handle_tree_disconnect(&mut self, request: &Request) -> Result<(), Error> {
        let tree_id = request.tree_id;
        if let Some(session) = self.sessions.get_mut(&request.session_id) {
            session.trees.retain(|&tree| tree != tree_id);
        }
        self.close_files(|file| file.session_id == request.session_id && file.tree_id == tree_id);
        self.answer(request, &EmptyBody)
    }
}
