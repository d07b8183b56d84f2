#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expr {
    /// Operators of one rank, from left to right.
    Chain(Box<Self>, Vec<(Operator, Self)>),
    Negate(Box<Self>),
    Union(Vec<Self>),
    Path(Path),
    Literal(String),
    Number(f64),
    Call(Function, Vec<Self>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Or,
    And,
    Equal,
    NotEqual,
    Less,
    AtMost,
    Greater,
    AtLeast,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Path {
    pub(super) start: Start,
    pub(super) steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Start {
    Root,
    Context,
    /// An expression whose nodes are filtered.
    Filter(Box<Expr>, Vec<Expr>),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Step {
    pub(super) axis: Axis,
    pub(super) test: Test,
    pub(super) predicates: Vec<Expr>,
}

/// See XPath 1.0, section 2.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Axis {
    Ancestor,
    AncestorOrSelf,
    Attribute,
    Child,
    Descendant,
    DescendantOrSelf,
    Following,
    FollowingSibling,
    Parent,
    Preceding,
    PrecedingSibling,
    SelfNode,
}

impl Axis {
    pub(super) fn by_name(name: &str) -> Option<Self> {
        Some(match name {
            "ancestor" => Self::Ancestor,
            "ancestor-or-self" => Self::AncestorOrSelf,
            "attribute" => Self::Attribute,
            "child" => Self::Child,
            "descendant" => Self::Descendant,
            "descendant-or-self" => Self::DescendantOrSelf,
            "following" => Self::Following,
            "following-sibling" => Self::FollowingSibling,
            "parent" => Self::Parent,
            "preceding" => Self::Preceding,
            "preceding-sibling" => Self::PrecedingSibling,
            "self" => Self::SelfNode,
            _ => return None,
        })
    }
}

/// See XPath 1.0, section 2.3.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Test {
    /// Any element, or any attribute on its axis.
    Any,
    /// Elements or attributes with this name, as it is written.
    Name(String),
    /// Names with this prefix.
    Prefix(String),
    Node,
    Text,
    /// Comments and processing instructions, which trees here do not have.
    None,
}

macro_rules! functions {
    ($($name:literal $variant:ident $min:literal $max:literal)*) => {
        /// See XPath 1.0, section 4.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Function { $($variant),* }

        impl Function {
            /// The function with this name, and how many arguments it takes.
            pub(super) fn by_name(name: &str) -> Option<(Self, usize, usize)> {
                match name {
                    $($name => Some((Self::$variant, $min, $max)),)*
                    _ => None,
                }
            }
        }
    };
}

functions! {
    "last" Last 0 0
    "position" Position 0 0
    "count" Count 1 1
    "id" Id 1 1
    "local-name" LocalName 0 1
    "namespace-uri" NamespaceUri 0 1
    "name" Name 0 1
    "string" String 0 1
    "concat" Concat 2 4096
    "starts-with" StartsWith 2 2
    "contains" Contains 2 2
    "substring-before" SubstringBefore 2 2
    "substring-after" SubstringAfter 2 2
    "substring" Substring 2 3
    "string-length" StringLength 0 1
    "normalize-space" NormalizeSpace 0 1
    "translate" Translate 3 3
    "boolean" Boolean 1 1
    "not" Not 1 1
    "true" True 0 0
    "false" False 0 0
    "lang" Lang 1 1
    "number" Number 0 1
    "sum" Sum 1 1
    "floor" Floor 1 1
    "ceiling" Ceiling 1 1
    "round" Round 1 1
}
