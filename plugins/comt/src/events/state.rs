//! A tracker event as figures. What is wrong with an entry costs that entry.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use com::comt::tracking::{Component, Container, Dropped, Process, Reason, Visitor, read};
use wire::{DecodeError, Guid, WideStr};

use crate::model::{
    AboutApplication, ApplicationFigures, ComponentFigures, HostFigures, LeftOut, Limits, Place,
    ProcessFigures, add_to,
};

/// Reads an event, and takes as much of it as the limits let.
///
/// # Errors
/// Where the bytes are no event: nothing of it is shown then, for nobody knows what is missing.
pub(crate) fn figures_of(event: &[u8], limits: &Limits) -> Result<HostFigures, DecodeError> {
    let mut state = State::default();
    // An event is not longer than the subscriber lets it be. What is cut off is the same each time only if all is sorted
    // first.
    let all = com::comt::tracking::Limits {
        processes_max: u32::MAX,
        containers_max: u32::MAX,
        components_max: u32::MAX,
        ..com::comt::tracking::Limits::default()
    };
    read(event, &all, &mut state)?;
    Ok(state.into_figures(limits))
}

#[derive(Default)]
struct State {
    applications: BTreeMap<Guid, ApplicationFigures>,
    /// By application and class.
    components: BTreeMap<(Guid, Guid), ComponentFigures>,
    processes: BTreeMap<u32, ProcessFigures>,
    lists_processes: bool,
    left_out: LeftOut,
}

impl<'a> Visitor<'a> for State {
    fn process(&mut self, process: &Process<'a>) {
        self.lists_processes = true;
        let Some(id) = process.process_id else { return };
        let figures = ProcessFigures {
            id,
            program: process.exe_name.map(text),
            is_paused: process.is_paused,
            is_recycling: process.is_recycling,
            is_service: process.is_service,
        };
        match self.processes.entry(id) {
            Entry::Vacant(place) => drop(place.insert(figures)),
            // The first one counts, as of properties.
            Entry::Occupied(_) => self.left_out.malformed_properties += 1,
        }
    }

    fn container(&mut self, process: Option<&Process<'a>>, container: &Container<'a>) {
        let id = container.application_id;
        let application = self.applications.entry(id).or_default();
        application.id = id;
        application.containers += 1;
        let about = application.about.get_or_insert_with(AboutApplication::default);
        about.name = about.name.take().or_else(|| container.name.map(text));
        about.partition_id = about.partition_id.or(container.partition_id);
        about.application_type = about.application_type.or(container.application_type);
        let process_id = process.and_then(|process| process.process_id);
        application.places.push(Place { process_id, container_id: container.container_id });
    }

    fn component(&mut self, _: Option<&Process<'a>>, container: &Container<'a>, component: &Component<'a>) {
        let figures = self.components.entry((container.application_id, component.clsid)).or_default();
        figures.clsid = component.clsid;
        figures.name = figures.name.take().or_else(|| component.name.map(text));
        add_to(&mut figures.instances, component.objects);
        add_to(&mut figures.active, component.activated);
        add_to(&mut figures.pooled, component.pooled);
        add_to(&mut figures.in_call, component.in_call);
        figures.call_time_ms = figures.call_time_ms.max(component.call_time_ms);
    }

    fn dropped(&mut self, dropped: &Dropped<'a>) {
        match dropped.reason {
            Reason::Missing { .. } if dropped.position.component.is_some() => {
                self.left_out.malformed_components += 1;
            }
            Reason::Missing { .. } => self.left_out.malformed_containers += 1,
            // Later versions of Windows may tell more.
            Reason::Unknown => {}
            _ => self.left_out.malformed_properties += 1,
        }
    }
}

