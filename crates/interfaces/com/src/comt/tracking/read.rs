//! How a tracker event is read, and what is dropped of a bad one.

use wire::{DecodeError, DecodeResult, ReadCursor, WideStr};

use super::entry::{ComponentSlots, Container, ContainerSlots, Process, Slots};
use super::layout::{
    CollectionHeader, CollectionType, Marshalled, Property, Value, collection, object, objref, property,
    skip_objref, text, vt,
};
use super::{Dropped, Limits, Position, Reason, Visitor};

/// Reads the OBJREF_CUSTOM of a tracker event, visits all entries, and returns how many bytes it has. Bytes after it
/// are not looked at.
///
/// # Errors
/// With structure, field and offset where the bytes are no such structure. Entries that end before that offset were
/// visited; the rest is lost.
pub fn read<'a>(bytes: &'a [u8], limits: &Limits, visitor: &mut impl Visitor<'a>) -> DecodeResult<usize> {
    let mut src = ReadCursor::new(bytes);
    let mut walk = Walk { limits: *limits, taken: Taken::default(), position: Position::default(), visitor };
    let header = top(&mut src)?;
    if header.collection_type == CollectionType::PROCESSES {
        walk.processes(&mut src, header.objects)?;
    } else {
        walk.containers(&mut src, header.objects, None)?;
    }
    Ok(src.pos())
}

/// Whether bytes begin as the OBJREF_CUSTOM of a tracker event. What is in its collection is not looked at.
///
/// # Errors
/// With structure, field and offset where they do not.
pub fn check_frame(bytes: &[u8]) -> DecodeResult<()> {
    top(&mut ReadCursor::new(bytes)).map(drop)
}

/// The beginning of an event, up to its first entry.
fn top(src: &mut ReadCursor<'_>) -> DecodeResult<CollectionHeader> {
    let offset = src.pos();
    if objref(src)? != Marshalled::Collection {
        return Err(DecodeError::invalid_field("OBJREF_CUSTOM", "clsid", offset + 24, "is no collection"));
    }
    let header = collection(src)?;
    match header.collection_type {
        CollectionType::PROCESSES | CollectionType::CONTAINERS => Ok(header),
        CollectionType(other) => {
            let (name, field) = ("TrackingInfoCollection", "CollectionType");
            Err(DecodeError::unsupported(name, field, header.offset, other.into()))
        }
    }
}

struct Walk<'v, V> {
    limits: Limits,
    taken: Taken,
    position: Position,
    visitor: &'v mut V,
}

/// Entries visited so far.
#[derive(Default)]
struct Taken {
    processes: u32,
    containers: u32,
    components: u32,
}

/// The collection in an entry.
#[derive(Clone, Copy)]
enum Inner<'a> {
    /// It is the entry's last property, as usual, and was not read yet.
    Ahead,
    /// It was passed over, since properties of the entry follow it.
    Passed(ReadCursor<'a>),
}

