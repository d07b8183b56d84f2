//! [MS-PLA] 2.2.3.4 to 2.2.8: rules on reports.

mod actions;
mod document;
mod read;
mod run;
mod template;

use std::collections::HashMap;

use ms_pla::xml::{Element, Node};

use self::run::Run;
use crate::data_manager::reports::Error;
use crate::data_manager::reports::report::Report;
use crate::data_manager::reports::tree::Axis;

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

    /// Applies the rules to a report. What fails is answered and noted in the report, and the rest goes on; work above `limits` ends it.
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

/// See section 2.2.3.4 of [MS-PLA].
#[derive(Clone, Debug)]
struct Group {
    name: String,
    is_enabled: bool,
    rules: Vec<Rule>,
}

/// See section 2.2.3.4 of [MS-PLA].
#[derive(Clone, Debug)]
struct Rule {
    name: String,
    is_enabled: bool,
    steps: Vec<Step>,
}

/// See section 2.2.3.4 of [MS-PLA].
#[derive(Clone, Debug)]
struct Step {
    select: String,
    is_fatal: bool,
    is_enabled: bool,
    sort_type: SortType,
    sorts_numbers: bool,
    sort_node: Option<String>,
    variables: Vec<Action>,
    /// `When` by `When`, and `Otherwise`.
    exists: Option<(Vec<When>, Option<Block>)>,
    otherwise: Option<Block>,
}

/// Which of the selected nodes are the context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SortType {
    All,
    First,
    Min,
    Max,
}

#[derive(Clone, Debug)]
struct When {
    expression: String,
    block: Block,
}

type Block = Vec<Action>;

/// [MS-PLA] 2.2.4 to 2.2.8
#[derive(Clone, Debug)]
enum Action {
    Variable { name: String, content: Content },
    Insert { select: Option<String>, inserted: Vec<Inserted> },
    Delete { select: String },
    Warning { select: String, table: String, tag: String, items: Vec<Element> },
    Nothing,
}

#[derive(Clone, Debug)]
enum Content {
    Expression(String),
    Text(String),
}

/// See section 2.2.5, 2.2.6 of [MS-PLA].
#[derive(Clone, Debug)]
enum Inserted {
    Attribute { name: String, value: String },
    Node { axis: Axis, document: Option<String>, select: Option<String>, nodes: Vec<Node> },
}

/// Where rules get documents from: files of the folder of the run.
pub trait Documents {
    /// The bytes of a file. `name` is one component of a path: it has no separators and no colon, and is neither `.` nor `..`.
    ///
    /// # Errors
    /// A phrase on why there is no such file, for the report.
    fn read(&mut self, name: &str) -> Result<Vec<u8>, String>;
}

impl<F: FnMut(&str) -> Result<Vec<u8>, String>> Documents for F {
    fn read(&mut self, name: &str) -> Result<Vec<u8>, String> {
        self(name)
    }
}

/// How much rules may be and do. Defaults leave much room for rules as Windows has them, and end in a few seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Steps and actions of a document of rules.
    pub actions_max: usize,
    /// Bytes of one expression, after variables were replaced.
    pub expression_bytes_max: usize,
    pub depth_max: u32,
    /// Bytes of the value of a variable.
    pub value_bytes_max: usize,
    /// Units of work: about one for each node that is looked at, and for four bytes of texts, sets of nodes and documents that are
    /// made or read.
    pub work_max: usize,
    /// Nodes and attributes that the report may have at last.
    pub nodes_max: usize,
    /// Bytes of names and texts that the report may have at last.
    pub bytes_max: usize,
    /// Documents that are read.
    pub documents_max: usize,
    /// Failures that are reported; what is above is counted.
    pub failures_max: usize,
    /// Lines of the log.
    pub log_lines_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            actions_max: 10_000,
            expression_bytes_max: 4096,
            depth_max: 24,
            value_bytes_max: 16 << 10,
            work_max: 50_000_000,
            nodes_max: 1_000_000,
            bytes_max: 64 << 20,
            documents_max: 100,
            failures_max: 50,
            log_lines_max: 1000,
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Applied {
    /// Warnings that were inserted.
    pub warnings: usize,
    /// What failed. The rest was done, unless the work was too much.
    pub failures: Vec<Failure>,
    /// What rules would write to their file of `Logging`, if that asks for it.
    pub log: Vec<String>,
    /// Units of work that were done.
    pub work: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {reason}")]
pub struct Failure {
    pub place: String,
    /// What failed, and the next step.
    pub reason: String,
}
