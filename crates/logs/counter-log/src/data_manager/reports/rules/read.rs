//! How rules are read, and within which limits.

use std::collections::HashMap;

use ms_pla::xml::Element;

use super::{Action, Block, Content, Group, Inserted, Rule, SortType, Step, When};
use super::{Limits, Rules};
use crate::data_manager::reports::Error;
use crate::data_manager::reports::report::schema::{shown, strings};

/// Reads the element `Rules`.
pub(super) fn rules(element: &Element, limits: &Limits) -> Result<Rules, Error> {
    let mut reader = Reader { place: String::new(), actions: 0, limits };
    let inner = element.elements().find(|inner| inner.local_name() == "Rules");
    let root = if element.local_name() == "Rules" { element } else { inner.unwrap_or(element) };
    let mut rules = Rules { groups: Vec::new(), strings: HashMap::new(), log_level: 0, unusable: Vec::new() };
    if root.local_name() != "Rules" {
        return Err(reader.error(root, "the root of rules is the element `Rules`"));
    }
    for part in root.elements() {
        match part.local_name() {
            "Group" => rules.groups.push(reader.group(part)?),
            // [MS-PLA] 2.2.3.3: the first text of an id counts.
            "StringTable" => strings(part).for_each(|(id, text)| {
                rules.strings.entry(id).or_insert(text);
            }),
            "Logging" => {
                rules.log_level =
                    part.attribute("level").and_then(|level| level.trim().parse().ok()).unwrap_or(0);
            }
            "Import" | "Include" => {
                let file = part.attribute("file").or_else(|| part.attribute("name")).unwrap_or_default();
                let sentence = format!(
                    "The rules import `{}`, a file of the host, which is not read here.",
                    shown(file)
                );
                if rules.unusable.len() < UNUSABLE_MAX {
                    rules.unusable.push(sentence);
                }
            }
            other => return Err(reader.error(part, format!("`{}` is no part of rules", shown(other)))),
        }
    }
    Ok(rules)
}

/// Imports that are named.
const UNUSABLE_MAX: usize = 50;

struct Reader<'a> {
    /// Group and rule as far as they are known.
    place: String,
    /// How many steps and actions were read.
    actions: usize,
    limits: &'a Limits,
}

