//! A push of 100,000 and 1,000,000 points, every value changed since the last round.
//!
//! Guarded number: the encoder within 2 × of a memcpy of the requests' bytes.
//!
//! `cargo bench -p perfmon-exporter --bench otlp -- --json FILE` also writes the figures at 1,000,000 points.
#![allow(clippy::panic, missing_docs, reason = "a benchmark fails by panicking")]

#[path = "support/push.rs"]
mod push;
mod support;

use std::cell::{Cell, RefCell};
use std::process::ExitCode;

use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use otlp::encode::{Part, Templates, Temporality};
use prost::Message;
use serde_json::Value;
use test_support::race::{Goal, Race};

use self::push::{Push, encode};
use self::support::{rows, workload};

const LARGE: usize = 1_000_000;

const MEMCPY: &str = "memcpy of the requests";
const CUMULATIVE: &str = "cumulative";
const DELTA: &str = "delta";
const PEER: &str = "opentelemetry-proto, encode only";
const GOALS: [Goal<'static>; 1] = [Goal { name: CUMULATIVE, yardstick: MEMCPY, ratio: 2.0 }];

fn main() -> ExitCode {
    let (small_holds, _) = measure(100_000);
    let (holds, row) = measure(LARGE);
    rows::write(vec![row]);
    if small_holds && holds { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn measure(series: usize) -> (bool, Value) {
    let fleet = workload::Fleet::new(series);
    let push = Push::of(&fleet);
    let (number, parts, whole) = (Cell::new(0), RefCell::new(Vec::<Part>::new()), RefCell::new(Vec::new()));
    let (templates, body) = (RefCell::new(Templates::default()), RefCell::new(Vec::new()));
    let (mut copied, decoded, mut theirs) = (Vec::new(), RefCell::new(Vec::new()), Vec::new());

    let workload = format!("A push of {series} points, every value new");
    let results = Race::new(&workload, "point", series as u64)
        .step(|| {
            number.set(number.get() + 1);
            fleet.collect(number.get());
            let new = push.parts(&fleet, number.get(), parts.take());
            *parts.borrow_mut() = new;
            let mut whole = whole.borrow_mut();
            whole.clear();
            let mut decoded = decoded.borrow_mut();
            decoded.clear();
            encode(
                &parts.borrow(),
                Temporality::Cumulative,
                &mut templates.borrow_mut(),
                &mut body.borrow_mut(),
                |body| {
                    whole.extend_from_slice(body);
                    decoded.push(ExportMetricsServiceRequest::decode(body).expect("a peer reads it"));
                },
            );
        })
        .contestant(MEMCPY, || {
            let whole = whole.borrow();
            copied.resize(whole.len(), 0_u8);
            copied.copy_from_slice(&whole);
            std::hint::black_box(&copied);
        })
        .contestant(CUMULATIVE, || {
            encode(
                &parts.borrow(),
                Temporality::Cumulative,
                &mut templates.borrow_mut(),
                &mut body.borrow_mut(),
                |body| {
                    std::hint::black_box(body);
                },
            );
        })
        .contestant(DELTA, || {
            encode(
                &parts.borrow(),
                Temporality::Delta,
                &mut templates.borrow_mut(),
                &mut body.borrow_mut(),
                |body| {
                    std::hint::black_box(body);
                },
            );
        })
        .contestant(PEER, || {
            for request in &*decoded.borrow() {
                theirs.clear();
                request.encode(&mut theirs).expect("a Vec takes everything");
                std::hint::black_box(&theirs);
            }
        })
        .run(rows::rounds());
    let holds = results.judge(&GOALS);
    let (bytes, kept) = (whole.borrow().len() / series, templates.borrow().bytes() / series);
    println!("  {bytes} bytes a point, {kept} bytes kept a series\n");
    let peers = [("memcpy", MEMCPY), ("opentelemetry-proto, encode only", PEER)];
    let note = format!("{series} points of {bytes} B; memcpy of the requests");
    (holds, rows::race(&results, "otlp", "ns/point", CUMULATIVE, &peers, &note))
}
