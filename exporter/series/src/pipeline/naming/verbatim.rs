use super::native::words;
use super::{FamilyName, Nameable};
use crate::model::{Kind, clean_name};

/// `perfmon.Processor Information.% Processor Time_seconds`: the source's own texts with dots between them, one
/// space for each run of white space, the unit after.
pub(super) fn verbatim(family: &Nameable<'_>) -> FamilyName {
    let unit = if family.kind == Kind::Info { String::new() } else { words(family.unit).join("_") };
    let parts = [family.namespace, family.object, family.item, family.part];
    let mut name = String::from("perfmon");
    for part in parts.into_iter().map(one_spaced).filter(|part| !part.is_empty()) {
        name.push('.');
        name.push_str(&part);
    }
    let suffix = family.kind.sample_suffix();
    while let Some(stem) = name.strip_suffix(suffix).filter(|_| !suffix.is_empty()) {
        name.truncate(stem.len());
    }
    if !unit.is_empty() && !name.ends_with(&format!("_{unit}")) {
        name = format!("{name}_{unit}");
    }
    FamilyName { name: clean_name(&name).into_owned(), unit }
}

fn one_spaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_sources_own_texts() {
        let gauge = Nameable {
            namespace: "",
            object: "Processor\n Information",
            item: "% Größe \"x\"",
            part: "",
            kind: Kind::Gauge,
            unit: "",
        };
        let name = |family: &Nameable<'_>| verbatim(family).name;
        assert_eq!(name(&gauge), "perfmon.Processor Information.% Größe \u{fffd}x\u{fffd}");
        let counter = Nameable { kind: Kind::Counter, item: "a_total_total", part: "base", ..gauge };
        assert_eq!(name(&counter), "perfmon.Processor Information.a_total_total.base");
        let counter = Nameable { part: "", unit: "seconds", ..counter };
        assert_eq!(name(&counter), "perfmon.Processor Information.a_seconds");
        assert_eq!(verbatim(&counter).unit, "seconds");
        let info = Nameable { kind: Kind::Info, item: "b_info", unit: "bytes", ..gauge };
        assert_eq!(name(&info), "perfmon.Processor Information.b");
    }
}
