use counters::pcq::types::{CounterId, InstanceId};
use counters::pcq::wire::{Clocks, CounterIdentifier, QueryDataWriter, RawValue};
use wire::{EncodeResult, Win32Error};

use crate::choices::{AggregateIdentifiers, BlockOrder, Choices};
use crate::model::{Counterset, Moment, Sample, ValueSource};

/// What a client has added to one query.
///
/// Blocks come in the order that the host chooses, so that a client has to ask for the index of each identifier.
#[derive(Debug, Default)]
pub(super) struct Query {
    // INVARIANT: `index` of each is its place here, status is success, and no two are equal but for those fields.
    identifiers: Vec<CounterIdentifier>,
}

impl Query {
    /// Adds an identifier.
    ///
    /// Whether an instance is there is a matter of the data and not of adding: what the document says of
    /// ERROR_PATH_NOT_FOUND is not what Windows does.
    pub(super) fn add(
        &mut self,
        source: &dyn ValueSource,
        at: &Moment,
        identifier: &CounterIdentifier,
        choices: &Choices,
    ) -> Win32Error {
        let Some(set) = source.counterset(identifier.counter_set_guid, at) else {
            return Win32Error::ERROR_WMI_GUID_NOT_FOUND;
        };
        let CounterId(id) = identifier.counter_id;
        if identifier.counter_id != CounterId::ALL && set.counter(id).is_none() {
            Win32Error::ERROR_WMI_ITEMID_NOT_FOUND
        } else if !is_well_formed(set, identifier, choices.aggregate_identifiers) {
            Win32Error::ERROR_INVALID_PARAMETER
        } else if self.position(identifier).is_some() {
            Win32Error::ERROR_ALREADY_EXISTS
        } else if self.identifiers.len() >= IDENTIFIERS_MAX {
            Win32Error::ERROR_OUTOFMEMORY
        } else {
            self.identifiers
                .push(CounterIdentifier { status: Win32Error::ERROR_SUCCESS, ..identifier.clone() });
            self.renumber(choices.block_order);
            Win32Error::ERROR_SUCCESS
        }
    }

    /// Removes an identifier that was added before.
    pub(super) fn remove(&mut self, identifier: &CounterIdentifier, choices: &Choices) -> Win32Error {
        match self.position(identifier) {
            Some(position) => {
                self.identifiers.remove(position);
                self.renumber(choices.block_order);
                Win32Error::ERROR_SUCCESS
            }
            None => Win32Error::ERROR_INVALID_PARAMETER,
        }
    }

    /// Where the block of an identifier is in the data.
    pub(super) fn index_of(&self, identifier: &CounterIdentifier) -> Option<u32> {
        self.position(identifier).map(|position| self.identifiers[position].index)
    }

    /// Everything that was added, in the order of the blocks.
    pub(super) fn identifiers(&self) -> &[CounterIdentifier] {
        &self.identifiers
    }

    /// The values of one moment.
    pub(super) fn data(
        &self,
        source: &dyn ValueSource,
        at: &Moment,
        choices: &Choices,
    ) -> EncodeResult<Vec<u8>> {
        let clocks =
            Clocks { perf_time_stamp: at.perf_time(), perf_freq: at.perf_freq, perf_time_100ns: at.time };
        let mut writer = QueryDataWriter::new(clocks)
            .with_padding(choices.id_list_padding.padding(), choices.block_padding.padding())
            .with_padding_byte(choices.padding_bytes.byte());
        // A counterset is asked once, however many identifiers beside each other name it.
        for group in self.identifiers.chunk_by(|a, b| a.counter_set_guid == b.counter_set_guid) {
            let guid = group[0].counter_set_guid;
            let failure = source.failure(guid, at);
            let found = match failure {
                None => source.counterset(guid, at).zip(source.sample(guid, at)),
                Some(_) => None,
            };
            let status = failure.unwrap_or(Win32Error::ERROR_WMI_GUID_NOT_FOUND);
            for identifier in group {
                match &found {
                    Some((set, _)) if is_other_form(set, identifier, choices.aggregate_identifiers) => {
                        writer.error_return(Win32Error::ERROR_NO_DATA)?;
                    }
                    Some((set, samples)) => write_block(&mut writer, set, samples, identifier)?,
                    None => writer.error_return(status)?,
                }
            }
        }
        writer.finish()
    }

    fn position(&self, identifier: &CounterIdentifier) -> Option<usize> {
        self.identifiers.iter().position(|known| {
            let name = |of: &CounterIdentifier| of.instance_name.as_deref().map(str::to_lowercase);
            known.counter_set_guid == identifier.counter_set_guid
                && known.counter_id == identifier.counter_id
                && known.instance_id == identifier.instance_id
                && name(known) == name(identifier)
        })
    }

    fn renumber(&mut self, order: BlockOrder) {
        if order == BlockOrder::Grouped {
            self.identifiers.sort_by_key(|identifier| identifier.counter_set_guid);
        }
        for (index, identifier) in (0..).zip(&mut self.identifiers) {
            identifier.index = index;
        }
    }
}

/// Identifiers of one query.
const IDENTIFIERS_MAX: usize = 4096;

