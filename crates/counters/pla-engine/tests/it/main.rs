//! Thresholds of alerts, and what becomes of samples; when sets start, how their files are called, and how they run.

mod any_run;
mod arguments;
mod judging;
mod names;
mod resuming;
mod running;
mod schedules;
mod settled;
mod stepped_clocks;
mod thresholds;
mod world;
