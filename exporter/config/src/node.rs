//! The tree of a YAML document, each part with its place in the file.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::{Location, Spanned};

/// Where a node is in its file, both counted from one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    pub line: u64,
    /// The character within the line.
    pub column: u64,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

impl Position {
    pub(super) fn of(location: Location) -> Self {
        Self { line: location.line(), column: location.column() }
    }
}

/// A YAML document that remembers where each part of it is.
#[derive(Clone, Debug)]
pub struct Node {
    pub value: Value,
    /// Where it begins; for an alias, where the alias is.
    pub position: Position,
}

/// The contents of a [`Node`], by YAML's core schema.
#[derive(Clone, Debug)]
pub enum Value {
    /// Nothing, `~` or `null`.
    Null,
    Bool(bool),
    /// A whole number that fits.
    Integer(i64),
    /// A number above `i64::MAX`.
    Unsigned(u64),
    /// Any other finite number.
    Float(f64),
    Text(String),
    /// `- a` or `[a]`.
    List(Vec<Node>),
    /// `a: b` or `{a: b}`, in the order of the file.
    Map(Vec<Entry>),
}

/// One key of a mapping.
#[derive(Clone, Debug)]
pub struct Entry {
    pub key: String,
    /// Where the key is.
    pub position: Position,
    pub node: Node,
}

/// A document that is no YAML, or too much of it.
#[derive(Clone, Debug)]
pub struct SyntaxError {
    /// Where, when the parser knows.
    pub position: Option<Position>,
    pub message: String,
}

impl Node {
    /// What the node is, for errors.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self.value {
            Value::Null => "nothing",
            Value::Bool(_) => "true or false",
            Value::Integer(_) | Value::Unsigned(_) | Value::Float(_) => "a number",
            Value::Text(_) => "text",
            Value::List(_) => "a list",
            Value::Map(_) => "a mapping",
        }
    }

    /// The node that a JSON pointer names, or the nearest one above it that exists.
    ///
    /// A pointer to an entry of a mapping answers the position of its key where `of_key` is set.
    #[must_use]
    pub fn locate(&self, pointer: &str) -> Position {
        let mut node = self;
        let mut position = self.position;
        for token in pointer.split('/').skip(1) {
            let token = token.replace("~1", "/").replace("~0", "~");
            match &node.value {
                Value::Map(entries) => match entries.iter().find(|entry| entry.key == token) {
                    Some(entry) => (node, position) = (&entry.node, entry.position),
                    None => break,
                },
                Value::List(items) => match token.parse::<usize>().ok().and_then(|index| items.get(index)) {
                    Some(item) => (node, position) = (item, item.position),
                    None => break,
                },
                _ => break,
            }
        }
        position
    }

    /// The value of a key of a mapping.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.entries().iter().find(|entry| entry.key == key).map(|entry| &entry.node)
    }

    /// The entries of a mapping; of anything else there are none.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        if let Value::Map(entries) = &self.value { entries } else { &[] }
    }

    /// The items of a list; of anything else there are none.
    #[must_use]
    pub fn list(&self) -> &[Self] {
        if let Value::List(items) = &self.value { items } else { &[] }
    }

    /// The same as JSON.
    #[must_use]
    pub fn to_json(&self) -> serde_json::Value {
        match &self.value {
            Value::Null => serde_json::Value::Null,
            Value::Bool(value) => (*value).into(),
            Value::Integer(value) => (*value).into(),
            Value::Unsigned(value) => (*value).into(),
            Value::Float(value) => (*value).into(),
            Value::Text(value) => value.as_str().into(),
            Value::List(items) => items.iter().map(Self::to_json).collect(),
            Value::Map(entries) => {
                entries.iter().map(|entry| (entry.key.clone(), entry.node.to_json())).collect()
            }
        }
    }
}

impl From<Spanned<Value>> for Node {
    fn from(spanned: Spanned<Value>) -> Self {
        Self { value: spanned.value, position: Position::of(spanned.referenced) }
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a YAML value")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E: de::Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Integer(value))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Value, E> {
        Ok(i64::try_from(value).map_or(Value::Unsigned(value), Value::Integer))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Value, E> {
        Ok(Value::Float(value))
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Value, E> {
        Ok(Value::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element::<Spanned<Value>>()? {
            items.push(Node::from(item));
        }
        Ok(Value::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut entries = Vec::new();
        while let Some(key) = map.next_key::<Spanned<String>>()? {
            let node = Node::from(map.next_value::<Spanned<Value>>()?);
            entries.push(Entry { key: key.value, position: Position::of(key.referenced), node });
        }
        Ok(Value::Map(entries))
    }
}
