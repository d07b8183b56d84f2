//! The plugin's functions, as safe methods.
#![expect(unsafe_code, reason = "calls the functions of the plugin's table")]
// UNSAFETY: the table was filled by the plugin's entry, and its functions stay loaded for the life of the process.
// Each argument lives on the caller's stack or is borrowed by it, and outlives the call. The plugin is trusted to
// keep the header's rules.

use plugin_abi::FamilyKey;
use plugin_abi::raw::{
    Array, Collect, Configure, End, FAILED, Family, INVALID, PANICKED, Plain as _, PluginApi, Run, STALE,
    Str, Text, UNSUPPORTED, struct_size,
};

use super::command::CommandRequest;
use crate::state::InstanceConfig;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Calls(pub(crate) PluginApi);

/// Which of the calls that take settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SettingsCall {
    Validate,
    Create,
    Reconfigure,
    Configure,
    Selects,
}

impl SettingsCall {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Validate => "validate",
            Self::Create => "create",
            Self::Reconfigure => "reconfigure",
            Self::Configure => "configure",
            Self::Selects => "selects",
        }
    }
}

/// Tokens of a call that takes settings.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SettingsTokens {
    pub(crate) source: u32,
    pub(crate) instance: u64,
    pub(crate) report: u64,
}

impl Calls {
    /// Returns the status and the plugin's message. `family` is for [`SettingsCall::Selects`].
    pub(crate) fn configure(
        &self,
        asking: SettingsCall,
        asked: SettingsTokens,
        config: &InstanceConfig,
        family: Option<&FamilyKey>,
    ) -> (i32, String) {
        let function = match asking {
            SettingsCall::Validate => self.0.validate,
            SettingsCall::Create => self.0.create,
            SettingsCall::Reconfigure => self.0.reconfigure,
            SettingsCall::Configure => self.0.configure,
            SettingsCall::Selects => self.0.selects,
        };
        let Some(function) = function else { return (UNSUPPORTED, String::new()) };
        let settings = config.settings.to_string();
        let row = self.row_of(asked, config, &settings);
        let mut room = [0_u8; MESSAGE_BYTES_MAX];
        let mut text = Text {
            size: struct_size::<Text>(),
            reserved: 0,
            ptr: room.as_mut_ptr(),
            capacity: room.len() as u64,
            len: 0,
        };
        let family = family.map(|family| Family {
            size: struct_size::<Family>(),
            space: Str::of(&family.namespace),
            object: Str::of(&family.object),
            item: Str::of(&family.item),
            part: Str::of(&family.part),
            ..Family::ZERO
        });
        let family = family.as_ref().map_or(core::ptr::null(), core::ptr::from_ref);
        let request = Configure { error_host: &raw mut text, family, ..row };
        // SAFETY: the request and all it points to outlive the call.
        let status = unsafe { function(&raw const request) };
        (status, message(&room, text.len))
    }

    pub(crate) fn collect(&self, request: &Collect) -> i32 {
        let Some(function) = self.0.collect else { return UNSUPPORTED };
        // SAFETY: the request outlives the call.
        unsafe { function(request) }
    }

    pub(crate) fn cancel(&self, token: u64) {
        if let Some(function) = self.0.cancel {
            // SAFETY: takes a number.
            unsafe { function(token) };
        }
    }

    /// Whether it says what settings collect.
    pub(crate) fn tells_selections(&self) -> bool {
        self.0.selects.is_some()
    }

    /// Whether its instances may take time to end.
    pub(crate) fn ends_by_deadline(&self) -> bool {
        self.0.end.is_some()
    }

    /// Asks an instance to end; by the deadline, if the plugin supports one.
    pub(crate) fn end(&self, request: &End) {
        if let Some(function) = self.0.end {
            // SAFETY: the request outlives the call.
            unsafe { function(request) };
        } else if let Some(function) = self.0.destroy {
            // SAFETY: takes a number.
            unsafe { function(request.instance) };
        }
    }

    pub(crate) fn wake(&self, owner: u64) {
        if let Some(function) = self.0.wake {
            // SAFETY: takes a number.
            unsafe { function(owner) };
        }
    }

    /// Runs command number `command`; `sources` are the numbers of the sources of `request.configured`.
    pub(crate) fn run(&self, command: u32, run: u64, request: &CommandRequest, sources: &[u32]) -> i32 {
        let Some(function) = self.0.run else { return 1 };
        let args: Vec<Str> = request.args.iter().map(|arg| Str::of(arg)).collect();
        let configs: Vec<_> = request.configured.iter().map(|module| &module.config).collect();
        let settings: Vec<String> = configs.iter().map(|config| config.settings.to_string()).collect();
        let configured: Vec<Configure> = configs
            .iter()
            .zip(&settings)
            .zip(sources)
            .map(|((config, settings), source)| {
                self.row_of(SettingsTokens { source: *source, instance: 0, report: 0 }, config, settings)
            })
            .collect();
        let request = Run {
            size: struct_size::<Run>(),
            command,
            run,
            args: Array::of(&args),
            terminal_width: request.terminal_width.map_or(0, u32::from),
            reserved: 0,
            configured: Array::of(&configured),
        };
        // SAFETY: the request and its arguments outlive the call.
        unsafe { function(&raw const request) }
    }

    /// The request for an instance. It points to the target and to `settings`, which must outlive its use.
    fn row_of(&self, asked: SettingsTokens, config: &InstanceConfig, settings: &str) -> Configure {
        Configure {
            size: struct_size::<Configure>(),
            source: asked.source,
            instance: asked.instance,
            report: asked.report,
            target: Str::of(&config.target.name),
            host: Str::of(&config.target.host),
            port: config.target.port.map_or(0, u32::from),
            flags: if config.is_on_demand { plugin_abi::raw::CONFIGURE_ON_DEMAND } else { 0 },
            identity: Str::of(&config.target.identity),
            settings: Str::of(settings),
            error_host: core::ptr::null_mut(),
            family: core::ptr::null(),
        }
    }
}

/// The message in the buffer; the plugin's length is checked.
pub(crate) fn message(room: &[u8], len: u64) -> String {
    let len = usize::try_from(len).unwrap_or(usize::MAX).min(room.len());
    String::from_utf8_lossy(&room[..len]).into_owned()
}

/// A status for people.
pub(crate) fn status_name(status: i32) -> String {
    match status {
        STALE => "STALE".to_owned(),
        INVALID => "INVALID".to_owned(),
        UNSUPPORTED => "UNSUPPORTED".to_owned(),
        FAILED => "FAILED".to_owned(),
        PANICKED => "PANICKED".to_owned(),
        plugin_abi::raw::OK => "OK".to_owned(),
        plugin_abi::raw::VERSION => "VERSION".to_owned(),
        other => other.to_string(),
    }
}

pub(crate) const MESSAGE_BYTES_MAX: usize = 1_024;
