//! The traits that a plugin's author implements.

use std::future::Future;
use std::time::Instant;

use plugin_abi::{FamilyKey, Problem, Selects};
use serde::de::DeserializeOwned;

use super::failure::{Coverage, DeclaredReason, Failure};
use super::handle::Handle;
use super::schema::Transport;
use crate::Target;
use crate::collection::Collection;

/// The end of an instance.
#[derive(Clone, Copy, Debug)]
pub struct End {
    pub reason: EndReason,
    /// The exporter does not wait longer than this.
    pub deadline: Instant,
}

/// Why an instance ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EndReason {
    /// It was removed or replaced.
    Removed,
    ProcessEnds,
}

/// What a new instance gets.
#[derive(Debug)]
pub struct Setup<S> {
    /// The settings, accepted by [`Source::check`].
    pub settings: S,
    pub target: Target,
    /// The instance's handle of the host; clone it as needed.
    pub handle: Handle,
}

impl<S> Setup<S> {
    /// The same with other settings.
    pub(crate) fn with<T>(self, settings: T) -> Setup<T> {
        let Self { target, handle, .. } = self;
        Setup { settings, target, handle }
    }
}

/// The settings of a library as a whole: see [`crate::export_plugin`].
pub trait LibrarySettings: DeserializeOwned + Send + 'static {
    /// Checks beyond those of serde. Must be quick and not use the network.
    fn check(&self) -> Vec<Problem> {
        Vec::new()
    }

    /// Applies the settings: called once in the process, before the first instance. Keep them in a static.
    ///
    /// # Errors Problems with the settings; no instance is made then.
    fn configure(self) -> Result<(), Vec<Problem>>;
}

/// Something that collects without blocking. One value is one source on one target.
///
/// Calling order: `check`, `create`, then any number of `collect` and `reconfigure`, one at a time, then drop. All
/// of it inside the library's tokio runtime. A panic ends only this instance; the host makes a new one after a
/// pause.
pub trait Source: Sized + Send + 'static {
    /// `[a-z][a-z0-9_-]*`, unique in the library.
    const NAME: &'static str;
    /// One line for people.
    const HELP: &'static str;
    /// Failure reasons that the general ones do not cover.
    const REASONS: &'static [DeclaredReason] = &[];
    /// Keys of the settings, and of those of the library, whose values are not secret: pages show them at any level of
    /// the settings. Values of other keys are shown as `hidden`.
    const SHOWN: &'static [&'static str] = &[];
    /// The ways to reach targets. Of several, each one's settings have its port, if that is configured.
    const TRANSPORTS: &'static [Transport] = &[];
    /// Whether it keeps files of its targets. Its settings need a member `storage` then, of the type
    /// [`Option<Storage>`](crate::Storage) and with `#[serde(default)]`.
    const KEEPS_FILES: bool = false;
    /// The settings. Use `#[serde(deny_unknown_fields)]`: what serde refuses becomes a [`Problem`] with its place.
    type Settings: DeserializeOwned + Send + 'static;

    /// Checks beyond those of serde. Must be quick and not use the network.
    fn check(_settings: &Self::Settings, _target: &Target) -> Vec<Problem> {
        Vec::new()
    }

    /// Whether instances with these settings, which were accepted, collect a family: for people who want to know which
    /// settings a metric needs. Must be quick and not use the network.
    fn selects(_settings: &Self::Settings, _family: &FamilyKey) -> Selects {
        Selects::Unknown
    }

    /// Makes the instance. Must be quick and not use the network: connect in the first `collect`.
    ///
    /// # Errors Problems with the settings.
    fn create(setup: Setup<Self::Settings>) -> Result<Self, Vec<Problem>>;

    /// New settings for the same target, already checked. Called between collections, at the latest before the next one.
    /// Keep what the instance knows: families and series stay registered, so retire those that are not sent any more.
    fn reconfigure(&mut self, settings: Self::Settings);

    /// Collects once. The future is dropped at the deadline, or when the host cancels: keep state in `self`, and
    /// call [`Collection::enter`] for each stage, so that a timeout is reported with its stage.
    fn collect(
        &mut self,
        collection: &mut Collection,
    ) -> impl Future<Output = Result<Coverage, Failure>> + Send;

    /// Ends the instance at the target: unsubscribes, releases its resources there. The future is dropped at the
    /// deadline. Cleanup without calls to the target belongs into `Drop`.
    fn end(self, _end: End) -> impl Future<Output = ()> + Send {
        async {}
    }
}

/// Something that collects by blocking its thread; otherwise like [`Source`].
pub trait BlockingSource: Sized + Send + 'static {
    const NAME: &'static str;
    const HELP: &'static str;
    const REASONS: &'static [DeclaredReason] = &[];
    const SHOWN: &'static [&'static str] = &[];
    const TRANSPORTS: &'static [Transport] = &[];
    const KEEPS_FILES: bool = false;
    type Settings: DeserializeOwned + Send + 'static;

    fn check(_settings: &Self::Settings, _target: &Target) -> Vec<Problem> {
        Vec::new()
    }

    fn selects(_settings: &Self::Settings, _family: &FamilyKey) -> Selects {
        Selects::Unknown
    }

    /// As [`Source::create`].
    ///
    /// # Errors Problems with the settings.
    fn create(setup: Setup<Self::Settings>) -> Result<Self, Vec<Problem>>;

    fn reconfigure(&mut self, settings: Self::Settings);

    /// Collects once. Check [`Collection::is_cancelled`] in loops, and limit waits to the remaining time.
    ///
    /// # Errors The stage and reason of the failure.
    fn collect(&mut self, collection: &mut Collection) -> Result<Coverage, Failure>;

    /// As [`Source::end`]; return by the deadline.
    fn end(self, _end: End) {}
}
