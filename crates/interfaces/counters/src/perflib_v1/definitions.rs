use crate::perflib_v1::counter::{Counters, Field};
use crate::perflib_v1::object::ObjectType;

/// The counters of an object, kept from reply to reply: a host sends them with each one, and they rarely change.
///
/// ```
/// # use counters::perflib_v1::write::{Counter, Data, Header, Object, encode};
/// # use counters::perflib_v1::DataBlock;
/// # let counters = vec![Counter { name_index: 674, ..Counter::default() }];
/// # let object = Object { name_index: 2, counters, data: Data::Single(vec![7]), ..Object::default() };
/// # let bytes = encode(&Header::default(), &[object]).unwrap();
/// let block = DataBlock::decode(&bytes).unwrap();
/// let object = block.objects().next().unwrap().unwrap();
/// let mut definitions = counters::perflib_v1::Definitions::default();
/// assert!(definitions.update(&object), "it has counters now");
/// assert!(!definitions.update(&object), "and still the same ones");
/// assert_eq!(definitions.counters().next().unwrap().name_index, 674);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Definitions {
    fields: Vec<Field>,
    /// INVARIANT: as many counters as there are fields can be read.
    bytes: Vec<u8>,
}

impl Definitions {
    /// Whether `object` has these counters.
    #[must_use]
    pub fn are_of(&self, object: &ObjectType<'_>) -> bool {
        // Fields that mean nothing may hold what the provider had in its memory.
        self.have_bytes_of(object) || object.counters().eq(self.counters())
    }

    /// Takes the counters of `object`. Returns whether they are others than before.
    pub fn update(&mut self, object: &ObjectType<'_>) -> bool {
        if self.have_bytes_of(object) {
            return false;
        }
        let are_others = !self.are_of(object);
        if are_others {
            self.fields.clear();
            self.fields.extend(object.counters().map(|counter| Field::of(&counter)));
        }
        self.bytes.clear();
        self.bytes.extend_from_slice(object.counters().as_bytes());
        are_others
    }

    fn have_bytes_of(&self, object: &ObjectType<'_>) -> bool {
        let counters = object.counters();
        counters.len() == self.fields.len() && counters.as_bytes() == self.bytes
    }

    /// The counters, in their order.
    #[must_use]
    pub fn counters(&self) -> Counters<'_> {
        Counters::kept(&self.bytes, self.fields.len())
    }

    /// Where the values of the counters are, in their order.
    #[must_use]
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }
}
