use super::expression::{Axis, Expr, Function, Operator, Path, Start, Step, Test};
use super::{Error, Placed, Token};

/// Reads tokens as one expression. `end` is the byte at which the text ends. Errors have bytes for characters.
pub(super) fn expression(tokens: Vec<Placed>, end: usize, depth_max: u32) -> Result<Expr, Error> {
    let mut parser = Parser { tokens, next: 0, end, depth: 0, depth_max };
    let expression = parser.expression()?;
    match parser.peek() {
        None => Ok(expression),
        Some(_) => Err(parser.error("something follows the expression")),
    }
}

struct Parser {
    tokens: Vec<Placed>,
    next: usize,
    end: usize,
    depth: u32,
    depth_max: u32,
}

/// XPath 1.0, 3.1 to 3.5: operators by rank, those that bind least first.
const RANKS: [&[(&str, Operator)]; 6] = [
    &[("or", Operator::Or)],
    &[("and", Operator::And)],
    &[("=", Operator::Equal), ("!=", Operator::NotEqual)],
    &[("<", Operator::Less), ("<=", Operator::AtMost), (">", Operator::Greater), (">=", Operator::AtLeast)],
    &[("+", Operator::Add), ("-", Operator::Subtract)],
    &[("*", Operator::Multiply), ("div", Operator::Divide), ("mod", Operator::Remainder)],
];

