use ssp::{Error, Message, Peer, Protection, SecurityContext, SessionKey, Step};

/// A security context that an input can speak for: its signature is always the same.
#[derive(Debug, Default)]
pub(crate) struct Seal {
    legs: u8,
}

impl Seal {
    pub(crate) const SIGNATURE: [u8; 16] = *b"signed and seal.";
}

const MASK: u8 = 0x5a;
const HELLO: &[u8] = b"hello";
const CHALLENGE: &[u8] = b"who is it";
const PROOF: &[u8] = b"me";

impl SecurityContext for Seal {
    fn step(&mut self, token: &[u8]) -> Result<Step, Error> {
        self.legs += 1;
        match (self.legs, token) {
            (1, b"") => Ok(Step::Continue(HELLO.to_vec())),
            (1, HELLO) => Ok(Step::Continue(CHALLENGE.to_vec())),
            (2, CHALLENGE) => Ok(Step::Done(Some(PROOF.to_vec()))),
            (2, PROOF) => Ok(Step::Done(None)),
            _ => Err(Error::UnexpectedToken { reason: "it is not the one that is due" }),
        }
    }

    fn session_key(&self) -> Result<SessionKey, Error> {
        Ok(SessionKey::new(Self::SIGNATURE))
    }

    fn signature_len(&self) -> usize {
        Self::SIGNATURE.len()
    }

    fn wrap(&mut self, message: Message<'_>) -> Result<(), Error> {
        mask(message.protection, message.body);
        message.signature.copy_from_slice(&Self::SIGNATURE);
        Ok(())
    }

    fn unwrap(&mut self, message: Message<'_>) -> Result<(), Error> {
        if *message.signature != Self::SIGNATURE {
            return Err(Error::UnexpectedToken { reason: "the signature is another" });
        }
        mask(message.protection, message.body);
        Ok(())
    }

    fn peer(&self) -> Peer {
        Peer::default()
    }
}

fn mask(protection: Protection, body: &mut [u8]) {
    if protection == Protection::Privacy {
        body.iter_mut().for_each(|byte| *byte ^= MASK);
    }
}
