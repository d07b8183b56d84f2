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
    "first_of",
    "guid",
    "host_info",
    "include",
    "instance_id",
    "instances",
    "language",
    "max_services",
    "n",
    "name",
    "optional",
    "regex",
    "totals",
    "wildcard",
];
