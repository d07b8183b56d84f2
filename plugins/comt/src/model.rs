//! What is known of the COM+ applications of a host: from a poll, from an event, or from both.

use std::sync::Arc;

use com::comt::tracking::ApplicationType;
use plugin_sdk::Failure;
use wire::Guid;

/// How much is shown of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    pub(crate) applications: u32,
    /// Components of all applications.
    pub(crate) components: u32,
    pub(crate) processes: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { applications: 512, components: 4096, processes: 256 }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct HostFigures {
    /// In the order of their identifiers.
    pub(crate) applications: Vec<ApplicationFigures>,
    /// In the order of their identifiers. Polls do not list them, and events need not.
    pub(crate) processes: Option<Vec<ProcessFigures>>,
    pub(crate) left_out: LeftOut,
    /// Why the components of the first application without some could not be read.
    pub(crate) failure: Option<Failure>,
}

/// An application that runs. What the host does not say is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ApplicationFigures {
    pub(crate) id: Guid,
    /// How many containers the host lists.
    pub(crate) containers: u64,
    pub(crate) calls: Option<u64>,
    pub(crate) calls_per_second: Option<u64>,
    pub(crate) instances: Option<u64>,
    /// Components that have instances.
    pub(crate) distinct_components: u64,
    /// Only events tell it.
    pub(crate) about: Option<AboutApplication>,
    /// In the order of their classes.
    pub(crate) components: Vec<ComponentFigures>,
    /// Whether there was no time to read them in this collection. Those of an earlier one count.
    pub(crate) is_late: bool,
    pub(crate) places: Vec<Place>,
}

/// What an application is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct AboutApplication {
    pub(crate) name: Option<Arc<str>>,
    pub(crate) partition_id: Option<Guid>,
    pub(crate) application_type: Option<ApplicationType>,
}

/// A container of an application. Its identifier, which only events tell, is new with each process, so it is never a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) process_id: Option<u32>,
    pub(crate) container_id: Option<Guid>,
}

/// A component of an application, in all of its containers. Figures that the host does not tell are `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ComponentFigures {
    pub(crate) clsid: Guid,
    pub(crate) name: Option<Arc<str>>,
    pub(crate) references: Option<u64>,
    pub(crate) bound_references: Option<u64>,
    pub(crate) instances: Option<u64>,
    pub(crate) active: Option<u64>,
    pub(crate) pooled: Option<u64>,
    pub(crate) in_call: Option<u64>,
    /// That of the slowest container: Windows gives the slowest instance of each.
    pub(crate) call_time_ms: Option<u32>,
    pub(crate) calls_completed: Option<u64>,
    pub(crate) calls_failed: Option<u64>,
}

/// A process with applications.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ProcessFigures {
    pub(crate) id: u32,
    /// The file name of its program.
    pub(crate) program: Option<Arc<str>>,
    pub(crate) is_paused: Option<bool>,
    pub(crate) is_recycling: Option<bool>,
    pub(crate) is_service: Option<bool>,
}

/// How much of what the host lists was not read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LeftOut {
    /// Applications above the limit.
    pub(crate) applications: u64,
    /// Processes above the limit.
    pub(crate) processes: u64,
    /// Containers whose application has no valid identifier.
    pub(crate) malformed_containers: u64,
    /// Components without a valid class.
    pub(crate) malformed_components: u64,
    /// Properties of entries of an event that are repeated, of a wrong type, or without a meaning.
    pub(crate) malformed_properties: u64,
    /// Containers of one application above the limit of calls.
    pub(crate) containers: u64,
    /// Containers that the host listed, and failed the call for their components the first time.
    pub(crate) ended_containers: u64,
    /// Containers whose components could not be read.
    pub(crate) unread_containers: u64,
    /// Containers that are not asked about: [`crate::stalls::Stalls`].
    pub(crate) stalled_containers: u64,
    /// Components above the limit. Of applications that were not read at all, the number that the host tells.
    pub(crate) components: u64,
}

