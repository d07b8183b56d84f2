use wire::Guid;

use super::sealed::Stored;
use super::{Fields, Malformed, Name};

/// An interface that calls are made on. It is written once, when the first of its operations is seen, so that readers
/// know names without the interfaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Interface {
    pub version: u16,
    /// The whole UUID; calls have its first 32 bits.
    pub uuid: Guid,
    /// The front of its name in the IDL.
    pub name: Name<32>,
}

impl Stored for Interface {
    fn write(&self, fields: &mut Fields) {
        fields.put(2, self.version.to_le_bytes());
        fields.put(4, self.uuid.to_bytes());
        fields.put_name(20, &self.name);
    }

    fn read(fields: &Fields) -> Result<Self, Malformed> {
        Ok(Self {
            version: fields.u16(2),
            uuid: Guid::from_bytes(fields.get(4)),
            name: fields.name(20, "InterfaceName")?,
        })
    }
}
