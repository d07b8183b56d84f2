//! [MS-DCOM] 3.1.1.5.6 and 3.1.1.5.7, the interfaces `IRemUnknown` and `IRemUnknown2` of each program that has objects:
//! further interfaces of an object, and references to them.

use rpc::Message;
use rpc::ndr::{Conformant, InterfacePointer};
use rpc::orpc::{IUnknown, IUnknownServer};
use wire::{DecodeError, Guid, HResult};

use crate::dcom::types::{RemInterfaceRef, RemQiResult, StdObjref};
use crate::dcom::wire::Objref;

rpc::interface! {
    /// [MS-DCOM] 1.9: references to objects.
    pub orpc interface IRemUnknown: IUnknown("00000131-0000-0000-c000-000000000046") -> HResult {
        /// [MS-DCOM] 3.1.1.5.6.1: asks for further interfaces of the object that has the interface `ipid`, with `refs`
        /// references to each.
        3 => RemQueryInterface(
            #[ndr(name = "ripid")] ipid: Guid, #[ndr(name = "cRefs")] refs: u32, #[ndr(name = "cIids")] count: u16,
            #[ndr(size_is = count)] iids: Conformant<Guid>,
        ) -> (#[ndr(name = "ppQIResults")] results: Option<Box<Conformant<RemQiResult>>>);

        /// [MS-DCOM] 3.1.1.5.6.1: asks for further references.
        4 => RemAddRef as rem_add_ref(
            #[ndr(name = "cInterfaceRefs")] count: u16,
            #[ndr(name = "InterfaceRefs", size_is = count)] refs: Conformant<RemInterfaceRef>,
        ) -> (#[ndr(name = "pResults")] results: Conformant<HResult>);

        /// [MS-DCOM] 3.1.1.5.6.1: gives references back. An interface without any is gone.
        5 => RemRelease(
            #[ndr(name = "cInterfaceRefs")] count: u16,
            #[ndr(name = "InterfaceRefs", size_is = count)] refs: Conformant<RemInterfaceRef>,
        );
    }
}

rpc::interface! {
    /// [MS-DCOM] 1.9: references to objects that marshal themselves, too. All programs have it that speak version 5.6.
    pub orpc interface IRemUnknown2: IRemUnknown("00000143-0000-0000-c000-000000000046") -> HResult {
        /// [MS-DCOM] 3.1.1.5.7.1: asks for further interfaces, each an [`Objref`].
        6 => RemQueryInterface2 as rem_query_interface2(
            #[ndr(name = "ripid")] ipid: Guid, #[ndr(name = "cIids")] count: u16,
            #[ndr(size_is = count)] iids: Conformant<Guid>,
        ) -> (
            #[ndr(name = "phr")] results: Conformant<HResult>,
            #[ndr(name = "ppMIF")] pointers: Conformant<Option<Box<InterfacePointer<'stub>>>>,
        );
    }
}

impl RemQueryInterfaceRequest {
    /// Asks for these interfaces. `None` where there are more than 16 bits can count.
    #[must_use]
    pub fn new(ipid: Guid, refs: u32, iids: Vec<Guid>) -> Option<Self> {
        Some(Self { ipid, refs, count: u16::try_from(iids.len()).ok()?, iids: Conformant(iids) })
    }

    /// What a reply to this request says of each interface, in their order.
    ///
    /// # Errors
    /// When it says nothing, or something of another number of interfaces.
    pub fn results(
        &self,
        reply: &RemQueryInterfaceReply,
    ) -> Result<Vec<Result<StdObjref, HResult>>, DecodeError> {
        let results = reply.results.as_ref().filter(|results| results.0.len() == self.iids.0.len());
        let results = results.ok_or_else(|| {
            let reason = "has another number of elements than iids";
            DecodeError::invalid_field(Self::METHOD.name, "ppQIResults", 0, reason)
        })?;
        Ok(results.0.iter().map(|result| result.interface()).collect())
    }
}

impl RemQueryInterface2Request {
    /// Asks for these interfaces. `None` where there are more than 16 bits can count.
    #[must_use]
    pub fn new(ipid: Guid, iids: Vec<Guid>) -> Option<Self> {
        Some(Self { ipid, count: u16::try_from(iids.len()).ok()?, iids: Conformant(iids) })
    }

    /// What a reply to this request says of each interface, in their order.
    ///
    /// # Errors
    /// When it says something of another number of interfaces, or gives none where it says that there is one, or
    /// another one.
    pub fn results<'a>(
        &self,
        reply: &'a RemQueryInterface2Reply<'_>,
    ) -> Result<Vec<Result<Objref<'a>, HResult>>, DecodeError> {
        let method = Self::METHOD.name;
        let count = self.iids.0.len();
        for (field, found) in [("phr", reply.results.0.len()), ("ppMIF", reply.pointers.0.len())] {
            if found != count {
                let reason = "has another number of elements than iids";
                return Err(DecodeError::invalid_field(method, field, 0, reason));
            }
        }
        let answered = reply.results.0.iter().zip(&reply.pointers.0).zip(&self.iids.0);
        answered
            .map(|((&result, pointer), &iid)| {
                if !result.is_success() {
                    return Ok(Err(result));
                }
                let Some(pointer) = pointer else {
                    return Err(DecodeError::invalid_field(
                        method,
                        "ppMIF",
                        0,
                        "is NULL where phr is success",
                    ));
                };
                let objref = Objref::from_pointer(pointer)?;
                if objref.iid == iid {
                    Ok(Ok(objref))
                } else {
                    Err(DecodeError::invalid_field(method, "ppMIF", 0, "is of another interface"))
                }
            })
            .collect()
    }
}

impl RemReleaseRequest {
    /// Gives these references back. `None` where there are more than 16 bits can count.
    #[must_use]
    pub fn new(refs: Vec<RemInterfaceRef>) -> Option<Self> {
        Some(Self { count: u16::try_from(refs.len()).ok()?, refs: Conformant(refs) })
    }
}

impl RemAddRefRequest {
    /// Asks for these references. `None` where there are more than 16 bits can count.
    #[must_use]
    pub fn new(refs: Vec<RemInterfaceRef>) -> Option<Self> {
        Some(Self { count: u16::try_from(refs.len()).ok()?, refs: Conformant(refs) })
    }
}

impl RemInterfaceRef {
    /// References that may be passed on: all that this project uses.
    #[must_use]
    pub const fn public(ipid: Guid, count: u32) -> Self {
        Self { ipid, public_refs: count, private_refs: 0 }
    }
}
