//! What series are about, and their labels.

use std::sync::Arc;

use com::comt::tracking::ApplicationType;
use wire::Guid;

use super::table::Key;
use crate::model::AboutApplication;

type Labels = Vec<(&'static str, String)>;

/// The target as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct TargetKey;

impl Key for TargetKey {
    fn labels(&self) -> Labels {
        Vec::new()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ApplicationKey(pub(super) Guid);

impl Key for ApplicationKey {
    fn labels(&self) -> Labels {
        vec![("application_id", self.0.to_string())]
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct ApplicationInfoKey {
    pub(super) id: Guid,
    pub(super) about: AboutApplication,
}

impl Key for ApplicationInfoKey {
    fn labels(&self) -> Labels {
        let AboutApplication { name, partition_id, application_type } = &self.about;
        vec![
            ("application_id", self.id.to_string()),
            ("name", name.as_deref().unwrap_or_default().to_owned()),
            ("partition_id", partition_id.map(|id| id.to_string()).unwrap_or_default()),
            ("type", application_type.map(word_of).unwrap_or_default()),
        ]
    }
}

fn word_of(application_type: ApplicationType) -> String {
    match application_type {
        ApplicationType::LIBRARY => "library".to_owned(),
        ApplicationType::SERVER => "server".to_owned(),
        ApplicationType::SERVICES_WITHOUT_COMPONENTS => "services_without_components".to_owned(),
        ApplicationType(other) => other.to_string(),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ComponentKey {
    pub(super) application: Guid,
    pub(super) clsid: Guid,
}

impl Key for ComponentKey {
    fn labels(&self) -> Labels {
        vec![("application_id", self.application.to_string()), ("clsid", self.clsid.to_string())]
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct ComponentInfoKey {
    pub(super) application: Guid,
    pub(super) clsid: Guid,
    pub(super) name: Arc<str>,
}

impl Key for ComponentInfoKey {
    fn labels(&self) -> Labels {
        let Self { application, clsid, name } = self;
        vec![
            ("application_id", application.to_string()),
            ("clsid", clsid.to_string()),
            ("name", name.to_string()),
        ]
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ProcessKey(pub(super) u32);

impl Key for ProcessKey {
    fn labels(&self) -> Labels {
        vec![("process_id", self.0.to_string())]
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct ProcessInfoKey {
    pub(super) id: u32,
    pub(super) program: Arc<str>,
}

impl Key for ProcessInfoKey {
    fn labels(&self) -> Labels {
        vec![("process_id", self.id.to_string()), ("name", self.program.to_string())]
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ProcessApplicationKey {
    pub(super) process_id: u32,
    pub(super) application: Guid,
}

impl Key for ProcessApplicationKey {
    fn labels(&self) -> Labels {
        vec![("process_id", self.process_id.to_string()), ("application_id", self.application.to_string())]
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct LeftOutKey {
    pub(super) kind: &'static str,
    pub(super) reason: &'static str,
}

impl Key for LeftOutKey {
    fn labels(&self) -> Labels {
        vec![("kind", self.kind.to_owned()), ("reason", self.reason.to_owned())]
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct RefusalKey(pub(super) &'static str);

impl Key for RefusalKey {
    fn labels(&self) -> Labels {
        vec![("reason", self.0.to_owned())]
    }
}
