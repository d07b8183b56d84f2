//! The schema of a source's settings: keys that may be shown, and its transports.
#![expect(unsafe_code, reason = "reads what a plugin's table points to")]
// UNSAFETY: what a plugin's table points to lives as long as the process, as the header says; what can be checked is.

use plugin_abi::raw::{self, Array, Str};
use plugin_abi::{SettingInfo, SettingKind, TransportInfo};
use serde_json::Value;

use super::Reader;
use crate::error::LoadError;

impl Reader<'_> {
    pub(super) fn keys(&self, field: &str, keys: Array) -> Result<Vec<String>, LoadError> {
        self.texts(field, keys, KEYS_MAX)?.into_iter().map(|key| self.key(field, key)).collect()
    }

    pub(super) fn transports(&self, field: &str, rows: Array) -> Result<Vec<TransportInfo>, LoadError> {
        // SAFETY: what a plugin's table points to lives as long as the process.
        let rows = unsafe { rows.structs::<raw::Transport>(TRANSPORTS_MAX) }
            .map_err(|error| self.wrong(field, "at most 16 transports", &error.to_string()))?;
        let mut transports: Vec<TransportInfo> = Vec::with_capacity(rows.len());
        for (index, row) in rows.enumerate() {
            let field = format!("{field}[{index}]");
            let kind = self.key(&format!("{field}.kind"), row.kind)?;
            if OTHER_KEYS.contains(&&*kind) || transports.iter().any(|known| known.kind == kind) {
                return Err(self.wrong(
                    &format!("{field}.kind"),
                    "a kind that no other transport has",
                    &kind,
                ));
            }
            let help = self.text(&format!("{field}.help"), row.help)?;
            let settings = self.settings(&format!("{field}.settings"), row.settings)?;
            transports.push(TransportInfo { kind, help, settings });
        }
        Ok(transports)
    }

    fn settings(&self, field: &str, rows: Array) -> Result<Vec<SettingInfo>, LoadError> {
        // SAFETY: as above.
        let rows = unsafe { rows.structs::<raw::Setting>(KEYS_MAX) }
            .map_err(|error| self.wrong(field, "at most 256 settings", &error.to_string()))?;
        let mut settings: Vec<SettingInfo> = Vec::with_capacity(rows.len());
        for (index, row) in rows.enumerate() {
            let field = format!("{field}[{index}]");
            let setting = self.setting(&field, &row)?;
            if settings.iter().any(|known| known.key == setting.key) {
                return Err(self.wrong(
                    &format!("{field}.key"),
                    "a key that no other setting has",
                    &setting.key,
                ));
            }
            let is_port = |setting: &SettingInfo| setting.kind == SettingKind::Port;
            if is_port(&setting) && settings.iter().any(is_port) {
                return Err(self.wrong(&format!("{field}.kind"), "one port at most", "another one"));
            }
            settings.push(setting);
        }
        Ok(settings)
    }

    fn setting(&self, field: &str, row: &raw::Setting) -> Result<SettingInfo, LoadError> {
        let member = |member: &str| format!("{field}.{member}");
        let key = self.key(&member("key"), row.key)?;
        let help = self.text(&member("help"), row.help)?;
        let words = self.texts(&member("words"), row.words, KEYS_MAX)?;
        let words: Vec<String> =
            words.into_iter().map(|word| self.name(&member("words"), word)).collect::<Result<_, _>>()?;
        let kind = match row.kind {
            raw::SETTING_KIND_TEXT => SettingKind::Text,
            raw::SETTING_KIND_WORD if !words.is_empty() => SettingKind::Word(words.clone()),
            raw::SETTING_KIND_WORD => {
                return Err(self.wrong(&member("words"), "the words that there are", "none"));
            }
            raw::SETTING_KIND_INTEGER => SettingKind::Integer { min: row.min, max: row.max },
            raw::SETTING_KIND_BOOL => SettingKind::Bool,
            raw::SETTING_KIND_DURATION => match (row.min.try_into(), row.max.try_into()) {
                (Ok(min_ms), Ok(max_ms)) => SettingKind::Duration { min_ms, max_ms },
                _ => return Err(self.wrong(&member("min"), "no negative duration", &row.min.to_string())),
            },
            raw::SETTING_KIND_PORT => SettingKind::Port,
            other => return Err(self.wrong(&member("kind"), "1 to 6", &other.to_string())),
        };
        if !matches!(kind, SettingKind::Word(_)) && !words.is_empty() {
            return Err(self.wrong(&member("words"), "words of a word alone", &words.join(", ")));
        }
        if row.min > row.max {
            return Err(self.wrong(&member("max"), "no less than min", &row.max.to_string()));
        }
        let default = self.default(&member("default_value"), row.default_value, &kind)?;
        Ok(SettingInfo { key, help, kind, default, is_shown: row.flags & raw::SETTING_SHOWN != 0 })
    }

    fn default(&self, field: &str, text: Str, kind: &SettingKind) -> Result<Option<Value>, LoadError> {
        let text = self.text(field, text)?;
        if text.is_empty() {
            return Ok(None);
        }
        let value: Option<Value> = serde_json::from_str(&text).ok().filter(|value| kind.admits(value));
        value.map(Some).ok_or_else(|| self.wrong(field, "JSON that the setting admits", &text))
    }

    fn texts(&self, field: &str, array: Array, len_max: usize) -> Result<Vec<Str>, LoadError> {
        // SAFETY: what a plugin's table points to lives as long as the process.
        unsafe { array.column::<Str>(len_max) }
            .map(<[Str]>::to_vec)
            .map_err(|error| self.wrong(field, "an array within the limits", &error.to_string()))
    }

    /// A name without dashes.
    fn key(&self, field: &str, text: Str) -> Result<String, LoadError> {
        let key = self.name(field, text)?;
        if key.contains('-') { Err(self.wrong(field, "a name without dashes", &key)) } else { Ok(key) }
    }
}

const KEYS_MAX: usize = 256;
const TRANSPORTS_MAX: usize = 16;
/// What every transport has, in the configuration or as its sources get it.
const OTHER_KEYS: &[&str] = &["connect_timeout", "connect_timeout_ms", "addresses"];
