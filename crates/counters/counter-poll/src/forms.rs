//! Whether aggregate countersets are asked for with a name for their instances, or without.
//!
//! Documents do not agree on which of the aggregate types take a name. A host may refuse the wrong form, or take it and
//! say that there are no data (`ERROR_NO_DATA`), as it also does where there is no instance now. So a counterset that
//! has no data at its first poll is asked for in the other form once; what gave data is kept.

use std::collections::HashMap;
use std::time::Duration;

use rpc::Pause;
use wire::Guid;

use crate::Addition;

/// What is known of each counterset.
#[derive(Debug, Default)]
pub struct Forms(HashMap<Guid, Form>);

/// What the data of a query say of a counterset whose form is not proven.
#[derive(Clone, Copy, Debug)]
pub struct FormAnswer {
    pub(crate) addition: Addition,
    /// Whether there are data; other errors than a lack of them are not about the form.
    pub(crate) has_data: bool,
}

#[derive(Clone, Copy, Debug)]
struct Form {
    has_name: bool,
    state: State,
    /// Until both forms are tried again.
    pause: Pause,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It was not seen to give data.
    Unproven,
    /// The other form had no data; this one is on trial.
    OnTrial,
    /// Neither form had data.
    Silent,
    /// It gave data, so that a lack of data is one of instances.
    Proven,
}

impl Forms {
    /// Whether an identifier takes a name.
    pub fn has_name(&self, addition: &Addition) -> bool {
        self.0.get(&addition.guid).map_or(addition.instance_type.is_multiple(), |form| form.has_name)
    }

    /// Takes the other form from now on.
    pub fn exchange(&mut self, addition: &Addition) {
        let has_name = !self.has_name(addition);
        self.set(addition, has_name, State::Unproven);
    }

    /// Looks at the first answers of a query. True where the other form should be tried at once, by a query that is opened
    /// again.
    pub fn try_others(&mut self, answers: &[FormAnswer], now: Duration) -> bool {
        let mut are_exchanged = false;
        for FormAnswer { addition, has_data } in answers {
            let has_name = self.has_name(addition);
            // Not when a query is opened again because the connection was lost just then.
            let is_due = self.0.get(&addition.guid).is_none_or(|form| form.pause.is_over(now));
            if *has_data {
                self.set(addition, has_name, State::Proven);
            } else if is_due {
                self.set(addition, !has_name, State::OnTrial);
                are_exchanged = true;
            }
        }
        are_exchanged
    }

    /// Looks at the answers of the other forms. True where one of them has none either, so that the query is to be opened
    /// again with the form that documents say.
    pub fn judge_others(&mut self, answers: &[FormAnswer], now: Duration) -> bool {
        let mut are_silent = false;
        for FormAnswer { addition, has_data } in answers {
            let has_name = self.has_name(addition);
            if self.0.get(&addition.guid).is_none_or(|form| form.state != State::OnTrial) {
                continue;
            }
            if *has_data {
                self.set(addition, has_name, State::Proven);
            } else {
                self.set(addition, !has_name, State::Silent).pause.extend(now, Pause::NEVER_THERE);
                are_silent = true;
            }
        }
        are_silent
    }

    /// Whether the form of a counterset is not proven yet, and there is another one.
    pub(crate) fn is_unproven(&self, addition: &Addition) -> bool {
        addition.may_take_other_form()
            && self.0.get(&addition.guid).is_none_or(|form| form.state != State::Proven)
    }

    /// Whether a counterset was never seen to have data, in either form.
    pub fn has_silent(&self) -> bool {
        self.0.values().any(|form| form.state == State::Silent)
    }

    /// The host is another one, perhaps.
    pub fn forget(&mut self) {
        self.0.clear();
    }

    fn set(&mut self, addition: &Addition, has_name: bool, state: State) -> &mut Form {
        let new = Form { has_name, state, pause: Pause::default() };
        let form = self.0.entry(addition.guid).or_insert(new);
        (form.has_name, form.state) = (has_name, state);
        form
    }
}
