//! Loads plugins and guards the exporter against them.
