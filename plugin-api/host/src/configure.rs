//! Calls that take settings, and the problems that they report.

use std::sync::{Arc, mpsc};
use std::time::Duration;

use parking_lot::Mutex;
use plugin_abi::raw::{INVALID, OK, SOURCE_LIBRARY, UNSUPPORTED};
use plugin_abi::{FamilyKey, Problem};
use serde_json::{Map, Value};

use super::tokens::{Tokens, new_token};
use crate::calls::{SettingsCall, SettingsTokens, status_name};
use crate::error::ConfigureError;
use crate::library::LibraryShared;
use crate::state::InstanceConfig;
use crate::thread_pool::{Job, Limit};

/// The reports of calls that have not returned.
pub(crate) static REPORTS: Tokens<Report> = Tokens::new();

/// The problems of one call.
pub(crate) struct Report {
    pub(crate) library: Arc<LibraryShared>,
    problems_max: usize,
    problems: Mutex<Vec<Problem>>,
}

impl Report {
    pub(crate) fn is_full(&self) -> bool {
        self.problems.lock().len() >= self.problems_max
    }

    pub(crate) fn add(&self, problem: Problem) {
        self.problems.lock().push(problem);
    }
}

/// Gives a library its settings, unless it has them.
pub(crate) fn library(library: &Arc<LibraryShared>, settings: &Value) -> Result<(), ConfigureError> {
    // Held during the call: concurrent callers wait and then find it done.
    let mut had = library.settings();
    match &*had {
        Some(had) if had == settings => return Ok(()),
        Some(_) => return Err(ConfigureError::OtherSettings { plugin: library.name() }),
        None => {}
    }
    if library.info.has_settings {
        let config = InstanceConfig { settings: settings.clone(), ..InstanceConfig::default() };
        ask(library, SettingsCall::Configure, SOURCE_LIBRARY, 0, &config)?;
    }
    *had = Some(settings.clone());
    Ok(())
}

/// Like [`library`], with empty settings if it has none yet.
pub(crate) fn library_unless_done(shared: &Arc<LibraryShared>) -> Result<(), ConfigureError> {
    let has_settings = shared.settings().is_some();
    if has_settings { Ok(()) } else { library(shared, &Value::Object(Map::new())) }
}

/// Calls the plugin on a thread of the library, and waits up to the limit.
pub(crate) fn ask(
    library: &Arc<LibraryShared>,
    asking: SettingsCall,
    source: u32,
    instance: u64,
    config: &InstanceConfig,
) -> Result<(), ConfigureError> {
    let config = config.clone();
    on_thread(library, asking, move |library| ask_here(library, asking, source, instance, &config))
}

/// Asks whether these settings collect a family, like [`ask`].
pub(crate) fn ask_selects(
    library: &Arc<LibraryShared>,
    source: u32,
    config: &InstanceConfig,
    family: &FamilyKey,
) -> Result<(), ConfigureError> {
    let (config, family) = (config.clone(), family.clone());
    on_thread(library, SettingsCall::Selects, move |library| {
        ask_about(library, SettingsCall::Selects, source, 0, &config, Some(&family))
    })
}

fn on_thread(
    library: &Arc<LibraryShared>,
    asking: SettingsCall,
    call: impl FnOnce(&Arc<LibraryShared>) -> Result<(), ConfigureError> + Send + 'static,
) -> Result<(), ConfigureError> {
    let waited_ms = library.limits().configure_ms_max;
    let hung = || ConfigureError::Hung { plugin: library.name(), call: asking.name(), waited_ms };
    let (sender, receiver) = mpsc::channel();
    let work = {
        let library = Arc::clone(library);
        Box::new(move || {
            // If this fails, the caller no longer waits.
            let _ = sender.send(call(&library));
        })
    };
    let limit = Limit::Within { ns: waited_ms * 1_000_000 };
    if !library.control.submit(Job { limit, work, overrun: Box::new(|| {}) }) {
        return Err(hung());
    }
    receiver.recv_timeout(Duration::from_millis(waited_ms)).unwrap_or_else(|_| Err(hung()))
}

/// Calls the plugin on the calling thread.
pub(crate) fn ask_here(
    library: &Arc<LibraryShared>,
    asking: SettingsCall,
    source: u32,
    instance: u64,
    config: &InstanceConfig,
) -> Result<(), ConfigureError> {
    ask_about(library, asking, source, instance, config, None)
}

fn ask_about(
    library: &Arc<LibraryShared>,
    asking: SettingsCall,
    source: u32,
    instance: u64,
    config: &InstanceConfig,
    family: Option<&FamilyKey>,
) -> Result<(), ConfigureError> {
    let report_token = new_token(library.number);
    let problems_max = library.limits().problems_max as usize;
    let report = Arc::new(Report { library: Arc::clone(library), problems_max, problems: Mutex::default() });
    REPORTS.insert(report_token, Arc::clone(&report));
    let asked = SettingsTokens { source, instance, report: report_token };
    let (status, message) = library.calls.configure(asking, asked, config, family);
    REPORTS.remove(report_token);
    let mut problems = std::mem::take(&mut *report.problems.lock());
    match status {
        OK => Ok(()),
        // Plugins need not support checks without an instance.
        UNSUPPORTED if asking == SettingsCall::Validate => Ok(()),
        UNSUPPORTED if matches!(asking, SettingsCall::Selects | SettingsCall::Reconfigure) => {
            Err(ConfigureError::Unsupported { plugin: library.name(), call: asking.name() })
        }
        INVALID => {
            if problems.is_empty() && asking != SettingsCall::Selects {
                let message = if message.is_empty() { "not accepted".to_owned() } else { message };
                problems.push(Problem { message, ..Problem::default() });
            }
            Err(ConfigureError::Problems(problems))
        }
        status => {
            library.count_status(status);
            let status = status_name(status);
            Err(ConfigureError::Failed { plugin: library.name(), call: asking.name(), status, message })
        }
    }
}
