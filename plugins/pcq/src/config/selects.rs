//! Whether settings collect a family, for people who want to know which settings a metric needs.

use counter_poll::{Wanted, Which};
use counter_types::same_name;
use ms_pcq::types::DetailLevel;
use plugin_sdk::{FamilyKey, Problem, Selects};

use super::{DetailSettings, Settings, compile};
use crate::host_info;
use crate::notes;

/// Whether instances with these settings collect a family.
pub(crate) fn selects(settings: &Settings, family: &FamilyKey) -> Selects {
    match family.namespace.as_str() {
        "" => selects_counter(settings, family),
        host_info::NAMESPACE => selects_fact(settings, family),
        notes::NAMESPACE => Selects::Yes,
        _ => Selects::No(Vec::new()),
    }
}

fn selects_fact(settings: &Settings, family: &FamilyKey) -> Selects {
    let is_service = same_name(&family.object, host_info::SERVICE_OBJECT);
    let (is_selected, pointer, value) = if is_service {
        (settings.max_services > 0, "/max_services", "1000")
    } else {
        (settings.host_info, "/host_info", "true")
    };
    if is_selected {
        Selects::Yes
    } else {
        Selects::No(vec![Problem::new(pointer, "read facts of the host").suggest(value)])
    }
}

fn selects_counter(settings: &Settings, family: &FamilyKey) -> Selects {
    let Ok(all) = compile(settings) else { return Selects::Unknown };
    let mut restricted = None;
    for (index, wanted) in all.iter().enumerate().filter(|(_, wanted)| is_of(wanted, &family.object)) {
        // A level that every counter has: what is below it is known to hosts only.
        if !wanted.selection.wants_counter(Some(&family.item), DetailLevel(0)) {
            let pointer = format!("/countersets/{index}/counters");
            let problem = Problem::new(pointer, "select this counter, too").suggest(quoted(&family.item));
            restricted.get_or_insert(problem);
        } else if settings.detail.is_some_and(|detail| detail != DetailSettings::Wizard) {
            let message = "select all levels, because the level of this counter is not known without a host";
            restricted.get_or_insert(Problem::new("/detail", message).suggest("wizard"));
        } else {
            return Selects::Yes;
        }
    }
    let has_unnamed =
        settings.countersets.iter().any(|counterset| counterset.guid.is_some() && counterset.name.is_none());
    match restricted {
        Some(problem) => Selects::No(vec![problem]),
        // It may be the counterset with that GUID.
        None if has_unnamed => Selects::Unknown,
        None => {
            let value = format!("{{name: {}}}", quoted(&family.object));
            Selects::No(vec![Problem::new("/countersets", "add this counterset").suggest(value)])
        }
    }
}

/// Whether a counterset of this name is wanted.
fn is_of(wanted: &Wanted, object: &str) -> bool {
    match &wanted.which {
        Which::Name(name) => same_name(name, object),
        Which::Matching(pattern) => pattern.matches(object),
        Which::Guid(_) => same_name(&wanted.label, object),
        Which::FirstOf(names) => names.iter().any(|name| same_name(name, object)),
    }
}

/// A name as YAML has it in braces.
fn quoted(name: &str) -> String {
    let is_plain = name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.chars().all(|char| char.is_ascii_alphanumeric() || matches!(char, ' ' | '/' | '.' | '_'));
    if is_plain { name.to_owned() } else { format!("'{}'", name.replace('\'', "''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(settings: &str, namespace: &str, object: &str, item: &str) -> String {
        let settings: Settings = plugin_sdk::parse_settings(settings).unwrap();
        let family = FamilyKey {
            namespace: namespace.to_owned(),
            object: object.to_owned(),
            item: item.to_owned(),
            part: String::new(),
        };
        match selects(&settings, &family) {
            Selects::Yes => "yes".to_owned(),
            Selects::Unknown => "unknown".to_owned(),
            Selects::No(problems) => {
                let shown = |Problem { pointer, message, suggestion, .. }: &Problem| {
                    format!("{pointer}: {message}: {suggestion}")
                };
                problems.iter().map(shown).collect::<Vec<_>>().join("\n")
            }
        }
    }

    #[test]
    fn counters_are_selected_by_the_name_or_the_pattern_of_their_counterset() {
        let settings = r#"{"countersets": [
            {"name": "memory"},
            {"name": {"wildcard": "TCPv?"}},
            {"guid": "b4fc721a-0378-476f-89ba-a5a79f810b36", "name": "Spooler"}
        ]}"#;
        for (object, expected) in [
            ("Memory", "yes"),
            ("TCPv4", "yes"),
            ("Spooler", "yes"),
            ("System", "/countersets: add this counterset: {name: System}"),
            ("SQLServer:Locks", "/countersets: add this counterset: {name: 'SQLServer:Locks'}"),
        ] {
            assert_eq!(answer(settings, "", object, "A"), expected, "{object}");
        }
    }

    #[test]
    fn a_counterset_that_is_only_known_by_its_number_may_be_the_one() {
        let settings = r#"{"countersets": [{"guid": "b4fc721a-0378-476f-89ba-a5a79f810b36"}]}"#;
        assert_eq!(answer(settings, "", "System", "Threads"), "unknown");
    }

    #[test]
    fn counters_that_are_not_included_are_named() {
        let settings = r#"{"countersets": [
            {"name": "System"},
            {"name": "Processor Information", "counters": {"include": ["% Idle Time", "% C. Time"], "exclude": ["% C3 Time"]}}
        ]}"#;
        for (item, expected) in [
            ("% Idle Time", "yes"),
            ("% C2 Time", "yes"),
            ("% C3 Time", "/countersets/1/counters: select this counter, too: '% C3 Time'"),
            ("DPC Rate", "/countersets/1/counters: select this counter, too: DPC Rate"),
        ] {
            assert_eq!(answer(settings, "", "Processor Information", item), expected, "{item}");
        }
    }

    #[test]
    fn a_level_of_detail_may_exclude_any_counter() {
        let of = |level| format!(r#"{{"detail": "{level}", "countersets": [{{"name": "System"}}]}}"#);
        assert!(answer(&of("advanced"), "", "System", "Threads").starts_with("/detail: "));
        assert_eq!(answer(&of("wizard"), "", "System", "Threads"), "yes");
    }

    #[test]
    fn facts_of_the_host_have_settings_of_their_own() {
        let settings = r#"{"countersets": [{"name": "System"}]}"#;
        let expected = "/host_info: read facts of the host: true";
        assert_eq!(answer(settings, "host", "OS", "Info"), expected);
        let expected = "/max_services: read facts of the host: 1000";
        assert_eq!(answer(settings, "host", "Service", "Info"), expected);
        let settings = r#"{"countersets": [{"name": "System"}], "host_info": true, "max_services": 5}"#;
        assert_eq!(answer(settings, "host", "OS", "Info"), "yes");
        assert_eq!(answer(settings, "host", "Service", "Info"), "yes");
        assert_eq!(answer(settings, "rpc", "Calls", "Failed"), "");
    }
}
