use ms_smb2::packet::{Packet, Stamp};
use ms_smb2::wire::{
    Capabilities, Command, ControlCode, Flags, HASH_SHA512, Header, IoctlRequest, IoctlResponse,
    NegotiateContext, NegotiateRequest, NegotiateResponse, Owner, SecurityMode, Smb1Negotiate,
    ValidateNegotiateRequest, ValidateNegotiateResponse,
};
use ms_smb2::{Cipher, Dialect, DialectRevision, Error, SigningAlgorithm};
use tracing::debug;
use wire::{Decode as _, NtStatus, ReadCursor};

use super::connection::{Agreement, ServerConnection};
use super::{Encryption, Request, ServerConfig};

impl ServerConnection {
    /// [MS-SMB2] 3.3.5.3.1: an old greeting that also names SMB 2 is answered in SMB 2 with "go on there".
    pub(super) fn handle_smb1(&mut self, frame: &[u8]) -> Result<(), Error> {
        let offer: Smb1Negotiate = wire::decode(frame)?;
        if self.began_in_smb1 || !offer.offers_smb2 {
            return Err(Error::protocol("SMB_COM_NEGOTIATE", "Dialects", "do not contain \"SMB 2.???\""));
        }
        self.began_in_smb1 = true;
        let mut response = self.negotiate_response(DialectRevision::SMB_2_WILDCARD, Capabilities::LARGE_MTU);
        response.contexts.clear();
        let header = Header {
            credit_charge: 0,
            status: NtStatus::STATUS_SUCCESS,
            command: Command::NEGOTIATE,
            credits: 1,
            flags: Flags::SERVER_TO_REDIR,
            next_command: 0,
            message_id: 0,
            owner: Owner::Tree(0),
            session_id: 0,
            signature: [0; 16],
        };
        let mut packet = Packet::new(&header, &response, false)?;
        packet.stamp(Stamp { message_id: 0, credit_charge: 0, credits: 1 });
        let frame = packet.into_frame()?;
        self.send_frame(frame);
        Ok(())
    }

    pub(super) fn handle_negotiate(&mut self, request: &Request, message: &[u8]) -> Result<(), Error> {
        if self.agreement.is_some() {
            return Err(Error::protocol("SMB2 NEGOTIATE Request", "Command", "came a second time"));
        }
        let mut src = ReadCursor::new(message);
        src.skip("SMB2 NEGOTIATE Request", "header", Header::FIXED_PART_SIZE)?;
        let offer = NegotiateRequest::decode(&mut src)?;
        let agreement = match agree(&self.config, offer) {
            Ok(agreement) => agreement,
            Err(status) => return self.refuse(request, status),
        };
        debug!(dialect = %agreement.dialect, cipher = ?agreement.cipher, signing = %agreement.signing, "Negotiated");
        let mut response = self.negotiate_response(agreement.dialect.revision(), agreement.capabilities);
        if agreement.dialect == Dialect::Smb3_1_1 {
            response.contexts = contexts(&self.config, &agreement);
        }
        self.preauth.update(message);
        self.agreement = Some(agreement);
        let packet = self.packet(request, NtStatus::STATUS_SUCCESS, &response)?;
        self.preauth.update(packet.message());
        let frame = packet.into_frame()?;
        self.send_frame(frame);
        Ok(())
    }

    fn negotiate_response(&self, dialect: DialectRevision, capabilities: Capabilities) -> NegotiateResponse {
        let io_bytes_max = self.config.limits.io_bytes_max;
        NegotiateResponse {
            security_mode: security_mode(&self.config),
            dialect,
            server_guid: self.config.server_guid,
            capabilities,
            max_transact_size: io_bytes_max,
            max_read_size: io_bytes_max,
            max_write_size: io_bytes_max,
            system_time: self.config.system_time,
            security_buffer: self.config.security_token.clone(),
            contexts: Vec::new(),
        }
    }

