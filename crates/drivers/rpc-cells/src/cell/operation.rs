use super::sealed::Stored;
use super::{Fields, Malformed, Name};
use crate::layout::CellId;

/// A method of an interface. It is written once, when it is first called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Operation {
    pub opnum: u16,
    /// The cell of its [`Interface`](super::Interface).
    pub interface: CellId,
    /// The front of its name in the IDL.
    pub name: Name<47>,
}

impl Stored for Operation {
    fn write(&self, fields: &mut Fields) {
        fields.put(2, self.opnum.to_le_bytes());
        fields.put_cell_id(4, self.interface);
        fields.put_name(8, &self.name);
    }

    fn read(fields: &Fields) -> Result<Self, Malformed> {
        Ok(Self {
            opnum: fields.u16(2),
            interface: fields.cell_id(4),
            name: fields.name(8, "OperationName")?,
        })
    }
}
