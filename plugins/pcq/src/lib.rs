//! Source plugin: performance counters by [MS-PCQ].
