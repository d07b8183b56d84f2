use counter_types::Selection;

use crate::Which;

/// A counterset that is wanted, or those that match, with the patterns compiled.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// How it is named where it is wanted, for people.
    pub label: String,
    /// What it is found by.
    pub which: Which,
    /// Which instances and counters.
    pub selection: Selection,
    /// Whether series carry the instance's number.
    pub instance_id: bool,
    /// Whether instances are added up.
    pub aggregate: Aggregate,
    /// Only the first instances by a counter.
    pub top_n: Option<TopN>,
    /// Whether it is no failure if the host has none.
    pub is_optional: bool,
}

/// Whether the instances of an aggregate counterset are added up here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Aggregate {
    #[default]
    No,
    Beside,
    /// In the place of the instances.
    Only,
}

/// Only the instances with the largest values of a counter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopN {
    pub counter: String,
    pub n: u32,
}
