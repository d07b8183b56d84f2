//! What is asked for by which call. All objects are asked for together; only where that has no answer, one by one, so
//! that the object whose provider hangs is found and the others are asked for without it.

use std::ops::Range;
use std::time::Duration;

use counters::perflib_v1::value_name;
use counters::rrp::winreg::{Key, RegistryClient, RegistryValue, ValueRoom};

use super::ClassicError;
use crate::registration::{HostChannel, Trouble};
use crate::stalls::Stalls;

/// The calls of a collection for classic objects, and their answers. Objects whose providers hang are remembered from collection
/// to collection.
#[derive(Debug, Default)]
pub struct Questions {
    /// What is asked for, those objects included whose providers hang.
    objects: Vec<u32>,
    is_one_by_one: bool,
    stalls: Stalls<u32>,
    is_begun: bool,
    /// The objects of this collection's calls.
    asked: Vec<u32>,
    /// Calls that are to be made, the last one first: parts of `asked`.
    calls: Vec<Range<usize>>,
    answers: Vec<RegistryValue>,
}

impl Questions {
    pub fn begin(&mut self, now: Duration) {
        self.stalls.begin(now);
        self.is_begun = false;
        self.answers.clear();
    }

    /// Forgets what did not answer: the host was away as a whole.
    pub fn forget_stalls(&mut self) {
        self.stalls.forget();
        (self.is_one_by_one, self.is_begun) = (false, false);
        self.answers.clear();
    }

    /// Asks for these objects, with this collection. What was answered of the same objects is not asked for again.
    pub(crate) fn ask_for(&mut self, objects: &[u32]) {
        if objects != self.objects {
            objects.clone_into(&mut self.objects);
            self.is_begun = false;
            self.answers.clear();
        }
    }

    /// Asks for these objects from the next collection on.
    pub(super) fn ask_later_for(&mut self, objects: impl Iterator<Item = u32>) {
        self.objects.clear();
        self.objects.extend(objects);
    }

    /// The objects of the next call; nothing when all calls were made.
    pub(super) fn next(&mut self) -> Option<&[u32]> {
        if !self.is_begun {
            self.is_begun = true;
            self.asked.clear();
            let is_asked = |object: &u32| self.stalls.trouble(*object).is_none();
            self.asked.extend(self.objects.iter().copied().filter(is_asked));
            self.calls.clear();
            let all = 0..self.asked.len();
            if self.is_one_by_one {
                self.calls.extend(one_by_one(all));
            } else if !all.is_empty() {
                self.calls.push(all);
            }
        }
        self.calls.last().and_then(|call| self.asked.get(call.clone()))
    }

    /// The next call was answered.
    pub(super) fn answer(&mut self, value: RegistryValue) {
        let answered = self.calls.pop().unwrap_or_default();
        for object in self.asked.get(answered).unwrap_or_default() {
            self.stalls.remove(*object);
        }
        self.answers.push(value);
        self.is_one_by_one &= !self.calls.is_empty();
    }

    /// The next call had no answer in time.
    pub(super) fn time_out(&mut self) {
        let Some(call) = self.calls.pop() else { return };
        match self.asked.get(call.clone()) {
            Some([object]) => {
                self.stalls.add(*object);
                self.is_one_by_one &= !self.calls.is_empty();
            }
            _ => {
                self.is_one_by_one = true;
                self.calls.extend(one_by_one(call));
            }
        }
    }

    /// The answers of this collection.
    #[must_use]
    pub fn answers(&self) -> &[RegistryValue] {
        &self.answers
    }

    pub(crate) fn values(&self) -> impl DoubleEndedIterator<Item = &[u8]> {
        self.answers.iter().map(RegistryValue::bytes)
    }

    /// Makes the calls that are left in this collection. After one that had no answer in time the others can be made over
    /// another channel.
    pub(crate) async fn ask<C: HostChannel>(
        &mut self,
        client: &mut RegistryClient<C>,
        key: &Key,
        room: &mut ValueRoom,
    ) -> Result<(), ClassicError<C::Error>> {
        while let Some(objects) = self.next() {
            match client.query_value(key, &value_name(objects), room).await {
                // Samba says that it is done, and fills up what it has no room for.
                Ok(value)
                    if value.bytes().len() == room.bytes() as usize
                        && room.grow(0, client.limits().value_bytes_max) => {}
                Ok(value) => self.answer(value),
                Err(error) => {
                    let error = ClassicError::Call(error);
                    if error.is_timeout::<C>() && !client.channel().time_left().is_zero() {
                        self.time_out();
                    }
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    /// Why an object is not asked for.
    pub(crate) fn trouble(&self, object: u32) -> Option<Trouble> {
        self.stalls.trouble(object)
    }

    /// How many objects did not answer in this collection. The channel on which that happened takes no other call.
    #[must_use]
    pub const fn stalls_met(&self) -> u32 {
        self.stalls.met()
    }
}

/// A call for each, the first one last.
fn one_by_one(places: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    places.rev().map(|place| place..place + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all_calls(questions: &mut Questions) -> Vec<Vec<u32>> {
        let mut calls = Vec::new();
        while let Some(objects) = questions.next() {
            calls.push(objects.to_vec());
            questions.answer(RegistryValue::default());
        }
        calls
    }

    #[test]
    fn objects_are_asked_for_one_by_one_until_the_one_that_hangs_is_found() {
        let mut questions = Questions::default();
        questions.begin(Duration::from_secs(1));
        questions.ask_for(&[2, 4, 230]);
        assert_eq!(questions.next(), Some(&[2, 4, 230][..]));
        questions.time_out();
        assert_eq!(questions.next(), Some(&[2][..]));
        questions.answer(RegistryValue::default());
        assert_eq!(questions.next(), Some(&[4][..]));
        questions.time_out();
        assert_eq!(questions.stalls_met(), 1);
        assert_eq!(all_calls(&mut questions), [[230]]);
        questions.begin(Duration::from_secs(2));
        assert_eq!(all_calls(&mut questions), [[2, 230]], "without the one that hangs, in one call");
        assert!(questions.trouble(4).is_some() && questions.trouble(2).is_none());
        questions.begin(Duration::from_secs(100));
        assert_eq!(all_calls(&mut questions), [[2, 4, 230]], "it has another chance");
        assert!(questions.trouble(4).is_none());
    }

    #[test]
    fn the_others_are_asked_for_together_again_whichever_object_hangs() {
        for hanging in [2, 4, 230] {
            let mut questions = Questions::default();
            questions.begin(Duration::from_secs(1));
            questions.ask_for(&[2, 4, 230]);
            while let Some(objects) = questions.next() {
                match objects.contains(&hanging) {
                    true => questions.time_out(),
                    false => questions.answer(RegistryValue::default()),
                }
            }
            questions.begin(Duration::from_secs(2));
            let others: Vec<u32> = [2, 4, 230].into_iter().filter(|object| *object != hanging).collect();
            assert_eq!(all_calls(&mut questions), [others]);
        }
    }

    #[test]
    fn what_was_answered_is_not_asked_for_again_in_one_collection() {
        let mut questions = Questions::default();
        questions.begin(Duration::from_secs(1));
        questions.ask_for(&[2, 4]);
        assert_eq!(all_calls(&mut questions), [[2, 4]]);
        questions.ask_for(&[2, 4]);
        assert_eq!(questions.next(), None);
        questions.ask_later_for([2].into_iter());
        assert_eq!(questions.next(), None);
        assert_eq!(questions.answers().len(), 1);
        questions.begin(Duration::from_secs(2));
        assert_eq!(all_calls(&mut questions), [[2]]);
    }
}
