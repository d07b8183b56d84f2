//! The series of a host: for each application, component and process, and for what the plugin itself counts.

mod families;
mod table;

use std::collections::BTreeSet;
use std::sync::Arc;

use com::comt::tracking::ApplicationType;
use plugin_sdk::{FamilyId, FamilyKey, Output};
use wire::Guid;

pub(crate) use self::families::NAMESPACE;

use self::families::{
    APPLICATION, APPLICATION_INFO, COMPONENT, COMPONENT_INFO, EVENTS, LEFT_OUT, PROCESS, PROCESS_APPLICATION,
    PROCESS_INFO, REFUSED_EVENTS, UNKNOWN_PEERS,
};
use self::table::{AnyTable, Figure, Key, Table};
use super::model::AboutApplication;
use crate::events::{EventTotals, REFUSALS};
use crate::model::{ApplicationFigures, ComponentFigures, HostFigures, ProcessFigures};

/// All series of one host, kept from collection to collection.
#[derive(Debug)]
pub(crate) struct HostSeries {
    applications: Table<ApplicationKey, { APPLICATION.len() }>,
    application_infos: Table<ApplicationInfoKey, 1>,
    components: Table<ComponentKey, { COMPONENT.len() }>,
    component_infos: Table<ComponentInfoKey, 1>,
    processes: Table<ProcessKey, { PROCESS.len() }>,
    process_infos: Table<ProcessInfoKey, 1>,
    process_applications: Table<ProcessApplicationKey, 1>,
    left_out: Table<LeftOutKey, 1>,
    events: Table<TargetKey, { EVENTS.len() }>,
    refused_events: Table<RefusalKey, 1>,
    unknown_peers: Table<TargetKey, 1>,
}

impl Default for HostSeries {
    fn default() -> Self {
        Self {
            applications: Table::new(&APPLICATION),
            application_infos: Table::new(&APPLICATION_INFO),
            components: Table::new(&COMPONENT),
            component_infos: Table::new(&COMPONENT_INFO),
            processes: Table::new(&PROCESS),
            process_infos: Table::new(&PROCESS_INFO),
            process_applications: Table::new(&PROCESS_APPLICATION),
            left_out: Table::new(&LEFT_OUT),
            events: Table::new(&EVENTS),
            refused_events: Table::new(&REFUSED_EVENTS),
            unknown_peers: Table::new(&UNKNOWN_PEERS),
        }
    }
}

impl HostSeries {
    /// Sends what was read, and what became of events if there is a subscription; ends the series of what is gone.
    pub(crate) fn emit(&mut self, host: &HostFigures, totals: Option<&EventTotals>, output: &mut Output) {
        self.tables().into_iter().for_each(AnyTable::begin);
        for application in &host.applications {
            self.push_application(application, output);
        }
        let late: BTreeSet<Guid> = host.late().map(|application| application.id).collect();
        if !late.is_empty() {
            self.components.keep(|key| late.contains(&key.application));
            self.component_infos.keep(|key| late.contains(&key.application));
        }
        for process in host.processes.iter().flatten() {
            self.push_process(process, output);
        }
        for (kind, reason, number) in host.left_out.rows() {
            self.left_out.push(&LeftOutKey { kind, reason }, [Some(Figure::Count(number))], output);
        }
        if let Some(totals) = totals {
            self.push_totals(totals, output);
        }
        for table in self.tables() {
            table.end(output);
        }
    }

    /// The families of which all was sent.
    pub(crate) fn families_of(&mut self, host: &HostFigures) -> Vec<FamilyId> {
        let families: Vec<FamilyId> = self.tables().into_iter().flat_map(|table| table.families()).collect();
        if host.late().next().is_none() {
            return families;
        }
        let of_components = [self.components.families(), self.component_infos.families()].concat();
        families.into_iter().filter(|family| !of_components.contains(family)).collect()
    }

    fn tables(&mut self) -> [&mut dyn AnyTable; 11] {
        [
            &mut self.applications,
            &mut self.application_infos,
            &mut self.components,
            &mut self.component_infos,
            &mut self.processes,
            &mut self.process_infos,
            &mut self.process_applications,
            &mut self.left_out,
            &mut self.events,
            &mut self.refused_events,
            &mut self.unknown_peers,
        ]
    }

