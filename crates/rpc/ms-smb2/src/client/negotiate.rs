use tracing::debug;
use wire::{Decode as _, Encode as _, NtStatus, ReadCursor};

use super::connection::ClientConnection;
use super::{Agreement, ClientConfig, Encryption, Event, Kind, Negotiated, Phase};
use crate::wire::{
    Capabilities, HASH_SHA512, Header, IoctlResponse, NegotiateContext, NegotiateRequest, NegotiateResponse,
    SecurityMode, ValidateNegotiateRequest, ValidateNegotiateResponse,
};
use crate::{Cipher, Dialect, DialectRevision, Error, SigningAlgorithm};

impl ClientConnection {
    pub(super) fn negotiate(&mut self) -> Result<(), Error> {
        if self.config.dialects.is_empty() {
            const STATE: &str = "no dialect is offered that can do what is required";
            return Err(Error::InvalidState { operation: "negotiation", state: STATE });
        }
        let body = NegotiateRequest {
            dialects: offered_dialects(&self.config),
            security_mode: SecurityMode::SIGNING_REQUIRED,
            capabilities: offered_capabilities(&self.config),
            client_guid: self.config.client_guid,
            contexts: offered_contexts(&self.config),
        };
        self.request(Kind::Negotiate, None, &body, 0)?;
        Ok(())
    }

    pub(super) fn handle_negotiate(&mut self, header: &Header, message: &[u8]) -> Result<(), Error> {
        if header.status != NtStatus::STATUS_SUCCESS {
            return Err(Error::NegotiationRefused { status: header.status });
        }
        let mut src = ReadCursor::new(message);
        src.skip("SMB2 NEGOTIATE Response", "header", Header::FIXED_PART_SIZE)?;
        let response = NegotiateResponse::decode(&mut src)?;
        let agreement = agree(&self.config, &response)?;
        let Agreement { dialect, cipher, signing, .. } = agreement;
        debug!(%dialect, ?cipher, %signing, "Negotiated");
        self.preauth.update(message);
        self.agreement = Some(agreement);
        self.phase = Phase::Negotiated;
        self.events.push_back(Event::Negotiated(Negotiated {
            dialect,
            security_token: response.security_buffer,
            server_guid: response.server_guid,
            cipher,
            signing,
            system_time: response.system_time,
        }));
        Ok(())
    }

    /// What the client says again under a signature, [MS-SMB2] 3.2.5.5.
    pub(super) fn validate_negotiate_input(&self) -> Result<Vec<u8>, Error> {
        let request = ValidateNegotiateRequest {
            capabilities: offered_capabilities(&self.config),
            client_guid: self.config.client_guid,
            security_mode: SecurityMode::SIGNING_REQUIRED,
            dialects: offered_dialects(&self.config),
        };
        let mut input = Vec::with_capacity(request.size());
        wire::encode_into(&request, &mut input)?;
        Ok(input)
    }

    /// [MS-SMB2] 3.2.5.14.12. The response was signed, or it would not have come here; a server that does not know
    /// the question, which one of 2.1 does not, says so under its signature too.
    pub(super) fn check_validated(&self, header: &Header, message: &[u8]) -> Result<(), Error> {
        if header.status == NtStatus::STATUS_ACCESS_DENIED {
            return Err(Error::Downgrade { field: "access to the validation" });
        }
        if header.status != NtStatus::STATUS_SUCCESS {
            return Ok(());
        }
        let Some(agreement) = self.agreement else { return Ok(()) };
        let mut src = ReadCursor::new(message);
        src.skip("VALIDATE_NEGOTIATE_INFO Response", "header", Header::FIXED_PART_SIZE)?;
        let output = IoctlResponse::decode(&mut src)?.output;
        let said: ValidateNegotiateResponse = wire::decode(output)?;
        let differs = if said.capabilities != agreement.capabilities {
            "Capabilities"
        } else if said.server_guid != agreement.server_guid {
            "Guid"
        } else if said.security_mode != agreement.security_mode {
            "SecurityMode"
        } else if said.dialect != agreement.dialect.revision() {
            "Dialect"
        } else {
            return Ok(());
        };
        Err(Error::Downgrade { field: differs })
    }
}

fn offered_dialects(config: &ClientConfig) -> Vec<DialectRevision> {
    config.dialects.iter().map(|dialect| dialect.revision()).collect()
}

fn offered_capabilities(config: &ClientConfig) -> Capabilities {
    let smb3 = config.dialects.iter().any(|dialect| dialect.is_smb3());
    if smb3 && config.encryption != Encryption::Disabled {
        Capabilities::LARGE_MTU.with(Capabilities::ENCRYPTION)
    } else {
        Capabilities::LARGE_MTU
    }
}