/// Whether an identifier names an instance where it has to, and nowhere else.
///
/// [inferred] The document contradicts itself about what follows the identifier of a counterset without the bit
/// "multiple"; those of real clients are 40 bytes and ask for instance 0 or any. What a host answers to others was not
/// seen: of the statuses that the document lists for this field, ERROR_INVALID_PARAMETER is the one for an
/// identifier that is corrupt.
fn is_well_formed(set: &Counterset, identifier: &CounterIdentifier, forms: AggregateIdentifiers) -> bool {
    let name = identifier.instance_name.as_deref();
    let is_named = name.is_some_and(|name| !name.is_empty());
    let is_nameless = name.is_none() && [InstanceId(0), InstanceId::ANY].contains(&identifier.instance_id);
    if set.has_instances() {
        is_named
    } else if set.instances.is_aggregate() {
        let (right, other) = if forms.is_named() { (is_named, is_nameless) } else { (is_nameless, is_named) };
        right || other && forms.takes_other()
    } else {
        is_nameless
    }
}

/// Whether the host has no data for an identifier because it has the other form.
fn is_other_form(set: &Counterset, identifier: &CounterIdentifier, forms: AggregateIdentifiers) -> bool {
    let is_question = set.instances.is_aggregate() && !set.has_instances();
    is_question && forms.is_named() != identifier.instance_name.is_some()
}

/// One block: which of the five kinds it is depends on whether counter and instance are wild cards. A global
/// aggregate is asked for without a name and means all of its instances.
fn write_block(
    writer: &mut QueryDataWriter,
    set: &Counterset,
    samples: &[Sample],
    identifier: &CounterIdentifier,
) -> EncodeResult<()> {
    let id = identifier.counter_id;
    let counter = set.counters.iter().position(|counter| CounterId(counter.id) == id);
    if id != CounterId::ALL && counter.is_none() {
        // An older registration had it.
        return writer.error_return(Win32Error::ERROR_WMI_ITEMID_NOT_FOUND);
    }
    let pattern = match identifier.instance_name.as_deref().filter(|_| set.has_instances()) {
        Some(name) => Pattern::new(name),
        None => Pattern::everything(),
    };
    let any = identifier.instance_id == InstanceId::ANY || !set.has_instances();
    let mut matching = samples.iter().filter(|sample| {
        (any || sample.instance.instance_id == identifier.instance_id)
            && pattern.matches(&sample.instance.name)
    });
    let are_several = if set.has_instances() {
        pattern.has_wildcard()
    } else {
        set.instances.is_aggregate() && samples.iter().any(|sample| !sample.instance.name.is_empty())
    };
    let Some(first) = matching.next() else {
        return writer.error_return(Win32Error::ERROR_NO_DATA);
    };
    if are_several {
        let all = std::iter::once(first).chain(matching);
        match counter {
            Some(counter) => {
                writer.multi_instances(all.map(|sample| (&sample.instance, sample.values[counter].as_raw())))
            }
            None => writer.counter_set(&all_ids(set), all.map(|sample| (&sample.instance, raw(sample)))),
        }
    } else {
        // Several instances may share a name; a client that wants one of them says its id.
        match counter {
            Some(counter) => writer.single_counter(first.values[counter].as_raw()),
            None => writer.multi_counters(&all_ids(set), &raw(first)),
        }
    }
}

fn all_ids(set: &Counterset) -> Vec<CounterId> {
    set.counters.iter().map(|counter| CounterId(counter.id)).collect()
}

fn raw(sample: &Sample) -> Vec<RawValue<'_>> {
    sample.values.iter().map(crate::model::Value::as_raw).collect()
}

/// What a name in an identifier asks for.
pub(super) struct Pattern {
    /// In lower case; `None` for whatever there is.
    text: Option<Vec<char>>,
}

impl Pattern {
    /// What `text` asks for.
    pub(super) fn new(text: &str) -> Self {
        if text == "*" { Self::everything() } else { Self { text: Some(lower_case(text)) } }
    }

    pub(super) const fn everything() -> Self {
        Self { text: None }
    }

    /// Whether it asks for several instances.
    fn has_wildcard(&self) -> bool {
        self.text.as_ref().is_none_or(|text| text.iter().any(|c| matches!(c, '*' | '?')))
    }

    /// Whether it asks for `text`. Takes time by the product of both lengths at most.
    pub(super) fn matches(&self, text: &str) -> bool {
        self.text.as_ref().is_none_or(|pattern| matches(pattern, &lower_case(text)))
    }
}

fn lower_case(text: &str) -> Vec<char> {
    text.chars().flat_map(char::to_lowercase).collect()
}

fn matches(pattern: &[char], text: &[char]) -> bool {
    let (mut p, mut t) = (0, 0);
    // Where to go on when what follows the last `*` turns out wrong: after it, one character further on.
    let mut retry = None;
    while t < text.len() {
        match pattern.get(p) {
            Some('*') => {
                retry = Some((p + 1, t));
                p += 1;
            }
            Some(&c) if c == '?' || c == text[t] => {
                p += 1;
                t += 1;
            }
            _ => {
                let Some((after_star, from)) = retry else { return false };
                retry = Some((after_star, from + 1));
                (p, t) = (after_star, from + 1);
            }
        }
    }
    pattern[p..].iter().all(|&c| c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, text: &str) -> bool {
        Pattern::new(pattern).matches(text)
    }

    #[test]
    fn stars_and_question_marks_match_as_in_file_names() {
        assert!(matches("*", ""));
        assert!(matches("SVC*:11?8", "svchost:1188"));
        assert!(matches("*a*b", "aab-ab"));
        assert!(!matches("*a*b", "aab-abc"));
        assert!(!matches("?", ""));
        assert!(!matches("0,1", "0,10"));
    }
}
