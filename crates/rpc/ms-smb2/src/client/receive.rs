use tracing::trace;
use wire::{Decode, NtStatus, ReadCursor};

use super::connection::ClientConnection;
use super::{Event, FileId, Kind, Pending, Phase, Reply, Tree, TreeId};
use crate::Error;
use crate::packet::split_compound;
use crate::wire::{
    CloseResponse, Command, CreateResponse, EmptyBody, ErrorResponse, Flags, Header, IoctlResponse, Owner,
    ReadResponse, Smb1Negotiate, TransformHeader, TreeConnectResponse, WriteResponse,
};

impl ClientConnection {
    pub(super) fn handle_frame(&mut self, frame: &mut [u8]) -> Result<(), Error> {
        if frame.starts_with(&Header::PROTOCOL_ID) {
            self.handle_messages(frame, false)
        } else if frame.starts_with(&TransformHeader::PROTOCOL_ID) {
            let session_id = TransformHeader::decode(&mut ReadCursor::new(frame))?.session_id;
            let keys = self.session.keys.take().filter(|_| session_id == self.session.id);
            let keys = keys.ok_or(Error::WrongSession { session_id })?;
            let opened = match &keys.ciphers {
                Some((_, opener)) => opener.open(frame),
                None => Err(Error::DecryptionFailed),
            };
            self.session.keys = Some(keys);
            self.handle_messages(opened?, true)
        } else if frame.starts_with(&Smb1Negotiate::PROTOCOL_ID) && matches!(self.phase, Phase::Negotiating) {
            Err(Error::Smb1Only { evidence: "it answered in SMB1" })
        } else {
            Err(Error::protocol("SMB2_HEADER", "ProtocolId", "is not SMB 2"))
        }
    }

    fn handle_messages(&mut self, frame: &mut [u8], encrypted: bool) -> Result<(), Error> {
        let mut rest = frame;
        loop {
            let header = Header::decode(&mut ReadCursor::new(rest))?;
            let (message, next) = split_compound(rest, &header)?;
            self.handle_message(&header, message, encrypted)?;
            if next.is_empty() {
                return self.flush();
            }
            rest = next;
        }
    }

    fn handle_message(&mut self, header: &Header, message: &mut [u8], encrypted: bool) -> Result<(), Error> {
        trace!(%header, encrypted, "Received");
        if !header.flags.contains(Flags::SERVER_TO_REDIR) {
            return Err(Error::protocol("SMB2_HEADER", "Flags", "is that of a request"));
        }
        if header.message_id == Header::UNSOLICITED && header.command == Command::OPLOCK_BREAK {
            // No oplocks are used, so there is nothing to give back.
            return Ok(());
        }
        let position = self.requests.iter().position(|pending| pending.message_id == header.message_id);
        let position = position.ok_or(Error::UnknownMessageId { message_id: header.message_id })?;
        let pending = self.requests[position];
        if pending.kind.command() != header.command {
            return Err(Error::protocol("SMB2_HEADER", "Command", "is not the one of the request"));
        }
        self.check_protection(&pending, header, message, encrypted)?;
        self.credits.grant(header.credits);
        if header.status == NtStatus::STATUS_PENDING {
            return self.handle_interim(position, header);
        }
        self.requests.swap_remove(position);
        self.handle_answer(&pending, header, message)
    }

    /// [MS-SMB2] 3.2.5.1.3: a session with keys uses them. An interim response carries no data and need not be signed.
    fn check_protection(
        &self,
        pending: &Pending,
        header: &Header,
        message: &mut [u8],
        encrypted: bool,
    ) -> Result<(), Error> {
        let Some(keys) = &self.session.keys else { return Ok(()) };
        if header.session_id != self.session.id {
            return Err(Error::WrongSession { session_id: header.session_id });
        }
        if encrypted {
            Ok(())
        } else if header.status == NtStatus::STATUS_USER_SESSION_DELETED {
            // A server that deleted the session cannot sign. Forging this only closes the connection.
            Err(Error::SessionDeleted)
        } else if is_said_before_signatures(header) {
            Err(Error::Forgotten { status: header.status })
        } else if pending.encrypted || self.session.encrypts {
            Err(Error::EncryptionMissing)
        } else if header.status == NtStatus::STATUS_PENDING {
            Ok(())
        } else if !header.flags.contains(Flags::SIGNED) {
            Err(Error::SignatureMissing)
        } else if keys.signer.verify(message) {
            Ok(())
        } else {
            Err(Error::SignatureInvalid)
        }
    }

    fn handle_interim(&mut self, position: usize, header: &Header) -> Result<(), Error> {
        let pending = &mut self.requests[position];
        match (header.owner, pending.kind) {
            (Owner::Async(_), Kind::Negotiate | Kind::SessionSetup) | (Owner::Tree(_), _) => {
                Err(Error::protocol("interim response", "AsyncId", "is missing, or not possible here"))
            }
            (Owner::Async(async_id), kind) => {
                // Reported once, even if the server repeats it.
                if pending.async_id.replace(async_id).is_none() && !matches!(kind, Kind::ValidateNegotiate(_))
                {
                    self.events.push_back(Event::Pending { request: pending.request });
                }
                Ok(())
            }
        }
    }

