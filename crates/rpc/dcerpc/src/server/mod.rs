//! The end of an association that answers.

mod association;
mod bind;
mod receive;

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};
use wire::Guid;

pub use self::association::ServerAssociation;

use crate::assembly::Assembly;
use crate::client::FRAG_BYTES_DEFAULT;
use crate::pdu::Request;
use crate::protector::Protector;
use crate::{AuthLevel, CallId, ContextId, Error, Limits, SyntaxId};

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

/// The association groups of one endpoint; clones share them.
///
/// Associations of a group share its context handles, which the server keeps by the group's id. A group lives as long
/// as an association of it does.
#[derive(Clone, Debug, Default)]
pub struct AssociationGroups(Arc<Mutex<Table>>);

#[derive(Debug, Default)]
struct Table {
    last_id: u32,
    groups: BTreeMap<u32, Group>,
}

#[derive(Debug)]
struct Group {
    /// Associations in it; not zero.
    members: usize,
    client_machine: String,
}

impl AssociationGroups {
    /// Makes a group for a client that names none, or joins the one that it names: a live one of the same machine.
    ///
    /// [MS-RPCE] 3.3.1.5.7
    fn enter(&self, named: u32, client_machine: &str) -> Option<Membership> {
        let mut table = self.table();
        let id = match named {
            0 => table.found(client_machine),
            named => {
                let group = table.groups.get_mut(&named)?;
                if group.client_machine != client_machine {
                    return None;
                }
                group.members += 1;
                named
            }
        };
        drop(table);
        Some(Membership { groups: self.clone(), id })
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.0.lock()
    }
}

impl Table {
    /// A new group. There are always fewer groups than ids.
    fn found(&mut self, client_machine: &str) -> u32 {
        loop {
            self.last_id = self.last_id.wrapping_add(1);
            if self.last_id != 0 && !self.groups.contains_key(&self.last_id) {
                break;
            }
        }
        self.groups.insert(self.last_id, Group { members: 1, client_machine: client_machine.to_owned() });
        self.last_id
    }
}

/// An association's place in its group, until it is dropped.
#[derive(Debug)]
struct Membership {
    groups: AssociationGroups,
    id: u32,
}

impl Membership {
    const fn id(&self) -> u32 {
        self.id
    }
}

impl Drop for Membership {
    fn drop(&mut self) {
        let mut table = self.groups.table();
        if let Some(group) = table.groups.get_mut(&self.id) {
            group.members -= 1;
            if group.members == 0 {
                table.groups.remove(&self.id);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_client_that_names_none_gets_a_group_of_its_own() {
        let groups = AssociationGroups::default();
        let all: Vec<_> = (0..3).map(|_| groups.enter(0, "web1").unwrap()).collect();
        let mut ids: Vec<u32> = all.iter().map(Membership::id).collect();
        ids.dedup();
        assert_eq!(ids.len(), 3);
        assert!(!ids.contains(&0));
    }

    #[test]
    fn a_group_is_joined_by_its_own_machine_while_it_lives() {
        let groups = AssociationGroups::default();
        let first = groups.enter(0, "web1").unwrap();
        let id = first.id();
        assert!(groups.enter(id, "web2").is_none(), "another machine");
        assert!(groups.enter(id + 1, "web1").is_none(), "nobody's");
        let second = groups.enter(id, "web1").unwrap();
        drop(first);
        drop(groups.enter(id, "web1").unwrap());
        drop(second);
        assert!(groups.enter(id, "web1").is_none(), "it ended with its last association");
    }

    #[test]
    fn an_id_that_lives_is_not_given_twice() {
        let groups = AssociationGroups::default();
        let first = groups.enter(0, "").unwrap();
        groups.table().last_id = u32::MAX;
        assert_eq!((first.id(), groups.enter(0, "").unwrap().id()), (1, 2));
    }
}
