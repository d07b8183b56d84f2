use super::security_context::SecurityIndex;
use crate::assembly::Assembly;
use crate::pdu::Request;
use crate::{CallId, Error};

/// A call of which some fragments have arrived.
#[derive(Debug)]
pub(super) struct IncomingFragments {
    pub(super) call_id: CallId,
    pub(super) request: Request,
    pub(super) security: Option<SecurityIndex>,
    pub(super) assembly: Assembly,
}

impl IncomingFragments {
    /// Refuses a fragment that is of another call than those before it.
    pub(super) fn check(
        &self,
        call_id: CallId,
        request: &Request,
        security: Option<SecurityIndex>,
    ) -> Result<(), Error> {
        if call_id != self.call_id {
            return Err(Error::WrongCallId { expected: self.call_id, actual: call_id });
        }
        if request.context_id != self.request.context_id {
            let (expected, actual) = (self.request.context_id, request.context_id);
            return Err(Error::WrongContext { expected, actual });
        }
        if request.opnum != self.request.opnum || request.object != self.request.object {
            return Err(Error::FragmentOrder { reason: "operation or object changes within a call" });
        }
        if security != self.security {
            return Err(Error::WrongSecurityContext);
        }
        Ok(())
    }
}
