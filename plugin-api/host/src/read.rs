//! Converts the header's structs to the checked types of `plugin-abi`.
#![expect(unsafe_code, reason = "reads what plugins hand over")]
// UNSAFETY: every function follows pointers inside a struct that the plugin handed to a call; its caller promises that
// the call has not returned, which is as long as the header obliges the plugin to keep them valid.

pub(crate) mod histograms;

use std::ops::Range;
use std::time::Duration;

use plugin_abi::raw::{self, Array, Label, Malformed, REASON_DECLARED, Str};
use plugin_abi::{
    Alert, AlertState, Batch, Column, Comparison, Completion, Display, DisplayRule, DropReason, Evaluation,
    Event, Failure, FamilyDef, FamilyId, GeneralReason, Kind, Level, Outcome, Problem, Reason, SeriesDef,
    Stage, StageReport, Start, ValueKind,
};

use super::options::Limits;
use crate::info::SourceInfo;
use crate::violation::Violation;

pub(crate) type Pairs<'a> = Vec<(&'a str, &'a str)>;

/// Why a row is not offered to the sink.
pub(crate) struct Refusal {
    pub(crate) reason: DropReason,
    /// `None` if a later version may send it.
    pub(crate) violation: Option<Violation>,
}

impl From<Violation> for Refusal {
    fn from(violation: Violation) -> Self {
        Self { reason: DropReason::Invalid, violation: Some(violation) }
    }
}

impl From<Malformed> for Refusal {
    fn from(malformed: Malformed) -> Self {
        Violation::from(malformed).into()
    }
}

impl From<Malformed> for Violation {
    fn from(malformed: Malformed) -> Self {
        match malformed {
            Malformed::NullPointer => Self::NullPointer,
            Malformed::Misaligned => Self::Misaligned,
            Malformed::BadSize => Self::BadSize,
            Malformed::TooLong => Self::TooLong,
            Malformed::NotUtf8 => Self::NotUtf8,
        }
    }
}

const UNSUPPORTED: Refusal = Refusal { reason: DropReason::Unsupported, violation: None };

/// # Safety
/// The call that brought the row has not returned.
pub(crate) unsafe fn family<'a>(raw: &raw::Family, limits: &Limits) -> Result<FamilyDef<'a>, Refusal> {
    let (name_max, text_max) = (limits.name_bytes_max as usize, limits.text_bytes_max as usize);
    let kind = Kind::from_code(raw.kind);
    let value = ValueKind::from_code(raw.value_kind).ok_or(UNSUPPORTED)?;
    // SAFETY: the caller promises it.
    let bounds = unsafe { histograms::bounds(raw, kind, value) }?;
    // SAFETY: the caller promises it; so for all of these.
    let read = |text: Str, max: usize| unsafe { text.read(max) };
    let family = FamilyDef {
        namespace: read(raw.space, name_max)?,
        object: read(raw.object, name_max)?,
        item: read(raw.item, name_max)?,
        part: read(raw.part, name_max)?,
        kind,
        unit: read(raw.unit, name_max)?,
        help: read(raw.help, text_max)?,
        origin: read(raw.origin, text_max)?,
        value,
        bounds,
        display: Display::NONE,
    };
    if family.object.is_empty() || family.item.is_empty() {
        return Err(Violation::BadName.into());
    }
    if kind == Kind::Histogram {
        return Ok(family);
    }
    // An unknown rule counts as none, and its base is ignored.
    let rule = DisplayRule::from_code(raw.display).unwrap_or_default();
    if !rule.needs_base() {
        return Ok(FamilyDef { display: Display::by(rule), ..family });
    }
    let base = read(raw.base, name_max)?;
    if base.is_empty() || base == family.part {
        Err(Violation::BadBase.into())
    } else {
        Ok(FamilyDef { display: Display::over(rule, base), ..family })
    }
}

