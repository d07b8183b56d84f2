use std::fmt;

use jiff::tz::TimeZone;

/// What is known of a log before its first record.
#[derive(Clone, Debug)]
pub struct LogHeader {
    /// Its columns. They stay the same for the whole log.
    pub columns: Vec<Column>,
    /// The time zone in which times are written as local times.
    pub zone: TimeZone,
    /// A description of the log; may be empty.
    pub description: String,
}

/// A counter of one instance.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Column {
    /// The host, without backslashes.
    pub machine: String,
    pub object: String,
    /// The instance that the instance belongs to.
    pub parent: Option<String>,
    /// The instance; nothing where the counterset has only one.
    pub instance: Option<String>,
    /// The number of the instance among those of the same name, from 0.
    pub instance_index: u32,
    pub counter: String,
    /// [MS-PCQ] 2.2.1: its type.
    pub counter_type: u32,
    /// The power of ten by which graphs scale it. Logs have unscaled values.
    pub default_scale: i32,
    /// Ticks of its clock in a second.
    pub time_base: u64,
}

/// [MS-PLA] 2.2.10: `\\Computer\PerfObject(ParentInstance/ObjectInstance#InstanceIndex)\Counter`. An index of 0 is not written.
impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { machine, object, parent, instance, instance_index, counter, .. } = self;
        write!(f, r"\\{machine}\{object}")?;
        if let Some(instance) = instance {
            f.write_str("(")?;
            if let Some(parent) = parent {
                write!(f, "{parent}/")?;
            }
            f.write_str(instance)?;
            if *instance_index > 0 {
                write!(f, "#{instance_index}")?;
            }
            f.write_str(")")?;
        }
        write!(f, r"\{counter}")
    }
}
