//! What an exporter costs that has nothing to do: its targets are connected, and none is due.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::super::Usage;
use super::world::World;
use super::{Fleet, Page, make_room};
use crate::bench::row::{self, Row};
use crate::process::poll;
use crate::workspace::Workspace;
use crate::{Result, http};

/// How many targets, for how long, and where the figure goes.
#[derive(Args)]
pub(crate) struct Options {
    /// Simulated hosts
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=50_000))]
    targets: u32,
    /// How long the idle exporter is measured
    #[arg(long, value_name = "S", default_value_t = 120, value_parser = clap::value_parser!(u32).range(10..=86_400))]
    seconds: u32,
    /// Writes the figure as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Fails if the goal is missed
    #[arg(long)]
    check: bool,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let workspace = Workspace::load()?;
    workspace.build_programs()?;
    make_room(options.targets)?;
    let fleet = Fleet {
        targets: options.targets,
        has_faults: false,
        seconds: options.seconds,
        interval_s: INTERVAL_S,
    };
    let mut world = World::start(&workspace, fleet)?;
    wait_until_up(&mut world)?;
    // What begins when all are up is not idling yet.
    std::thread::sleep(SETTLING);
    let (first, before) = (look(&world)?, Usage::of(world.exporter.id())?);
    std::thread::sleep(Duration::from_secs(options.seconds.into()));
    let used = Usage::of(world.exporter.id())?.since(before);
    let last = look(&world)?;
    world.end()?;
    let collections = sum(&last) - sum(&first);
    let percent = used.cpu_s / f64::from(options.seconds) * 100.0;
    let rows = [Row {
        name: "idle".into(),
        unit: "% of a core",
        ours: percent,
        goal: Some(PERCENT_MAX),
        note: format!(
            "{} targets, {} s, {collections} collections fell into them; the whole exporter",
            options.targets, options.seconds
        ),
    }];
    row::print(&rows);
    if let Some(file) = &options.json {
        row::write(&rows, file)?;
    }
    if options.check && !rows[0].is_met() { Err("the goal is missed".into()) } else { Ok(()) }
}

fn wait_until_up(world: &mut World<'_>) -> Result<()> {
    let is_up = poll("every host is up", UP_TIMEOUT, || {
        Ok(look(world)?.targets.iter().all(|target| target.is_up).then_some(()))
    });
    is_up.map_err(|error| world.exporter.complaint(&error.to_string()))
}

fn look(world: &World<'_>) -> Result<Page> {
    let answer = http::get(world.address, "/metrics", "text/plain")?;
    Ok(Page::read(&answer.body, &world.places))
}

fn sum(page: &Page) -> f64 {
    page.targets.iter().map(|target| target.collections).sum()
}

/// So long that almost no target is due within the window.
const INTERVAL_S: u32 = 86_400;
const UP_TIMEOUT: Duration = Duration::from_secs(600);
const SETTLING: Duration = Duration::from_secs(10);
const PERCENT_MAX: f64 = 0.2;
