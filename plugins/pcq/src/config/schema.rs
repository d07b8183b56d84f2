//! The settings that the exporter may show.

/// Keys whose values are not secret: all of them.
pub(crate) const SHOWN: &[&str] = &[
    "aggregate",
    "counter",
    "counters",
    "countersets",
    "detail",
    "exact",
    "exclude",
    "guid",
    "include",
    "instance_id",
    "instances",
    "language",
    "n",
    "name",
    "regex",
    "totals",
    "wildcard",
];
