//! A plugin that is linked into the benchmark: what it sends goes through the host's table of the C ABI.

use std::sync::Arc;

use parking_lot::Mutex;
use plugin_abi::Sinks;
use plugin_host::testing::RecordingSink;
use plugin_host::{Host, HostOptions, Instance, InstanceConfig, Limits};
use plugin_sdk::{
    Collection, Coverage, Display, Failure, FamilyDef, Handle, Kind, Output, Problem, SeriesDef, SeriesId,
    Setup, Source, SourceEntry, ValueKind,
};
use series::pipeline::Store;

const SERIES_PER_FAMILY: usize = 1_000;

/// An instance whose values the benchmark pushes by itself, from its own thread.
pub(crate) struct Linked {
    pub(crate) output: Output,
    _instance: Instance,
}

impl Linked {
    /// Links the plugin and makes an instance that sends into `store`.
    pub(crate) fn new(store: &Arc<Store>, series_max: usize) -> Self {
        let series_max = u32::try_from(series_max).expect("ids are small here");
        let limits = Limits { series_max, ..Limits::default() };
        let host = Host::new(HostOptions { limits, ..HostOptions::default() });
        let library = host.link("feeding", entry).expect("the plugin fits the host");
        let sinks = Sinks { data: Arc::clone(store) as Arc<_>, notices: Arc::<RecordingSink>::default() };
        let instance = library.create(Feeding::NAME, &InstanceConfig::default(), sinks).expect("it is made");
        let handle = LINE.lock().take().expect("an instance leaves its line");
        Self { output: handle.output(), _instance: instance }
    }

    /// Registers so many series of doubles, family by family.
    pub(crate) fn register(&mut self, series: usize) -> Vec<SeriesId> {
        let mut ids = Vec::with_capacity(series);
        while ids.len() < series {
            let item = format!("Item {}", ids.len() / SERIES_PER_FAMILY);
            let family = self.output.register_families(&[FamilyDef { item: &item, ..FAMILY }])[0];
            let family = family.expect("the family is taken");
            let names: Vec<String> =
                (0..SERIES_PER_FAMILY.min(series - ids.len())).map(|index| format!("{index},disk")).collect();
            let labels: Vec<_> = names.iter().map(|name| [("counter_instance", name.as_str())]).collect();
            let rows: Vec<_> =
                labels.iter().map(|labels| SeriesDef { family, labels, start: None }).collect();
            let taken = self.output.register_series(&rows).into_iter();
            ids.extend(taken.map(|id| id.expect("the series is taken")));
        }
        ids
    }
}

const FAMILY: FamilyDef<'static> = FamilyDef {
    namespace: "",
    object: "Disk Activity",
    item: "",
    part: "",
    kind: Kind::Gauge,
    unit: "",
    help: "A family of the benchmark",
    origin: "\\Disk Activity(*)\\Item",
    value: ValueKind::F64,
    bounds: &[],
    display: Display::NONE,
};

/// The line of the instance that was made last.
static LINE: Mutex<Option<Handle>> = Mutex::new(None);

struct Feeding;

impl Source for Feeding {
    const NAME: &'static str = "feeding";
    const HELP: &'static str = "Leaves its line to the host with the benchmark";
    type Settings = Option<()>;

    fn create(setup: Setup<Self::Settings>) -> Result<Self, Vec<Problem>> {
        *LINE.lock() = Some(setup.handle);
        Ok(Self)
    }

    fn reconfigure(&mut self, _settings: Self::Settings) {}

    async fn collect(&mut self, _collection: &mut Collection) -> Result<Coverage, Failure> {
        Ok(Coverage::Full)
    }
}

plugin_sdk::export_plugin! {
    name: "feeding",
    version: "0",
    description: "Sends what a benchmark says",
    sources: [SourceEntry::of::<Feeding>()],
    commands: [],
}
