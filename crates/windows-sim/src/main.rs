//! The simulated Windows host as a program.
fn main() {}
