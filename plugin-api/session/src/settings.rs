//! The transport settings that the exporter passes in a module's settings.

use std::net::IpAddr;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use host_session::Options;
use plugin_sdk::{CellMemory, Setting, SettingKind, Transport};
use rpc_cells::{Memory, Writer};
use rpc_recorder::{InterfaceNames, Recorder};
use serde::Deserialize;
use tracing::warn;

/// The key `transport` of a module's settings. The exporter fills it in from the target's transport.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields, default)]
pub struct TransportSettings {
    /// Maximum time of each of the stages dns and tcp, in milliseconds.
    pub connect_timeout_ms: u64,
    /// The allowed addresses of the host. If empty, the plugin resolves the name.
    pub addresses: Vec<IpAddr>,
    pub smb: SmbSettings,
    pub dcom: DcomSettings,
    pub tcp: TcpSettings,
}

/// Settings of RPC over TCP: none but the port, which comes with the target.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct TcpSettings {}

#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields, default)]
pub struct DcomSettings {
    /// The configured port, for a source that declares other transports, too. Otherwise it comes with the target.
    pub port: Option<u16>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields, default)]
pub struct SmbSettings {
    /// Whether SMB itself is encrypted. The calls within it always are.
    pub encryption: Encryption,
    /// The configured port, for a source that declares other transports, too. Otherwise it comes with the target.
    pub port: Option<u16>,
}

/// Whether SMB itself is encrypted.
#[derive(Clone, Copy, Debug, Default, Deserialize, clap::ValueEnum, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Encryption {
    /// Never; servers that require it are refused.
    #[value(help = "never")]
    Disabled,
    /// If the server supports it: from SMB 3 on, unless it is disabled there.
    #[default]
    #[value(help = "where the server can")]
    Preferred,
    /// Always; servers without it are refused.
    #[value(help = "a server without it is refused")]
    Required,
}

/// Named pipes over SMB, as [`plugin_sdk::Source::TRANSPORTS`] declares them.
pub const SMB_TRANSPORT: Transport = Transport {
    kind: "smb",
    help: "Named pipes over SMB 2 and 3",
    settings: &[
        Setting {
            key: "encryption",
            help: "Whether SMB itself is encrypted; the calls within it always are",
            kind: SettingKind::Word(&["disabled", "preferred", "required"]),
            default: "\"preferred\"",
            is_shown: true,
        },
        Setting {
            key: "port",
            help: "The port of SMB",
            kind: SettingKind::Port,
            default: "445",
            is_shown: true,
        },
    ],
};

/// Objects of DCOM, as [`plugin_sdk::Source::TRANSPORTS`] declares them.
pub const DCOM_TRANSPORT: Transport = Transport {
    kind: "dcom",
    help: "Objects of DCOM over TCP",
    settings: &[Setting {
        key: "port",
        help: "The port of the host's object resolver, which tells the ports of objects",
        kind: SettingKind::Port,
        default: "135",
        is_shown: true,
    }],
};

/// RPC over TCP, as [`plugin_sdk::Source::TRANSPORTS`] declares it.
pub const TCP_TRANSPORT: Transport = Transport {
    kind: "tcp",
    help: "RPC over TCP",
    settings: &[Setting {
        key: "port",
        help: "The port of the host's endpoint mapper, which tells the ports of its interfaces",
        kind: SettingKind::Port,
        default: "135",
        is_shown: true,
    }],
};

impl Default for TransportSettings {
    fn default() -> Self {
        Self {
            connect_timeout_ms: 3_000,
            addresses: Vec::new(),
            smb: SmbSettings::default(),
            dcom: DcomSettings::default(),
            tcp: TcpSettings::default(),
        }
    }
}

impl TransportSettings {
    /// The port of SMB for a source that uses DCOM, too. `of_target` is what came with the target.
    #[must_use]
    pub const fn smb_port(&self, of_target: Option<u16>) -> Option<u16> {
        match (self.smb.port, self.dcom.port) {
            (Some(port), _) => Some(port),
            // Then it is that of DCOM.
            (None, Some(_)) => None,
            (None, None) => of_target,
        }
    }

