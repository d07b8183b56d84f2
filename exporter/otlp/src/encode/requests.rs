//! The walk over the parts.

use series::model::Kind;

use super::Number;
use super::change::{Before, Place, gone};
use super::run::{Run, start};
use super::templates::{Numbers, Templates};
use super::writing::Writing;
use super::{Part, Position, Temporality};

/// One request that was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    pub points: u64,
    /// How many parts this request and those before it complete.
    pub parts_done: usize,
}

/// Writes the requests that the parts need, one after the other.
#[derive(Debug)]
pub struct Requests {
    parts: Vec<Part>,
    temporality: Temporality,
    position: Position,
    /// Where the request that was written last began.
    mark: Position,
    change: Option<Change>,
}

/// What is found out when the walk comes to a part.
#[derive(Debug)]
struct Change {
    part: usize,
    gone: Vec<Place>,
    before: Option<Before>,
}

impl Requests {
    /// Requests with all of `parts`.
    #[must_use]
    pub fn new(parts: Vec<Part>, temporality: Temporality) -> Self {
        let position = Position::default();
        Self { parts, temporality, position, mark: position, change: None }
    }

    #[must_use]
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Writes the next request into `out`, which is emptied first: at most `bytes_max` bytes, unless one point
    /// alone needs more. Answers nothing when all is written.
    pub fn next_request(
        &mut self,
        templates: &mut Templates,
        bytes_max: usize,
        out: &mut Vec<u8>,
    ) -> Option<Request> {
        out.clear();
        self.mark = self.position;
        let mut writing = Writing::new(out, bytes_max);
        while self.position.part < self.parts.len() && self.write_part(templates, &mut writing) {
            self.position = Position { part: self.position.part + 1, ..Position::default() };
        }
        let points = writing.end();
        (points > 0).then_some(Request { points, parts_done: self.position.part })
    }

    /// Goes back to the beginning of the last request, to write a smaller one.
    pub fn rewind(&mut self) {
        self.position = self.mark;
    }

    /// Writes on from the position; whether the part is complete.
    fn write_part(&mut self, templates: &mut Templates, writing: &mut Writing<'_>) -> bool {
        let part = &self.parts[self.position.part];
        let change = match self.change.take_if(|change| change.part == self.position.part) {
            Some(change) => change,
            None => Change::of(part, self.position.part, self.temporality),
        };
        let before = change.before.as_ref();
        let complete = write_blocks(part, before, self.temporality, &mut self.position, templates, writing)
            && write_gone(part, &change.gone, &mut self.position, templates, writing);
        self.change = Some(change);
        complete
    }
}

impl Change {
    fn of(part: &Part, index: usize, temporality: Temporality) -> Self {
        let delta = temporality == Temporality::Delta;
        let earlier = part.earlier.as_ref();
        Self {
            part: index,
            gone: earlier.map_or_else(Vec::new, |earlier| gone(&earlier.sent, &part.snapshot, !delta)),
            before: earlier.filter(|_| delta).map(|earlier| Before::new(earlier, &part.snapshot)),
        }
    }
}

fn write_blocks(
    part: &Part,
    before: Option<&Before>,
    temporality: Temporality,
    position: &mut Position,
    templates: &mut Templates,
    writing: &mut Writing<'_>,
) -> bool {
    let values = part.snapshot.values();
    while let Some(block) = part.snapshot.layout().blocks().get(position.block) {
        let kind = block.family().kind;
        while let Some(chunk) = block.chunks().get(position.chunk) {
            let template = templates.of(chunk, block, &part.resource);
            let run = Run { part, temporality, at: *position, block, chunk, template };
            position.series = match (kind, temporality) {
                (Kind::Counter, Temporality::Delta) => run.write_growth(before, writing),
                (Kind::Counter, _) => run.write(writing, |id| {
                    let (time, value) = (part.time_unix_nanos, Number::of(values.value(id)?));
                    Some(Numbers { start: start(values, id, time), time, value })
                }),
                (Kind::Histogram, Temporality::Delta) => run.write_histogram_growth(before, writing),
                (Kind::Histogram, _) => run.write_histograms(writing),
                (Kind::Info, _) => run.write(writing, |id| {
                    values.value(id)?;
                    Some(Numbers { start: 0, time: part.time_unix_nanos, value: Number::ONE })
                }),
                (Kind::Gauge | Kind::Unknown, _) => run.write(writing, |id| {
                    Some(Numbers {
                        start: 0,
                        time: part.time_unix_nanos,
                        value: Number::of(values.value(id)?),
                    })
                }),
            };
            if position.series < chunk.len() {
                return false;
            }
            (position.chunk, position.series) = (position.chunk + 1, 0);
        }
        (position.block, position.chunk) = (position.block + 1, 0);
    }
    true
}

fn write_gone(
    part: &Part,
    gone: &[Place],
    position: &mut Position,
    templates: &mut Templates,
    writing: &mut Writing<'_>,
) -> bool {
    let Some(earlier) = &part.earlier else { return true };
    while let Some(place) = gone.get(position.gone) {
        let block = &earlier.sent.layout().blocks()[place.block];
        let template = templates.of(&block.chunks()[place.chunk], block, &part.resource);
        let bytes = template.ends[place.series] as usize - template.begin(place.series);
        let metric = (place.block, true);
        let cumulative = Temporality::Cumulative;
        if !writing.begin_point((position.part, metric), part, block.family(), cumulative, bytes) {
            return false;
        }
        template.put_gone(writing.out, place.series, part.time_unix_nanos);
        writing.points += 1;
        position.gone += 1;
    }
    true
}
