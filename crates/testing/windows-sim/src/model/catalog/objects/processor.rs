use counters::perflib_v1::write::{Data, Instance};

use super::super::super::schema::Sample;
use super::figures::{Figures, number};

pub(super) fn modelled(figures: &Figures<'_>) -> Data {
    data(figures.processors())
}

/// The first counters of `Processor Information` are those of this object, in the same order. Its instances have a group in
/// front of their number, and those of this object have none.
pub(crate) fn data(samples: &[Sample]) -> Data {
    let counters = super::object("Processor").counters.len();
    let instance = |sample: &Sample| {
        let name = match sample.instance.name.split_once(',') {
            // The total of a group. There are no groups here.
            Some((_, "_Total")) => return None,
            Some((_, number)) => number,
            None => &sample.instance.name,
        };
        let values = (0..counters).map(|position| number(sample, position)).collect();
        Some(Instance { name: name.to_owned(), values, ..Instance::default() })
    };
    Data::Instances(samples.iter().filter_map(instance).collect())
}
