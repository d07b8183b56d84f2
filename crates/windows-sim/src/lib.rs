//! A simulated Windows host.
