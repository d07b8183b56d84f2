//! The keys of a host: those of its [registry](crate::registry), and those that it computes.

use std::collections::BTreeSet;

use counters::perflib_v1::NameKind;
use wire::Guid;

use super::names;
use crate::choices::Choices;
use crate::host_state::HostState;
use crate::model::BASE_INDEX_LAST;
use crate::registry::{KeyContents, RegistryValue};

/// The key of the performance library; what is computed is below it.
const PERFLIB: &str = r"software\microsoft\windows nt\currentversion\perflib";
const PROVIDERS: &str = "_V2Providers";

/// What the key at a path has, if it is there. What was set in the registry replaces what is computed.
pub(super) fn contents(host: &HostState, choices: &Choices, path: &str) -> Option<KeyContents> {
    let stored = host.registry().key(path);
    let Some(mut all) = computed(host, choices, &path.to_lowercase()) else { return stored };
    let KeyContents { sub_keys, values, last_write } = stored.unwrap_or_default();
    let is_same = |a: &str, b: &str| a.to_lowercase() == b.to_lowercase();
    all.sub_keys.retain(|name| sub_keys.iter().all(|stored| !is_same(name, stored)));
    all.values.retain(|(name, _)| values.iter().all(|(stored, _)| !is_same(name, stored)));
    all.sub_keys.extend(sub_keys);
    all.values.extend(values);
    all.sub_keys.sort_by_key(|name| name.to_lowercase());
    all.last_write = all.last_write.max(last_write);
    Some(all)
}

fn computed(host: &HostState, choices: &Choices, path: &str) -> Option<KeyContents> {
    let rest = path.strip_prefix(PERFLIB)?;
    let parts: Vec<&str> = rest.split('\\').skip(1).collect();
    let mut contents = match parts[..] {
        [] if rest.is_empty() => perflib(host, choices),
        [language] if language.len() == 3 => {
            let language = u16::from_str_radix(language, 16).ok()?;
            let table = |kind| names::table(&**host.source(), choices, kind, language);
            let values = vec![
                ("Counter".to_owned(), table(NameKind::Counter)?),
                ("Help".to_owned(), table(NameKind::Help)?),
            ];
            KeyContents { values, ..KeyContents::default() }
        }
        [key, ref below @ ..] if key == PROVIDERS.to_lowercase() => {
            KeyContents { sub_keys: providers(host, below)?, ..KeyContents::default() }
        }
        _ => return None,
    };
    contents.last_write = host.source().name_indexes().last_write;
    Some(contents)
}

fn perflib(host: &HostState, choices: &Choices) -> KeyContents {
    let languages = names::LANGUAGES.iter().map(|language| format!("{language:03X}"));
    let [last_counter, last_help] = names::last_indexes(&**host.source(), choices);
    let value = |name: &str, number| (name.to_owned(), RegistryValue::dword(number));
    KeyContents {
        sub_keys: languages.chain([PROVIDERS.to_owned()]).collect(),
        values: vec![
            value("Base Index", BASE_INDEX_LAST),
            value("Last Counter", last_counter),
            value("Last Help", last_help),
        ],
        ..KeyContents::default()
    }
}

/// The subkeys of a key that is `below` that of the providers of version 2: providers, and below each its countersets.
fn providers(host: &HostState, below: &[&str]) -> Option<Vec<String>> {
    let sets = host.source().countersets();
    let named = |guids: BTreeSet<Guid>| guids.into_iter().map(|guid| format!("{{{guid}}}")).collect();
    let guid = |part: &str| part.starts_with('{').then(|| part.parse::<Guid>().ok()).flatten();
    match *below {
        [] => Some(named(sets.iter().map(|set| set.provider.guid).collect())),
        [provider] => {
            let provider = guid(provider)?;
            let own = sets.iter().filter(|set| set.provider.guid == provider);
            let own: BTreeSet<Guid> = own.map(|set| set.guid).collect();
            (!own.is_empty()).then(|| named(own))
        }
        [provider, set] => {
            let (provider, guid) = (guid(provider)?, guid(set)?);
            let is_there = sets.iter().any(|set| set.provider.guid == provider && set.guid == guid);
            is_there.then(Vec::new)
        }
        _ => None,
    }
}
