//! Whether settings collect a family, for people who want to know which settings a metric needs.

use counter_poll::{Aggregate, FamilyGroup, Wanted, Which};
use counter_types::{Choice, Selection, same_name};
use counters::pcq::types::DetailLevel;
use plugin_sdk::{FamilyKey, Problem, Selects};

use super::{DetailSettings, NameSettings, Settings, TotalsSettings, compile};
use crate::{host_info, notes};

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
    match restricted {
        Some(problem) => Selects::No(vec![problem]),
        // It may be the counterset with that GUID.
        None if has_unnamed(settings) => Selects::Unknown,
        None => {
            let value = format!("{{name: {}}}", quoted(&family.object));
            Selects::No(vec![Problem::new("/countersets", "add this counterset").suggest(value)])
        }
    }
}

/// Whether modules with these settings collect an instance of a counterset, as far as it has it.
pub(crate) fn selects_instance(settings: &Settings, object: &str, instance: &str) -> Selects {
    let Ok(all) = compile(settings) else { return Selects::Unknown };
    let mut left_out = None;
    for (index, wanted) in all.iter().enumerate().filter(|(_, wanted)| is_of(wanted, object)) {
        let (totals, instances) =
            (format!("/countersets/{index}/totals"), format!("/countersets/{index}/instances"));
        // A host decides which instances are the largest, and which countersets are added up.
        if wanted.top_n.is_some() || wanted.aggregate == Aggregate::Only {
            return Selects::Unknown;
        }
        let is_dropped =
            Selection::is_total(instance) && settings.countersets[index].totals != Some(TotalsSettings::Keep);
        let problem = match wanted.selection.instance_among(instance, true) {
            Choice::Yes => return Selects::Yes,
            Choice::Total => {
                Problem::new(totals, "keep totals among the instances, whose metrics they do not have")
                    .suggest("keep")
            }
            Choice::No if is_dropped => {
                Problem::new(totals, "keep totals, which are left out").suggest("keep")
            }
            Choice::No => Problem::new(instances, "select this instance, too").suggest(quoted(instance)),
        };
        left_out.get_or_insert(problem);
    }
    match left_out {
        Some(problem) => Selects::No(vec![problem]),
        None if has_unnamed(settings) => Selects::Unknown,
        None => Selects::No(Vec::new()),
    }
}

/// The counterset whose families have native names that begin like a metric's, and whether these are those of its totals;
/// `prefix_of` makes the beginning of a counterset.
pub(crate) fn counterset_of<'a>(
    settings: &'a Settings,
    metric: &str,
    prefix_of: impl Fn(&str) -> Option<String>,
) -> Option<(&'a str, bool)> {
    let plain = |name: &'a NameSettings| match name {
        NameSettings::Plain(text) | NameSettings::Exact(text) => Some(text.as_str()),
        NameSettings::Wildcard(_) | NameSettings::Regex(_) => None,
    };
    let names =
        settings.countersets.iter().flat_map(|one| one.name.iter().chain(&one.first_of)).filter_map(plain);
    let families = names.flat_map(|name| [(name, name.to_owned(), false), (name, totals_of(name), true)]);
    let begins = families.filter_map(|(name, object, is_totals)| {
        let prefix = prefix_of(&object).filter(|prefix| metric.starts_with(prefix.as_str()))?;
        Some((prefix.len(), (name, is_totals)))
    });
    begins.max_by_key(|(length, _)| *length).map(|(_, found)| found)
}

fn totals_of(name: &str) -> String {
    format!("{name}{}", FamilyGroup::Totals.suffix())
}

/// Whether a counterset is wanted whose name is not known here.
fn has_unnamed(settings: &Settings) -> bool {
    settings.countersets.iter().any(|counterset| counterset.guid.is_some() && counterset.name.is_none())
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
        shown(selects(&settings, &family))
    }

    fn shown(answer: Selects) -> String {
        match answer {
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
    fn instances_are_selected_by_filters_and_totals() {
        let keep = "/countersets/0/totals: keep totals, which are left out: keep";
        let apart =
            "/countersets/0/totals: keep totals among the instances, whose metrics they do not have: keep";
        let too = |name: &str| format!("/countersets/0/instances: select this instance, too: {name}");
        for (counterset, instance, expected) in [
            (r#""name": "LogicalDisk""#, "C:", "yes"),
            (r#""name": "LogicalDisk""#, "_total", keep),
            (r#""name": "LogicalDisk", "totals": "drop""#, "0,_Total", keep),
            (r#""name": "LogicalDisk", "totals": "separate""#, "_Total", apart),
            (r#""name": "LogicalDisk", "totals": "keep""#, "_Total", "yes"),
            (
                r#""name": "LogicalDisk", "totals": "keep", "instances": {"include": ["C:"]}"#,
                "_Total",
                &too("'_Total'"),
            ),
            (r#""name": "LogicalDisk", "instances": {"include": ["_Total"]}"#, "_Total", "yes"),
            (
                r#""name": "LogicalDisk", "instances": {"exclude": ["Hard.*"]}"#,
                "HarddiskVolume1",
                &too("HarddiskVolume1"),
            ),
            (r#""name": "LogicalDisk", "instances": {"include": [{"wildcard": "?:"}]}"#, "D:", "yes"),
            (r#""name": "LogicalDisk", "aggregate": "only""#, "C:", "unknown"),
            (r#""guid": "b4fc721a-0378-476f-89ba-a5a79f810b36""#, "C:", "unknown"),
            (r#""name": "Memory""#, "C:", ""),
        ] {
            let settings = format!(r#"{{"countersets": [{{{counterset}}}]}}"#);
            let settings: Settings = plugin_sdk::parse_settings(&settings).unwrap();
            let said = shown(selects_instance(&settings, "LogicalDisk", instance));
            assert_eq!(said, expected, "{counterset} {instance}");
        }
    }

    #[test]
    fn a_metric_is_of_the_counterset_with_the_longest_name_that_it_begins_with() {
        let settings = r#"{"countersets": [
            {"name": "Process"}, {"first_of": ["Process V2"]}, {"name": {"wildcard": "Net*"}}
        ]}"#;
        let settings: Settings = plugin_sdk::parse_settings(settings).unwrap();
        let prefix_of = |object: &str| Some(format!("{}_", object.to_lowercase().replace(' ', "_")));
        for (metric, expected) in [
            ("process_threads", Some(("Process", false))),
            ("process_v2_threads", Some(("Process V2", false))),
            ("process_total_threads", Some(("Process", true))),
            ("network_bytes", None),
        ] {
            assert_eq!(counterset_of(&settings, metric, prefix_of), expected, "{metric}");
        }
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
