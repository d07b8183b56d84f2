use crate::counter::{CounterDefinition, Field};
use crate::object::ObjectType;

/// The counters of an object, kept from reply to reply: a host sends them with each one, and they rarely change.
///
/// ```
/// # use perflib_v1::write::{Counter, Data, Header, Object, encode};
/// # use perflib_v1::DataBlock;
/// # let counters = vec![Counter { name_index: 674, ..Counter::default() }];
/// # let object = Object { name_index: 2, counters, data: Data::Single(vec![7]), ..Object::default() };
/// # let bytes = encode(&Header::default(), &[object]).unwrap();
/// let block = DataBlock::decode(&bytes).unwrap();
/// let object = block.objects().next().unwrap().unwrap();
/// let mut definitions = perflib_v1::Definitions::default();
/// assert!(definitions.update(&object), "it has counters now");
/// assert!(!definitions.update(&object), "and still the same ones");
/// assert_eq!(definitions.as_slice()[0].name_index, 674);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Definitions {
    counters: Vec<CounterDefinition>,
    fields: Vec<Field>,
    /// Their bytes, so that what is alike is not read.
    bytes: Vec<u8>,
}

impl Definitions {
    /// Whether `object` has these counters.
    #[must_use]
    pub fn are_of(&self, object: &ObjectType<'_>) -> bool {
        // Fields that mean nothing may hold what the provider had in its memory.
        self.have_bytes_of(object) || object.counters().eq(self.counters.iter().copied())
    }

    /// Takes the counters of `object`. Returns whether they are others than before.
    pub fn update(&mut self, object: &ObjectType<'_>) -> bool {
        if self.have_bytes_of(object) {
            return false;
        }
        let are_others = !self.are_of(object);
        self.bytes.clear();
        self.bytes.extend_from_slice(object.counters().as_bytes());
        if are_others {
            self.counters.clear();
            self.counters.extend(object.counters());
            self.fields.clear();
            self.fields.extend(self.counters.iter().map(Field::of));
        }
        are_others
    }

    fn have_bytes_of(&self, object: &ObjectType<'_>) -> bool {
        let counters = object.counters();
        counters.len() == self.counters.len() && counters.as_bytes() == self.bytes
    }

    /// The counters, in their order.
    #[must_use]
    pub fn as_slice(&self) -> &[CounterDefinition] {
        &self.counters
    }

    /// Where the values of the counters are, in their order.
    #[must_use]
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }
}
