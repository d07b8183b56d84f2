//! Objects that methods of an object return.

use core::marker::PhantomData;
use std::collections::BTreeMap;

use com::dcom::types::{Oxid, RemInterfaceRef, StdObjref};
use com::dcom::wire::Objref;
use host_session::SessionError;
use host_session::rpc_client::{Interface as BoundInterface, TcpTransport};
use rpc::orpc::{ObjectInterface, Proxy};
use tokio::time::Instant;

use crate::client::failure::{self, Sentence};
use crate::client::object::{Object, references};

/// Interface `I` of another object of the host, which a method returned. It is pinged with the object that
/// returned it, and given back by [`Object::release_returned`].
#[derive(Debug)]
pub struct Returned<I> {
    std: StdObjref,
    /// What came from the method, if it was another interface.
    first: Option<StdObjref>,
    interface: PhantomData<fn() -> I>,
}

impl Object {
    /// Takes an object that a method of this one returned, and asks it for interface `I` if it came as another.
    ///
    /// # Errors
    /// If it is a copy of its own, its program cannot be reached, or it does not have the interface.
    pub async fn take_returned<I: ObjectInterface>(
        &mut self,
        objref: &Objref<'_>,
        deadline: Instant,
    ) -> Result<Returned<I>, SessionError> {
        let Some(std) = objref.std().copied() else {
            let sentence = Sentence("what was returned is no reference to an object".to_owned());
            return Err(failure::of_answer(self.program(), &sentence));
        };
        if std.wants_pings() {
            self.pings.insert(std.oid);
        }
        if objref.iid == I::IID {
            return Ok(Returned { std, first: None, interface: PhantomData });
        }
        let own = self.query_interface(&std, I::IID, deadline).await?;
        Ok(Returned { std: own, first: Some(std), interface: PhantomData })
    }

    /// The calls of an object that was returned.
    ///
    /// # Errors
    /// If the interface cannot be bound, or the connection is lost.
    pub async fn proxy_of<I: ObjectInterface>(
        &mut self,
        returned: &Returned<I>,
        deadline: Instant,
    ) -> Result<Proxy<BoundInterface<'_, TcpTransport>, I>, SessionError> {
        self.proxy_at(&returned.std, deadline).await
    }

    /// Gives an object back that was returned.
    ///
    /// # Errors
    /// If the program does not answer.
    pub async fn release_returned<I>(
        &mut self,
        returned: Returned<I>,
        deadline: Instant,
    ) -> Result<(), SessionError> {
        self.release_all_returned(vec![returned], deadline).await
    }

    /// Gives objects back that were returned, in one call to each program.
    ///
    /// # Errors
    /// If the program does not answer.
    pub async fn release_all_returned<I>(
        &mut self,
        returned: Vec<Returned<I>>,
        deadline: Instant,
    ) -> Result<(), SessionError> {
        let mut by_program: BTreeMap<Oxid, Vec<RemInterfaceRef>> = BTreeMap::new();
        for Returned { std, first, .. } in &returned {
            if !self.is(std.oid) {
                self.pings.remove(std.oid);
            }
            let all = by_program.entry(std.oxid).or_default();
            all.extend(first.iter().chain([std]).map(references));
        }
        for (oxid, references) in by_program {
            self.release_references(oxid, references, deadline).await?;
        }
        Ok(())
    }
}
