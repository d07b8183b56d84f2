//! One Windows host: connect, authenticate, performance counters.
