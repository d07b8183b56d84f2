use super::expression::{Axis, Expr, Function, Operator, Path, Start, Step, Test};

impl Path {
    /// Adds a step. Behind `//`, one on children whose predicates do not ask for positions is one on all that is below, which
    /// looks at each node once and finds the same.
    pub(super) fn add(&mut self, mut step: Step) {
        let is_below = matches!(
            self.steps.last(),
            Some(Step { axis: Axis::DescendantOrSelf, test: Test::Node, predicates }) if predicates.is_empty()
        );
        if is_below && step.axis == Axis::Child && !step.predicates.iter().any(Expr::asks_for_position) {
            self.steps.pop();
            step.axis = Axis::Descendant;
        }
        self.steps.push(step);
    }
}

impl Expr {
    /// Whether a predicate may be about a position: its value may be a number, or a position is mentioned.
    fn asks_for_position(&self) -> bool {
        self.may_be_number() || self.mentions_position()
    }

    fn may_be_number(&self) -> bool {
        match self {
            Self::Chain(_, others) => others.iter().any(|(operator, _)| {
                matches!(
                    operator,
                    Operator::Add
                        | Operator::Subtract
                        | Operator::Multiply
                        | Operator::Divide
                        | Operator::Remainder
                )
            }),
            Self::Negate(_) | Self::Number(_) => true,
            Self::Union(_) | Self::Path(_) | Self::Literal(_) => false,
            Self::Call(function, _) => !matches!(
                function,
                Function::Not
                    | Function::Boolean
                    | Function::True
                    | Function::False
                    | Function::Contains
                    | Function::StartsWith
                    | Function::String
                    | Function::Name
            ),
        }
    }

    /// Also within others, where it is about something else: that is rare.
    fn mentions_position(&self) -> bool {
        let any = |expressions: &[Self]| expressions.iter().any(Self::mentions_position);
        match self {
            Self::Chain(first, others) => {
                first.mentions_position() || others.iter().any(|(_, other)| other.mentions_position())
            }
            Self::Negate(operand) => operand.mentions_position(),
            Self::Union(parts) => any(parts),
            Self::Path(path) => {
                path.steps.iter().any(|step| any(&step.predicates)) || path.start_mentions_position()
            }
            Self::Literal(_) | Self::Number(_) => false,
            Self::Call(function, arguments) => {
                matches!(function, Function::Position | Function::Last) || any(arguments)
            }
        }
    }
}

impl Path {
    fn start_mentions_position(&self) -> bool {
        match &self.start {
            Start::Root | Start::Context => false,
            Start::Filter(operand, predicates) => {
                operand.mentions_position() || predicates.iter().any(Expr::mentions_position)
            }
        }
    }
}
