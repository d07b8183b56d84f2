//! Thresholds of alerts, and what becomes of samples.

mod arguments;
mod judging;
mod settled;
mod thresholds;
