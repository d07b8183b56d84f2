use counters::pcq::types::InstanceType;
use wire::Guid;

/// A counterset to add.
#[derive(Clone, Copy, Debug)]
pub struct Addition {
    /// Which of the watched ones.
    pub watched: usize,
    /// What the host knows it by.
    pub guid: Guid,
    /// Whether its instances have names.
    pub instance_type: InstanceType,
    /// Whether the host did not tell the instance type.
    pub is_type_inferred: bool,
}

impl Addition {
    /// Whether it may have to be asked for in the other form: documents do not agree on which of the aggregate types
    /// take a name.
    pub const fn may_take_other_form(&self) -> bool {
        self.instance_type.is_aggregate() || self.is_type_inferred
    }
}
