//! What protects a message: the hash over the negotiation, the derivation of keys, signatures and ciphers.

mod kdf;
mod keys;
mod preauth;
mod sealing;
mod side;
mod signing;

pub(crate) use self::keys::KeyMaterial;
pub(crate) use self::preauth::PreauthHash;
pub(crate) use self::sealing::{Opener, Sealer};
pub(crate) use self::side::Side;
pub(crate) use self::signing::Signer;

#[cfg(test)]
mod tests;
