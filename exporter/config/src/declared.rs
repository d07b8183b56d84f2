//! What plugins declare of settings. The file is read before they are loaded, and checked against it afterwards.

use super::document::Config;
use super::plugins::Module;
use super::problem::{Problem, Problems};
use super::schemas::Schemas;
use super::shown::Shown;
use super::target::Target;
use super::transport::{self, TransportSettings};

impl Config {
    /// Applies the declarations of loaded plugins to the transports and the shown text of the configuration, once
    /// after it was read. Returns problems of its transports, which get their defaults.
    pub fn set_schemas(&mut self, schemas: &Schemas) -> Vec<Problem> {
        let problems = Problems::default();
        self.report_contradictions(schemas, &problems);
        transport::set_declared(&mut self.transports, &schemas.transports(), &problems);
        for (name, module) in &mut self.modules {
            module.schema = schemas.of_modules.get(name).cloned().unwrap_or_default();
        }
        if let Some(root) = self.tree.take() {
            self.shown = Shown::of(&root, schemas);
        }
        problems.into_vec()
    }

    /// How the port of a transport is written, as far as a module has one.
    #[must_use]
    pub fn port_key(&self) -> Option<String> {
        let mut transports = self.modules.values().flat_map(|module| &module.schema.transports);
        transports.find_map(|transport| Some(format!("{}: {{{}: …}}", transport.kind, transport.port()?.key)))
    }

    /// The transport settings for the module's source.
    ///
    /// # Panics
    /// When the configuration does not have the transport.
    #[must_use]
    pub fn transport_settings(&self, transport: &str, module: &Module) -> TransportSettings {
        self.transports[transport].settings(&module.schema)
    }

    /// The port of a target: that of its first module with one.
    #[must_use]
    pub fn port(&self, target: &Target) -> Option<u16> {
        let transport = self.transports.get(&target.transport)?;
        let modules = target.modules.iter().filter_map(|name| self.modules.get(name));
        modules.filter_map(|module| transport.settings(&module.schema).asked_port()).next()
    }

    fn report_contradictions(&self, schemas: &Schemas, problems: &Problems) {
        for (transport, first, plugin) in schemas.contradictions() {
            let Some(index) = self.plugins.load.iter().position(|loaded| loaded.name == plugin) else {
                continue;
            };
            let message = format!(
                "plugin `{plugin}` declares the transport `{}` differently from plugin `{first}`",
                transport.kind
            );
            let hint = Some("load versions of the two that belong together".to_owned());
            let position = self.plugins.load[index].position;
            problems.push_hint(position, &format!("plugins.load[{index}]"), message, hint);
        }
    }
}
