use core::fmt;

use crate::{Decode, DecodeError, DecodeResult, Encode, EncodeResult, ReadCursor, WriteCursor, ensure_size};

/// [MS-DTYP] 2.4.2.2 `SID`: a security identifier in its packet form.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Sid {
    identifier_authority: [u8; 6],
    // INVARIANT: at most SUB_AUTHORITIES_MAX.
    sub_authorities: Vec<u32>,
}

impl Sid {
    /// [MS-DTYP] 2.4.2: a SID has at most fifteen sub-authorities.
    pub const SUB_AUTHORITIES_MAX: usize = 15;
    const NAME: &'static str = "SID";
    const FIXED_PART_SIZE: usize = 1 /* Revision */ + 1 /* SubAuthorityCount */ + 6 /* IdentifierAuthority */;
    const REVISION: u8 = 1;
}

impl Encode for Sid {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        dst.write_u8(Self::REVISION);
        dst.write_u8(u8::try_from(self.sub_authorities.len()).unwrap_or(u8::MAX));
        dst.write_slice(&self.identifier_authority);
        for &sub_authority in &self.sub_authorities {
            dst.write_u32(sub_authority);
        }
        Ok(())
    }

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn size(&self) -> usize {
        Self::FIXED_PART_SIZE + 4 * self.sub_authorities.len()
    }
}

impl<'de> Decode<'de> for Sid {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        let start = src.pos();
        if src.read_u8() != Self::REVISION {
            return Err(DecodeError::invalid_field(Self::NAME, "Revision", start, "only revision 1 exists"));
        }
        let count = usize::from(src.read_u8());
        if count > Self::SUB_AUTHORITIES_MAX {
            return Err(DecodeError::limit_exceeded(
                Self::NAME,
                "SubAuthorityCount",
                start + 1,
                count as u64,
                Self::SUB_AUTHORITIES_MAX as u64,
            ));
        }
        let identifier_authority = src.read_array();
        ensure_size!(in: src, name: Self::NAME, field: "SubAuthority", size: 4 * count);
        let sub_authorities = (0..count).map(|_| src.read_u32()).collect();
        Ok(Self { identifier_authority, sub_authorities })
    }
}

impl fmt::Display for Sid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let a = self.identifier_authority;
        write!(f, "S-1-{}", u64::from_be_bytes([0, 0, a[0], a[1], a[2], a[3], a[4], a[5]]))?;
        self.sub_authorities.iter().try_for_each(|sub_authority| write!(f, "-{sub_authority}"))
    }
}

impl fmt::Debug for Sid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // BUILTIN\Administrators, as every security descriptor of a Windows host holds it.
    const ADMINISTRATORS: [u8; 16] = [1, 2, 0, 0, 0, 0, 0, 5, 32, 0, 0, 0, 0x20, 2, 0, 0];

    #[test]
    fn administrators_read_as_the_known_text() {
        let sid: Sid = crate::decode(&ADMINISTRATORS).unwrap();
        assert_eq!(sid.to_string(), "S-1-5-32-544");
        assert_eq!(crate::encode_vec(&sid).unwrap(), ADMINISTRATORS);
    }

    #[test]
    fn a_count_above_fifteen_is_refused_before_anything_is_read() {
        let mut bytes = ADMINISTRATORS;
        bytes[1] = 16;
        let error = crate::decode::<Sid>(&bytes).unwrap_err();
        assert_eq!(error.to_string(), "SID: `SubAuthorityCount`: 16 is above the limit of 15 (offset 1)");
    }
}
