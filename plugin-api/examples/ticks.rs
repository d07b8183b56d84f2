//! A whole plugin in Rust: counts its collections, and shows what else a source can do.
//!
//! `cargo build -p plugin-host --example ticks` makes `libticks.so` of it.

use plugin_sdk::{
    Collection, Coverage, Display, DisplayRule, Failure, FamilyDef, GeneralReason, Kind, Problem, SeriesDef,
    SeriesId, Setup, Source, SourceEntry, Stage, ValueKind,
};

/// What the configuration says.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    #[serde(default)]
    start: u64,
    /// The collection with this number fails, and the one after it panics.
    #[serde(default)]
    trouble_at: Option<u64>,
}

struct Ticks {
    settings: Settings,
    next: u64,
    series: Option<SeriesId>,
}

const TICKS: FamilyDef<'static> = FamilyDef {
    namespace: "",
    object: "Ticks",
    item: "Ticks",
    part: "",
    kind: Kind::Counter,
    unit: "",
    help: "Collections of this instance so far.",
    origin: "examples/ticks.rs",
    value: ValueKind::U64,
    bounds: &[],
    display: Display::by(DisplayRule::Rate),
};

impl Source for Ticks {
    const NAME: &'static str = "ticks";
    const HELP: &'static str = "Counts its collections";
    type Settings = Settings;

    fn create(setup: Setup<Settings>) -> Result<Self, Vec<Problem>> {
        Ok(Self { next: setup.settings.start, settings: setup.settings, series: None })
    }

    fn reconfigure(&mut self, settings: Settings) {
        self.settings = settings;
    }

    async fn collect(&mut self, collection: &mut Collection) -> Result<Coverage, Failure> {
        collection.enter(Stage::Query);
        let number = self.next;
        self.next += 1;
        tracing::debug!(number, target = collection.target().name, "Tick");
        if self.settings.trouble_at == Some(number) {
            return Err(Failure::new(Stage::Query, GeneralReason::Other, "trouble, as configured"));
        }
        assert!(self.settings.trouble_at.map(|at| at + 1) != Some(number), "a tick too many");
        let output = collection.output();
        if self.series.is_none()
            && let Some(family) = output.register_families(&[TICKS])[0]
        {
            self.series = output.register_series(&[SeriesDef { family, labels: &[], start: None }])[0];
        }
        if let Some(series) = self.series {
            output.push_u64(series, number);
        }
        Ok(Coverage::Full)
    }
}

plugin_sdk::export_plugin! {
    name: "ticks",
    version: env!("CARGO_PKG_VERSION"),
    description: "An example in Rust",
    sources: [SourceEntry::of::<Ticks>()],
    commands: [],
}
