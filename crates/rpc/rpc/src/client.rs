use core::marker::PhantomData;

use crate::ndr::{Limits, Reader};
use dcerpc::Channel;
use wire::DecodeError;

use crate::{Error, FromStub, Interface, NativeInterface, Reply, Request, Status};

/// Calls of the methods of `I` on a channel that is bound to its [`Interface::SYNTAX_ID`].
#[derive(Debug)]
pub struct Client<C, I> {
    channel: C,
    limits: Limits,
    interface: PhantomData<fn() -> I>,
}

/// What a call on a channel answers.
type Result<T, C, I> = core::result::Result<T, Error<<C as Channel>::Error, <I as Interface>::Status>>;

impl<C: Channel, I: NativeInterface> Client<C, I> {
    /// A client of the server at the other end of `channel`.
    pub fn new(channel: C) -> Self {
        Self { channel, limits: Limits::default(), interface: PhantomData }
    }

    /// The same client with other limits of what is decoded.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
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
    /// [`Error::Status`] when the method failed.
    pub async fn call<R, T>(&mut self, request: &R) -> Result<T, C, I>
    where
        R: for<'reply> Request<Interface = I, Reply<'reply> = T> + Sync,
        T: for<'reply> FromStub<'reply> + Reply<Status = I::Status>,
    {
        let reply = self.reply(request).await?;
        let status = reply.status();
        if status.is_success() { Ok(reply) } else { Err(Error::Status { method: R::METHOD, status }) }
    }

    /// Calls a method and returns its reply, also if the method failed.
    ///
    /// # Errors
    /// When there is no reply, or none to this request.
    pub async fn reply<R, T>(&mut self, request: &R) -> Result<T, C, I>
    where
        R: for<'reply> Request<Interface = I, Reply<'reply> = T> + Sync,
        T: for<'reply> FromStub<'reply> + Reply<Status = I::Status>,
    {
        let stub = self.stub(request).await?;
        self.decode(request, &stub)
    }

    /// Calls a method and returns the stub of its response, for a reply that borrows from it: [`Client::decode`].
    ///
    /// # Errors
    /// When there is no response.
    pub async fn stub<R: Request<Interface = I> + Sync>(&mut self, request: &R) -> Result<Vec<u8>, C, I> {
        let method = R::METHOD;
        let stub = request.to_stub().map_err(|source| Error::Request { method, source })?;
        let response = self.channel.call(method.opnum, None, &stub).await;
        response.map_err(|source| Error::Call { method, source })
    }

    /// Reads the reply to a request from the stub of its response.
    ///
    /// # Errors
    /// When it is none.
    pub fn decode<'stub, R: Request<Interface = I>>(
        &self,
        request: &R,
        stub: &'stub [u8],
    ) -> Result<R::Reply<'stub>, C, I> {
        let method = R::METHOD;
        let src = &mut Reader::new(stub, method.name).with_limits(self.limits);
        let reply = R::Reply::decode(src).map_err(|source| Error::Stub { method, source })?;
        match request.broken_rule(&reply) {
            None => Ok(reply),
            Some((field, reason)) => {
                let source = DecodeError::invalid_field(method.name, field, src.pos(), reason);
                Err(Error::Stub { method, source: source.into() })
            }
        }
    }
}
