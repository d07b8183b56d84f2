//! The shared state of a loaded library and of the host.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use parking_lot::{Condvar, Mutex, MutexGuard, RwLock};
use plugin_abi::Level;
use plugin_abi::raw::{End, PANICKED, struct_size};
use serde_json::Value;

use crate::calls::Calls;
use crate::cells::LibraryCells;
use crate::error::ConfigureError;
use crate::info::PluginInfo;
use crate::log_budget::{Admitted, LogBudget};
use crate::options::{HostOptions, Limits};
use crate::state::InstanceState;
use crate::thread_pool::{Job, Limit, ThreadPool};
use crate::tokens;
use crate::violation::{Violation, Violations};

pub(crate) struct LibraryShared {
    /// Its number in the upper bits of its tokens.
    pub(crate) number: u16,
    pub(crate) info: PluginInfo,
    pub(crate) calls: Calls,
    pub(crate) host: Arc<HostShared>,
    pub(crate) violations: Violations,
    /// Short calls, one after the other, in order.
    pub(crate) control: ThreadPool,
    /// Collections of blocking sources.
    pub(crate) blocking: ThreadPool,
    /// The limit of log records that belong to no instance.
    pub(crate) log_budget: LogBudget,
    /// The memory for the state of its RPC run time.
    pub(crate) cells: LibraryCells,
    /// The settings of the library, once it has them.
    settings: Mutex<Option<Value>>,
    /// Instances that have not ended.
    pub(crate) instances: Mutex<HashMap<u64, Weak<dyn LiveInstance>>>,
}

/// What helps where a plugin logs too much.
const NEXT_STEP: (&str, &str) =
    ("next_step", "see what it repeats, and mend that; a higher level of the log leaves room for the rest");

impl LibraryShared {
    pub(crate) fn new(number: u16, calls: Calls, info: PluginInfo, host: &Arc<HostShared>) -> Self {
        let options = &host.options;
        let pool = |what: &str, threads: usize| {
            let thread = format!("{}-{what}", info.name);
            ThreadPool::new(
                thread,
                Arc::clone(&options.clock),
                threads,
                options.limits.lost_threads_max as usize,
            )
        };
        Self {
            number,
            control: pool("call", 1),
            blocking: pool("collect", options.limits.blocking_threads_max as usize),
            calls,
            host: Arc::clone(host),
            violations: Violations::default(),
            log_budget: LogBudget::default(),
            cells: LibraryCells::default(),
            settings: Mutex::default(),
            instances: Mutex::default(),
            info,
        }
    }

    /// The settings of the library, once it has them.
    pub(crate) fn settings(&self) -> MutexGuard<'_, Option<Value>> {
        self.settings.lock()
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.host.options.limits
    }

    pub(crate) fn now_ns(&self) -> u64 {
        (self.host.options.clock)()
    }

    pub(crate) fn name(&self) -> String {
        self.info.name.clone()
    }

    /// The number of a source.
    pub(crate) fn source(&self, name: &str) -> Result<u32, ConfigureError> {
        let sources = &self.info.sources;
        let index =
            sources.iter().position(|source| source.name == name).and_then(|index| u32::try_from(index).ok());
        index.ok_or_else(|| ConfigureError::NoSource {
            plugin: self.name(),
            source_name: name.to_owned(),
            found: sources.iter().map(|source| source.name.clone()).collect(),
        })
    }

    /// Counts a status that is a failure of the plugin itself.
    pub(crate) fn count_status(&self, status: i32) {
        self.violations.count(if status == PANICKED { Violation::Panic } else { Violation::FailedCall });
    }

    /// Queues a short call that belongs to no instance.
    pub(crate) fn call(self: &Arc<Self>, work: impl FnOnce(&Calls) + Send + 'static) {
        let calls = self.calls;
        let slow = Arc::clone(self);
        self.control.submit(Job {
            limit: Limit::Within { ns: self.limits().async_call_ms_max * 1_000_000 },
            work: Box::new(move || work(&calls)),
            overrun: Box::new(move || slow.violations.count(Violation::SlowCall)),
        });
    }

    /// Asks an instance to end, on a thread of the library.
    pub(crate) fn end(self: &Arc<Self>, instance: u64, reason: u32, deadline_ns: u64) {
        let request =
            End { size: struct_size::<End>(), reason, instance, now_ns: self.now_ns(), deadline_ns };
        self.call(move |calls| calls.end(&request));
    }

    /// The deadline of an instance that is asked to end now.
    pub(crate) fn end_deadline_ns(&self) -> u64 {
        self.now_ns().saturating_add(self.limits().end_ms_max.saturating_mul(1_000_000))
    }

    /// Wakes an instance or a run to retry.
    pub(crate) fn wake(self: &Arc<Self>, owner: u64) {
        self.call(move |calls| calls.wake(owner));
    }

    /// All instances that are alive.
    pub(crate) fn alive(&self) -> Vec<Arc<dyn LiveInstance>> {
        self.instances.lock().values().filter_map(Weak::upgrade).collect()
    }

    /// Removes an instance that has ended or was never made.
    pub(crate) fn forget(&self, token: u64) {
        self.instances.lock().remove(&token);
        self.host.ended.notify_all();
    }

    /// Whether `budget` allows `bytes` more bytes in this second; counted if not, and said with `log` now and then.
    pub(crate) fn may_log(
        &self,
        budget: &LogBudget,
        bytes: usize,
        host: Option<&str>,
        log: impl FnOnce(&str, &[(&str, &str)]),
    ) -> bool {
        let second = self.now_ns() / 1_000_000_000;
        let admitted = budget.take(bytes, host, second, self.limits().log_bytes_per_second_max.into());
        self.violations.add(Violation::LogOverflow, u64::from(admitted != Admitted::Yes));
        if let Admitted::NoAndSay(records) = admitted {
            let mut fields = vec![("records", records.to_string())];
            fields.extend(host.map(|host| ("host", host.to_owned())));
            let fields: Vec<(&str, &str)> =
                fields.iter().map(|(name, value)| (*name, value.as_str())).chain([NEXT_STEP]).collect();
            log("Log records are dropped: more came in a second than the limit", &fields);
        }
        admitted == Admitted::Yes
    }

    pub(crate) fn log_enabled(&self, level: Level) -> bool {
        match &self.host.options.log {
            Some(log) => log.log_enabled(&self.info.name, level),
            None => true,
        }
    }

    pub(crate) fn log(&self, level: Level, message: &str, fields: &[(&str, &str)]) {
        if let Some(log) = &self.host.options.log {
            log.log(&self.info.name, level, message, fields);
            return;
        }
        let plugin = &self.info.name;
        match level {
            Level::Error => tracing::error!(%plugin, ?fields, "{message}"),
            Level::Warn => tracing::warn!(%plugin, ?fields, "{message}"),
            Level::Info => tracing::info!(%plugin, ?fields, "{message}"),
            Level::Debug => tracing::debug!(%plugin, ?fields, "{message}"),
            Level::Trace => tracing::trace!(%plugin, ?fields, "{message}"),
        }
    }
}

