use std::fmt;

/// The id of a data set: a random GUID, [MS-DTYP] 2.3.4, in the order in which its text has the bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct DataSetId(pub(crate) [u8; 16]);

impl DataSetId {
    /// A new one of version 4, if the system has random bytes.
    pub(crate) fn random() -> Option<Self> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).ok()?;
        bytes[6] = bytes[6] & 0x0F | 0x40;
        bytes[8] = bytes[8] & 0x3F | 0x80;
        Some(Self(bytes))
    }
}

/// As SQL Server shows it: in capitals, without braces.
impl fmt::Display for DataSetId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, byte) in self.0.iter().enumerate() {
            if matches!(index, 4 | 6 | 8 | 10) {
                f.write_str("-")?;
            }
            write!(f, "{byte:02X}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for DataSetId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