/// Appends the labels of a series to `labels` and returns their range.
///
/// # Safety
/// The call that brought the row has not returned.
pub(crate) unsafe fn labels<'a>(
    raw: &raw::Series,
    limits: &Limits,
    labels: &mut Vec<(&'a str, &'a str)>,
) -> Result<Range<usize>, Refusal> {
    let start = labels.len();
    // SAFETY: the caller promises it.
    let rows = unsafe { raw.labels.column::<Label>(limits.labels_max as usize) }?;
    for row in rows {
        // SAFETY: as above.
        let name = unsafe { row.name.read(limits.name_bytes_max as usize) };
        // SAFETY: as above.
        let value = unsafe { row.value.read(limits.label_value_bytes_max as usize) };
        let pair = name.and_then(|name| Ok((name, value?))).inspect_err(|_| labels.truncate(start))?;
        if !is_label_name(pair.0) || labels[start..].iter().any(|(name, _)| *name == pair.0) {
            labels.truncate(start);
            return Err(Violation::BadName.into());
        }
        labels.push(pair);
    }
    Ok(start..labels.len())
}

pub(crate) fn series<'a>(raw: &raw::Series, labels: &'a [(&'a str, &'a str)]) -> SeriesDef<'a> {
    let start = (raw.start_time_unix_ns != 0).then_some(Start {
        unix_nanos: raw.start_time_unix_ns,
        is_inferred: raw.start_time_kind == raw::START_TIME_INFERRED,
    });
    SeriesDef { family: FamilyId(raw.family), labels, start }
}

/// The batch, cut to `rows_max`, and whether it was cut.
///
/// # Safety
/// The call that brought the batch has not returned.
pub(crate) unsafe fn batch<'a>(raw: &raw::Batch, rows_max: usize) -> Result<(Batch<'a>, bool), Violation> {
    let rows = raw.ids.len;
    if raw.values.len != rows || !is_optional(&raw.timestamps, rows) || !is_optional(&raw.start_times, rows) {
        return Err(Violation::LengthMismatch);
    }
    let full = rows > rows_max as u64;
    // SAFETY: the caller promises it; cutting makes the length smaller at most.
    let ids = unsafe { cut(raw.ids, rows_max).column(rows_max) }?;
    let values = cut(raw.values, rows_max);
    let values = match raw.value_kind {
        // SAFETY: as above.
        raw::VALUE_F64 => Column::F64(unsafe { values.column(rows_max) }?),
        // SAFETY: as above.
        raw::VALUE_U64 => Column::U64(unsafe { values.column(rows_max) }?),
        // SAFETY: as above.
        raw::VALUE_I64 => Column::I64(unsafe { values.column(rows_max) }?),
        _ => return Err(Violation::BadEnum),
    };
    // SAFETY: as above.
    let timestamps = unsafe { times(raw.timestamps, rows_max) }?;
    // SAFETY: as above.
    let start_times = unsafe { times(raw.start_times, rows_max) }?;
    Ok((Batch { ids, values, timestamps, start_times }, full))
}

/// The beginning of a column.
fn cut(column: Array, len_max: usize) -> Array {
    Array { len: column.len.min(len_max as u64), ..column }
}

/// Whether an optional column is empty or has all rows.
fn is_optional(column: &Array, rows: u64) -> bool {
    column.len == 0 || column.len == rows
}

/// The beginning of an optional column of times.
///
/// # Safety
/// The call that brought the column has not returned.
unsafe fn times<'a>(column: Array, rows_max: usize) -> Result<Option<&'a [i64]>, Malformed> {
    // SAFETY: the caller promises it; cutting makes the length smaller at most.
    let times: &[i64] = unsafe { cut(column, rows_max).column(rows_max) }?;
    Ok((!times.is_empty()).then_some(times))
}

/// A completion whose lists are our own.
pub(crate) struct OwnedCompletion<'a> {
    outcome: Outcome<'a>,
    stages: Vec<StageReport>,
}

impl OwnedCompletion<'_> {
    pub(crate) fn borrow(&self) -> Completion<'_> {
        Completion { outcome: self.outcome.clone(), stages: &self.stages }
    }
}

