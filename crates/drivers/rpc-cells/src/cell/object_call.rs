use wire::Guid;

use super::sealed::Stored;
use super::{Fields, Malformed};

/// What a call of a DCOM object has besides: a call refers to this cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ObjectCall {
    /// [MS-DCOM] 2.2.1.7: the interface of the object that is called.
    #[doc(alias = "IPID")]
    pub ipid: Guid,
    /// [MS-DCOM] 2.2.13.3 `ORPCTHIS`: the causality id, which all calls have that are made because of another.
    #[doc(alias = "CID")]
    pub causality_id: Guid,
}

impl Stored for ObjectCall {
    fn write(&self, fields: &mut Fields) {
        fields.put(8, self.ipid.to_bytes());
        fields.put(24, self.causality_id.to_bytes());
    }

    fn read(fields: &Fields) -> Result<Self, Malformed> {
        Ok(Self { ipid: Guid::from_bytes(fields.get(8)), causality_id: Guid::from_bytes(fields.get(24)) })
    }
}
