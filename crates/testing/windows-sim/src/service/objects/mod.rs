//! A program with objects of DCOM [MS-DCOM]: its classes, the objects that clients have activated, and their interfaces.
//!
//! A new class is an implementation of [`ComClass`] and of [`ComObject`], and an element of the list in
//! [`standard`](super::standard). Clients activate it through the [resolver](super::resolver).

mod calls;
mod class;
mod remote_unknown;
mod table;

use std::sync::Arc;

use super::Service;

pub use self::class::{ComClass, ComInterface, ComObject, Program, Refusing, RefusingDispatch, SharedObject};
pub(crate) use self::table::is_overdue;
pub use self::table::{OBJECTS_MAX, ObjectTable, PING_TIMEOUT};

/// The interfaces that clients of this program bind: one service each.
pub(super) fn services(objects: &Arc<ObjectTable>) -> Vec<Arc<dyn Service>> {
    let mut services: Vec<Arc<dyn Service>> = vec![
        Arc::new(remote_unknown::RemUnknown::first(Arc::clone(objects))),
        Arc::new(remote_unknown::RemUnknown::second(Arc::clone(objects))),
    ];
    for class in objects.classes() {
        for interface in class.interfaces() {
            if services.iter().any(|known| known.syntax_id() == interface.syntax_id) {
                continue;
            }
            let called = calls::CalledInterface::new(*interface, class.annotation(), Arc::clone(objects));
            services.push(Arc::new(called));
        }
    }
    services
}