    fn handle_answer(&mut self, pending: &Pending, header: &Header, message: &[u8]) -> Result<(), Error> {
        let request = pending.request;
        match (pending.kind, header.status) {
            (Kind::Negotiate, _) => return self.handle_negotiate(header, message),
            (Kind::SessionSetup, _) => return self.handle_session_setup(header, message),
            (_, NtStatus::STATUS_USER_SESSION_DELETED) => return Err(Error::SessionDeleted),
            (_, NtStatus::STATUS_NETWORK_SESSION_EXPIRED) => {
                self.events.push_back(Event::SessionExpired { request });
                return Ok(());
            }
            (Kind::ValidateNegotiate(tree), _) => {
                self.check_validated(header, message)?;
                self.negotiation_is_validated = true;
                self.events.push_back(Event::Completed { request, result: Ok(Reply::TreeConnected(tree)) });
                return Ok(());
            }
            (Kind::TreeConnect, NtStatus::STATUS_SUCCESS) => {
                return self.handle_tree(pending, header, message);
            }
            _ => {}
        }
        let result = self.reply(pending.kind, header, message)?;
        self.events.push_back(Event::Completed { request, result });
        Ok(())
    }

    fn handle_tree(&mut self, pending: &Pending, header: &Header, message: &[u8]) -> Result<(), Error> {
        let response: TreeConnectResponse = body(message)?;
        let Owner::Tree(id) = header.owner else {
            return Err(Error::protocol("SMB2 TREE_CONNECT Response", "TreeId", "is missing"));
        };
        let encrypts = response.share_flags & TreeConnectResponse::ENCRYPT_DATA != 0;
        if encrypts && self.session.keys.as_ref().is_none_or(|keys| keys.ciphers.is_none()) {
            return Err(Error::EncryptionDisabled);
        }
        let id = TreeId(id);
        self.trees.retain(|tree| tree.id != id);
        self.trees.push(Tree { id, encrypts });
        let protected_by_hash =
            self.agreement.is_some_and(|agreement| agreement.dialect == crate::Dialect::Smb3_1_1);
        if protected_by_hash || self.negotiation_is_validated {
            let result = Ok(Reply::TreeConnected(id));
            self.events.push_back(Event::Completed { request: pending.request, result });
            return Ok(());
        }
        let input = self.validate_negotiate_input()?;
        let question = self.validate_negotiate(id, &input)?;
        // The caller knows the tree's request only.
        self.rename(question, pending.request);
        Ok(())
    }

    fn reply(
        &mut self,
        kind: Kind,
        header: &Header,
        message: &[u8],
    ) -> Result<Result<Reply, NtStatus>, Error> {
        let status = header.status;
        let more = status == NtStatus::STATUS_BUFFER_OVERFLOW;
        let has_output = more && matches!(kind, Kind::Transceive { .. } | Kind::Read { .. });
        if !status.is_success() && !has_output {
            body::<ErrorResponse>(message)?;
            return Ok(Err(status));
        }
        Ok(Ok(match kind {
            Kind::Transceive { output_bytes_max } => {
                let data = body::<IoctlResponse<'_>>(message)?.output;
                Reply::Transceived { data: asked_for(data, output_bytes_max)?, more }
            }
            Kind::Read { bytes_max } => {
                let data = body::<ReadResponse<'_>>(message)?.data;
                Reply::Read { data: asked_for(data, bytes_max)?, more }
            }
            Kind::Create(tree) => {
                let response: CreateResponse = body(message)?;
                Reply::Created(FileId { tree, id: response.file_id })
            }
            Kind::Write { data_bytes } => {
                let count = body::<WriteResponse>(message)?.count;
                if count > data_bytes {
                    return Err(Error::protocol("SMB2 WRITE Response", "Count", "is more than was written"));
                }
                Reply::Written(count)
            }
            Kind::Close => {
                body::<CloseResponse>(message)?;
                Reply::Closed
            }
            Kind::TreeDisconnect(id) => {
                body::<EmptyBody>(message)?;
                self.trees.retain(|tree| tree.id != id);
                Reply::TreeDisconnected
            }
            Kind::Echo => {
                body::<EmptyBody>(message)?;
                Reply::Echoed
            }
            Kind::Logoff => {
                body::<EmptyBody>(message)?;
                self.phase = Phase::LoggedOff;
                Reply::LoggedOff
            }
            Kind::Negotiate | Kind::SessionSetup | Kind::TreeConnect | Kind::ValidateNegotiate(_) => {
                return Err(Error::protocol("SMB2_HEADER", "Status", "is not possible here"));
            }
        }))
    }
}

/// Windows looks for the tree and the file of a request before it looks for its key, and where it finds none it
/// answers in the clear. As with a session that is gone, whoever forges this gains a closed connection.
fn is_said_before_signatures(header: &Header) -> bool {
    let is_unsigned = !header.flags.contains(Flags::SIGNED) || header.signature == [0; 16];
    is_unsigned
        && matches!(
            header.status,
            NtStatus::STATUS_FILE_CLOSED
                | NtStatus::STATUS_NETWORK_NAME_DELETED
                | NtStatus::STATUS_INVALID_PARAMETER
        )
}

/// Reads a body; the message begins with its header.
fn body<'de, T: Decode<'de>>(message: &'de [u8]) -> Result<T, Error> {
    let mut src = ReadCursor::new(message);
    src.skip("SMB2 response", "header", Header::FIXED_PART_SIZE)?;
    Ok(T::decode(&mut src)?)
}

fn asked_for(data: &[u8], bytes_max: u32) -> Result<Vec<u8>, Error> {
    if u32::try_from(data.len()).is_ok_and(|size| size <= bytes_max) {
        Ok(data.to_vec())
    } else {
        Err(Error::protocol("pipe output", "OutputCount", "is more than was asked for"))
    }
}
