use std::collections::HashMap;

use counter_poll::Pace;
use counter_poll::paths::CountersetFrame;

/// The instances of each counterset by their names in one case, made as they are needed.
#[derive(Debug, Default)]
pub(super) struct ByName(HashMap<usize, OfCounterset>);

#[derive(Debug, Default)]
struct OfCounterset {
    version: u64,
    places: HashMap<String, Vec<usize>>,
}

impl ByName {
    /// The places of the instances of a counterset that have this name.
    pub(super) async fn places(
        &mut self,
        counterset: usize,
        frame: &CountersetFrame,
        name: &str,
        pace: &mut Pace,
    ) -> &[usize] {
        let of_counterset = self.0.entry(counterset).or_default();
        if of_counterset.version != frame.version() {
            of_counterset.places.clear();
            for (place, instance) in frame.instances().iter().enumerate() {
                let name = instance.as_ref().map_or("", |instance| &instance.name);
                of_counterset.places.entry(name.to_lowercase()).or_default().push(place);
                pace.step(1).await;
            }
            // Not before: the collection may end within the loop.
            of_counterset.version = frame.version();
        }
        of_counterset.places.get(&name.to_lowercase()).map_or(&[], Vec::as_slice)
    }
}
