//! What a client works out between calls.

mod endpoints;

use std::collections::BTreeSet;

use rpc::ndr::Conformant;
use wire::Win32Error;

pub use self::endpoints::{ENDPOINTS_MAX, Endpoint, endpoints, resolver_endpoints};

use super::resolver::{ComplexPingReply, ComplexPingRequest, SimplePingReply, SimplePingRequest};
use super::types::{Oid, SetId};

/// Objects that one ping adds or removes: 32 KiB each.
pub const OIDS_PER_PING_MAX: usize = 4096;

/// The objects of one resolver that a client keeps alive, [MS-DCOM] 3.2.6.1.
///
/// At each period, and whenever a change should be known at once: [`next_ping`](Self::next_ping), then
/// [`complex_answered`](Self::complex_answered) or [`simple_answered`](Self::simple_answered) with the reply, whatever its
/// status. A call without a reply changes nothing, and its changes are sent again.
#[derive(Clone, Debug, Default)]
pub struct PingSet {
    /// What the resolver calls the set. INVARIANT: zero if `pinged` is empty.
    id: SetId,
    /// That of the last change.
    sequence: u16,
    /// What is in the resolver's set.
    pinged: BTreeSet<Oid>,
    wanted: BTreeSet<Oid>,
    /// What the last change adds and removes.
    change: (Vec<Oid>, Vec<Oid>),
}

/// A ping to send.
#[derive(Clone, Debug, PartialEq)]
pub enum Ping {
    /// The set is as the resolver knows it.
    Simple(SimplePingRequest),
    /// The set has changed.
    Complex(ComplexPingRequest),
}

impl PingSet {
    /// Keeps an object alive from the next ping on. False if it is kept alive already.
    pub fn insert(&mut self, oid: Oid) -> bool {
        self.wanted.insert(oid)
    }

    /// Lets an object die. False if it is not kept alive.
    pub fn remove(&mut self, oid: Oid) -> bool {
        self.wanted.remove(&oid)
    }

    /// Whether the resolver does not know yet which objects there are.
    #[must_use]
    pub fn has_changes(&self) -> bool {
        self.wanted != self.pinged
    }

    /// The ping to send; `None` if there is nothing to keep alive.
    pub fn next_ping(&mut self) -> Option<Ping> {
        if self.sequence == u16::MAX {
            // A resolver does not take changes with a lower number: the next set begins again, and this one runs out.
            self.forget();
        }
        let missing = |from: &BTreeSet<Oid>, in_set: &BTreeSet<Oid>| -> Vec<Oid> {
            from.difference(in_set).take(OIDS_PER_PING_MAX).copied().collect()
        };
        let add = missing(&self.wanted, &self.pinged);
        let delete = missing(&self.pinged, &self.wanted);
        if add.is_empty() && delete.is_empty() {
            let set_id = self.id;
            return (set_id.0 != 0).then_some(Ping::Simple(SimplePingRequest { set_id }));
        }
        self.sequence += 1;
        let (add_count, add_oids) = counted(&add);
        let (delete_count, delete_oids) = counted(&delete);
        let (set_id, sequence) = (self.id, self.sequence);
        self.change = (add, delete);
        let (add, delete) = (add_oids, delete_oids);
        Some(Ping::Complex(ComplexPingRequest { set_id, sequence, add_count, delete_count, add, delete }))
    }

    /// Takes the reply to the last [`Ping::Complex`].
    pub fn complex_answered(&mut self, reply: &ComplexPingReply) {
        let (added, deleted) = std::mem::take(&mut self.change);
        if reply.status.is_success() && reply.set_id.0 != 0 {
            self.id = reply.set_id;
            self.pinged.extend(added);
            deleted.iter().for_each(|oid| {
                self.pinged.remove(oid);
            });
            if self.pinged.is_empty() {
                self.forget();
            }
        } else {
            self.refused(reply.status);
        }
    }

    /// Takes the reply to a [`Ping::Simple`].
    pub fn simple_answered(&mut self, reply: &SimplePingReply) {
        self.refused(reply.status);
    }

    /// A set that the resolver does not know is made again, and so is one with an object that it does not know: in a new set,
    /// such an object is passed over.
    fn refused(&mut self, status: Win32Error) {
        if matches!(status, Win32Error::OR_INVALID_SET | Win32Error::OR_INVALID_OID) {
            self.forget();
        }
    }

    fn forget(&mut self) {
        (self.id, self.sequence) = (SetId::default(), 0);
        self.pinged.clear();
    }
}

/// A list of at most [`OIDS_PER_PING_MAX`] objects, as a request has it.
fn counted(oids: &[Oid]) -> (u16, Option<Box<Conformant<Oid>>>) {
    let count = u16::try_from(oids.len()).unwrap_or(u16::MAX);
    (count, (count > 0).then(|| Box::new(Conformant(oids.to_vec()))))
}