/// # Safety
/// The call that brought the completion has not returned.
pub(crate) unsafe fn completion<'a>(
    raw: &raw::Completion,
    source: Option<&SourceInfo>,
    limits: &Limits,
    family_count: u32,
) -> Result<OwnedCompletion<'a>, Violation> {
    // SAFETY: the caller promises it.
    let message = unsafe { raw.message.read(limits.text_bytes_max as usize) }?;
    // SAFETY: as above.
    let families: &[u32] = unsafe { raw.families.column(limits.families_max as usize) }?;
    // SAFETY: as above.
    let rows = unsafe { raw.stages.structs::<raw::StageCost>(Stage::ALL.len()) }?;
    if families.iter().any(|family| *family >= family_count) {
        return Err(Violation::IdOutOfRange);
    }
    let mut stages = Vec::with_capacity(rows.len());
    for row in rows {
        let stage = Stage::from_code(row.stage).ok_or(Violation::BadEnum)?;
        let raw::StageCost { start_ns, duration_ns, calls, bytes_in, bytes_out, .. } = row;
        stages.push(StageReport { stage, start_ns, duration_ns, calls, bytes_in, bytes_out });
    }
    stages.sort_by_key(|report| report.stage);
    if stages.windows(2).any(|pair| pair[0].stage == pair[1].stage) {
        return Err(Violation::BadEnum);
    }
    let failure = || Failure {
        stage: Stage::from_code(raw.failure_stage).unwrap_or(Stage::Plugin),
        reason: reason(raw.failure_reason, source),
        message: message.to_owned(),
        retry_after: (raw.retry_after_ms > 0)
            .then(|| Duration::from_millis(raw.retry_after_ms.min(limits.retry_after_ms_max))),
    };
    let outcome = match raw.outcome {
        raw::OUTCOME_FULL => Outcome::Full,
        raw::OUTCOME_PARTIAL => {
            Outcome::Partial { families, failure: (raw.failure_reason != 0).then(failure) }
        }
        raw::OUTCOME_FAILED => Outcome::Failed(failure()),
        _ => return Err(Violation::BadEnum),
    };
    Ok(OwnedCompletion { outcome, stages })
}

fn reason(code: u32, source: Option<&SourceInfo>) -> Reason {
    let declared = code
        .checked_sub(REASON_DECLARED)
        .and_then(|index| source?.reasons.get(index as usize))
        .map(|reason| Reason::Declared(std::sync::Arc::clone(reason)));
    declared
        .unwrap_or_else(|| Reason::General(GeneralReason::from_code(code).unwrap_or(GeneralReason::Other)))
}

/// # Safety
/// The call that brought the problem has not returned.
pub(crate) unsafe fn problem(raw: &raw::Problem, limits: &Limits) -> Result<Problem, Violation> {
    // SAFETY: the caller promises it; so for all of these.
    let read = |text: Str| unsafe { text.read(limits.text_bytes_max as usize) }.map(str::to_owned);
    let (pointer, message) = (read(raw.pointer)?, read(raw.message)?);
    let suggestion = read(raw.suggestion)?;
    if pointer.is_empty() || pointer.starts_with('/') {
        Ok(Problem { pointer, message, suggestion, is_warning: raw.severity == raw::PROBLEM_WARNING })
    } else {
        Err(Violation::BadName)
    }
}

/// # Safety
/// The call that brought the text has not returned.
pub(crate) unsafe fn text_and_fields<'a>(
    text: Str,
    fields: Array,
    limits: &Limits,
) -> Result<(&'a str, Pairs<'a>), Violation> {
    // SAFETY: the caller promises it.
    let text = unsafe { text.read(limits.text_bytes_max as usize) }?;
    // SAFETY: as above.
    Ok((text, unsafe { pairs(fields, limits.fields_max as usize, limits) }?))
}

/// # Safety
/// The call that brought the array has not returned.
unsafe fn pairs<'a>(fields: Array, len_max: usize, limits: &Limits) -> Result<Pairs<'a>, Violation> {
    // SAFETY: the caller promises it.
    let rows = unsafe { fields.column::<Label>(len_max) }?;
    let mut pairs = Vec::with_capacity(rows.len());
    for row in rows {
        // SAFETY: as above.
        let key = unsafe { row.name.read(limits.name_bytes_max as usize) }?;
        // SAFETY: as above.
        let value = unsafe { row.value.read(limits.text_bytes_max as usize) }?;
        pairs.push((key, value));
    }
    Ok(pairs)
}

/// # Safety
/// The call that brought the event has not returned.
pub(crate) unsafe fn event<'a>(
    raw: &raw::Event,
    body: &'a str,
    fields: &'a [(&'a str, &'a str)],
    alert: Option<Alert<'a>>,
    limits: &Limits,
) -> Result<Event<'a>, Violation> {
    // SAFETY: the caller promises it.
    let name = dotted(unsafe { raw.name.read(limits.name_bytes_max as usize) }?)?;
    let time_unix_nanos = (raw.time_unix_ns != 0).then_some(raw.time_unix_ns);
    Ok(Event { name, level: Level::from_code(raw.level), time_unix_nanos, body, fields, alert })
}

