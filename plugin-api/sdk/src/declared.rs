//! The declarations of a library, in the header's structs.

use plugin_abi::raw::{Array, Plain as _, Str, struct_size};

use super::schema::{Setting, SettingKind, Transport};
use crate::arguments::CommandOption;
use crate::plugin::Plugin;

/// The declarations in the header's structs. They live as long as the process, as the header requires.
pub(crate) struct Tables {
    pub(crate) sources: &'static [plugin_abi::raw::Source],
    pub(crate) commands: &'static [plugin_abi::raw::Command],
}

impl Tables {
    pub(crate) fn of(plugin: &'static Plugin) -> Self {
        let sources = plugin.sources.iter().map(|source| plugin_abi::raw::Source {
            size: struct_size::<plugin_abi::raw::Source>(),
            mode: source.mode,
            name: Str::of(source.name),
            help: Str::of(source.help),
            reasons: Array::of(leak(source.reasons.iter().map(|reason| plugin_abi::raw::Reason {
                size: struct_size::<plugin_abi::raw::Reason>(),
                reserved: 0,
                word: Str::of(reason.word),
                sentence: Str::of(reason.sentence),
                next_step: Str::of(reason.next_step),
            }))),
            shown: texts(source.shown),
            transports: Array::of(leak(source.transports.iter().map(transport_row))),
            flags: if source.keeps_files { plugin_abi::raw::SOURCE_KEEPS_FILES } else { 0 },
            reserved: 0,
        });
        let commands = plugin.commands.iter().map(|command| plugin_abi::raw::Command {
            size: struct_size::<plugin_abi::raw::Command>(),
            reserved: 0,
            name: Str::of(command.name),
            help: Str::of(command.help),
            aliases: texts(command.aliases),
            options: Array::of(leak((command.options)().into_iter().map(option_row))),
        });
        Self { sources: leak(sources), commands: leak(commands) }
    }
}

fn option_row(option: CommandOption) -> plugin_abi::raw::CommandOption {
    let required = if option.required { plugin_abi::raw::OPTION_REQUIRED } else { 0 };
    let repeated = if option.repeated { plugin_abi::raw::OPTION_REPEATED } else { 0 };
    plugin_abi::raw::CommandOption {
        size: struct_size::<plugin_abi::raw::CommandOption>(),
        flags: required | repeated,
        name: Str::of(option.name.leak()),
        value_name: Str::of(option.value_name.leak()),
        help: Str::of(option.help.leak()),
    }
}

fn leak<T>(rows: impl Iterator<Item = T>) -> &'static [T] {
    Box::leak(rows.collect::<Vec<_>>().into_boxed_slice())
}

fn transport_row(transport: &Transport) -> plugin_abi::raw::Transport {
    plugin_abi::raw::Transport {
        size: struct_size::<plugin_abi::raw::Transport>(),
        reserved: 0,
        kind: Str::of(transport.kind),
        help: Str::of(transport.help),
        settings: Array::of(leak(transport.settings.iter().map(setting_row))),
    }
}

fn setting_row(setting: &Setting) -> plugin_abi::raw::Setting {
    let row = plugin_abi::raw::Setting {
        size: struct_size::<plugin_abi::raw::Setting>(),
        flags: if setting.is_shown { plugin_abi::raw::SETTING_SHOWN } else { 0 },
        key: Str::of(setting.key),
        help: Str::of(setting.help),
        default_value: Str::of(setting.default),
        ..plugin_abi::raw::Setting::ZERO
    };
    let of_kind = |kind| plugin_abi::raw::Setting { kind, ..row };
    match setting.kind {
        SettingKind::Text => of_kind(plugin_abi::raw::SETTING_KIND_TEXT),
        SettingKind::Word(words) => {
            plugin_abi::raw::Setting { words: texts(words), ..of_kind(plugin_abi::raw::SETTING_KIND_WORD) }
        }
        SettingKind::Integer { min, max } => {
            plugin_abi::raw::Setting { min, max, ..of_kind(plugin_abi::raw::SETTING_KIND_INTEGER) }
        }
        SettingKind::Bool => of_kind(plugin_abi::raw::SETTING_KIND_BOOL),
        SettingKind::Duration { min_ms, max_ms } => plugin_abi::raw::Setting {
            min: min_ms.into(),
            max: max_ms.into(),
            ..of_kind(plugin_abi::raw::SETTING_KIND_DURATION)
        },
        SettingKind::Port => of_kind(plugin_abi::raw::SETTING_KIND_PORT),
    }
}

fn texts(texts: &'static [&'static str]) -> Array {
    Array::of(leak(texts.iter().map(|text| Str::of(text))))
}
