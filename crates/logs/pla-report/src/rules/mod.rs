//! [MS-PLA] 2.2.3.4 to 2.2.8: rules on reports.

mod actions;
mod document;
mod model;
mod outcome;
mod read;
mod run;
mod template;

use std::collections::HashMap;

use ms_pla::xml::Element;

use self::model::Group;
pub use self::outcome::{Applied, Documents, Failure, Limits};
use self::run::Run;
use crate::error::Error;
use crate::report::Report;

/// [MS-PLA] 2.2.3.4: rules that look for patterns in a report, and add to it.
#[derive(Clone, Debug)]
pub struct Rules {
    groups: Vec<Group>,
    strings: HashMap<String, String>,
    /// 0 is no log.
    log_level: u32,
    /// Sentences on what cannot be used.
    unusable: Vec<String>,
}

impl Rules {
    /// Reads rules: the element `Rules` of a data manager.
    ///
    /// # Errors
    /// When an element is not what [MS-PLA] says, or there are more than `limits` allow.
    pub fn read(rules: &Element, limits: &Limits) -> Result<Self, Error> {
        read::rules(rules, limits)
    }

    /// Reads a document with rules.
    ///
    /// # Errors
    /// As [`Self::read`], and when the document is not XML.
    pub fn read_document(bytes: &[u8], limits: &Limits) -> Result<Self, Error> {
        Self::read(&Element::read(bytes, &ms_pla::xml::Limits::default())?, limits)
    }

    /// Applies the rules to a report. What fails is told, in the report, too, and the rest goes on; work above `limits` ends it.
    pub fn apply(&self, report: &mut Report, documents: &mut dyn Documents, limits: &Limits) -> Applied {
        let mut run = Run::new(self, &mut report.tree, documents, limits);
        run.groups(&self.groups);
        let applied = run.finish();
        let mut remarks = self.unusable.clone();
        remarks.extend(applied.failures.iter().map(|failure| format!("Rules: {failure}.")));
        report.add_remarks(&remarks);
        applied
    }
}
