//! Thresholds of alerts, and what becomes of samples; when sets start, how their files are called, and how they run.

mod any_run;
mod any_schedule;
mod arguments;
mod completion;
mod judging;
mod names;
mod resuming;
mod running;
mod schedules;
mod segments;
mod settled;
mod stepped_clocks;
mod thresholds;
mod world;