/// In the order of their types, as Windows sends them. One with nothing to choose from would be an invalid parameter.
fn offered_contexts(config: &ClientConfig) -> Vec<NegotiateContext> {
    if !config.dialects.contains(&Dialect::Smb3_1_1) {
        return Vec::new();
    }
    let mut contexts = vec![NegotiateContext::PreauthIntegrity {
        hash_algorithms: vec![HASH_SHA512],
        salt: config.preauth_salt.to_vec(),
    }];
    if config.encryption != Encryption::Disabled && !config.ciphers.is_empty() {
        contexts
            .push(NegotiateContext::Encryption(config.ciphers.iter().map(|cipher| cipher.id()).collect()));
    }
    contexts.extend(config.netname.clone().map(NegotiateContext::Netname));
    if !config.signing_algorithms.is_empty() {
        let ids = config.signing_algorithms.iter().map(|algorithm| algorithm.id()).collect();
        contexts.push(NegotiateContext::Signing(ids));
    }
    contexts
}

/// Turns the server's choices into an agreement, where they are among what was offered.
fn agree(config: &ClientConfig, response: &NegotiateResponse) -> Result<Agreement, Error> {
    let dialect = Dialect::try_from(response.dialect)
        .ok()
        .filter(|dialect| config.dialects.contains(dialect))
        .ok_or(Error::DialectRefused { revision: response.dialect })?;
    let mut agreement = Agreement {
        dialect,
        cipher: None,
        signing: if dialect.is_smb3() { SigningAlgorithm::AesCmac } else { SigningAlgorithm::HmacSha256 },
        server_guid: response.server_guid,
        capabilities: response.capabilities,
        security_mode: response.security_mode,
        transact_bytes_max: response.max_transact_size,
        read_bytes_max: response.max_read_size,
        write_bytes_max: response.max_write_size,
    };
    match dialect {
        Dialect::Smb2_1 => {}
        Dialect::Smb3_0 | Dialect::Smb3_0_2 => {
            let offered = config.encryption != Encryption::Disabled;
            if offered && response.capabilities.contains(Capabilities::ENCRYPTION) {
                agreement.cipher = Some(Cipher::Aes128Ccm);
            }
        }
        Dialect::Smb3_1_1 => agree_on_contexts(config, &response.contexts, &mut agreement)?,
    }
    if agreement.cipher.is_none() && config.encryption == Encryption::Required {
        Err(Error::EncryptionUnavailable)
    } else {
        Ok(agreement)
    }
}

/// [MS-SMB2] 3.2.5.2: each context at most once, and each choice among what was offered.
fn agree_on_contexts(
    config: &ClientConfig,
    contexts: &[NegotiateContext],
    agreement: &mut Agreement,
) -> Result<(), Error> {
    const NAME: &str = "SMB2_NEGOTIATE_CONTEXT";
    let (mut hashes, mut ciphers, mut signings) = (0, 0, 0);
    for context in contexts {
        match context {
            NegotiateContext::PreauthIntegrity { hash_algorithms, .. } => {
                hashes += 1;
                if hash_algorithms[..] != [HASH_SHA512] {
                    return Err(Error::protocol(NAME, "HashAlgorithms", "is not the one that was offered"));
                }
            }
            NegotiateContext::Encryption(ids) => {
                ciphers += 1;
                // None in common is said with a zero.
                if ids[..] != [0] {
                    let offered = config.ciphers.iter().filter(|_| config.encryption != Encryption::Disabled);
                    let chosen = offered.copied().find(|cipher| ids[..] == [cipher.id()]);
                    let rule = Error::protocol(NAME, "Ciphers", "is not one of those that were offered");
                    agreement.cipher = Some(chosen.ok_or(rule)?);
                }
            }
            NegotiateContext::Signing(ids) => {
                signings += 1;
                let chosen = config.signing_algorithms.iter().find(|algorithm| ids[..] == [algorithm.id()]);
                let rule =
                    Error::protocol(NAME, "SigningAlgorithms", "is not one of those that were offered");
                agreement.signing = *chosen.ok_or(rule)?;
            }
            NegotiateContext::Netname(_) | NegotiateContext::Unknown(_) => {}
        }
    }
    if hashes == 1 && ciphers <= 1 && signings <= 1 {
        Ok(())
    } else {
        Err(Error::protocol(NAME, "ContextType", "is missing or there more than once"))
    }
}
