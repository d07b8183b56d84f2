//! Counter types, units and selection of Windows performance counters.