impl<'a, V: Visitor<'a>> Walk<'_, V> {
    fn processes(&mut self, src: &mut ReadCursor<'a>, count: u32) -> DecodeResult<()> {
        for index in 0..count {
            self.position = Position { process: Some(index), ..Position::default() };
            let limit = self.limits.processes_max;
            if !within(&mut self.taken.processes, limit) {
                return self.drop_rest(src, count - index, limit);
            }
            let Some((process, inner)) = self.entry::<Process<'a>>(src)? else { continue };
            self.visitor.process(&process);
            self.inner(src, inner, CollectionType::CONTAINERS, |walk, src, count| {
                walk.containers(src, count, Some(&process))
            })?;
        }
        Ok(())
    }

    fn containers(
        &mut self,
        src: &mut ReadCursor<'a>,
        count: u32,
        process: Option<&Process<'a>>,
    ) -> DecodeResult<()> {
        let outer = self.position;
        for index in 0..count {
            self.position = Position { container: Some(index), ..outer };
            let limit = self.limits.containers_max;
            if !within(&mut self.taken.containers, limit) {
                return self.drop_rest(src, count - index, limit);
            }
            let Some((container, inner)) = self.entry::<ContainerSlots<'a>>(src)? else { continue };
            self.visitor.container(process, &container);
            self.inner(src, inner, CollectionType::COMPONENTS, |walk, src, count| {
                walk.components(src, count, process, &container)
            })?;
        }
        Ok(())
    }

    fn components(
        &mut self,
        src: &mut ReadCursor<'a>,
        count: u32,
        process: Option<&Process<'a>>,
        container: &Container<'a>,
    ) -> DecodeResult<()> {
        let outer = self.position;
        for index in 0..count {
            self.position = Position { component: Some(index), ..outer };
            let limit = self.limits.components_max;
            if !within(&mut self.taken.components, limit) {
                return self.drop_rest(src, count - index, limit);
            }
            if let Some((component, _)) = self.entry::<ComponentSlots<'a>>(src)? {
                self.visitor.component(process, container, &component);
            }
        }
        Ok(())
    }

    /// Reads an object up to the collection that is its last property, or else up to its end. `None` if it was dropped;
    /// the cursor then comes after it.
    #[allow(clippy::type_complexity, reason = "an entry and what is in it")]
    fn entry<S: Slots<'a>>(
        &mut self,
        src: &mut ReadCursor<'a>,
    ) -> DecodeResult<Option<(S::Entry, Option<Inner<'a>>)>> {
        let before = *src;
        if objref(src)? != Marshalled::Object {
            *src = before;
            skip_objref(src, self.depth())?;
            self.drop(WideStr::default(), before.pos(), Reason::WrongObject);
            return Ok(None);
        }
        let count = object(src)?;
        let (mut slots, mut seen, mut inner) = (S::default(), 0_u8, None);
        for index in 0..count {
            let offset = src.pos();
            let found = property(src)?;
            let outcome = self.keep(&mut slots, &mut seen, &found);
            if let Err(reason) = outcome {
                self.drop(text(found.name), offset, reason);
            }
            if !matches!(found.value, Value::Ahead) {
                continue;
            }
            if outcome.is_err() {
                skip_objref(src, self.depth())?;
            } else if index + 1 < count {
                inner = Some(Inner::Passed(*src));
                skip_objref(src, self.depth())?;
            } else {
                inner = Some(Inner::Ahead);
            }
        }
        match slots.finish() {
            Ok(entry) => Ok(Some((entry, inner))),
            Err(reason) => {
                if let Some(Inner::Ahead) = inner {
                    skip_objref(src, self.depth())?;
                }
                self.drop(WideStr::default(), before.pos(), reason);
                Ok(None)
            }
        }
    }

    /// Keeps the value of a property in its slot; a collection is the caller's.
    fn keep<S: Slots<'a>>(&self, slots: &mut S, seen: &mut u8, found: &Property<'a>) -> Result<(), Reason> {
        let name = text(found.name);
        let listed = S::PROPERTIES.iter().find(|listed| listed.name == name.as_bytes());
        let Some(listed) = listed else {
            return Err(if name.as_bytes().is_empty() { Reason::NoName } else { Reason::Unknown });
        };
        if *seen & 1 << listed.slot != 0 {
            return Err(Reason::Repeated);
        }
        *seen |= 1 << listed.slot;
        match (found.vt, found.value) {
            (vt::EMPTY | vt::NULL, _) => Ok(()),
            (vt, _) if vt != listed.vt => Err(Reason::WrongType { vt }),
            (_, Value::Text(bytes)) if bytes.len() / 2 > self.limits.text_units_max => Err(Reason::TooLong),
            (_, Value::Ahead) => Ok(()),
            (_, value) => slots.set(listed.slot, value),
        }
    }

    /// Reads the collection in an entry, unless it is one of something else.
    fn inner(
        &mut self,
        src: &mut ReadCursor<'a>,
        inner: Option<Inner<'a>>,
        expected: CollectionType,
        objects: impl FnOnce(&mut Self, &mut ReadCursor<'a>, u32) -> DecodeResult<()>,
    ) -> DecodeResult<()> {
        let mut passed;
        let src = match inner {
            None => return Ok(()),
            Some(Inner::Ahead) => src,
            Some(Inner::Passed(cursor)) => {
                passed = cursor;
                &mut passed
            }
        };
        let before = *src;
        if objref(src)? != Marshalled::Collection {
            *src = before;
            skip_objref(src, self.depth())?;
            self.drop(WideStr::default(), before.pos(), Reason::WrongObject);
            return Ok(());
        }
        let header = collection(src)?;
        if header.collection_type == expected {
            return objects(self, src, header.objects);
        }
        *src = before;
        skip_objref(src, self.depth())?;
        let CollectionType(collection_type) = header.collection_type;
        self.drop(WideStr::default(), header.offset, Reason::WrongCollection { collection_type });
        Ok(())
    }

    /// Passes over the last `entries` of a collection.
    fn drop_rest(&mut self, src: &mut ReadCursor<'a>, entries: u32, limit: u32) -> DecodeResult<()> {
        self.drop(WideStr::default(), src.pos(), Reason::Limit { limit, entries });
        for _ in 0..entries {
            skip_objref(src, self.depth())?;
        }
        Ok(())
    }

    fn drop(&mut self, property: WideStr<'a>, offset: usize, reason: Reason) {
        self.visitor.dropped(&Dropped { position: self.position, property, offset, reason });
    }

    /// References around the one that is passed over now, at least.
    fn depth(&self) -> u8 {
        let levels = [self.position.process, self.position.container, self.position.component];
        2 * u8::from(levels[0].is_some()) + 2 * u8::from(levels[1].is_some()) + u8::from(levels[2].is_some())
    }
}

/// Counts one more entry, unless there are too many.
fn within(taken: &mut u32, limit: u32) -> bool {
    let is_within = *taken < limit;
    *taken += u32::from(is_within);
    is_within
}
