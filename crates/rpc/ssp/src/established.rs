use crate::package::{Package, SIGNATURE_LEN};
use crate::{Error, Message, Peer, Protection, SecurityContext, SessionKey, Step};

/// One side's part of an authentication, until both agree.
pub(crate) trait Exchange: Send {
    /// Takes the peer's token and answers with ours. After an error, and after [`Step::Done`], it is not called again.
    fn advance(&mut self, package: &mut Package, token: &[u8]) -> Result<Step, Error>;

    /// What the peer has said about itself so far.
    fn peer(&self) -> Peer;
}

/// A context: tokens until the exchange is done, messages after that, nothing once something was wrong.
pub(crate) struct Context<E> {
    package: Package,
    exchange: E,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Running,
    Done,
    Failed,
}

impl<E: Exchange> Context<E> {
    pub(crate) const fn new(package: Package, exchange: E) -> Self {
        Self { package, exchange, state: State::Running }
    }

    fn established(&self) -> Result<&Package, Error> {
        if self.state == State::Done { Ok(&self.package) } else { Err(Error::NotEstablished) }
    }

    fn established_for(&mut self, message: &Message<'_>) -> Result<&mut Package, Error> {
        self.established()?;
        message.check_signature_len(SIGNATURE_LEN)?;
        Ok(&mut self.package)
    }
}

impl<E: Exchange> SecurityContext for Context<E> {
    fn step(&mut self, token: &[u8]) -> Result<Step, Error> {
        // If the step returns early, the context has failed.
        if core::mem::replace(&mut self.state, State::Failed) != State::Running {
            return Err(Error::Finished);
        }
        let step = self.exchange.advance(&mut self.package, token)?;
        self.state = match step {
            Step::Continue(_) => State::Running,
            Step::Done(_) => State::Done,
        };
        Ok(step)
    }

    fn session_key(&self) -> Result<SessionKey, Error> {
        self.established()?.session_key()
    }

    fn signature_len(&self, _: Protection) -> usize {
        SIGNATURE_LEN
    }

    fn wrap(&mut self, message: Message<'_>) -> Result<(), Error> {
        self.established_for(&message)?.wrap(message)
    }

    fn unwrap(&mut self, message: Message<'_>) -> Result<(), Error> {
        let result = self.established_for(&message)?.unwrap(message);
        if result.is_err() {
            self.state = State::Failed;
        }
        result
    }

    fn peer(&self) -> Peer {
        self.exchange.peer()
    }
}