impl State {
    fn into_figures(self, limits: &Limits) -> HostFigures {
        let Self { mut applications, components, processes, lists_processes, mut left_out } = self;
        for ((application, _), component) in components {
            // A component is in a container, whose application is there.
            let Some(figures) = applications.get_mut(&application) else { continue };
            figures.distinct_components += 1;
            figures.components.push(component);
        }
        let mut applications: Vec<ApplicationFigures> = applications.into_values().collect();
        left_out.applications = cut(&mut applications, limits.applications);
        let mut room = limits.components;
        for application in &mut applications {
            application.instances = sum(&application.components, |component| component.instances);
            application.calls = sum(&application.components, |component| component.in_call);
            left_out.components += cut(&mut application.components, room);
            room -= u32::try_from(application.components.len()).unwrap_or(room);
            application.places.sort_unstable();
        }
        let mut processes: Vec<ProcessFigures> = processes.into_values().collect();
        left_out.processes = cut(&mut processes, limits.processes);
        let processes = lists_processes.then_some(processes);
        HostFigures { applications, processes, left_out, failure: None }
    }
}

/// Cuts off what is above a limit, and returns how much that is.
fn cut<T>(all: &mut Vec<T>, limit: u32) -> u64 {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let above = all.len().saturating_sub(limit);
    all.truncate(limit);
    u64::try_from(above).unwrap_or(u64::MAX)
}

/// Of all components; none if the host tracks none of those that there are.
fn sum(components: &[ComponentFigures], of: impl Fn(&ComponentFigures) -> Option<u64>) -> Option<u64> {
    let tracked: Vec<u64> = components.iter().filter_map(of).collect();
    (components.is_empty() || !tracked.is_empty()).then(|| tracked.iter().sum())
}

fn text(wide: WideStr<'_>) -> std::sync::Arc<str> {
    wide.to_string().into()
}

#[cfg(test)]
mod tests {
    use com::comt::tracking::write::{self, Choices};

    use super::*;

    fn component(clsid: u128, objects: Option<u32>) -> write::Component {
        write::Component {
            clsid: Guid::from_u128(clsid),
            name: format!("Shop.C{clsid}"),
            objects,
            activated: objects,
            in_call: objects.map(|_| 1),
            call_time_ms: objects,
            ..write::Component::default()
        }
    }

    fn container(application: u128, components: Vec<write::Component>) -> write::Container {
        write::Container {
            application_id: Guid::from_u128(application),
            container_id: Guid::from_u128(application + 1000),
            name: format!("Application {application}"),
            components,
            ..write::Container::default()
        }
    }

    fn process(id: u32, containers: Vec<write::Container>) -> write::Process {
        write::Process { process_id: Some(id), containers, ..write::Process::default() }
    }

    fn figures(processes: &[write::Process], limits: Limits) -> HostFigures {
        let event = write::encode(processes, &Choices::default()).unwrap();
        figures_of(&event, &limits).unwrap()
    }

    #[test]
    fn containers_of_an_application_are_added_up_and_call_times_are_those_of_the_slowest() {
        let processes = [
            process(8, vec![container(1, vec![component(11, Some(4)), component(12, None)])]),
            process(
                4,
                vec![container(1, vec![component(11, Some(9))]), container(2, vec![component(21, None)])],
            ),
        ];
        let host = figures(&processes, Limits::default());
        let [first, second] = &*host.applications else { panic!("{host:?}") };
        assert_eq!((first.containers, first.distinct_components), (2, 2));
        assert_eq!((first.instances, first.calls, first.calls_per_second), (Some(13), Some(2), None));
        let [tracked, untracked] = &*first.components else { panic!("{first:?}") };
        assert_eq!((tracked.instances, tracked.active, tracked.call_time_ms), (Some(13), Some(13), Some(9)));
        assert_eq!((untracked.instances, untracked.in_call, untracked.call_time_ms), (None, None, None));
        assert_eq!(tracked.name.as_deref(), Some("Shop.C11"));
        assert_eq!((second.instances, second.calls), (None, None), "nothing of it is tracked");
        let ids: Vec<u32> = host.processes.iter().flatten().map(|process| process.id).collect();
        assert_eq!(ids, [4, 8]);
        assert_eq!(first.places.iter().map(|place| place.process_id).collect::<Vec<_>>(), [Some(4), Some(8)]);
    }

