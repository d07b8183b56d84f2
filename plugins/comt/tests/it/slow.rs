//! A host that is not near is read in several collections, each of which goes on where the last one ended.

use std::sync::Arc;
use std::time::Duration;

use plugin_abi::Stage;
use serde_json::json;
use windows_sim::model::{
    Clock, ComComponent, ComContainer, ComProcess, Counterset, Host, HostOptions, Moment, Sample, ValueSource,
};
use wire::{FileTime, Guid};

use crate::world::{Asked as _, Plugin, SimHost};

/// A host with so many applications, each of them in so many containers.
struct Large {
    host: Host,
    applications: u32,
    containers: u32,
}

/// Of each application, in all of its containers.
const COMPONENTS: u32 = 9;
/// Series of a component without events.
const SERIES: usize = 7;

pub(crate) fn host(applications: u32, containers: u32) -> SimHost {
    let clock = Clock::manual(FileTime(134_116_992_000_000_000));
    let host = Host::new(HostOptions { clock: clock.clone(), ..HostOptions::default() });
    SimHost::with_source(Arc::new(Large { host, applications, containers }), clock)
}

fn guid(application: u32, low: u32) -> Guid {
    Guid::from_u128(u128::from(application) << 96 | u128::from(low))
}

impl ValueSource for Large {
    fn countersets(&self) -> Vec<&'static Counterset> {
        Vec::new()
    }

    fn moment(&self) -> Moment {
        self.host.moment()
    }

    fn sample(&self, _: Guid, _: &Moment) -> Option<Vec<Sample>> {
        None
    }

    fn com_processes(&self, _: &Moment) -> Vec<ComProcess> {
        let component = |application, number| ComComponent {
            clsid: guid(application, 1 + number),
            name: "",
            activated: 1,
            pooled: 1,
            bound_references: 1,
            in_call: 0,
            recent: Default::default(),
        };
        let container = |application, number| ComContainer {
            legacy_id: number,
            container_id: guid(application, number),
            application_id: guid(application, 0),
            partition_id: guid(0, 0),
            name: "",
            is_tracked: true,
            components: (0..COMPONENTS).map(|number| component(application, number)).collect(),
        };
        let process = |number| ComProcess {
            process_id: 4 * number,
            exe_name: "dllhost.exe",
            is_paused: false,
            is_recycling: false,
            is_service: false,
            containers: vec![container(number / self.containers, number)],
        };
        // Not in the order of their identifiers.
        (0..self.applications * self.containers).rev().map(process).collect()
    }
}

/// Applications, containers of each, and maximum components.
const CASES: [(u32, u32, u32); 4] = [(60, 1, 4096), (1, 60, 4096), (3, 20, 4096), (60, 1, 400)];

/// How many applications were read, and how many were to be, as a failure says.
#[track_caller]
fn counts_of(message: &str) -> (u32, u32) {
    let counts = message.strip_prefix("the components of ").and_then(|rest| {
        rest.strip_suffix(
            " applications were read in the time that there was; the next collection goes on there: lengthen `deadline` of \
             the target",
        )
    });
    let (read, all) = counts.and_then(|counts| counts.split_once(" of ")).expect(message);
    (read.parse().expect(message), all.parse().expect(message))
}

#[test]
fn a_slow_host_is_read_in_several_collections_and_a_quick_one_in_one() {
    for (applications, containers, max_components) in CASES {
        let case =
            format!("{applications} applications in {containers} containers, {max_components} components");
        let (sim, plugin) = (host(applications, containers), Plugin::new());
        let settings = json!({"max_components": max_components});
        let quick = plugin.watch_with(sim.port, settings.clone()).full();
        let expected = quick.rows("Component", "Instances Pooled");
        assert_eq!(expected.len(), max_components.min(applications * COMPONENTS) as usize, "{case}");

        sim.rule("tracker/5=delay:30ms");
        let watch = plugin.watch_with(sim.port, settings);
        let mut known = Vec::new();
        for collection in 1.. {
            let ended = watch.collect_within(Duration::from_millis(1_500));
            let (complete, (stage, reason, message)) = ended.incomplete();
            assert_eq!((stage, reason), (Stage::Query, "timeout"), "{case}: {message}");
            let (read, all) = counts_of(message);
            assert!(read < all && all <= applications, "{case}: {message}");
            assert_eq!(
                ended.count("Application"),
                5 * applications as usize,
                "{case}: the list has them all"
            );
            let shown = ended.rows("Component", "Instances Pooled");
            assert!(shown.iter().all(|row| expected.contains(row)), "{case}: sums are of all containers");
            let families = &ended.recorded.families;
            let of_components = families.iter().filter(|family| family.object == "Component").count();
            let is_late = ended.left_out("container", "unread") > 0.0;
            let unknown = if is_late { of_components } else { 0 };
            assert_eq!(complete, families.len() - unknown, "{case}: those of components are not complete");
            known.push(shown.len());
            if shown == expected {
                break;
            }
            assert!(collection < 10, "{case}: {known:?}");
        }
        assert!(known.len() > 1 && known.is_sorted(), "{case}: what was read before stays: {known:?}");
        sim.heal();
        if containers > 1 {
            // It ends what was begun.
            watch.collect();
        }
        let ended = watch.full();
        assert_eq!(ended.rows("Component", "Instances Pooled"), expected, "{case}");
        assert_eq!(ended.left_out("container", "unread"), 0.0, "{case}");
    }
}

#[test]
fn what_was_read_before_a_call_hangs_is_shown_where_the_time_is_too_short_to_read_it_again() {
    let (sim, plugin) = (host(60, 1), Plugin::new());
    let watch = plugin.watch(&sim);
    sim.rules(&["tracker/5+20x1=stall", "tracker/5=delay:80ms"]);
    let ended = watch.collect_within(Duration::from_secs(4));
    let (complete, (stage, reason, message)) = ended.incomplete();
    assert_eq!((stage, reason), (Stage::Query, "timeout"));
    assert!(message.contains(&guid(20, 0).to_string()), "{message}");
    assert_eq!(complete, ended.recorded.families.len() - 9);
    let components = |applications: u32| (applications * COMPONENTS) as usize * SERIES;
    assert_eq!(ended.count("Component"), components(20));
    let left_out = ["stalled", "unread"].map(|why| ended.left_out("container", why));
    assert_eq!(left_out, [1.0, 39.0]);

    sim.heal();
    let ended = watch.collect();
    ended.partial();
    assert_eq!(ended.count("Component"), components(59));
    plugin.advance(Duration::from_secs(60));
    assert_eq!(watch.full().count("Component"), components(60));
}

#[test]
fn containers_that_were_read_before_the_host_was_away_count_no_more() {
    let (sim, plugin) = (host(1, 60), Plugin::new());
    let watch = plugin.watch(&sim);
    sim.rule("tracker/5=delay:30ms");
    let ended = watch.collect_within(Duration::from_millis(1_500));
    assert_eq!(counts_of(ended.partial().2), (0, 1));
    sim.shut();
    watch.collect().failed();
    sim.cut();
    sim.heal();
    assert_eq!(watch.full().count("Component"), COMPONENTS as usize * SERIES);
}
