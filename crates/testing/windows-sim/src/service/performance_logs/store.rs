//! Sets in the host's store: under which name, what of one is shown, and what the modes of a commit do.

use com::oaut::Bstr;
use ms_pla::data_collector_set::CommitRequest;
use ms_pla::xml::{DataCollectorSet, Finding};
use ms_pla::{Category, CommitMode, DataCollectorSetStatus, Object};
use wire::{FileTime, HResult};

use super::item::Item;
use super::property::text;
use super::provider_record::Map;
use super::shared::shared;
use super::{Calls, Set};
use crate::model::data_collector_sets::{SetError, Store, StoredSet, split_namespace};

/// Characters of a server's name are fewer.
const SERVER_LEN_END: usize = 1024;

/// What a client reads of a set that is stored.
pub(super) fn shown(stored: &StoredSet, now: FileTime) -> DataCollectorSet {
    DataCollectorSet {
        status: Some(stored.status(now)),
        output_location: Some(stored.output_location()),
        ..stored.set.clone()
    }
}

/// What a method returns where the model refuses.
pub(super) const fn status_of(error: SetError) -> HResult {
    match error {
        SetError::Name => HResult::E_INVALIDARG,
        SetError::NotFound => HResult::PLA_E_DCS_NOT_FOUND,
        SetError::Exists => HResult::PLA_E_DCS_ALREADY_EXISTS,
        SetError::Running => HResult::PLA_E_DCS_IN_USE,
        SetError::NotRunning => HResult::PLA_E_DCS_NOT_RUNNING,
        SetError::TooMany => HResult::E_OUTOFMEMORY,
    }
}

impl Calls<'_, Item<Set>> {
    /// The category and the name that a parameter means. Where the class has sets of all categories and the name does not say
    /// which, it is the first one that has such a set.
    pub(super) fn named(&self, name: &Bstr) -> Result<(Category, String), HResult> {
        let name = text(name)?;
        if let Some(category) = self.object.owner {
            return Ok((category, name));
        }
        let (sets, now) = (self.context.host.data_collector_sets(), self.context.now);
        let (category, plain) = split_namespace(&name);
        let is_there = |category: &Category| sets.find(*category, plain, now).is_ok();
        let found = if plain == name { Category::ALL.into_iter().find(is_there) } else { None };
        Ok((found.unwrap_or(category), plain.to_owned()))
    }

    /// Under which name the set is stored.
    pub(super) fn stored(&self) -> Result<(Category, String), HResult> {
        self.set(|set| set.stored.clone()).ok_or(HResult::PLA_E_DCS_NOT_FOUND)
    }

    pub(super) fn status(&self) -> DataCollectorSetStatus {
        let (sets, now) = (self.context.host.data_collector_sets(), self.context.now);
        let stored = self.stored().ok();
        let found = stored.and_then(|(category, name)| sets.find(category, &name, now).ok());
        found.map_or(DataCollectorSetStatus::STOPPED, |found| found.status(now))
    }

    /// A map of what is ignored, or wrong.
    pub(super) fn validation(&self, findings: Vec<Finding>) -> Result<Object<'static>, HResult> {
        Item::new(shared(Map::of_findings(findings)), ()).returned(self.context)
    }

    pub(super) fn store(
        &self,
        name: &Bstr,
        server: &Bstr,
        store: Store,
        record: DataCollectorSet,
    ) -> Result<(), HResult> {
        let (category, name) = self.named(name)?;
        if !category.can_commit() {
            return Err(HResult::E_NOTIMPL);
        }
        self.context.require_changes()?;
        let (server, sets) = (server_name(server)?, self.context.host.data_collector_sets());
        sets.store(category, &name, record, store, self.context.now).map_err(status_of)?;
        self.set(|set| {
            set.record.name = Some(name.clone());
            set.stored = Some((category, name));
            set.server = server;
        });
        Ok(())
    }

    /// [MS-PLA] 2.2.2.3: does what a mode says.
    pub(super) fn commit_as(&self, request: &CommitRequest, record: DataCollectorSet) -> Result<(), HResult> {
        let mode = request.mode;
        let is_running = || self.status() == DataCollectorSetStatus::RUNNING;
        if mode.contains(CommitMode::VALIDATE_ONLY) {
            return Ok(());
        }
        if mode.contains(CommitMode::FLUSH_TRACE) || mode.contains(CommitMode::UPDATE_RUNNING_INSTANCE) {
            if !is_running() {
                return Err(HResult::PLA_E_DCS_NOT_RUNNING);
            }
            if mode.contains(CommitMode::FLUSH_TRACE) {
                return Ok(());
            }
        }
        let store = match CommitMode(mode.0 & CommitMode::CREATE_OR_MODIFY.0) {
            CommitMode::CREATE_NEW => Store::New,
            CommitMode::CREATE_OR_MODIFY => Store::Either,
            CommitMode::MODIFY => Store::Existing,
            _ if mode.contains(CommitMode::UPDATE_RUNNING_INSTANCE) => Store::Existing,
            _ => return Err(HResult::E_INVALIDARG),
        };
        self.store(&request.name, &request.server, store, record)
    }
}

/// [MS-PLA] 3.2.4.1.54: the name of a server, which is only kept.
pub(super) fn server_name(server: &Bstr) -> Result<Option<String>, HResult> {
    let server = Some(text(server)?).filter(|server| !server.is_empty());
    let is_short = server.as_ref().is_none_or(|server| server.chars().count() < SERVER_LEN_END);
    if is_short { Ok(server) } else { Err(HResult::E_INVALIDARG) }
}
