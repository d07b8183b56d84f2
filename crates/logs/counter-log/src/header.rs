use std::fmt;

use jiff::Timestamp;
use jiff::tz::{Offset, TimeZone};

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

/// A time zone at one moment, as a log describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogZone {
    /// The English name of Windows for the time in force: standard or daylight time.
    pub name: String,
    /// Minutes that are added to local time for UTC.
    pub bias_minutes: i32,
    /// The same as an offset.
    pub(crate) offset: Offset,
}

/// For each zone of Windows the names of the IANA database, as CLDR maps them (`windowsZones`). A line is `WINDOWS=IANA IANA …`.
/// CLDR has the keys of Windows' registry, for a few of which Windows shows another name: `Malay Peninsula Standard Time` for
/// the key `Singapore Standard Time`. These lines have the name that is shown, because PDH writes that.
const ZONES: &str = include_str!("zones.txt");

impl LogZone {
    /// The zone as it is at `at`.
    #[must_use]
    pub fn new(zone: &TimeZone, at: Timestamp) -> Self {
        // Historical offsets have seconds, a bias has none.
        let minutes = zone.to_offset(at).seconds().div_euclid(60);
        let offset = Offset::from_seconds(minutes * 60).unwrap_or(Offset::UTC);
        let standard = windows_name(zone.iana_name().unwrap_or_default());
        let name = match standard {
            Some(standard) if is_daylight_time(zone, at) => {
                standard.replace("Standard Time", "Daylight Time")
            }
            Some(standard) => standard.to_owned(),
            None if minutes == 0 && zone.iana_name().is_none() => "Coordinated Universal Time".to_owned(),
            None => zone.iana_name().map_or_else(|| fixed_name(minutes), str::to_owned),
        };
        Self { name, bias_minutes: -minutes, offset }
    }
}

fn windows_name(iana: &str) -> Option<&'static str> {
    ZONES.lines().find_map(|line| {
        let (windows, names) = line.split_once('=')?;
        names.split_whitespace().any(|name| name.eq_ignore_ascii_case(iana)).then_some(windows)
    })
}

/// Whether the clocks are ahead of the zone's other time of the year. The database calls Ireland's winter the exception, so its
/// mark alone does not say it.
fn is_daylight_time(zone: &TimeZone, at: Timestamp) -> bool {
    let now = zone.to_offset_info(at);
    zone.following(at).next().is_some_and(|next| next.dst() != now.dst() && next.offset() < now.offset())
}

fn fixed_name(minutes: i32) -> String {
    let sign = if minutes < 0 { '-' } else { '+' };
    let minutes = minutes.unsigned_abs();
    format!("UTC{sign}{:02}:{:02}", minutes / 60, minutes % 60)
}
