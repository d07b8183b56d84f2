use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;

use tokio::time::Instant;

use crate::{BoxStream, ConnectError, Endpoint};

/// A future behind a pointer, so that [`Connector`] can be a trait object.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The addresses of a name, in the order of attempts. Never empty.
pub type Addresses = Vec<SocketAddr>;

/// Opens streams. Both stages end by the deadline.
pub trait Connector: Send + Sync {
    /// The dns stage: the addresses of `endpoint`.
    ///
    /// # Errors If there are none, or they were not found in time.
    fn resolve<'a>(
        &'a self,
        endpoint: &'a Endpoint,
        deadline: Instant,
    ) -> BoxFuture<'a, Result<Addresses, ConnectError>>;

    /// The tcp stage: a stream to the first of `addresses` that answers.
    ///
    /// # Errors
    /// If none does; of several errors the most informative one.
    fn connect_to<'a>(
        &'a self,
        endpoint: &'a Endpoint,
        addresses: &'a [SocketAddr],
        deadline: Instant,
    ) -> BoxFuture<'a, Result<BoxStream, ConnectError>>;

    /// Both stages.
    ///
    /// # Errors
    /// Those of the two.
    fn connect<'a>(
        &'a self,
        endpoint: &'a Endpoint,
        deadline: Instant,
    ) -> BoxFuture<'a, Result<BoxStream, ConnectError>> {
        Box::pin(async move {
            let addresses = self.resolve(endpoint, deadline).await?;
            self.connect_to(endpoint, &addresses, deadline).await
        })
    }
}

/// A connector that wraps every stream with a function, such as [`crate::Traced`], [`crate::Recorded`] or
/// [`crate::Faulty`].
pub struct Layered<C, F> {
    inner: C,
    layer: F,
}

impl<C, F> Layered<C, F>
where
    C: Connector,
    F: Fn(&Endpoint, BoxStream) -> BoxStream + Send + Sync,
{
    /// Puts `layer` around every stream of `inner`.
    pub const fn new(inner: C, layer: F) -> Self {
        Self { inner, layer }
    }
}

impl<C, F> Connector for Layered<C, F>
where
    C: Connector,
    F: Fn(&Endpoint, BoxStream) -> BoxStream + Send + Sync,
{
    fn resolve<'a>(
        &'a self,
        endpoint: &'a Endpoint,
        deadline: Instant,
    ) -> BoxFuture<'a, Result<Addresses, ConnectError>> {
        self.inner.resolve(endpoint, deadline)
    }

    fn connect_to<'a>(
        &'a self,
        endpoint: &'a Endpoint,
        addresses: &'a [SocketAddr],
        deadline: Instant,
    ) -> BoxFuture<'a, Result<BoxStream, ConnectError>> {
        Box::pin(async move {
            let stream = self.inner.connect_to(endpoint, addresses, deadline).await?;
            Ok((self.layer)(endpoint, stream))
        })
    }
}

impl<C: Connector + ?Sized> Connector for std::sync::Arc<C> {
    fn resolve<'a>(
        &'a self,
        endpoint: &'a Endpoint,
        deadline: Instant,
    ) -> BoxFuture<'a, Result<Addresses, ConnectError>> {
        (**self).resolve(endpoint, deadline)
    }

    fn connect_to<'a>(
        &'a self,
        endpoint: &'a Endpoint,
        addresses: &'a [SocketAddr],
        deadline: Instant,
    ) -> BoxFuture<'a, Result<BoxStream, ConnectError>> {
        (**self).connect_to(endpoint, addresses, deadline)
    }
}
