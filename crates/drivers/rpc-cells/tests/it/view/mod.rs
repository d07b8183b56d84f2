//! The examples of the documentation of `dbgrpc`, and calls that go through several processes.

mod documented;
mod named;
mod trails;
mod world;