impl Parser {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.next).map(|(_, token)| token)
    }

    fn take(&mut self) -> Option<Token> {
        let (_, token) = self.tokens.get(self.next)?;
        self.next += 1;
        Some(token.clone())
    }

    fn take_sign(&mut self, sign: &str) -> bool {
        let is_there = matches!(self.peek(), Some(Token::Sign(next)) if *next == sign);
        self.next += usize::from(is_there);
        is_there
    }

    fn expect(&mut self, sign: &str) -> Result<(), Error> {
        if self.take_sign(sign) { Ok(()) } else { Err(self.error(&format!("`{sign}` is missing"))) }
    }

    fn at(&self) -> usize {
        self.tokens.get(self.next).map_or(self.end, |(at, _)| *at)
    }

    fn error(&self, reason: &str) -> Error {
        Error::Syntax { at: self.at(), reason: reason.to_owned() }
    }

    /// One more expression in the others.
    fn expression(&mut self) -> Result<Expr, Error> {
        if self.depth >= self.depth_max {
            return Err(Error::Depth { at: self.at(), max: self.depth_max });
        }
        self.depth += 1;
        let expression = self.chain(0);
        self.depth -= 1;
        expression
    }

    fn chain(&mut self, rank: usize) -> Result<Expr, Error> {
        let Some(operators) = RANKS.get(rank) else { return self.unary() };
        let first = self.chain(rank + 1)?;
        let mut others = Vec::new();
        while let Some(operator) = self.take_operator(operators) {
            others.push((operator, self.chain(rank + 1)?));
        }
        Ok(if others.is_empty() { first } else { Expr::Chain(Box::new(first), others) })
    }

    fn take_operator(&mut self, operators: &[(&str, Operator)]) -> Option<Operator> {
        let Some(Token::Operator(name)) = self.peek() else { return None };
        let (_, operator) = operators.iter().find(|(operator, _)| operator == name)?;
        self.next += 1;
        Some(*operator)
    }

    fn unary(&mut self) -> Result<Expr, Error> {
        let mut is_negative = false;
        let mut is_number = false;
        while matches!(self.peek(), Some(Token::Operator("-"))) {
            self.next += 1;
            (is_negative, is_number) = (!is_negative, true);
        }
        let operand = self.union()?;
        Ok(match (is_number, is_negative) {
            (false, _) => operand,
            (true, true) => Expr::Negate(Box::new(operand)),
            // Two signs make a number of what comes after them.
            (true, false) => Expr::Call(Function::Number, vec![operand]),
        })
    }

    fn union(&mut self) -> Result<Expr, Error> {
        let mut parts = vec![self.path()?];
        while self.take_sign("|") {
            parts.push(self.path()?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Expr::Union(parts) })
    }

    fn path(&mut self) -> Result<Expr, Error> {
        let mut path = Path { start: Start::Context, steps: Vec::new() };
        if self.take_sign("//") {
            path.start = Start::Root;
            path.steps.push(ANY_BELOW);
            path.add(self.step()?);
        } else if self.take_sign("/") {
            path.start = Start::Root;
            if !self.begins_step() {
                return Ok(Expr::Path(path));
            }
            path.steps.push(self.step()?);
        } else if self.begins_filter() {
            let operand = self.primary()?;
            let predicates = self.predicates()?;
            let goes_on = matches!(self.peek(), Some(Token::Sign("/" | "//")));
            if predicates.is_empty() && !goes_on {
                return Ok(operand);
            }
            path.start = Start::Filter(Box::new(operand), predicates);
        } else {
            path.steps.push(self.step()?);
        }
        loop {
            if self.take_sign("//") {
                path.steps.push(ANY_BELOW);
            } else if !self.take_sign("/") {
                return Ok(Expr::Path(path));
            }
            path.add(self.step()?);
        }
    }

    fn begins_step(&self) -> bool {
        matches!(self.peek(), Some(Token::Name(_) | Token::Star | Token::Sign("." | ".." | "@")))
    }

    /// Whether something is here that is no step: a text, a number, a call, or parentheses.
    fn begins_filter(&self) -> bool {
        match self.peek() {
            Some(Token::Literal(_) | Token::Number(_) | Token::Sign("(")) => true,
            Some(Token::Name(name)) => {
                self.is_next(1, "(")
                    && !matches!(&**name, "comment" | "text" | "processing-instruction" | "node")
            }
            _ => false,
        }
    }

    fn is_next(&self, ahead: usize, sign: &str) -> bool {
        matches!(self.tokens.get(self.next + ahead), Some((_, Token::Sign(next))) if *next == sign)
    }

    fn primary(&mut self) -> Result<Expr, Error> {
        match self.take() {
            Some(Token::Literal(text)) => Ok(Expr::Literal(text)),
            Some(Token::Number(number)) => Ok(Expr::Number(number)),
            Some(Token::Name(name)) => self.call(&name),
            _ => {
                let inner = self.expression()?;
                self.expect(")")?;
                Ok(inner)
            }
        }
    }

    fn call(&mut self, name: &str) -> Result<Expr, Error> {
        let Some((function, min, max)) = Function::by_name(name) else {
            self.next -= 1;
            return Err(self.error(&format!("XPath 1.0 has no function `{name}`")));
        };
        self.expect("(")?;
        let mut arguments = Vec::new();
        if !self.take_sign(")") {
            loop {
                arguments.push(self.expression()?);
                if self.take_sign(")") {
                    break;
                }
                self.expect(",")?;
            }
        }
        if (min..=max).contains(&arguments.len()) {
            Ok(Expr::Call(function, arguments))
        } else {
            Err(self.error(&format!("`{name}` does not take {} arguments", arguments.len())))
        }
    }

    fn step(&mut self) -> Result<Step, Error> {
        if self.take_sign(".") {
            return Ok(Step { axis: Axis::SelfNode, test: Test::Node, predicates: Vec::new() });
        }
        if self.take_sign("..") {
            return Ok(Step { axis: Axis::Parent, test: Test::Node, predicates: Vec::new() });
        }
        let axis = self.axis()?;
        let test = self.test()?;
        Ok(Step { axis, test, predicates: self.predicates()? })
    }

    fn axis(&mut self) -> Result<Axis, Error> {
        if self.take_sign("@") {
            return Ok(Axis::Attribute);
        }
        let Some(Token::Name(name)) = self.peek().filter(|_| self.is_next(1, "::")) else {
            return Ok(Axis::Child);
        };
        let Some(axis) = Axis::by_name(name) else {
            return Err(self.error(&format!("there is no axis `{name}` here")));
        };
        self.next += 2;
        Ok(axis)
    }

    fn test(&mut self) -> Result<Test, Error> {
        let name = match self.peek() {
            Some(Token::Star) => {
                self.next += 1;
                return Ok(Test::Any);
            }
            Some(Token::Name(name)) => name.clone(),
            _ => return Err(self.error("a name is expected here")),
        };
        if self.is_next(1, "(") {
            return self.type_test(&name);
        }
        match name.split_once(':') {
            Some((prefix, _)) if prefix != "xml" => Err(self.error(&format!(
                "the prefix `{prefix}` is not declared; names are written without prefixes here"
            ))),
            Some((prefix, "*")) => {
                self.next += 1;
                Ok(Test::Prefix(format!("{prefix}:")))
            }
            _ => {
                self.next += 1;
                Ok(Test::Name(name))
            }
        }
    }

    fn type_test(&mut self, name: &str) -> Result<Test, Error> {
        let test = match name {
            "node" => Test::Node,
            "text" => Test::Text,
            "comment" | "processing-instruction" => Test::None,
            _ => return Err(self.error(&format!("a function cannot follow `/`: `{name}`"))),
        };
        self.next += 2;
        if name == "processing-instruction" && matches!(self.peek(), Some(Token::Literal(_))) {
            self.next += 1;
        }
        self.expect(")")?;
        Ok(test)
    }

    fn predicates(&mut self) -> Result<Vec<Expr>, Error> {
        let mut predicates = Vec::new();
        while self.take_sign("[") {
            predicates.push(self.expression()?);
            self.expect("]")?;
        }
        Ok(predicates)
    }
}

/// What `//` stands for.
const ANY_BELOW: Step = Step { axis: Axis::DescendantOrSelf, test: Test::Node, predicates: Vec::new() };