    #[test]
    fn what_is_above_a_limit_is_the_same_in_whichever_order_the_host_lists_it() {
        let all =
            || (1..=6).map(|id| container(id, (0..3).map(|n| component(10 * id + n, Some(1))).collect()));
        let limits = Limits { applications: 4, components: 7, processes: 2 };
        let mut processes: Vec<_> =
            (1..).zip(all()).map(|(id, container)| process(id, vec![container])).collect();
        let forward = figures(&processes, limits);
        processes.reverse();
        let backward = figures(&processes, limits);
        assert_eq!(forward, backward);
        let LeftOut { applications, components, processes, .. } = forward.left_out;
        assert_eq!((applications, components, processes), (2, 5, 4));
        let shown: Vec<usize> = forward.applications.iter().map(|one| one.components.len()).collect();
        assert_eq!(shown, [3, 3, 1, 0]);
        assert_eq!(
            forward.applications[3].instances,
            Some(3),
            "figures of an application are of all components"
        );
    }

    #[test]
    fn bytes_that_end_early_are_no_event() {
        let processes = [process(4, vec![container(1, vec![component(11, Some(4))])])];
        let event = write::encode(&processes, &Choices::default()).unwrap();
        for end in 0..event.len() {
            assert!(figures_of(&event[..end], &Limits::default()).is_err(), "{end}");
        }
    }

    /// Replaces one of the texts of an event by another that is as long.
    fn renamed(event: &[u8], (from, to): (&str, &str), nth: usize) -> Vec<u8> {
        let wide = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
        let (from, to) = (wide(from), wide(to));
        assert_eq!(from.len(), to.len());
        let places: Vec<usize> = (0..event.len()).filter(|at| event[*at..].starts_with(&from)).collect();
        let mut event = event.to_vec();
        event[places[nth]..places[nth] + to.len()].copy_from_slice(&to);
        event
    }

    #[test]
    fn a_property_that_is_wrong_missing_or_repeated_costs_its_entry_alone() {
        let containers = vec![
            container(1, vec![component(11, Some(4)), component(12, Some(5))]),
            container(2, vec![component(21, Some(6))]),
        ];
        // Without names of properties in front, so that the first of each is that of the first entry.
        let choices = Choices { lists_names: false, repeats_names: false, ..Choices::default() };
        let event = write::encode(&[process(4, containers)], &choices).unwrap();
        let read = |event: &[u8]| figures_of(event, &Limits::default()).unwrap();
        let shape = |host: &HostFigures| -> Vec<usize> {
            host.applications.iter().map(|one| one.components.len()).collect()
        };
        assert_eq!(shape(&read(&event)), [2, 1]);

        let missing = read(&renamed(&event, ("CLSID", "CLSIX"), 0));
        assert_eq!((shape(&missing), missing.left_out.malformed_components), (vec![1, 1], 1));
        let missing = read(&renamed(&event, ("ApplicationID", "ApplicationIX"), 1));
        assert_eq!((shape(&missing), missing.left_out.malformed_containers), (vec![2], 1));
        let repeated = read(&renamed(&event, ("Pooled", "InCall"), 0));
        assert_eq!((shape(&repeated), repeated.left_out.malformed_properties), (vec![2, 1], 1));
        let id = Guid::from_u128(12).to_string().to_uppercase();
        let wrong = read(&renamed(&event, (&id, &id.replace('0', "x")), 0));
        assert_eq!(shape(&wrong), [1, 1]);
        let LeftOut { malformed_properties, malformed_components, .. } = wrong.left_out;
        assert_eq!((malformed_properties, malformed_components), (1, 1));
        let later = read(&renamed(&event, ("Activated", "Activate2"), 0));
        assert_eq!(
            (shape(&later), later.left_out),
            (vec![2, 1], LeftOut::default()),
            "Windows may tell more"
        );
    }
}
