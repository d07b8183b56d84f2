//! JSON settings to typed ones; what serde refuses is told with its place.

use std::fmt;

use serde::de::value::StrDeserializer;
use serde::de::{
    self, DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer, MapAccess,
    SeqAccess, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;
use serde_json::Value;

use crate::source::Problem;

/// Reads `T`, or says what is wrong and where.
///
/// # Errors
/// The first thing that serde refuses.
pub fn parse<T: DeserializeOwned>(settings: &str) -> Result<T, Problem> {
    let value: Value = serde_json::from_str(settings)
        .map_err(|error| Problem::new("", format!("the settings are not JSON: {error}")))?;
    T::deserialize(Node(&value)).map_err(|error| {
        let suggestion = nearest(&error.message);
        Problem { pointer: error.pointer, message: error.message, suggestion }
    })
}

/// What serde refused. The pointer grows towards the root while the error travels up.
#[derive(Debug)]
struct Refused {
    pointer: String,
    message: String,
}

impl Refused {
    fn under(mut self, token: &str) -> Self {
        let token = token.replace('~', "~0").replace('/', "~1");
        self.pointer = format!("/{token}{}", self.pointer);
        self
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Refused {}

impl de::Error for Refused {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self { pointer: String::new(), message: message.to_string() }
    }
}

#[derive(Clone, Copy)]
struct Node<'a>(&'a Value);

impl<'de> Deserializer<'de> for Node<'de> {
    type Error = Refused;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        match self.0 {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::Number(number) => match (number.as_u64(), number.as_i64(), number.as_f64()) {
                (Some(value), ..) => visitor.visit_u64(value),
                (_, Some(value), _) => visitor.visit_i64(value),
                (.., value) => visitor.visit_f64(value.unwrap_or(f64::NAN)),
            },
            Value::String(text) => visitor.visit_borrowed_str(text),
            Value::Array(items) => visitor.visit_seq(Items { items, next: 0 }),
            Value::Object(members) => visitor.visit_map(Members { members: members.iter(), current: None }),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        if self.0.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Refused> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Refused> {
        match self.0 {
            Value::String(name) => visitor.visit_enum(Variant { name, content: None }),
            Value::Object(members) if members.len() == 1 => match members.iter().next() {
                Some((name, content)) => visitor.visit_enum(Variant { name, content: Some(content) }),
                None => Err(de::Error::custom("expected the name of a variant")),
            },
            _ => Err(de::Error::custom("expected the name of a variant, or an object with one member")),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq
        tuple tuple_struct map struct identifier ignored_any
    }
}

struct Items<'a> {
    items: &'a [Value],
    next: usize,
}

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = Refused;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Refused> {
        let Some(item) = self.items.get(self.next) else { return Ok(None) };
        let index = self.next;
        self.next += 1;
        seed.deserialize(Node(item)).map(Some).map_err(|error| error.under(&index.to_string()))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.items.len() - self.next)
    }
}

struct Members<'a> {
    members: serde_json::map::Iter<'a>,
    current: Option<(&'a str, &'a Value)>,
}

impl<'de> MapAccess<'de> for Members<'de> {
    type Error = Refused;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Refused> {
        let Some((name, value)) = self.members.next() else { return Ok(None) };
        self.current = Some((name, value));
        let name = name.as_str();
        seed.deserialize(name.into_deserializer()).map(Some).map_err(|error: Refused| error.under(name))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Refused> {
        match self.current.take() {
            Some((name, value)) => seed.deserialize(Node(value)).map_err(|error| error.under(name)),
            None => Err(de::Error::custom("a value was asked for before its key")),
        }
    }
}

struct Variant<'a> {
    name: &'a str,
    content: Option<&'a Value>,
}

impl<'de> EnumAccess<'de> for Variant<'de> {
    type Error = Refused;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Refused> {
        let name: StrDeserializer<'_, Refused> = self.name.into_deserializer();
        Ok((seed.deserialize(name)?, self))
    }
}

impl<'de> VariantAccess<'de> for Variant<'de> {
    type Error = Refused;

    fn unit_variant(self) -> Result<(), Refused> {
        match self.content {
            None | Some(Value::Null) => Ok(()),
            Some(_) => Err(Refused::under(de::Error::custom("this variant has no content"), self.name)),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Refused> {
        seed.deserialize(Node(self.content.unwrap_or(&Value::Null))).map_err(|error| error.under(self.name))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _len: usize, visitor: V) -> Result<V::Value, Refused> {
        let content = Node(self.content.unwrap_or(&Value::Null));
        content.deserialize_any(visitor).map_err(|error| error.under(self.name))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Refused> {
        let content = Node(self.content.unwrap_or(&Value::Null));
        content.deserialize_any(visitor).map_err(|error| error.under(self.name))
    }
}

/// For "unknown field `x`, expected one of `a`, `b`": which of them is close to `x`.
fn nearest(message: &str) -> String {
    if !message.starts_with("unknown ") {
        return String::new();
    }
    let mut quoted = message.split('`').skip(1).step_by(2);
    let Some(found) = quoted.next() else { return String::new() };
    quoted
        .map(|name| (distance(found, name), name))
        .filter(|(distance, name)| *distance * 2 <= name.len().max(found.len()))
        .min()
        .map_or_else(String::new, |(_, name)| format!("did you mean `{name}`?"))
}

/// How many insertions, deletions and replacements lead from one word to the other.
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, b) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row.last().copied().unwrap_or(0)
}
