use wire::{
    Decode, DecodeError, DecodeResult, Encode, EncodeError, EncodeResult, ReadCursor, WriteCursor,
    ensure_size,
};

use crate::{ContextId, Rejection, RejectionReason, SyntaxId};

/// C706 12.6.3.1 `p_cont_elem_t`
///
/// A presentation context that a client offers: one interface, in one of some transfer syntaxes.
#[doc(alias = "p_cont_elem_t")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextElement {
    /// Its name within the association.
    pub context_id: ContextId,
    pub abstract_syntax: SyntaxId,
    /// The encodings that the client speaks.
    pub transfer_syntaxes: Vec<SyntaxId>,
}

impl ContextElement {
    const FIXED_PART_SIZE: usize = 2 /* p_cont_id */
        + 1 /* n_transfer_syn */
        + 1 /* reserved */
        + SyntaxId::FIXED_PART_SIZE /* abstract_syntax */;
    const NAME: &'static str = "p_cont_elem_t";
}

impl Encode for ContextElement {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        dst.write_u16(self.context_id);
        dst.write_u8(count(Self::NAME, "n_transfer_syn", self.transfer_syntaxes.len())?);
        dst.write_u8(0);
        self.abstract_syntax.encode(dst)?;
        self.transfer_syntaxes.iter().try_for_each(|syntax| syntax.encode(dst))
    }

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn size(&self) -> usize {
        Self::FIXED_PART_SIZE + self.transfer_syntaxes.len() * SyntaxId::FIXED_PART_SIZE
    }
}

impl<'de> Decode<'de> for ContextElement {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        let context_id = src.read_u16();
        let transfer_syntaxes = usize::from(src.read_u8());
        src.read_u8();
        let abstract_syntax = SyntaxId::decode(src)?;
        let size = transfer_syntaxes * SyntaxId::FIXED_PART_SIZE;
        ensure_size!(in: src, name: Self::NAME, field: "transfer_syntaxes", size: size);
        let transfer_syntaxes =
            (0..transfer_syntaxes).map(|_| SyntaxId::decode(src)).collect::<DecodeResult<_>>()?;
        Ok(Self { context_id, abstract_syntax, transfer_syntaxes })
    }
}

/// C706 12.6.3.1 `p_cont_list_t`
///
/// The presentation contexts of one bind.
#[doc(alias = "p_cont_list_t")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextList(pub Vec<ContextElement>);

impl ContextList {
    const FIXED_PART_SIZE: usize = 1 /* n_context_elem */ + 1 /* reserved */ + 2 /* reserved2 */;
    const NAME: &'static str = "p_cont_list_t";
}

impl Encode for ContextList {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        dst.write_u8(count(Self::NAME, "n_context_elem", self.0.len())?);
        dst.write_zeros(3);
        self.0.iter().try_for_each(|element| element.encode(dst))
    }

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn size(&self) -> usize {
        Self::FIXED_PART_SIZE + self.0.iter().map(Encode::size).sum::<usize>()
    }
}

impl<'de> Decode<'de> for ContextList {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        let elements = usize::from(src.read_u8());
        src.read_slice(3);
        if elements == 0 {
            return Err(DecodeError::invalid_field(
                Self::NAME,
                "n_context_elem",
                src.pos() - 4,
                "no context",
            ));
        }
        let size = elements * ContextElement::FIXED_PART_SIZE;
        ensure_size!(in: src, name: Self::NAME, field: "p_cont_elem", size: size);
        (0..elements).map(|_| ContextElement::decode(src)).collect::<DecodeResult<_>>().map(Self)
    }
}

/// C706 12.6.3.1 `p_result_t`
///
/// A server's answer to one offered context.
#[doc(alias = "p_result_t")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContextResult {
    pub result: Rejection,
    /// Why not; after a feature negotiation, the features.
    pub reason: RejectionReason,
    /// The encoding that the server chose; zeros where it refused.
    pub transfer_syntax: SyntaxId,
}

impl ContextResult {
    const FIXED_PART_SIZE: usize =
        2 /* result */ + 2 /* reason */ + SyntaxId::FIXED_PART_SIZE /* transfer_syntax */;
    const NAME: &'static str = "p_result_t";
    const NO_SYNTAX: SyntaxId = SyntaxId::new(wire::Guid::NULL, 0, 0);

    /// The context is there, in NDR 2.0.
    #[must_use]
    pub const fn accepted() -> Self {
        Self {
            result: Rejection::ACCEPTANCE,
            reason: RejectionReason::REASON_NOT_SPECIFIED,
            transfer_syntax: SyntaxId::NDR,
        }
    }

    /// The context is not there.
    #[must_use]
    pub const fn refused(reason: RejectionReason) -> Self {
        Self { result: Rejection::PROVIDER_REJECTION, reason, transfer_syntax: Self::NO_SYNTAX }
    }

    /// [MS-RPCE] 3.3.1.5.3: the answer to a feature negotiation, with the features that the server shares.
    #[must_use]
    pub fn features(shared: u8) -> Self {
        let reason = RejectionReason(shared.into());
        Self { result: Rejection::NEGOTIATE_ACK, reason, transfer_syntax: Self::NO_SYNTAX }
    }
}

impl Encode for ContextResult {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        dst.write_u16(self.result.0);
        dst.write_u16(self.reason.0);
        self.transfer_syntax.encode(dst)
    }

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn size(&self) -> usize {
        Self::FIXED_PART_SIZE
    }
}

impl<'de> Decode<'de> for ContextResult {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        Ok(Self {
            result: Rejection(src.read_u16()),
            reason: RejectionReason(src.read_u16()),
            transfer_syntax: SyntaxId::decode(src)?,
        })
    }
}

/// C706 12.6.3.1 `p_result_list_t`
///
/// One answer for each context of the bind, in its order.
#[doc(alias = "p_result_list_t")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultList(pub Vec<ContextResult>);

impl ResultList {
    const FIXED_PART_SIZE: usize = 1 /* n_results */ + 1 /* reserved */ + 2 /* reserved2 */;
    const NAME: &'static str = "p_result_list_t";
}

impl Encode for ResultList {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        dst.write_u8(count(Self::NAME, "n_results", self.0.len())?);
        dst.write_zeros(3);
        self.0.iter().try_for_each(|result| result.encode(dst))
    }

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn size(&self) -> usize {
        Self::FIXED_PART_SIZE + self.0.len() * ContextResult::FIXED_PART_SIZE
    }
}

impl<'de> Decode<'de> for ResultList {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        let results = usize::from(src.read_u8());
        src.read_slice(3);
        let size = results * ContextResult::FIXED_PART_SIZE;
        ensure_size!(in: src, name: Self::NAME, field: "p_results", size: size);
        (0..results).map(|_| ContextResult::decode(src)).collect::<DecodeResult<_>>().map(Self)
    }
}

/// A count that the wire gives one byte.
fn count(context: &'static str, field: &'static str, length: usize) -> EncodeResult<u8> {
    u8::try_from(length).map_err(|_| EncodeError::new(context, field, "more than 255"))
}