impl Reader<'_> {
    fn error(&self, element: &Element, reason: impl Into<String>) -> Error {
        let place = format!("{}{}", self.place, element.position);
        Error::Rule { place, reason: reason.into() }
    }

    fn count(&mut self, element: &Element) -> Result<(), Error> {
        self.actions += 1;
        if self.actions <= self.limits.actions_max {
            Ok(())
        } else {
            let max = self.limits.actions_max;
            Err(self
                .error(element, format!("there are more than {max} steps and actions, which is the limit")))
        }
    }

    fn required(&self, element: &Element, name: &str) -> Result<String, Error> {
        let value = element.attribute(name);
        value.map(str::to_owned).ok_or_else(|| {
            self.error(element, format!("`{}` has no attribute `{name}`", shown(&element.name)))
        })
    }

    fn boolean(&self, element: &Element, name: &str, default: bool) -> Result<bool, Error> {
        match element.attribute(name).map(str::trim) {
            None => Ok(default),
            Some("true" | "1" | "-1") => Ok(true),
            Some("false" | "0") => Ok(false),
            Some(other) => {
                Err(self.error(element, format!("`{name}` is `{}`, and is `true` or `false`", shown(other))))
            }
        }
    }

    fn group(&mut self, element: &Element) -> Result<Group, Error> {
        let name = self.required(element, "name")?;
        self.place = format!("group `{}`, ", shown(&name));
        let mut group =
            Group { is_enabled: self.boolean(element, "enabled", true)?, rules: Vec::new(), name };
        for part in element.elements() {
            match part.local_name() {
                "Rule" => group.rules.push(self.rule(part)?),
                "Help" => {}
                other => return Err(self.error(part, format!("`{}` is no part of a group", shown(other)))),
            }
        }
        self.place.clear();
        Ok(group)
    }

    fn rule(&mut self, element: &Element) -> Result<Rule, Error> {
        let name = self.required(element, "name")?;
        let group = self.place.clone();
        self.place = format!("{group}rule `{}`, ", shown(&name));
        let mut rule = Rule { is_enabled: self.boolean(element, "enabled", true)?, steps: Vec::new(), name };
        for part in element.elements() {
            match part.local_name() {
                "Step" => rule.steps.push(self.step(part)?),
                "Help" => {}
                other => return Err(self.error(part, format!("`{}` is no part of a rule", shown(other)))),
            }
        }
        self.place = group;
        Ok(rule)
    }

    fn step(&mut self, element: &Element) -> Result<Step, Error> {
        self.count(element)?;
        let sort_type = match element.attribute("sortType").map_or("all", str::trim) {
            "all" => SortType::All,
            "first" => SortType::First,
            "min" => SortType::Min,
            "max" => SortType::Max,
            other => {
                return Err(
                    self.error(element, format!("`sortType` is `{}`, and is all, min or max", shown(other)))
                );
            }
        };
        let is_number = match element.attribute("sortDataType").map_or("string", str::trim) {
            "string" => false,
            "number" => true,
            other => {
                let reason = format!("`sortDataType` is `{}`, and is string or number", shown(other));
                return Err(self.error(element, reason));
            }
        };
        let mut step = Step {
            select: self.required(element, "select")?,
            is_fatal: self.boolean(element, "fatal", false)?,
            is_enabled: self.boolean(element, "enabled", true)?,
            sort_type,
            sorts_numbers: is_number,
            sort_node: element
                .attribute("sortNode")
                .or_else(|| element.attribute("sortValue"))
                .map(str::to_owned),
            variables: Vec::new(),
            exists: None,
            otherwise: None,
        };
        for part in element.elements() {
            match part.local_name() {
                "Variable" | "UserInput" => step.variables.push(self.action(part)?),
                "Exists" if step.exists.is_none() => step.exists = Some(self.exists(part)?),
                "Otherwise" if step.otherwise.is_none() => step.otherwise = Some(self.block(part)?),
                "Help" => {}
                other => return Err(self.error(part, format!("`{}` is no part of a step", shown(other)))),
            }
        }
        Ok(step)
    }

    fn exists(&mut self, element: &Element) -> Result<(Vec<When>, Option<Block>), Error> {
        let (mut whens, mut otherwise) = (Vec::new(), None);
        for part in element.elements() {
            match part.local_name() {
                "When" => {
                    self.count(part)?;
                    if part.attribute("matchRE").is_some() {
                        return Err(self.error(part, "`matchRE` is not known here; `expression` is"));
                    }
                    whens.push(When {
                        expression: self.required(part, "expression")?,
                        block: self.block(part)?,
                    });
                }
                "Otherwise" if otherwise.is_none() => otherwise = Some(self.block(part)?),
                other => return Err(self.error(part, format!("`{}` is no part of `Exists`", shown(other)))),
            }
        }
        Ok((whens, otherwise))
    }

    fn block(&mut self, element: &Element) -> Result<Block, Error> {
        element.elements().map(|part| self.action(part)).collect()
    }

    fn action(&mut self, element: &Element) -> Result<Action, Error> {
        self.count(element)?;
        Ok(match element.local_name() {
            "Variable" | "UserInput" => Action::Variable {
                name: self.variable_name(element)?,
                content: match element.attribute("expression") {
                    Some(expression) => Content::Expression(expression.to_owned()),
                    None => Content::Text(element.text().map(str::to_owned).unwrap_or_default()),
                },
            },
            "Insert" => self.insert(element)?,
            "Delete" => Action::Delete { select: self.required(element, "select")? },
            "Warning" => Action::Warning {
                select: self.required(element, "select")?,
                table: self.required(element, "table")?,
                tag: self.required(element, "tag")?,
                items: element.elements().cloned().collect(),
            },
            // It asks for an event on the host.
            "Notify" => Action::Nothing,
            other => return Err(self.error(element, format!("`{}` is no action", shown(other)))),
        })
    }

    /// [MS-PLA] 2.2.4: lower case letters and digits. Other letters and the underline are read, too.
    fn variable_name(&self, element: &Element) -> Result<String, Error> {
        let name = self.required(element, "name")?;
        let name = name.trim();
        if super::template::is_variable(name) {
            Ok(name.to_owned())
        } else {
            Err(self.error(
                element,
                format!("`{}` is no name of a variable, which has letters and digits", shown(name)),
            ))
        }
    }

    fn insert(&mut self, element: &Element) -> Result<Action, Error> {
        let mut inserted = Vec::new();
        for part in element.elements() {
            self.count(part)?;
            inserted.push(match part.local_name() {
                "Attribute" => self.attribute(part)?,
                "Node" => self.node(part)?,
                other => return Err(self.error(part, format!("`{}` is not inserted", shown(other)))),
            });
        }
        Ok(Action::Insert { select: element.attribute("select").map(str::to_owned), inserted })
    }

    fn attribute(&self, element: &Element) -> Result<Inserted, Error> {
        let name = self.required(element, "name")?;
        if !crate::data_manager::reports::xpath::is_name(&name) || name.starts_with("xmlns") {
            return Err(self.error(element, format!("`{}` is no name of an attribute", shown(&name))));
        }
        Ok(Inserted::Attribute { name, value: self.required(element, "value")? })
    }

    fn node(&self, element: &Element) -> Result<Inserted, Error> {
        use crate::data_manager::reports::tree::Axis;
        let axis = self.required(element, "axis")?;
        let axis = match axis.trim() {
            "child" => Axis::Child,
            "following-sibling" => Axis::FollowingSibling,
            "preceding-sibling" => Axis::PrecedingSibling,
            other => {
                let reason = format!(
                    "`axis` is `{}`, and is child, following-sibling or preceding-sibling",
                    shown(other)
                );
                return Err(self.error(element, reason));
            }
        };
        Ok(Inserted::Node {
            axis,
            document: element.attribute("document").map(str::to_owned),
            select: element.attribute("select").map(str::to_owned),
            nodes: element.nodes.clone(),
        })
    }
}
