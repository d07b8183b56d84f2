use ms_pla::xml::{Element, Node};

use crate::tree::Axis;

/// [MS-PLA] 2.2.3.4
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) name: String,
    pub(super) is_enabled: bool,
    pub(super) rules: Vec<Rule>,
}

/// [MS-PLA] 2.2.3.4
#[derive(Clone, Debug)]
pub(super) struct Rule {
    pub(super) name: String,
    pub(super) is_enabled: bool,
    pub(super) steps: Vec<Step>,
}

/// [MS-PLA] 2.2.3.4
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) select: String,
    pub(super) is_fatal: bool,
    pub(super) is_enabled: bool,
    pub(super) sort_type: SortType,
    pub(super) sorts_numbers: bool,
    pub(super) sort_node: Option<String>,
    pub(super) variables: Vec<Action>,
    /// `When` by `When`, and `Otherwise`.
    pub(super) exists: Option<(Vec<When>, Option<Block>)>,
    pub(super) otherwise: Option<Block>,
}

/// Which of the selected nodes are the context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SortType {
    All,
    First,
    Min,
    Max,
}

#[derive(Clone, Debug)]
pub(super) struct When {
    pub(super) expression: String,
    pub(super) block: Block,
}

pub(super) type Block = Vec<Action>;

/// [MS-PLA] 2.2.4 to 2.2.8
#[derive(Clone, Debug)]
pub(super) enum Action {
    Variable { name: String, content: Content },
    Insert { select: Option<String>, inserted: Vec<Inserted> },
    Delete { select: String },
    Warning { select: String, table: String, tag: String, items: Vec<Element> },
    Nothing,
}

#[derive(Clone, Debug)]
pub(super) enum Content {
    Expression(String),
    Text(String),
}

/// [MS-PLA] 2.2.5, 2.2.6
#[derive(Clone, Debug)]
pub(super) enum Inserted {
    Attribute { name: String, value: String },
    Node { axis: Axis, document: Option<String>, select: Option<String>, nodes: Vec<Node> },
}
