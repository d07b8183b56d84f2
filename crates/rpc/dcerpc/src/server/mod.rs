//! The end of an association that answers.

mod association;
mod bind;
mod groups;
mod receive;
mod security;

use std::sync::Arc;

use wire::Guid;

use crate::assembly::Assembly;
use crate::client::FRAG_BYTES_DEFAULT;
use crate::pdu::Request;
use crate::protector::Protector;
use crate::{AuthLevel, CallId, ContextId, Error, Limits, SyntaxId};

pub use self::association::ServerAssociation;
pub use self::groups::AssociationGroups;

/// What a server offers on an association.
#[derive(Clone, Debug)]
pub struct ServerConfig {
    /// The interfaces that can be bound.
    pub interfaces: Vec<SyntaxId>,
    /// The longest fragment that this side sends. At least 1,432.
    pub max_xmit_frag: u16,
    /// The longest fragment that this side takes. At least 1,432.
    pub max_recv_frag: u16,
    /// The groups of the endpoint, shared by its associations.
    pub groups: AssociationGroups,
    /// Which machine the client is on, in any form: only associations of one machine share a group.
    pub client_machine: String,
    /// The endpoint of the association, such as `\PIPE\winreg` or a port; sent to the client.
    pub sec_addr: String,
    /// Limits of what the client may send.
    pub limits: Limits,
}

impl ServerConfig {
    /// Serves `interfaces`, all else by default.
    #[must_use]
    pub fn new(interfaces: Vec<SyntaxId>) -> Self {
        Self {
            interfaces,
            max_xmit_frag: FRAG_BYTES_DEFAULT,
            max_recv_frag: FRAG_BYTES_DEFAULT,
            groups: AssociationGroups::default(),
            client_machine: String::new(),
            sec_addr: String::new(),
            limits: Limits::default(),
        }
    }
}

/// An event of an association.
#[derive(Debug)]
#[non_exhaustive]
pub enum ServerEvent {
    /// A call came in; answer it with [`ServerAssociation::respond`] or [`ServerAssociation::fault`].
    Request(IncomingCall),
    /// Authentication of the client failed. Calls under that security context are answered with
    /// `nca_s_fault_access_denied` from now on.
    AuthenticationFailed(ssp::Error),
    /// The client asks to cancel a call; it still waits for an answer.
    Cancelled(CallId),
    /// The client does not wait for a call any longer; an answer is thrown away.
    Orphaned(CallId),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IncomingCall {
    /// Names the call in the answer.
    pub call_id: CallId,
    /// The presentation context that it came on.
    pub context_id: ContextId,
    /// The interface as the client bound it.
    pub interface: SyntaxId,
    pub opnum: u16,
    /// The object that the call is for, if it names one.
    pub object: Option<Guid>,
    /// The arguments, in NDR.
    pub stub: Vec<u8>,
    /// How the call was protected.
    pub auth_level: AuthLevel,
    /// The authenticated account of the caller, if there is one.
    pub peer: Option<Arc<ssp::Account>>,
}

/// One security context of an association ([MS-RPCE] 3.3.1.5.4).
#[derive(Debug)]
struct SecurityEntry {
    protector: Protector,
    state: SecurityState,
    /// The authenticated account; known once the context is established.
    peer: Option<Arc<ssp::Account>>,
}

/// Where a security context is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SecurityState {
    /// It waits for a further leg of the client.
    Authenticating {
        legs: usize,
    },
    Established,
    Denied,
}

/// Names a security context within its association. Contexts are never removed.
type SecurityIndex = usize;

/// A call of which some fragments have arrived.
#[derive(Debug)]
struct IncomingFragments {
    call_id: CallId,
    request: Request,
    security: Option<SecurityIndex>,
    assembly: Assembly,
}

impl IncomingFragments {
    /// Refuses a fragment that is of another call than those before it.
    fn check(
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