/// An alert, and its labels apart from it. `None` for an event that is about none.
///
/// # Safety
/// The call that brought the event has not returned.
pub(crate) unsafe fn alert<'a>(
    raw: *const raw::Alert,
    limits: &Limits,
) -> Result<Option<(Alert<'a>, Pairs<'a>)>, Violation> {
    if raw.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller promises it; so for all of these.
    let raw = unsafe { raw::read_struct(raw) }?;
    let Some(state) = AlertState::from_code(raw.state) else { return Ok(None) };
    // SAFETY: as above.
    let id = unsafe { raw.id.read(limits.name_bytes_max as usize) }?;
    if id.is_empty() || id.chars().any(char::is_control) {
        return Err(Violation::BadName);
    }
    // SAFETY: as above.
    let labels = unsafe { pairs(raw.labels, ALERT_LABELS_MAX, limits) }?;
    for (index, (name, _)) in labels.iter().enumerate() {
        let is_new = labels[..index].iter().all(|(before, _)| before != name);
        // Prometheus keeps the others for itself.
        if !is_label_name(name) || name.starts_with("__") || !is_new {
            return Err(Violation::BadName);
        }
    }
    let finite = |number: f64| number.is_finite().then_some(number);
    let compared = Comparison::from_code(raw.comparison).zip(finite(raw.threshold));
    let evaluation = compared.map(|(comparison, threshold)| Evaluation {
        value: finite(raw.value),
        comparison,
        threshold,
    });
    let [interval, hold] = [raw.interval_ns, raw.hold_ns].map(Duration::from_nanos);
    Ok(Some((Alert { evaluation, interval, hold, ..Alert::new(id, state, &[]) }, labels)))
}

/// Labels that identify an alert.
const ALERT_LABELS_MAX: usize = 32;

/// Name and value of a fact about the target.
///
/// # Safety
/// The call that brought the fact has not returned.
pub(crate) unsafe fn fact<'a>(raw: &Label, limits: &Limits) -> Result<(&'a str, &'a str), Violation> {
    // SAFETY: the caller promises it.
    let name = dotted(unsafe { raw.name.read(limits.name_bytes_max as usize) }?)?;
    // SAFETY: as above.
    let value = unsafe { raw.value.read(limits.label_value_bytes_max as usize) }?;
    if value.chars().any(char::is_control) { Err(Violation::BadName) } else { Ok((name, value)) }
}

/// # Safety
/// The call that brought the request has not returned.
pub(crate) unsafe fn host_and_identity<'a>(
    raw: &raw::CredentialRequest,
    limits: &Limits,
) -> Result<(&'a str, &'a str), Violation> {
    // SAFETY: the caller promises it.
    let host = unsafe { raw.host.read(limits.name_bytes_max as usize) }?;
    // SAFETY: as above.
    let identity = unsafe { raw.identity.read(limits.name_bytes_max as usize) }?;
    Ok((host, identity))
}

/// The name of a socket, without that of the library.
///
/// # Safety
/// The call that brought the name has not returned.
pub(crate) unsafe fn socket_name<'a>(raw: Str) -> Result<&'a str, Violation> {
    // SAFETY: the caller promises it.
    let name = unsafe { raw.read(SOCKET_NAME_BYTES_MAX) }?;
    let legal = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'.' | b'-');
    if name.starts_with(|first: char| first.is_ascii_lowercase()) && name.bytes().all(legal) {
        Ok(name)
    } else {
        Err(Violation::BadName)
    }
}

const SOCKET_NAME_BYTES_MAX: usize = 64;

/// A name of the kind that events and facts have: `[a-z][a-z0-9_.]*`.
fn dotted(name: &str) -> Result<&str, Violation> {
    let legal = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'.');
    if name.starts_with(|first: char| first.is_ascii_lowercase()) && name.bytes().all(legal) {
        Ok(name)
    } else {
        Err(Violation::BadName)
    }
}

fn is_label_name(name: &str) -> bool {
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    name.bytes().all(legal) && name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
}