impl LeftOut {
    /// Kind, reason and number, with the values of labels.
    pub(crate) const fn rows(&self) -> [(&'static str, &'static str, u64); 10] {
        [
            ("application", "limit", self.applications),
            ("component", "limit", self.components),
            ("process", "limit", self.processes),
            ("container", "limit", self.containers),
            ("container", "malformed", self.malformed_containers),
            ("component", "malformed", self.malformed_components),
            ("property", "malformed", self.malformed_properties),
            ("container", "ended", self.ended_containers),
            ("container", "unread", self.unread_containers),
            ("container", "stalled", self.stalled_containers),
        ]
    }
}

impl HostFigures {
    /// The applications whose components there was no time to read.
    pub(crate) fn late(&self) -> impl Iterator<Item = &ApplicationFigures> {
        self.applications.iter().filter(|application| application.is_late)
    }

    /// Adds to a poll what only events tell: what things are, active instances, processes.
    pub(crate) fn complete_with(&mut self, event: &Self) {
        for application in &mut self.applications {
            let found = event.applications.binary_search_by_key(&application.id, |told| told.id);
            let Some(told) = found.ok().and_then(|index| event.applications.get(index)) else { continue };
            application.about.clone_from(&told.about);
            application.places.clone_from(&told.places);
            for component in &mut application.components {
                let found = told.components.binary_search_by_key(&component.clsid, |told| told.clsid);
                let Some(told) = found.ok().and_then(|index| told.components.get(index)) else { continue };
                component.name.clone_from(&told.name);
                component.instances = told.instances;
                component.active = told.active;
            }
        }
        self.processes.clone_from(&event.processes);
        self.left_out.processes = event.left_out.processes;
        self.left_out.malformed_components = event.left_out.malformed_components;
        self.left_out.malformed_properties = event.left_out.malformed_properties;
    }

    /// Drops all components but those of one class, and the applications that have none of it.
    pub(crate) fn keep_component(&mut self, clsid: Guid) {
        for application in &mut self.applications {
            application.components.retain(|component| component.clsid == clsid);
        }
        self.applications.retain(|application| !application.components.is_empty());
    }
}

/// Adds a figure, where the host tells it.
pub(crate) fn add_to(sum: &mut Option<u64>, figure: Option<u32>) {
    if let Some(figure) = figure {
        *sum = Some(sum.unwrap_or_default().saturating_add(figure.into()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(applications: &[(u128, &[u128])]) -> HostFigures {
        let component =
            |clsid: &u128| ComponentFigures { clsid: Guid::from_u128(*clsid), ..Default::default() };
        let application = |(id, clsids): &(u128, &[u128])| ApplicationFigures {
            id: Guid::from_u128(*id),
            components: clsids.iter().map(component).collect(),
            ..Default::default()
        };
        HostFigures { applications: applications.iter().map(application).collect(), ..Default::default() }
    }

    #[test]
    fn a_poll_gets_names_and_active_instances_from_an_event_and_keeps_its_own_figures() {
        let mut polled = host(&[(1, &[11, 12]), (2, &[21])]);
        polled.applications[0].components[0].pooled = Some(5);
        let mut event = host(&[(1, &[11]), (3, &[31])]);
        event.applications[0].about =
            Some(AboutApplication { name: Some("Orders".into()), ..Default::default() });
        let told = &mut event.applications[0].components[0];
        (told.pooled, told.active, told.instances) = (Some(7), Some(3), Some(10));
        event.processes = Some(vec![ProcessFigures { id: 4, ..Default::default() }]);
        polled.complete_with(&event);
        assert_eq!(polled.applications.len(), 2, "what the poll does not list has ended");
        let [first, second] = [0, 1].map(|index| &polled.applications[0].components[index]);
        assert_eq!((first.pooled, first.active, first.instances), (Some(5), Some(3), Some(10)));
        assert_eq!((second.active, polled.applications[1].about.clone()), (None, None));
        assert_eq!(polled.applications[0].about, event.applications[0].about);
        assert_eq!(polled.processes, event.processes);
    }
}
