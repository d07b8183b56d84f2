//! The series of a host: for each application, for each component, and for what is left out.

mod families;
mod table;

use ms_dtyp::Guid;
use plugin_sdk::{FamilyId, Output};

pub(crate) use self::families::NAMESPACE;
use self::families::{APPLICATION, COMPONENT, LEFT_OUT};
use self::table::{Figure, Key, Table};
use crate::poll::{ApplicationFigures, ComponentFigures, Polled};

/// All series of one host, kept from collection to collection.
#[derive(Debug, Default)]
pub(crate) struct HostSeries {
    applications: Table<ApplicationKey, { APPLICATION.len() }>,
    components: Table<ComponentKey, { COMPONENT.len() }>,
    left_out: Table<LeftOutKey, 1>,
}

impl HostSeries {
    /// Sends what was read, and ends the series of what is gone.
    pub(crate) fn emit(&mut self, polled: &Polled, output: &mut Output) {
        self.applications.begin(&APPLICATION, output);
        self.components.begin(&COMPONENT, output);
        self.left_out.begin(&[LEFT_OUT], output);
        for ApplicationFigures { application, components } in &polled.applications {
            let id = application.id;
            let figures = [
                Some(Figure::Count(application.containers.len() as u64)),
                Some(Figure::Count(application.calls)),
                Some(Figure::Count(application.calls_per_second)),
                Some(Figure::Count(application.instances)),
                Some(Figure::Count(application.components.into())),
            ];
            self.applications.push(ApplicationKey(id), figures, output);
            for component in components {
                let clsid = component.clsid;
                self.components.push(ComponentKey { application: id, clsid }, figures_of(component), output);
            }
        }
        for (kind, reason, number) in polled.left_out.rows() {
            self.left_out.push(LeftOutKey { kind, reason }, [Some(Figure::Count(number))], output);
        }
        self.applications.end(output);
        self.components.end(output);
        self.left_out.end(output);
    }

    /// The families that were registered.
    pub(crate) fn families(&self) -> Vec<FamilyId> {
        [self.applications.families(), self.components.families(), self.left_out.families()].concat()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct ApplicationKey(Guid);

impl Key for ApplicationKey {
    fn labels(&self) -> Vec<(&'static str, String)> {
        vec![("application_id", self.0.to_string())]
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct ComponentKey {
    application: Guid,
    clsid: Guid,
}

impl Key for ComponentKey {
    fn labels(&self) -> Vec<(&'static str, String)> {
        vec![("application_id", self.application.to_string()), ("clsid", self.clsid.to_string())]
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct LeftOutKey {
    kind: &'static str,
    reason: &'static str,
}

impl Key for LeftOutKey {
    fn labels(&self) -> Vec<(&'static str, String)> {
        vec![("kind", self.kind.to_owned()), ("reason", self.reason.to_owned())]
    }
}

fn figures_of(component: &ComponentFigures) -> [Option<Figure>; COMPONENT.len()] {
    let count = |figure: Option<u64>| figure.map(Figure::Count);
    [
        count(component.references),
        count(component.bound_references),
        count(component.pooled),
        count(component.in_call),
        component.call_time_ms.map(|ms| Figure::Seconds(f64::from(ms) / 1000.0)),
        count(component.calls_completed),
        count(component.calls_failed),
    ]
}