    /// [MS-SMB2] 3.3.5.15.12: if the client repeats its negotiation under a signature and it differs, the first one was
    /// tampered with.
    pub(super) fn handle_validate_negotiate(
        &mut self,
        request: &Request,
        ioctl: &IoctlRequest<'_>,
    ) -> Result<(), Error> {
        let agreement = self.agreement()?;
        let said: ValidateNegotiateRequest = wire::decode(ioctl.input)?;
        let differs = if agreement.dialect == Dialect::Smb3_1_1 {
            "Dialect"
        } else if said.dialects != agreement.client_dialects {
            "Dialects"
        } else if said.client_guid != agreement.client_guid {
            "Guid"
        } else if said.security_mode != agreement.client_security_mode {
            "SecurityMode"
        } else if said.capabilities != agreement.client_capabilities {
            "Capabilities"
        } else {
            ""
        };
        if !differs.is_empty() {
            return Err(Error::Downgrade { field: differs });
        }
        let output = wire::encode_vec(&ValidateNegotiateResponse {
            capabilities: agreement.capabilities,
            server_guid: self.config.server_guid,
            security_mode: agreement.security_mode,
            dialect: agreement.dialect.revision(),
        })?;
        let ctl_code = ControlCode::FSCTL_VALIDATE_NEGOTIATE_INFO;
        self.answer(request, &IoctlResponse { ctl_code, file_id: ioctl.file_id, output: &output })
    }
}

fn security_mode(config: &ServerConfig) -> SecurityMode {
    if config.signing_required {
        SecurityMode(SecurityMode::SIGNING_ENABLED.0 | SecurityMode::SIGNING_REQUIRED.0)
    } else {
        SecurityMode::SIGNING_ENABLED
    }
}

/// [MS-SMB2] 3.3.5.4: the newest dialect that both speak, and our favourites among what the client offers.
fn agree(config: &ServerConfig, offer: NegotiateRequest) -> Result<Agreement, NtStatus> {
    let mut ours = config.dialects.iter().rev().copied();
    let dialect = ours
        .find(|dialect| offer.dialects.contains(&dialect.revision()))
        .ok_or(NtStatus::STATUS_NOT_SUPPORTED)?;
    let encrypts = config.encryption != Encryption::Disabled;
    let client_encrypts = encrypts && offer.capabilities.contains(Capabilities::ENCRYPTION);
    let mut agreement = Agreement {
        dialect,
        cipher: None,
        signing: if dialect.is_smb3() { SigningAlgorithm::AesCmac } else { SigningAlgorithm::HmacSha256 },
        capabilities: Capabilities::LARGE_MTU,
        security_mode: security_mode(config),
        client_guid: offer.client_guid,
        client_capabilities: offer.capabilities,
        client_security_mode: offer.security_mode,
        client_dialects: offer.dialects,
    };
    match dialect {
        Dialect::Smb2_1 => {}
        Dialect::Smb3_0 | Dialect::Smb3_0_2 if client_encrypts => {
            agreement.cipher = Some(Cipher::Aes128Ccm);
            agreement.capabilities = agreement.capabilities.with(Capabilities::ENCRYPTION);
        }
        Dialect::Smb3_0 | Dialect::Smb3_0_2 => {}
        Dialect::Smb3_1_1 => {
            let hashes = |context: &NegotiateContext| match context {
                NegotiateContext::PreauthIntegrity { hash_algorithms, .. } => {
                    hash_algorithms.contains(&HASH_SHA512)
                }
                _ => false,
            };
            if !offer.contexts.iter().any(hashes) {
                return Err(NtStatus::STATUS_SMB_NO_PREAUTH_INTEGRITY_HASH_OVERLAP);
            }
            for context in &offer.contexts {
                match context {
                    NegotiateContext::Encryption(ids) if encrypts => {
                        agreement.cipher =
                            config.ciphers.iter().copied().find(|cipher| ids.contains(&cipher.id()));
                    }
                    NegotiateContext::Signing(ids) => {
                        let mut ours = config.signing_algorithms.iter().copied();
                        let chosen = ours.find(|algorithm| ids.contains(&algorithm.id()));
                        agreement.signing = chosen.unwrap_or(agreement.signing);
                    }
                    _ => {}
                }
            }
        }
    }
    Ok(agreement)
}

fn contexts(config: &ServerConfig, agreement: &Agreement) -> Vec<NegotiateContext> {
    let hash_algorithms = vec![HASH_SHA512];
    let mut contexts =
        vec![NegotiateContext::PreauthIntegrity { hash_algorithms, salt: config.preauth_salt.to_vec() }];
    contexts.extend(agreement.cipher.map(|cipher| NegotiateContext::Encryption(vec![cipher.id()])));
    // A client without an offer, or without an answer to it, signs with AES-CMAC.
    if agreement.signing != SigningAlgorithm::AesCmac {
        contexts.push(NegotiateContext::Signing(vec![agreement.signing.id()]));
    }
    contexts
}