    fn push_application(&mut self, application: &ApplicationFigures, output: &mut Output) {
        let id = application.id;
        let figures = [
            Some(Figure::Count(application.containers)),
            application.calls.map(Figure::Count),
            application.calls_per_second.map(Figure::Count),
            application.instances.map(Figure::Count),
            Some(Figure::Count(application.distinct_components)),
        ];
        self.applications.push(&ApplicationKey(id), figures, output);
        if let Some(about) = &application.about {
            let key = ApplicationInfoKey { id, about: about.clone() };
            self.application_infos.push(&key, PRESENT, output);
        }
        for process_id in application.places.iter().filter_map(|place| place.process_id) {
            let key = ProcessApplicationKey { process_id, application: id };
            self.process_applications.push(&key, PRESENT, output);
        }
        for component in &application.components {
            let clsid = component.clsid;
            self.components.push(&ComponentKey { application: id, clsid }, figures_of(component), output);
            if let Some(name) = &component.name {
                let key = ComponentInfoKey { application: id, clsid, name: name.clone() };
                self.component_infos.push(&key, PRESENT, output);
            }
        }
    }

    fn push_process(&mut self, process: &ProcessFigures, output: &mut Output) {
        let flag = |flag: Option<bool>| flag.map(|flag| Figure::Count(flag.into()));
        let figures = [flag(process.is_paused), flag(process.is_recycling), flag(process.is_service)];
        self.processes.push(&ProcessKey(process.id), figures, output);
        if let Some(program) = &process.program {
            let key = ProcessInfoKey { id: process.id, program: program.clone() };
            self.process_infos.push(&key, PRESENT, output);
        }
    }

    fn push_totals(&mut self, totals: &EventTotals, output: &mut Output) {
        let figures = [
            Some(Figure::Count(totals.is_up.into())),
            Some(Figure::Count(totals.taken)),
            Some(Figure::Count(totals.superseded)),
            totals.last_unix_seconds.map(Figure::Seconds),
        ];
        self.events.push(&TargetKey, figures, output);
        for (reason, count) in REFUSALS.into_iter().zip(totals.refused) {
            self.refused_events.push(&RefusalKey(reason), [Some(Figure::Count(count))], output);
        }
        self.unknown_peers.push(&TargetKey, [Some(Figure::Count(totals.unknown_peers))], output);
    }
}

/// Whether only events tell a family.
pub(crate) fn is_of_events(family: &FamilyKey) -> bool {
    families::is_of_events(&family.object, &family.item)
}

/// The value of an info metric.
const PRESENT: [Option<Figure>; 1] = [Some(Figure::Count(1))];

fn figures_of(component: &ComponentFigures) -> [Option<Figure>; COMPONENT.len()] {
    let count = |figure: Option<u64>| figure.map(Figure::Count);
    [
        count(component.references),
        count(component.bound_references),
        count(component.instances),
        count(component.active),
        count(component.pooled),
        count(component.in_call),
        component.call_time_ms.map(|ms| Figure::Seconds(f64::from(ms) / 1000.0)),
        count(component.calls_completed),
        count(component.calls_failed),
    ]
}

// What series are about, and their labels.

type Labels = Vec<(&'static str, String)>;

/// The target as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct TargetKey;

impl Key for TargetKey {
    fn labels(&self) -> Labels {
        Vec::new()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct ApplicationKey(Guid);

impl Key for ApplicationKey {
    fn labels(&self) -> Labels {
        vec![("application_id", self.0.to_string())]
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct ApplicationInfoKey {
    id: Guid,
    about: AboutApplication,
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
struct ComponentKey {
    application: Guid,
    clsid: Guid,
}

impl Key for ComponentKey {
    fn labels(&self) -> Labels {
        vec![("application_id", self.application.to_string()), ("clsid", self.clsid.to_string())]
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct ComponentInfoKey {
    application: Guid,
    clsid: Guid,
    name: Arc<str>,
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
struct ProcessKey(u32);

impl Key for ProcessKey {
    fn labels(&self) -> Labels {
        vec![("process_id", self.0.to_string())]
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct ProcessInfoKey {
    id: u32,
    program: Arc<str>,
}

impl Key for ProcessInfoKey {
    fn labels(&self) -> Labels {
        vec![("process_id", self.id.to_string()), ("name", self.program.to_string())]
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct ProcessApplicationKey {
    process_id: u32,
    application: Guid,
}

impl Key for ProcessApplicationKey {
    fn labels(&self) -> Labels {
        vec![("process_id", self.process_id.to_string()), ("application_id", self.application.to_string())]
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct LeftOutKey {
    kind: &'static str,
    reason: &'static str,
}

impl Key for LeftOutKey {
    fn labels(&self) -> Labels {
        vec![("kind", self.kind.to_owned()), ("reason", self.reason.to_owned())]
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct RefusalKey(&'static str);

impl Key for RefusalKey {
    fn labels(&self) -> Labels {
        vec![("reason", self.0.to_owned())]
    }
}
