use std::collections::HashMap;

use super::Error;
use super::Work;
use super::evaluate::{Context, to_f64};
use super::expression::{Expr, Function};
use super::value::{Place, SPACE, Value};
use crate::data_manager::reports::tree::Tree;

impl Function {
    /// XPath 1.0, 4. The parser has checked how many arguments there are.
    pub(super) fn call(
        self,
        arguments: &[Expr],
        context: &Context<'_>,
        work: &mut Work,
    ) -> Result<Value, Error> {
        let mut call = Call { arguments, context, work };
        Ok(match self {
            Self::Last => Value::Number(to_f64(context.size)),
            Self::Position => Value::Number(to_f64(context.position)),
            Self::Count => Value::Number(to_f64(call.nodes("the argument of `count`")?.len())),
            // There is no document type that says which attributes are ids.
            Self::Id => Value::Nodes(Vec::new()),
            Self::LocalName => {
                let name = call.name()?;
                Value::Text(name.split_once(':').map_or(name, |(_, local)| local).to_owned())
            }
            Self::NamespaceUri => Value::Text(call.namespace()?.to_owned()),
            Self::Name => Value::Text(call.name()?.to_owned()),
            Self::String => Value::Text(call.text(0)?),
            Self::Concat => Value::Text(call.concat()?),
            Self::StartsWith => Value::Boolean(call.text(0)?.starts_with(&call.text(1)?)),
            Self::Contains => Value::Boolean(call.text(0)?.contains(&call.text(1)?)),
            Self::SubstringBefore => {
                let (text, part) = (call.text(0)?, call.text(1)?);
                Value::Text(text.split_once(&part).map_or("", |(before, _)| before).to_owned())
            }
            Self::SubstringAfter => {
                let (text, part) = (call.text(0)?, call.text(1)?);
                Value::Text(text.split_once(&part).map_or("", |(_, after)| after).to_owned())
            }
            Self::Substring => Value::Text(call.substring()?),
            Self::StringLength => Value::Number(to_f64(call.text(0)?.chars().count())),
            Self::NormalizeSpace => {
                let text = call.text(0)?;
                let words: Vec<&str> = text.split(SPACE).filter(|word| !word.is_empty()).collect();
                Value::Text(words.join(" "))
            }
            Self::Translate => Value::Text(call.translate()?),
            Self::Boolean => Value::Boolean(call.value(0)?.to_boolean()),
            Self::Not => Value::Boolean(!call.value(0)?.to_boolean()),
            Self::True => Value::Boolean(true),
            Self::False => Value::Boolean(false),
            Self::Lang => Value::Boolean(call.is_language()?),
            Self::Number => Value::Number(call.number(0)?),
            Self::Sum => Value::Number(call.sum()?),
            Self::Floor => Value::Number(call.number(0)?.floor()),
            Self::Ceiling => Value::Number(call.number(0)?.ceil()),
            Self::Round => Value::Number(round(call.number(0)?)),
        })
    }
}

/// XPath 1.0, 4.4: to the nearest whole number, to the larger one of two.
fn round(number: f64) -> f64 {
    if number - number.floor() < 0.5 { number.floor() } else { number.ceil() }
}

/// A call with its arguments.
struct Call<'a> {
    arguments: &'a [Expr],
    context: &'a Context<'a>,
    work: &'a mut Work,
}

impl<'a> Call<'a> {
    /// The value of an argument. Where there is none, the node of the context is in for it.
    fn value(&mut self, index: usize) -> Result<Value, Error> {
        match self.arguments.get(index) {
            Some(argument) => argument.evaluate(self.context, self.work),
            None => Ok(Value::Nodes(vec![self.context.node])),
        }
    }

    fn text(&mut self, index: usize) -> Result<String, Error> {
        let text = self.value(index)?.into_text(self.context.tree, self.work)?;
        self.work.charge_bytes(text.len())?;
        Ok(text)
    }

