//! The applications and components that the containers of a tracker make up.

use std::collections::BTreeMap;

use wire::Guid;

use super::ContainerData;

/// An application that runs, as [`IGetTrackingData`](crate::comt::IGetTrackingData) lists it.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Application {
    pub id: Guid,
    /// Container legacy identifiers, one for each time that the application was listed.
    pub containers: Vec<u32>,
    /// Identifiers of the processes of these containers, each once.
    pub processes: Vec<u32>,
    /// Calls that are performed.
    pub calls: u64,
    pub instances: u64,
    /// Distinct components, at least: those of the container with the most of them. Which ones two containers share, only the
    /// components of both tell.
    pub components: u32,
    pub calls_per_second: u64,
}

/// What was made of a list of containers.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Applications {
    /// Applications in the order of their first container.
    pub found: Vec<Application>,
    /// Positions of containers whose application identifier is no GUID.
    pub dropped: Vec<usize>,
}

/// Adds up the containers of each application.
///
/// [MS-COMT] 3.1.4.1.1 lists an application once for each container, 2.2.3 once with averages of all containers. What is
/// listed several times is added up. What is listed once is taken as it is: it does not say of how many containers it is
/// the average.
#[must_use]
pub fn applications(containers: &[ContainerData]) -> Applications {
    let mut applications = Applications::default();
    let mut positions: BTreeMap<u128, usize> = BTreeMap::new();
    for (index, container) in containers.iter().enumerate() {
        let Ok(id) = container.application.guid() else {
            applications.dropped.push(index);
            continue;
        };
        let found = &mut applications.found;
        let position = *positions.entry(id.to_u128()).or_insert_with(|| {
            found.push(Application { id, ..Application::default() });
            found.len() - 1
        });
        let Some(application) = found.get_mut(position) else { continue };
        let statistics = container.statistics;
        application.containers.push(container.legacy_id);
        if !application.processes.contains(&container.process_id) {
            application.processes.push(container.process_id);
        }
        application.calls += u64::from(statistics.calls);
        application.instances += u64::from(statistics.instances);
        application.components = application.components.max(statistics.components);
        application.calls_per_second += u64::from(statistics.calls_per_second);
    }
    applications
}
