use wire::Guid;

/// The system has no random bytes, so that an object could be called by everybody who guesses its identifiers.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("make identifiers of an object: the system has no random bytes: {0}")]
pub struct NoRandomness(getrandom::Error);

/// A number that is not zero.
pub(crate) fn number() -> Result<u64, NoRandomness> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).map_err(NoRandomness)?;
    Ok(u64::from_le_bytes(bytes).max(1))
}

/// A GUID of version 4.
pub(crate) fn guid() -> Result<Guid, NoRandomness> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(NoRandomness)?;
    let random = u128::from_le_bytes(bytes);
    Ok(Guid::from_u128(random & !(0xf << 76) & !(3 << 62) | 4 << 76 | 2 << 62))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guid_says_that_it_is_random() {
        let text = guid().unwrap().to_string();
        assert_eq!(&text[14..15], "4", "{text}");
        assert!("89ab".contains(&text[19..20]), "{text}");
    }
}
