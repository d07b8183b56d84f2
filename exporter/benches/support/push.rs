//! A push of a fleet's snapshots, as far as the encoder goes.

use std::sync::Arc;

use otlp::encode::{Earlier, Facts, Part, Requests, Resource, Scope, Templates, Temporality};

use super::support::workload::Fleet;

const REQUEST_BYTES_MAX: usize = 3 << 20;

/// What stays the same from push to push.
pub(crate) struct Push {
    scope: Arc<Scope>,
    resources: Vec<Arc<Resource>>,
}

impl Push {
    pub(crate) fn of(fleet: &Fleet) -> Self {
        let resource = |snapshot: Arc<series::model::Snapshot>| {
            let facts = Facts { host: &snapshot.target().name, ..Facts::default() };
            Arc::new(Resource::of(snapshot.target(), &facts))
        };
        let resources = fleet.snapshots().into_iter().map(resource).collect();
        Self { scope: Arc::new(Scope::new("pcq", "1.0")), resources }
    }

    /// The snapshots of now, to be reported as what came since those of `before`.
    pub(crate) fn parts(&self, fleet: &Fleet, round: u64, before: Vec<Part>) -> Vec<Part> {
        let mut before = before.into_iter().map(|part| Earlier {
            sent: Arc::clone(&part.snapshot),
            counts: part.snapshot,
            counts_time_unix_nanos: part.time_unix_nanos,
        });
        let new = fleet.snapshots().into_iter().zip(&self.resources).map(|(snapshot, resource)| Part {
            resource: Arc::clone(resource),
            scope: Arc::clone(&self.scope),
            snapshot,
            time_unix_nanos: round * 1_000_000_000,
            earlier: before.next(),
        });
        new.collect()
    }
}

/// Encodes as the sender does: request by request through one buffer.
pub(crate) fn encode(
    parts: &[Part],
    temporality: Temporality,
    templates: &mut Templates,
    body: &mut Vec<u8>,
    mut send: impl FnMut(&[u8]),
) {
    let mut requests = Requests::new(parts.to_vec(), temporality);
    while requests.next_request(templates, REQUEST_BYTES_MAX, body).is_some() {
        send(body);
    }
}
