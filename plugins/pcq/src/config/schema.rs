//! What the exporter may show of the settings.

/// Keys whose values are no secrets: all that there are.
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
