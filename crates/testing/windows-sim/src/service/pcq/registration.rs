use counters::pcq::perflibv2::{RegistrationInfo, RegistrationRequest};
use counters::pcq::types::{CounterId, Lcid};
use counters::pcq::wire::{CounterRegInfo, CounterSetRegInfo, CounterSetRegistration, CounterStrings};
use wire::{Win32Error, WriteCursor};

use crate::choices::{OddAnswer, StringOffsets};
use crate::model::{Counter, Counterset};

/// What is registered of a counterset. `own` is the language of who asks for none.
pub(super) fn answer(
    set: &Counterset,
    request: RegistrationRequest,
    own: Lcid,
) -> Result<RegistrationInfo, Win32Error> {
    let is_german = |lcid: Lcid| Ok(language(lcid, own)? == Language::German);
    Ok(match request {
        RegistrationRequest::CounterSet => RegistrationInfo::CounterSet(registration(set)),
        RegistrationRequest::Counter(CounterId(id)) => {
            let counter = set.counter(id).ok_or(Win32Error::ERROR_WMI_ITEMID_NOT_FOUND)?;
            RegistrationInfo::Counter(counter_info(counter))
        }
        RegistrationRequest::CounterSetName(lcid) => {
            let german = if is_german(lcid)? { set.german } else { None };
            text(german.unwrap_or(set.name))
        }
        RegistrationRequest::CounterSetHelp(lcid) => {
            let german = if is_german(lcid)? { set.german_explain } else { None };
            text(german.unwrap_or(set.explain))
        }
        RegistrationRequest::CounterNames(lcid) => {
            let is_german = is_german(lcid)?;
            strings(set, |counter| {
                let german = if is_german { counter.german } else { None };
                german.or_else(|| name(counter))
            })
        }
        RegistrationRequest::CounterHelps(lcid) => {
            let is_german = is_german(lcid)?;
            // What is there for the arithmetic of others only has no text, as on many real hosts.
            strings(set, |counter| {
                let german = if is_german { counter.german_explain } else { None };
                counter.is_displayed().then(|| german.unwrap_or(counter.explain))
            })
        }
        RegistrationRequest::ProviderName => text(set.provider.name),
        RegistrationRequest::ProviderGuid => RegistrationInfo::ProviderGuid(set.provider.guid),
        RegistrationRequest::EnglishCounterSetName => text(set.name),
        RegistrationRequest::EnglishCounterNames => strings(set, name),
    })
}

/// The answer with offsets and names as the host chooses to write them.
pub(super) fn written(
    answer: RegistrationInfo,
    request: RegistrationRequest,
    offsets: StringOffsets,
    odd: OddAnswer,
) -> Result<RegistrationInfo, Win32Error> {
    let too_large = |_: wire::EncodeError| Win32Error::ERROR_OUTOFMEMORY;
    let is_name = matches!(
        request,
        RegistrationRequest::CounterSetName(_) | RegistrationRequest::EnglishCounterSetName
    );
    Ok(match (answer, odd) {
        (RegistrationInfo::Strings(strings), _) => {
            let mut bytes = Vec::new();
            strings.encode_from(offsets.base(), &mut WriteCursor::new(&mut bytes)).map_err(too_large)?;
            RegistrationInfo::Raw(bytes)
        }
        (_, OddAnswer::EmptyName) if is_name => RegistrationInfo::Raw(Vec::new()),
        (_, OddAnswer::LoneNul) if is_name => RegistrationInfo::Raw(vec![0, 0]),
        (RegistrationInfo::Text(text), OddAnswer::UnterminatedName) if is_name => {
            RegistrationInfo::Raw(wire::encode_utf16(&text))
        }
        (answer, _) => answer,
    })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Language {
    English,
    German,
}

/// [MS-LCID]: the lower ten bits of an LCID are the language, whatever the country.
const LANGUAGE_BITS: u32 = 0x3FF;

/// Which texts a client gets.
///
/// [inferred] A neutral LCID and those of other countries get the language's texts; the user's and the system's
/// default are the host's own language. What is not installed is an error; which one, the document leaves open.
fn language(lcid: Lcid, own: Lcid) -> Result<Language, Win32Error> {
    match lcid.0 & LANGUAGE_BITS {
        // LOCALE_NEUTRAL, LOCALE_USER_DEFAULT, LOCALE_SYSTEM_DEFAULT
        0 if own.0 & LANGUAGE_BITS != 0 => language(own, own),
        0x09 => Ok(Language::English),
        0x07 => Ok(Language::German),
        _ => Err(Win32Error::ERROR_NOT_FOUND),
    }
}

fn registration(set: &Counterset) -> CounterSetRegistration {
    CounterSetRegistration {
        info: CounterSetRegInfo {
            counter_set_guid: set.guid,
            detail_level: set.detail,
            num_counters: u32::try_from(set.counters.len()).unwrap_or(u32::MAX),
            instance_type: set.instances,
        },
        counters: set.counters.iter().map(counter_info).collect(),
    }
}

fn counter_info(counter: &Counter) -> CounterRegInfo {
    let id = |other: Option<u32>| other.map_or(CounterId::NONE, CounterId);
    CounterRegInfo {
        attrib: counter.attributes,
        detail_level: counter.detail,
        default_scale: counter.default_scale,
        base_counter_id: id(counter.base),
        perf_time_id: id(counter.perf_time),
        perf_freq_id: id(counter.perf_freq),
        multi_id: id(counter.multi),
        aggregate_func: counter.aggregate,
        ..CounterRegInfo::new(CounterId(counter.id), counter.kind)
    }
}

/// A counter without a name has none, and not an empty one.
fn name(counter: &Counter) -> Option<&str> {
    Some(counter.name).filter(|name| !name.is_empty())
}

fn text(text: &str) -> RegistrationInfo {
    RegistrationInfo::Text(text.to_owned())
}

fn strings(set: &Counterset, text: impl Fn(&Counter) -> Option<&str>) -> RegistrationInfo {
    let entries =
        set.counters.iter().map(|counter| (CounterId(counter.id), text(counter).map(str::to_owned)));
    RegistrationInfo::Strings(CounterStrings { entries: entries.collect() })
}
