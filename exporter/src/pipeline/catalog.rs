//! One name, one family, in the whole process.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::model::{Family, Kind};

/// All families that live, by every name that they take up.
///
/// The first that comes has the name. Who comes later with the same kind shares it (its help is that of the
/// first); who comes with another kind is refused. A name is free again when the last store and the last
/// snapshot of its family are gone.
#[derive(Debug, Default)]
pub struct Catalog {
    names: Mutex<HashMap<String, Weak<Family>>>,
}

impl Catalog {
    /// A catalog without families.
    #[must_use]
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// The family of that name, or nothing if the name means something else.
    pub(super) fn share(&self, family: Family) -> Option<Arc<Family>> {
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = claims(&family).map(|name| (names.get(&name).and_then(Weak::upgrade), name));
        if let (Some(living), _) = &taken[0]
            && living.name == family.name
            && living.kind == family.kind
        {
            return Some(Arc::clone(living));
        }
        if taken.iter().any(|(living, _)| living.is_some()) {
            return None;
        }
        if names.len() >= names.capacity() {
            names.retain(|_, family| family.strong_count() > 0);
        }
        let family = Arc::new(family);
        for (_, name) in taken {
            names.insert(name, Arc::downgrade(&family));
        }
        Some(family)
    }
}

/// The family's name and those that its samples may have.
fn claims(family: &Family) -> [String; 3] {
    let name = &family.name;
    match family.kind {
        Kind::Gauge | Kind::Unknown => [name.clone(), name.clone(), name.clone()],
        Kind::Counter => [name.clone(), format!("{name}_total"), format!("{name}_created")],
        Kind::Info => [name.clone(), format!("{name}_info"), name.clone()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn family(name: &str, kind: Kind) -> Family {
        Family { name: name.into(), kind, unit: String::new(), help: String::new() }
    }

    #[test]
    fn the_same_name_and_kind_is_one_family() {
        let catalog = Catalog::new();
        let first = catalog.share(Family { help: "first".into(), ..family("a", Kind::Gauge) }).unwrap();
        let second = catalog.share(Family { help: "second".into(), ..family("a", Kind::Gauge) }).unwrap();
        assert!(Arc::ptr_eq(&first, &second));
        assert_eq!(second.help, "first");
    }

    #[test]
    fn a_name_that_any_sample_of_another_family_has_is_refused() {
        let catalog = Catalog::new();
        let _requests = catalog.share(family("requests", Kind::Counter)).unwrap();
        for name in ["requests", "requests_total", "requests_created"] {
            assert!(catalog.share(family(name, Kind::Gauge)).is_none(), "{name}");
        }
        let _version = catalog.share(family("version_info", Kind::Gauge)).unwrap();
        assert!(catalog.share(family("version", Kind::Info)).is_none());
    }

    #[test]
    fn a_name_is_free_again_when_nobody_uses_it() {
        let catalog = Catalog::new();
        drop(catalog.share(family("a", Kind::Gauge)).unwrap());
        assert!(catalog.share(family("a", Kind::Counter)).is_some());
    }
}
