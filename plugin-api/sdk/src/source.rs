//! What a plugin's author writes.

use std::future::Future;
use std::time::Instant;

use serde::de::DeserializeOwned;

use crate::collection::Collection;
use crate::failure::{Coverage, DeclaredReason, Failure};
use crate::handle::Handle;
use crate::problem::Problem;
use crate::schema::Transport;
use crate::target::Target;

/// The end of an instance.
#[derive(Clone, Copy, Debug)]
pub struct End {
    /// Why.
    pub reason: EndReason,
    /// The exporter does not wait any longer than this.
    pub deadline: Instant,
}

/// Why an instance ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EndReason {
    /// It is not wanted any more, or another one takes its place.
    Removed,
    /// The process ends.
    ProcessEnds,
}

/// What a new instance gets.
#[derive(Debug)]
pub struct Setup<S> {
    /// The settings, accepted by [`Source::check`].
    pub settings: S,
    /// The target.
    pub target: Target,
    /// The instance's line to the host; clone it at will.
    pub handle: Handle,
}

/// The settings of a library as a whole: see [`crate::export_plugin`].
pub trait LibrarySettings: DeserializeOwned + Send + 'static {
    /// What serde cannot see. Must be quick and do no network.
    fn check(&self) -> Vec<Problem> {
        Vec::new()
    }

    /// They hold from now on: once in the process, before the first instance. Keep what is needed in a static.
    ///
    /// # Errors
    /// What is wrong with them after all; no instance is made then.
    fn configure(self) -> Result<(), Vec<Problem>>;
}

/// Something that collects without blocking. One value is one source on one target.
///
/// Calling order: `check`, `create`, then any number of `collect` and `reconfigure`, one at a time, then drop. All of it
/// inside the library's tokio run time. A panic ends the instance alone; the host makes a new one after a pause.
pub trait Source: Sized + Send + 'static {
    /// `[a-z][a-z0-9_-]*`, unique in the library.
    const NAME: &'static str;
    /// One line for people.
    const HELP: &'static str;
    /// Failure reasons that the general ones do not cover.
    const REASONS: &'static [DeclaredReason] = &[];
    /// Keys of the settings whose values are no secrets, so that pages show them, wherever in the settings they stand.
    /// Values of other keys are shown as `hidden`. A host before version 1.3 does not hear of it.
    const SHOWN: &'static [&'static str] = &[];
    /// How targets can be reached. A host before version 1.3 does not hear of it.
    const TRANSPORTS: &'static [Transport] = &[];
    /// The settings. Use `#[serde(deny_unknown_fields)]`: what serde refuses becomes a [`Problem`] with its place.
    type Settings: DeserializeOwned + Send + 'static;

    /// What serde cannot see. Must be quick and do no network.
    fn check(_settings: &Self::Settings, _target: &Target) -> Vec<Problem> {
        Vec::new()
    }

    /// Makes the instance. Must be quick and do no network: connect in the first `collect`.
    ///
    /// # Errors
    /// What is wrong with the settings after all.
    fn create(setup: Setup<Self::Settings>) -> Result<Self, Vec<Problem>>;

    /// New settings for the same target, already checked. Called between collections.
    fn reconfigure(&mut self, settings: Self::Settings);

    /// Collects once. The future is dropped at the deadline, or when the host cancels: keep what must survive in `self`,
    /// and say [`Collection::enter`] for each stage, so that a timeout is told where it struck.
    fn collect(
        &mut self,
        collection: &mut Collection,
    ) -> impl Future<Output = Result<Coverage, Failure>> + Send;

    /// Takes leave of the target: unsubscribes, releases what it holds there. The future is dropped at the deadline. What needs
    /// no call to the target is done by dropping.
    fn end(self, _end: End) -> impl Future<Output = ()> + Send {
        async {}
    }
}

/// Something that collects by blocking its thread; else as [`Source`].
pub trait BlockingSource: Sized + Send + 'static {
    /// As [`Source::NAME`].
    const NAME: &'static str;
    /// As [`Source::HELP`].
    const HELP: &'static str;
    /// As [`Source::REASONS`].
    const REASONS: &'static [DeclaredReason] = &[];
    /// As [`Source::SHOWN`].
    const SHOWN: &'static [&'static str] = &[];
    /// As [`Source::TRANSPORTS`].
    const TRANSPORTS: &'static [Transport] = &[];
    /// As [`Source::Settings`].
    type Settings: DeserializeOwned + Send + 'static;

    /// As [`Source::check`].
    fn check(_settings: &Self::Settings, _target: &Target) -> Vec<Problem> {
        Vec::new()
    }

    /// As [`Source::create`].
    ///
    /// # Errors
    /// What is wrong with the settings after all.
    fn create(setup: Setup<Self::Settings>) -> Result<Self, Vec<Problem>>;

    /// As [`Source::reconfigure`].
    fn reconfigure(&mut self, settings: Self::Settings);

    /// Collects once. Ask [`Collection::is_cancelled`] in loops and give the remaining time to whatever waits.
    ///
    /// # Errors
    /// Where and why it failed.
    fn collect(&mut self, collection: &mut Collection) -> Result<Coverage, Failure>;

    /// As [`Source::end`]; return by the deadline.
    fn end(self, _end: End) {}
}
