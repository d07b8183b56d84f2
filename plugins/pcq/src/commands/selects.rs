//! `selects`: whether modules collect an instance, for programs that read metrics.

use plugin_sdk::{Command, Display, Exit, FamilyDef, Kind, Problem, Run, Selects, ValueKind};
use plugin_session::command::CommandError;
use serde_json::{Value, json};

use crate::config::{Settings, counterset_of, selects_instance};

/// Tells which instances modules collect.
#[derive(Debug)]
pub(crate) struct SelectsInstances;

#[derive(clap::Args)]
pub(crate) struct SelectsArguments {
    /// The target in the configuration whose modules are asked
    #[arg(long, value_name = "NAME")]
    target: Option<String>,
    /// The counterset of the instances
    #[arg(long, value_name = "NAME", conflicts_with = "metric", required_unless_present = "metric")]
    counterset: Option<String>,
    /// A metric of the counterset, by its native name
    #[arg(long, value_name = "NAME")]
    metric: Option<String>,
    /// Names of instances
    #[arg(value_name = "INSTANCE", required = true)]
    instances: Vec<String>,
}

impl Command for SelectsInstances {
    const NAME: &'static str = "selects";
    const HELP: &'static str =
        "Tells for each module of a target whether it collects instances, and what to set for it, as JSON";
    type Arguments = SelectsArguments;

    async fn run(run: Run, arguments: SelectsArguments) -> Exit {
        if run.configured().is_empty() {
            let named = arguments.target.as_deref().unwrap_or("without --target there is no target");
            let error = CommandError::failed(
                format!("{named}: no module of this plugin"),
                "name a target of the configuration that has one: --config FILE --target NAME",
            );
            return error.print(&run);
        }
        for (module, configured) in run.configured().iter().enumerate() {
            // The program has checked them.
            let Ok(settings) = plugin_sdk::parse_settings::<Settings>(&configured.settings) else { continue };
            for instance in &arguments.instances {
                let answer = answer(&run, module, &settings, &arguments, instance);
                run.out(&format!("{}\n", json_of(module, instance, answer)));
            }
        }
        Exit::Success
    }
}

fn answer(
    run: &Run,
    module: usize,
    settings: &Settings,
    arguments: &SelectsArguments,
    instance: &str,
) -> Selects {
    let metric = match (&arguments.counterset, &arguments.metric) {
        (Some(counterset), _) => return selects_instance(settings, counterset, instance),
        (None, metric) => metric.as_deref().unwrap_or_default(),
    };
    match counterset_of(settings, metric, |object| prefix_of(run, module, object)) {
        Some((counterset, false)) => selects_instance(settings, counterset, instance),
        // The metrics of totals have no other instances, and those of patterns have any name.
        _ => Selects::Unknown,
    }
}

/// How the names of a counterset's metrics begin.
fn prefix_of(run: &Run, module: usize, object: &str) -> Option<String> {
    let name = run.metric_name(
        Some(module),
        &FamilyDef {
            namespace: "",
            object,
            item: ITEM,
            part: "",
            kind: Kind::Gauge,
            unit: "",
            help: "",
            origin: "",
            value: ValueKind::F64,
            bounds: &[],
            display: Display::NONE,
        },
    )?;
    name.strip_suffix(ITEM).map(str::to_owned)
}

fn json_of(module: usize, instance: &str, answer: Selects) -> Value {
    let (selected, problems) = match answer {
        Selects::Yes => (Some(true), Vec::new()),
        Selects::No(problems) => (Some(false), problems),
        Selects::Unknown => (None, Vec::new()),
    };
    let shown = |Problem { pointer, message, suggestion, .. }: &Problem| json!({"pointer": pointer, "message": message, "suggestion": suggestion});
    let problems: Vec<Value> = problems.iter().map(shown).collect();
    json!({"module": module, "instance": instance, "selected": selected, "problems": problems})
}

/// A counter for its counterset.
const ITEM: &str = "x";