    fn number(&mut self, index: usize) -> Result<f64, Error> {
        self.value(index)?.to_number(self.context.tree, self.work)
    }

    fn nodes(&mut self, what: &'static str) -> Result<Vec<Place>, Error> {
        self.value(0)?.into_nodes(what)
    }

    /// The first node of the argument.
    fn first(&mut self) -> Result<Option<Place>, Error> {
        Ok(self.nodes("the argument of a function on names")?.first().copied())
    }

    fn name(&mut self) -> Result<&'a str, Error> {
        let tree = self.context.tree;
        Ok(self.first()?.map_or("", |place| name(place, tree)))
    }

    /// The namespace that is declared for the name of a node.
    fn namespace(&mut self) -> Result<&'a str, Error> {
        let tree = self.context.tree;
        let Some(place) = self.first()? else { return Ok("") };
        let prefix = name(place, tree).split_once(':').map(|(prefix, _)| prefix);
        let declaration = match prefix {
            Some("xml") => return Ok("http://www.w3.org/XML/1998/namespace"),
            Some(prefix) => format!("xmlns:{prefix}"),
            None if place.attribute.is_some() => return Ok(""),
            None => "xmlns".to_owned(),
        };
        Ok(self.nearest(place, &declaration)?.unwrap_or_default())
    }

    /// The value of an attribute of the node itself or of the nearest element around it that has it.
    fn nearest(&mut self, place: Place, name: &str) -> Result<Option<&'a str>, Error> {
        let tree = self.context.tree;
        for node in core::iter::successors(Some(place.node), |node| tree.parent(*node)) {
            self.work.charge(1 + tree.attributes(node).len())?;
            if let Some(value) = tree.attribute(node, name) {
                return Ok(Some(value));
            }
        }
        Ok(None)
    }

    fn concat(&mut self) -> Result<String, Error> {
        let mut whole = String::new();
        for index in 0..self.arguments.len() {
            whole.push_str(&self.text(index)?);
            self.work.charge_bytes(whole.len())?;
        }
        Ok(whole)
    }

    /// XPath 1.0, 4.2: characters whose position is at least the second argument, and below it by less than the third.
    fn substring(&mut self) -> Result<String, Error> {
        let text = self.text(0)?;
        let start = round(self.number(1)?);
        let end = if self.arguments.len() > 2 { start + round(self.number(2)?) } else { f64::INFINITY };
        let is_in = |index: usize| {
            let position = to_f64(index + 1);
            position >= start && position < end
        };
        Ok(text.chars().enumerate().filter(|(index, _)| is_in(*index)).map(|(_, char)| char).collect())
    }

    fn translate(&mut self) -> Result<String, Error> {
        let (text, from, to) = (self.text(0)?, self.text(1)?, self.text(2)?);
        let mut to = to.chars();
        let mut map = HashMap::new();
        for char in from.chars() {
            let other = to.next();
            map.entry(char).or_insert(other);
        }
        Ok(text.chars().filter_map(|char| map.get(&char).copied().unwrap_or(Some(char))).collect())
    }

    fn sum(&mut self) -> Result<f64, Error> {
        let mut sum = 0.0;
        for node in self.nodes("the argument of `sum`")? {
            sum += node.number(self.context.tree, self.work)?;
        }
        Ok(sum)
    }

    /// XPath 1.0, 4.3: `lang`.
    fn is_language(&mut self) -> Result<bool, Error> {
        let meant = self.text(0)?.to_ascii_lowercase();
        let language = self.nearest(self.context.node, "xml:lang")?.unwrap_or_default().to_ascii_lowercase();
        Ok(language.strip_prefix(&*meant).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
            && !meant.is_empty())
    }
}

fn name(place: Place, tree: &Tree) -> &str {
    match place.attribute {
        Some(_) => place.as_attribute(tree).map_or("", |attribute| &attribute.name),
        None => tree.name(place.node),
    }
}
