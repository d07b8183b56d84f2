//! The model's figures as [MS-COMT] has them.

use com::comt::{ApplicationIdentifier, ComponentData, ContainerData, ContainerStatistics, Tracked};

use crate::choices::{CallRate, ComPlusChoices, ContainerList};
use crate::model::{CALL_SECONDS, ComComponent, ComContainer};

/// What the tracker lists of these containers, each with its process.
pub(super) fn listed(containers: &[(u32, ComContainer)], choices: &ComPlusChoices) -> Vec<ContainerData> {
    let all: Vec<ContainerData> =
        containers.iter().map(|(process_id, one)| container(*process_id, one, choices.call_rate)).collect();
    match choices.container_list {
        ContainerList::Containers => all,
        ContainerList::Applications => averaged(&all),
    }
}

/// The components of a container.
pub(super) fn components(container: &ComContainer) -> Vec<ComponentData> {
    container.components.iter().map(|one| component(one, container.is_tracked)).collect()
}

fn container(process_id: u32, container: &ComContainer, call_rate: CallRate) -> ContainerData {
    let components = &container.components;
    let sum = |figure: fn(&ComComponent) -> u32| components.iter().map(figure).fold(0, u32::saturating_add);
    let calls_per_second = match call_rate {
        CallRate::Averaged => {
            sum(|one| one.recent.completed.saturating_add(one.recent.failed)) / CALL_SECONDS
        }
        CallRate::Zero => 0,
    };
    ContainerData {
        legacy_id: container.legacy_id,
        application: ApplicationIdentifier::new(container.application_id),
        process_id,
        statistics: ContainerStatistics {
            calls: sum(|one| one.in_call),
            instances: sum(ComComponent::instances),
            components: sum(|_| 1),
            calls_per_second,
        },
    }
}

/// Each application once, by its first container.
fn averaged(containers: &[ContainerData]) -> Vec<ContainerData> {
    let mut applications: Vec<ContainerData> = Vec::new();
    for container in containers {
        if applications.iter().any(|known| known.application == container.application) {
            continue;
        }
        let of_application = || containers.iter().filter(|one| one.application == container.application);
        let count = of_application().fold(0, |count, _| count + 1);
        let average = |figure: fn(&ContainerStatistics) -> u32| {
            of_application().map(|one| figure(&one.statistics)).fold(0, u32::saturating_add) / count
        };
        let statistics = ContainerStatistics {
            calls: average(|one| one.calls),
            instances: average(|one| one.instances),
            components: average(|one| one.components),
            calls_per_second: average(|one| one.calls_per_second),
        };
        applications.push(ContainerData { statistics, ..container.clone() });
    }
    applications
}

fn component(component: &ComComponent, is_tracked: bool) -> ComponentData {
    let tracked = |figure: u32| Tracked::from(is_tracked.then_some(figure));
    ComponentData {
        clsid: component.clsid,
        total_references: tracked(component.bound_references.saturating_add(component.pooled)),
        bound_references: tracked(component.bound_references),
        pooled_instances: tracked(component.pooled),
        instances_in_call: tracked(component.in_call),
        response_time_ms: tracked(component.recent.response_time_ms),
        calls_completed: tracked(component.recent.completed),
        calls_failed: tracked(component.recent.failed),
    }
}
