use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};

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
    pub(super) fn enter(&self, named: u32, client_machine: &str) -> Option<Membership> {
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
pub(super) struct Membership {
    groups: AssociationGroups,
    id: u32,
}

impl Membership {
    pub(super) const fn id(&self) -> u32 {
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
