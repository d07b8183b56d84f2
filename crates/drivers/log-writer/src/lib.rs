//! Writes logs of performance counters to files and databases, behind a queue that is bounded.
