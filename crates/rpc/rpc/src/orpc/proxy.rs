use core::marker::PhantomData;

use crate::ndr::{EnumForm, Limits, Reader};
use dcerpc::Channel;
use wire::{DecodeError, Guid};

use super::interface::stub;
use super::{ComVersion, Inherits, ObjectInterface, OrpcThat, OrpcThis};
use crate::{Error, FromStub, Reply, Request, Status, StatusOf};

/// Calls of the methods of interface `I` of one object, on a channel that is bound to
/// [`SYNTAX_ID`](crate::Interface::SYNTAX_ID) of `I`.
#[derive(Debug)]
pub struct Proxy<C, I> {
    channel: C,
    ipid: Guid,
    version: ComVersion,
    cid: Guid,
    limits: Limits,
    enums: EnumForm,
    interface: PhantomData<fn() -> I>,
}

/// What a call on a channel answers.
type Result<T, C, R> = core::result::Result<T, Error<<C as Channel>::Error, StatusOf<R>>>;

impl<C: Channel, I: ObjectInterface> Proxy<C, I> {
    /// A proxy of the interface that the server calls `ipid`, which is called in `version`, what both sides agreed on.
    ///
    /// `cid` is the causality of the first call, and must be random; each call counts it up.
    pub fn new(channel: C, ipid: Guid, version: ComVersion, cid: Guid) -> Self {
        let (limits, enums) = (Limits::default(), EnumForm::default());
        Self { channel, ipid, version, cid, limits, enums, interface: PhantomData }
    }

    /// The same proxy with other limits of what is decoded.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The same proxy, for a server that is known to have one form of enums.
    #[must_use]
    pub fn with_enums(mut self, enums: EnumForm) -> Self {
        self.enums = enums;
        self
    }

    /// What the server calls this interface of the object.
    pub const fn ipid(&self) -> Guid {
        self.ipid
    }

    pub const fn channel(&mut self) -> &mut C {
        &mut self.channel
    }

    /// Gives the channel back.
    pub fn into_channel(self) -> C {
        self.channel
    }

    /// Calls a method and returns its reply.
    ///
    /// # Errors
    /// [`Error::Status`] when the method failed. What the object says beside its reply, such as a text about the failure,
    /// is lost: [`Proxy::stub`] and [`Proxy::decode`] keep it.
    pub async fn call<R, T>(&mut self, request: &R) -> Result<T, C, R>
    where
        I: Inherits<R::Interface>,
        R: for<'reply> Request<Reply<'reply> = T> + Sync,
        T: for<'reply> FromStub<'reply> + Reply<Status = StatusOf<R>>,
    {
        let reply = self.reply(request).await?;
        let status = reply.status();
        if status.is_success() { Ok(reply) } else { Err(Error::Status { method: R::METHOD, status }) }
    }

    /// Calls a method and returns its reply, also if the method failed.
    ///
    /// # Errors
    /// When there is no reply, or none to this request.
    pub async fn reply<R, T>(&mut self, request: &R) -> Result<T, C, R>
    where
        I: Inherits<R::Interface>,
        R: for<'reply> Request<Reply<'reply> = T> + Sync,
        T: for<'reply> FromStub<'reply> + Reply<Status = StatusOf<R>>,
    {
        let stub = self.stub(request).await?;
        self.decode(request, &stub).map(|(_, reply)| reply)
    }

    /// Calls a method and returns the stub of its response, for a reply that borrows from it: [`Proxy::decode`].
    ///
    /// # Errors
    /// When there is no response.
    pub async fn stub<R: Request + Sync>(&mut self, request: &R) -> Result<Vec<u8>, C, R>
    where
        I: Inherits<R::Interface>,
    {
        let method = R::METHOD;
        let this = OrpcThis::new(self.version, self.cid);
        self.cid = Guid::from_u128(self.cid.to_u128().wrapping_add(1));
        let stub = stub(&this, request, self.enums).map_err(|source| Error::Request { method, source })?;
        let response = self.channel.call(method.opnum, Some(self.ipid), &stub).await;
        response.map_err(|source| Error::Call { method, source })
    }

    /// Reads the reply to a request from the stub of its response, and what comes before it.
    ///
    /// # Errors
    /// When it is none.
    pub fn decode<'stub, R: Request>(
        &self,
        request: &R,
        stub: &'stub [u8],
    ) -> Result<(OrpcThat<'stub>, R::Reply<'stub>), C, R> {
        let method = R::METHOD;
        let src = &mut Reader::new(stub, method.name).with_limits(self.limits).with_enums(self.enums);
        let that = src.read("ORPCTHAT").map_err(|source| Error::Stub { method, source })?;
        let reply = R::Reply::decode(src).map_err(|source| Error::Stub { method, source })?;
        match request.broken_rule(&reply) {
            None => Ok((that, reply)),
            Some((field, reason)) => {
                let source = DecodeError::invalid_field(method.name, field, src.pos(), reason);
                Err(Error::Stub { method, source: source.into() })
            }
        }
    }
}
