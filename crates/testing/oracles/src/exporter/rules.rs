//! Rules over names and labels, from their text to what a page would say.

use std::sync::Arc;

use plugin_abi::Kind;
use series::model::{Snapshot, clean_name, is_legacy_label, is_legacy_name};
use series::pipeline::{Limits, Normalize};

use crate::exporter::Input;
use crate::exporter::store::{add_family, add_series, complete, family, store};

/// Families, and series of each, in one input.
const FAMILIES_MAX: usize = 4;
const SERIES_MAX: usize = 4;
const LABELS_MAX: usize = 3;

/// A section `normalize:` and series that go through it: the section means the same each time, and so does what comes
/// out; names and labels are valid for who reads them, within the limits; no rule touches `target`.
pub fn labels(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let Ok(section) = str::from_utf8(input.chunk().unwrap_or_default()) else { return };
    let Some(normalize) = read(section) else { return };
    assert_eq!(read(section).as_ref().map(|again| &again.rules), Some(&normalize.rules));
    let snapshot = collect(&normalize, input);
    check(&snapshot, &normalize);
    let prefixes = |snapshot: &Snapshot| -> Vec<String> {
        snapshot.families().flat_map(|family| family.points().map(|point| point.prefix.to_owned())).collect()
    };
    assert_eq!(prefixes(&snapshot), prefixes(&collect(&normalize, input)));
}

fn read(section: &str) -> Option<Normalize> {
    let text = format!("{TARGETS}normalize: {section}\n");
    let config = config::parse("perfmon.yml", &text, "/nowhere".as_ref()).ok()?;
    let target = config.targets.first()?;
    Some(config.normalize(target, "os"))
}

fn collect(normalize: &Normalize, mut input: Input<'_>) -> Arc<Snapshot> {
    let store = store(normalize.clone());
    let text = |input: &mut Input<'_>| {
        let bytes = usize::from(input.byte());
        String::from_utf8_lossy(input.take(bytes)).into_owned()
    };
    for _ in 0..FAMILIES_MAX {
        let kind = [Kind::Gauge, Kind::Counter, Kind::Info, Kind::Unknown][usize::from(input.byte() % 4)];
        let (object, item) = (text(&mut input), text(&mut input));
        let id = add_family(&store, &family(&object, &item, kind));
        for _ in 0..usize::from(input.byte()) % SERIES_MAX {
            let pairs: Vec<(String, String)> = (0..usize::from(input.byte()) % (LABELS_MAX + 1))
                .map(|_| (text(&mut input), text(&mut input)))
                .collect();
            let pairs: Vec<(&str, &str)> = pairs.iter().map(|(name, value)| (&**name, &**value)).collect();
            id.and_then(|id| add_series(&store, id, &pairs));
        }
    }
    complete(&store);
    store.snapshot()
}

fn check(snapshot: &Snapshot, normalize: &Normalize) {
    let Limits { name_bytes_max, label_value_bytes_max, labels_max, series_max, families_max, .. } =
        normalize.limits;
    let utf8 = normalize.profile.is_utf8();
    assert!(snapshot.series() <= series_max && snapshot.families().count() <= families_max);
    for family in snapshot.families() {
        let name = family.family().sample_name();
        let is_name = is_legacy_name(&name) || (utf8 && !name.is_empty() && clean_name(&name) == *name);
        assert!(is_name, "{name:?} is no name");
        // What is renamed has a limit; a plugin's own name is at most what naming makes of texts that have one.
        for point in family.points() {
            let labels: Vec<_> = point.labels().collect();
            assert!(labels.iter().any(|(name, value)| (*name, &**value) == ("target", "web1")), "{labels:?}");
            assert!(labels.len() <= labels_max + 2, "{} labels", labels.len());
            for (index, (name, value)) in labels.iter().enumerate() {
                let is_label = is_legacy_label(name) || (utf8 && clean_name(name) == *name);
                assert!(is_label && !name.starts_with("__"), "{name:?} is no label");
                assert!(
                    name.len() <= 2 * name_bytes_max.max(255 * 3),
                    "a label's name of {} bytes",
                    name.len()
                );
                assert!(value.len() <= label_value_bytes_max.max("prod".len()), "{} bytes", value.len());
                assert!(labels[..index].iter().all(|(other, _)| other != name), "{name} twice");
            }
        }
    }
}

const TARGETS: &str = "
plugins: {load: [pcq]}
identities: {corp: {kind: ntlm, username: svc, password_file: secret, allow_hosts: ['*']}}
modules: {os: {plugin: pcq}}
targets: [{host: web1, identity: corp, modules: [os]}]
";