/// An instance, as the library and the host use it.
pub(crate) trait LiveInstance: Send + Sync {
    /// What it is doing.
    fn state_at(&self, now_ns: u64) -> InstanceState;

    /// Checks a collection, or an end under the instance's token, whose time has come.
    fn look(&self, collection: u64, now_ns: u64);

    /// Asks the plugin to end the instance by the deadline, with a reason of the header.
    fn destroy(&self, reason: u32, deadline_ns: u64);
}

pub(crate) struct HostShared {
    pub(crate) options: HostOptions,
    pub(crate) stopping: AtomicBool,
    pub(crate) libraries: Mutex<Vec<Arc<LibraryShared>>>,
    /// Pending checks: time and collection.
    pub(crate) deadlines: Mutex<BTreeMap<(u64, u64), Weak<dyn LiveInstance>>>,
    /// Collections in flight by host name.
    targets: Mutex<HashMap<String, u32>>,
    /// Notified when an instance has ended; waited for with `waiting`.
    pub(crate) ended: Condvar,
    pub(crate) waiting: Mutex<()>,
}

impl HostShared {
    pub(crate) fn new(options: HostOptions) -> Self {
        Self {
            options,
            stopping: AtomicBool::new(false),
            libraries: Mutex::default(),
            deadlines: Mutex::default(),
            targets: Mutex::default(),
            ended: Condvar::new(),
            waiting: Mutex::new(()),
        }
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Acquire)
    }

    /// One more collection against this host name, unless there are too many.
    pub(crate) fn enter_target(&self, host: &str) -> bool {
        let mut targets = self.targets.lock();
        let count = targets.entry(host.to_owned()).or_default();
        let free = *count < self.options.limits.collections_per_target_max;
        if free {
            *count += 1;
        }
        free
    }

    pub(crate) fn leave_target(&self, host: &str) {
        let mut targets = self.targets.lock();
        if let Some(count) = targets.get_mut(host) {
            *count -= 1;
            if *count == 0 {
                targets.remove(host);
            }
        }
    }

    pub(crate) fn watch(&self, at_ns: u64, collection: u64, instance: Weak<dyn LiveInstance>) {
        self.deadlines.lock().insert((at_ns, collection), instance);
    }

    pub(crate) fn unwatch(&self, at_ns: u64, collection: u64) {
        self.deadlines.lock().remove(&(at_ns, collection));
    }
}

static LIBRARIES: RwLock<Vec<Option<Arc<LibraryShared>>>> = RwLock::new(Vec::new());

/// Adds a library with the next number, which `make` gets. `None` if it makes none, or if there are no more
/// numbers.
pub(crate) fn add(make: impl FnOnce(u16) -> Option<Arc<LibraryShared>>) -> Option<Arc<LibraryShared>> {
    let number = {
        let mut libraries = LIBRARIES.write();
        let number = u16::try_from(libraries.len() + 1).ok()?;
        // The number is reserved before the entry runs, because the entry may call the host.
        libraries.push(None);
        number
    };
    let library = make(number)?;
    let mut libraries = LIBRARIES.write();
    libraries[usize::from(number) - 1] = Some(Arc::clone(&library));
    Some(library)
}

/// The library of a token, even if the token has expired.
pub(crate) fn of_token(token: u64) -> Option<Arc<LibraryShared>> {
    let number = usize::try_from(tokens::library_number(token)).ok()?;
    LIBRARIES.read().get(number.checked_sub(1)?).cloned().flatten()
}
