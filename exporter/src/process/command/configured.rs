//! What the configuration has for the target of a command: the settings of its modules, and the names of its metrics.

use config::{Config, Target};
use plugin_host::{ConfiguredModule, Library};
use series::pipeline::Normalize;

use crate::process::plugins::{instance_config, source_of};

/// One for each of the target's modules of the library, with the rules of each.
pub(super) fn modules_of(
    config: &Config,
    target: &Target,
    library: &Library,
) -> (Vec<ConfiguredModule>, Vec<Normalize>) {
    let of_library = target.modules.iter().filter_map(|name| {
        let module = config.modules.get(name).filter(|module| module.plugin == library.info().name)?;
        let source = source_of(module, library).ok()?.name.clone();
        let made_of = instance_config(config, Some(target), module, &target.transport);
        Some((ConfiguredModule { source, config: made_of }, config.normalize(target, name)))
    });
    of_library.unzip()
}

#[cfg(test)]
mod tests {
    use plugin_abi::{Display, FamilyDef, Kind, ValueKind};
    use plugin_host::{Host, HostOptions};
    use serde_json::json;

    use config::libraries::names_of;

    use super::*;

    #[test]
    fn a_command_gets_its_modules_of_the_target_and_names_by_their_rules() {
        let text = "plugins: {load: [pcq, another]}
normalize: {rename: [{from: 'perfmon_memory_(.*)', to: windows_$1}]}
modules:
  os: {plugin: pcq, countersets: [{name: Memory}], normalize: {naming: verbatim}}
  other: {plugin: another}
targets: [{host: web1, modules: [other, os]}]";
        let config = config::parse("a.yml", text, std::path::Path::new(".")).unwrap();
        let library = Host::new(HostOptions::default()).link("pcq", plugin_pcq::entry).unwrap();
        let (modules, rules) = modules_of(&config, &config.targets[0], &library);
        assert_eq!(modules.len(), 1);
        assert_eq!((modules[0].source.as_str(), modules[0].config.target.host.as_str()), ("pcq", "web1"));
        assert_eq!(modules[0].config.settings["countersets"], json!([{"name": "Memory"}]));
        let names = names_of(rules, config.normalize_all());
        let family = FamilyDef {
            namespace: "",
            object: "Memory",
            item: "Pages",
            part: "",
            kind: Kind::Counter,
            unit: "seconds",
            help: "",
            origin: "",
            value: ValueKind::F64,
            bounds: &[],
            display: Display::NONE,
        };
        assert!(names.name(None, &family).unwrap().starts_with("windows_pages"), "by the rule for all");
        assert_eq!(names.name(Some(0), &family).unwrap(), "perfmon.Memory.Pages_seconds_total");
    }
}
