//! Reading a tracker event beside a memcpy of the same bytes: 100 applications with 20 components each.
//!
//! `cargo bench -p com` prints the table. Guarded number: every entry with its texts and numbers at 200 MB/s at
//! least. Nothing is allocated on the way, which a test sees to.
#![allow(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

use std::hint::black_box;
use std::process::ExitCode;
use std::time::Duration;

use com::comt::tracking::write::{self, Choices};
use com::comt::tracking::{Component, Container, Dropped, Limits, Process, Visitor, read};
use test_support::race::{Goal, Race};
use wire::Guid;

const ROUNDS: usize = 20;
/// How often the event is read in one round.
const TIMES: u32 = 20;
const READ: &str = "processes, containers, components";
const REVERSED: &str = "the same, collections before other properties";

fn main() -> ExitCode {
    let bytes = event(&Choices::default());
    let reversed = event(&Choices { collection_first: true, ..Choices::default() });
    let mut copy = vec![0; bytes.len()];
    let budget = Duration::from_secs_f64(bytes.len() as f64 * f64::from(TIMES) / 200e6);
    let results = Race::new("a tracker event", "byte", bytes.len() as u64 * u64::from(TIMES))
        .contestant("memcpy", || {
            for _ in 0..TIMES {
                black_box(&mut copy).copy_from_slice(black_box(&bytes));
            }
        })
        .contestant(READ, || {
            for _ in 0..TIMES {
                assert_eq!(count(black_box(&bytes)), 2_000);
            }
        })
        .contestant(REVERSED, || {
            for _ in 0..TIMES {
                assert_eq!(count(black_box(&reversed)), 2_000);
            }
        })
        .reported("200 MB/s", move || budget)
        .run(ROUNDS);
    let goal = |name| Goal { name, yardstick: "200 MB/s", ratio: 1.0 };
    let holds = results.judge(&[goal(READ), goal(REVERSED)]);
    println!("  {} bytes", bytes.len());
    if holds { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

#[derive(Default)]
struct Count {
    components: usize,
    sum: u64,
}

impl<'a> Visitor<'a> for Count {
    fn component(&mut self, process: Option<&Process<'a>>, _: &Container<'a>, component: &Component<'a>) {
        self.components += 1;
        self.sum += u64::from(component.in_call.unwrap_or(0)) + process.map_or(0, |_| 1);
        black_box(component);
    }

    fn dropped(&mut self, dropped: &Dropped<'a>) {
        unreachable!("{dropped}");
    }
}

fn count(bytes: &[u8]) -> usize {
    let mut count = Count::default();
    read(bytes, &Limits::default(), &mut count).unwrap();
    black_box(count.sum);
    count.components
}

fn event(choices: &Choices) -> Vec<u8> {
    let guid = |value: u32| Guid::from_u128(u128::from(value) << 64 | 0x11d2_978e_0000_f875);
    let component = |n: u32| write::Component {
        clsid: guid(n),
        name: format!("Orders.Component{n}"),
        objects: Some(n),
        activated: Some(n / 2),
        pooled: Some(n / 3),
        in_call: Some(n % 7),
        call_time_ms: Some(n % 100),
    };
    let container = |n: u32| write::Container {
        application_id: guid(1_000_000 + n),
        container_id: guid(2_000_000 + n),
        name: format!("Application {n}"),
        components: (0..20).map(|c| component(n * 20 + c)).collect(),
        ..write::Container::default()
    };
    let process = |n: u32| write::Process {
        process_id: Some(1_000 + n),
        exe_name: "dllhost.exe".to_owned(),
        containers: vec![container(n)],
        ..write::Process::default()
    };
    write::encode(&(0..100).map(process).collect::<Vec<_>>(), choices).unwrap()
}
