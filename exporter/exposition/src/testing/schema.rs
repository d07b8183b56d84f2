//! What a plugin declares of settings, in few words.

use std::sync::Arc;

use plugin_abi::{SettingInfo, SettingKind, SettingsSchema, TransportInfo};

/// A schema with the transport `smb`, as plugins for Windows hosts declare it, and with these keys shown.
#[must_use]
pub fn smb(shown: &[&str]) -> Arc<SettingsSchema> {
    let words = ["disabled", "preferred", "required"].map(str::to_owned);
    let encryption = setting("encryption", SettingKind::Word(words.into()));
    let settings = vec![
        SettingInfo { default: Some("preferred".into()), is_shown: true, ..encryption },
        SettingInfo { default: Some(445.into()), is_shown: true, ..setting("port", SettingKind::Port) },
    ];
    schema(shown, vec![transport("smb", settings)])
}

/// The same with the transport `dcom`.
#[must_use]
pub fn dcom(shown: &[&str]) -> Arc<SettingsSchema> {
    schema(shown, vec![at_port_135("dcom")])
}

/// The same with the transport `tcp`.
#[must_use]
pub fn tcp(shown: &[&str]) -> Arc<SettingsSchema> {
    schema(shown, vec![at_port_135("tcp")])
}

fn at_port_135(kind: &str) -> TransportInfo {
    let port = setting("port", SettingKind::Port);
    transport(kind, vec![SettingInfo { default: Some(135.into()), is_shown: true, ..port }])
}

/// A schema with these keys shown and these transports.
#[must_use]
pub fn schema(shown: &[&str], transports: Vec<TransportInfo>) -> Arc<SettingsSchema> {
    let shown = shown.iter().map(|key| (*key).to_owned()).collect();
    Arc::new(SettingsSchema { shown, transports, keeps_files: false })
}

/// A transport with these settings.
#[must_use]
pub fn transport(kind: &str, settings: Vec<SettingInfo>) -> TransportInfo {
    TransportInfo { kind: kind.to_owned(), help: String::new(), settings }
}

/// A setting without a default that is hidden.
#[must_use]
pub fn setting(key: &str, kind: SettingKind) -> SettingInfo {
    SettingInfo { key: key.to_owned(), help: String::new(), kind, default: None, is_shown: false }
}