    /// The options of a session, whose associations have cells with these names.
    pub(crate) fn options(&self, names: &[InterfaceNames]) -> Options {
        let options = options(Duration::from_millis(self.connect_timeout_ms), self.smb.encryption);
        Options { observers: Arc::new(recorder(names)), ..options }
    }
}

/// The options of a session with `connect_timeout` as the limit of each of the stages dns and tcp.
pub(crate) fn options(connect_timeout: Duration, encryption: Encryption) -> Options {
    use ms_smb2::client::Encryption as Smb;
    let mut options = Options { connect_timeout, ..Options::default() };
    options.smb.encryption = match encryption {
        Encryption::Disabled => Smb::Disabled,
        Encryption::Preferred => Smb::Preferred,
        Encryption::Required => Smb::Required,
    };
    options
}

// The state of this plugin's RPC run time, in cells that other processes read.

/// The writer of this library's cells. It writes nothing if the exporter keeps none. Do not call it before
/// [`plugin_sdk::Source::create`].
#[must_use]
pub fn cells() -> Writer {
    // There is one writer of a memory.
    static WRITER: OnceLock<Writer> = OnceLock::new();
    WRITER.get_or_init(begin_cells).clone()
}

/// Keeps the state of this library's associations in its [`cells`]. The names are those of its first call.
#[must_use]
pub fn recorder(names: &[InterfaceNames]) -> Recorder {
    static RECORDER: OnceLock<Recorder> = OnceLock::new();
    RECORDER.get_or_init(|| Recorder::new(cells(), names)).clone()
}

fn begin_cells() -> Writer {
    // The exporter has logged why there is no room.
    let Ok(Some(memory)) = plugin_sdk::cell_memory() else { return Writer::disabled() };
    Writer::over(OfExporter(memory)).unwrap_or_else(|error| {
        let next_step = "install the plugin and the exporter of one version";
        warn!(%error, next_step, "Plugin runs without RPC state");
        Writer::disabled()
    })
}

/// Memory of the exporter.
struct OfExporter(CellMemory);

impl Memory for OfExporter {
    fn words(&self) -> &[AtomicU64] {
        self.0.words()
    }

    fn grow(&self, sections: u16) -> bool {
        self.0.grow(sections)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_settings_of_a_transport_are_those_that_are_declared() {
        let read = |text: String| plugin_sdk::parse_settings::<TransportSettings>(&text).unwrap();
        let [encryption, port] = SMB_TRANSPORT.settings else { panic!("two settings") };
        let SettingKind::Word(words) = encryption.kind else { panic!("a word") };
        let modes = words.iter().map(|word| read(format!(r#"{{"smb": {{"encryption": "{word}"}}}}"#)));
        let modes: Vec<_> = modes.map(|transport| transport.smb.encryption).collect();
        assert_eq!(modes, [Encryption::Disabled, Encryption::Preferred, Encryption::Required]);
        let default = read(format!(r#"{{"smb": {{"encryption": {}}}}}"#, encryption.default));
        assert_eq!(default, TransportSettings::default());
        assert_eq!((port.kind, port.default), (SettingKind::Port, "445"));
    }

    #[test]
    fn the_port_of_a_target_is_that_of_smb_unless_the_transports_say_so() {
        let port = |text: &str, of_target| {
            plugin_sdk::parse_settings::<TransportSettings>(text).unwrap().smb_port(of_target)
        };
        assert_eq!(port("{}", Some(4450)), Some(4450));
        assert_eq!(port(r#"{"dcom": {"port": 1135}}"#, Some(1135)), None);
        assert_eq!(port(r#"{"smb": {"port": 4450}, "dcom": {"port": 1135}}"#, Some(4450)), Some(4450));
    }
}
