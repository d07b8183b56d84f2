use wire::Guid;

use super::super::Moment;
use super::{CallModel, ComComponent, ComContainer, ComProcess, Cycle};
use crate::model::population::{SECOND, noise};

/// An application that each host has.
struct Application {
    id: Guid,
    name: &'static str,
    partition_id: Guid,
    exe_name: &'static str,
    /// How many processes share its calls.
    processes: u32,
    is_service: bool,
    is_tracked: bool,
    /// When it is paused.
    pause: Option<Cycle>,
    /// When its process is replaced, and how long the old one takes to end.
    recycling: Option<Cycle>,
    components: &'static [Component],
}

struct Component {
    clsid: Guid,
    name: &'static str,
    /// How many instances it has, in calls and in the pool.
    instances: u32,
    is_pooled: bool,
}

const fn component(number: u128, name: &'static str, instances: u32) -> Component {
    Component { clsid: Guid::from_u128(COMPONENT + number), name, instances, is_pooled: false }
}

const fn pooled(number: u128, name: &'static str, instances: u32) -> Component {
    Component { is_pooled: true, ..component(number, name, instances) }
}

const APPLICATION: u128 = 0xa911_ca70_0000_4000_8000_0000_0000_0000;
const COMPONENT: u128 = 0xc099_0e27_0000_4000_8000_0000_0000_0000;

/// A second partition, as an administrator makes them. Made up.
const FINANCE_PARTITION: Guid = Guid::from_u128(0x9a27_1710_0000_4000_8000_0000_0000_0001);

const ORDINARY: Application = Application {
    id: Guid::NULL,
    name: "",
    partition_id: com::comev::ids::DEFAULT_PARTITION,
    exe_name: "dllhost.exe",
    processes: 1,
    is_service: false,
    is_tracked: true,
    pause: None,
    recycling: None,
    components: &[],
};

const APPLICATIONS: &[Application] = &[
    Application {
        id: Guid::from_u128(APPLICATION + 1),
        name: "Orders",
        components: &[
            pooled(0x11, "Orders.Cart", 12),
            pooled(0x12, "Orders.Checkout", 8),
            component(0x13, "Orders.Audit", 3),
        ],
        ..ORDINARY
    },
    Application {
        id: Guid::from_u128(APPLICATION + 2),
        name: "Billing",
        partition_id: FINANCE_PARTITION,
        processes: 2,
        pause: Some(Cycle { period: 600 * SECOND, length: 30 * SECOND }),
        components: &[pooled(0x21, "Billing.Invoice", 6), component(0x22, "Billing.Ledger", 4)],
        ..ORDINARY
    },
    Application {
        id: Guid::from_u128(APPLICATION + 3),
        name: "Reports",
        recycling: Some(Cycle { period: 900 * SECOND, length: 20 * SECOND }),
        components: &[pooled(0x31, "Reports.Renderer", 5), component(0x32, "Reports.Query", 5)],
        ..ORDINARY
    },
    Application {
        id: Guid::from_u128(APPLICATION + 4),
        name: "Archive",
        exe_name: "archivesvc.exe",
        is_service: true,
        is_tracked: false,
        components: &[component(0x41, "Archive.Store", 2)],
        ..ORDINARY
    },
];

/// All processes at an instant.
pub(in crate::model) fn processes(seed: u64, at: &Moment) -> Vec<ComProcess> {
    let elapsed = at.uptime_100ns();
    let mut processes = Vec::new();
    for (application, number) in APPLICATIONS.iter().zip(0..) {
        let generation = application.recycling.map_or(0, |cycle| elapsed / cycle.period);
        let is_changing = application.recycling.is_some_and(|cycle| elapsed % cycle.period < cycle.length);
        for member in 0..application.processes {
            let place = Place { seed, elapsed, number, member };
            if is_changing && generation > 0 {
                processes.push(place.process(application, generation - 1, true));
            }
            processes.push(place.process(application, generation, false));
        }
    }
    processes
}

/// Process identifiers begin where the processes of the host's counters do not go; Windows makes them multiples of 4.
const PROCESS_ID_FIRST: u32 = 0x4_0000;
/// Generations after which the identifiers of an application's processes begin again.
const GENERATIONS: u64 = 64;

/// A process of an application of a host.
#[derive(Clone, Copy)]
struct Place {
    seed: u64,
    elapsed: u64,
    number: u32,
    member: u32,
}

impl Place {
    fn process(self, application: &Application, generation: u64, is_recycling: bool) -> ComProcess {
        let turn = u32::try_from(generation % GENERATIONS).unwrap_or_default();
        let legacy_id = 1 + self.number * 1024 + turn * 16 + self.member;
        let components = application.components.iter().zip(0..);
        let container = ComContainer {
            legacy_id,
            container_id: self.container_id(generation),
            application_id: application.id,
            partition_id: application.partition_id,
            name: application.name,
            is_tracked: application.is_tracked,
            components: components
                .map(|(one, index)| self.component(application, one, index, is_recycling))
                .collect(),
        };
        ComProcess {
            process_id: PROCESS_ID_FIRST + legacy_id * 4,
            exe_name: application.exe_name,
            is_paused: application.pause.is_some_and(|pause| pause.is_within_length_at_end(self.elapsed)),
            is_recycling,
            is_service: application.is_service,
            containers: vec![container],
        }
    }

    fn container_id(self, generation: u64) -> Guid {
        let index = (generation << 16) + u64::from(self.number << 8 | self.member);
        let half = |salt: u64| u128::from(noise(self.seed ^ salt, index));
        Guid::from_u128(half(0xc0) << 64 | half(0x1d))
    }

    fn component(
        self,
        application: &Application,
        component: &Component,
        index: u32,
        is_recycling: bool,
    ) -> ComComponent {
        let load = u64::from(0xc000 + self.number * 256 + self.member * 16 + index);
        let calls = CallModel::seeded(self.seed, load, application.pause);
        let in_call = if is_recycling {
            u32::from(index == 0)
        } else {
            calls.in_call(self.elapsed, component.instances)
        };
        let recent = if is_recycling { Default::default() } else { calls.recent(self.elapsed) };
        // Clients keep some instances between two calls.
        let kept = u32::try_from(noise(self.seed, load) % 3).unwrap_or_default();
        let instances = component.instances;
        let activated = if component.is_pooled { (in_call + kept).min(instances) } else { instances };
        ComComponent {
            clsid: component.clsid,
            name: component.name,
            activated,
            pooled: instances - activated,
            bound_references: activated + kept,
            in_call,
            recent,
        }
    }
}
