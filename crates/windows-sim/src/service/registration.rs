use ms_dtyp::Win32Error;
use ms_pcq::perflibv2::{RegistrationInfo, RegistrationRequest};
use ms_pcq::types::{CounterId, Lcid};
use ms_pcq::wire::{CounterRegInfo, CounterSetRegInfo, CounterSetRegistration, CounterStrings};

use crate::model::{Counter, Counterset};

/// A language of the simulated hosts beside English.
const LCID_GERMAN: Lcid = Lcid(0x0407);

/// What is registered of a counterset.
pub(super) fn answer(set: &Counterset, request: RegistrationRequest) -> Result<RegistrationInfo, Win32Error> {
    Ok(match request {
        RegistrationRequest::CounterSet => RegistrationInfo::CounterSet(registration(set)),
        RegistrationRequest::Counter(CounterId(id)) => {
            let counter = set.counter(id).ok_or(Win32Error::ERROR_WMI_ITEMID_NOT_FOUND)?;
            RegistrationInfo::Counter(counter_info(counter))
        }
        RegistrationRequest::CounterSetName(lcid) => text(match language(lcid)? {
            Language::English => set.name,
            Language::German => set.german.unwrap_or(set.name),
        }),
        RegistrationRequest::CounterSetHelp(lcid) => {
            let _language = language(lcid)?;
            text(set.explain)
        }
        RegistrationRequest::CounterNames(lcid) => match language(lcid)? {
            Language::English => strings(set, |counter| Some(counter.name)),
            Language::German => strings(set, |counter| Some(counter.german.unwrap_or(counter.name))),
        },
        RegistrationRequest::CounterHelps(lcid) => {
            let _language = language(lcid)?;
            // What is there for the arithmetic of others only has no text, as on many real hosts.
            strings(set, |counter| counter.is_displayed().then_some(counter.explain))
        }
        RegistrationRequest::ProviderName => text(set.provider.name),
        RegistrationRequest::ProviderGuid => RegistrationInfo::ProviderGuid(set.provider.guid),
        RegistrationRequest::EnglishCounterSetName => text(set.name),
        RegistrationRequest::EnglishCounterNames => strings(set, |counter| Some(counter.name)),
    })
}

enum Language {
    English,
    German,
}

/// What is not installed is an error; which one, the document leaves open.
fn language(lcid: Lcid) -> Result<Language, Win32Error> {
    match lcid {
        Lcid::DEFAULT | Lcid::ENGLISH_US => Ok(Language::English),
        LCID_GERMAN => Ok(Language::German),
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

fn text(text: &str) -> RegistrationInfo {
    RegistrationInfo::Text(text.to_owned())
}

fn strings(set: &Counterset, text: impl Fn(&Counter) -> Option<&str>) -> RegistrationInfo {
    let entries =
        set.counters.iter().map(|counter| (CounterId(counter.id), text(counter).map(str::to_owned)));
    RegistrationInfo::Strings(CounterStrings { entries: entries.collect() })
}
