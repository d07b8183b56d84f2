//! Converts JSON settings to typed ones; errors of serde are reported with their place.

use std::fmt;

use serde::de::value::{MapAccessDeserializer, MapDeserializer, SeqDeserializer};
use serde::de::{self, DeserializeOwned, Deserializer, Expected, IntoDeserializer, Unexpected, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::Value;
use serde_path_to_error::{Path, Segment};

use crate::Target;
use plugin_abi::Problem;
use safe_text::nearest::suggestion_in_order;

/// Reads `T`, or returns the problem with its place.
///
/// # Errors
/// The first thing that serde refuses.
pub fn parse<T: DeserializeOwned>(settings: &str) -> Result<T, Problem> {
    let value: Value = serde_json::from_str(settings)
        .map_err(|error| Problem::new("", format!("the settings are not JSON: {error}")))?;
    serde_path_to_error::deserialize(Node(&value)).map_err(|error| {
        let pointer = pointer(error.path());
        let Refused { message, suggestion } = error.into_inner();
        Problem::new(pointer, message).suggest(suggestion)
    })
}

/// A path as a JSON pointer.
fn pointer(path: &Path) -> String {
    let tokens = path.iter().map(|segment| match segment {
        Segment::Seq { index } => format!("/{index}"),
        Segment::Map { key } | Segment::Enum { variant: key } => {
            format!("/{}", pointer_token(key))
        }
        // A key that is not text, which JSON does not have.
        Segment::Unknown => String::new(),
    });
    tokens.collect()
}

/// A key as a part of a JSON pointer, such as the [`pointer`](Problem::pointer) of a problem.
#[must_use]
pub fn pointer_token(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// What serde and the source say of settings.
pub(crate) fn problems<T: DeserializeOwned>(
    text: &str,
    target: &Target,
    check: fn(&T, &Target) -> Vec<Problem>,
) -> Vec<Problem> {
    parse(text).map_or_else(|problem| vec![problem], |settings| check(&settings, target))
}

/// Settings that serde and the source accept.
pub(crate) fn checked<T: DeserializeOwned>(
    text: &str,
    target: &Target,
    check: fn(&T, &Target) -> Vec<Problem>,
) -> Result<T, Vec<Problem>> {
    let settings = parse(text).map_err(|problem| vec![problem])?;
    let mut problems = check(&settings, target);
    problems.retain(|problem| !problem.is_warning);
    if problems.is_empty() { Ok(settings) } else { Err(problems) }
}

/// The error of serde.
#[derive(Debug)]
struct Refused {
    message: String,
    suggestion: String,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Refused {}

impl de::Error for Refused {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self { message: message.to_string(), suggestion: String::new() }
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        if expected.to_string() == "unit" {
            return Self::custom("has no content");
        }
        Self::custom(format!("expected {}, found {}", in_words(expected), kind_of(found)))
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let is_number = matches!(found, Unexpected::Unsigned(_) | Unexpected::Signed(_));
        if is_number && INTEGERS.contains(&expected.to_string().as_str()) {
            return Self::custom(format!("{} is too large or too small", value_of(found)));
        }
        Self::custom(format!("expected {}, found {}", in_words(expected), value_of(found)))
    }

    fn invalid_length(length: usize, expected: &dyn Expected) -> Self {
        Self::custom(format!("expected {}, found {length} values", in_words(expected)))
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        let suggestion = suggestion_in_order(variant, expected).unwrap_or_default();
        Self { suggestion, ..Self::custom(format!("`{variant}` is not a choice")) }
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        let suggestion = suggestion_in_order(field, expected).unwrap_or_default();
        Self { suggestion, ..Self::custom(format!("unknown key `{field}`")) }
    }

    fn missing_field(field: &'static str) -> Self {
        Self::custom(format!("`{field}` is missing"))
    }

    fn duplicate_field(field: &'static str) -> Self {
        Self::custom(format!("`{field}` is there twice"))
    }
}

/// The expected type in words for people who do not know Rust.
fn in_words(expected: &dyn Expected) -> String {
    let text = expected.to_string();
    let is_type =
        |kinds: &[&str]| kinds.iter().any(|kind| text == *kind || text.starts_with(&format!("{kind} ")));
    if is_type(&["struct", "struct variant", "a map", "map", "unit struct", "internally tagged enum"]) {
        "a mapping".to_owned()
    } else if is_type(&["a sequence", "tuple", "a tuple", "tuple struct", "tuple variant"]) {
        "a list".to_owned()
    } else if is_type(&["a string", "string", "a borrowed string", "identifier", "enum", "variant"]) {
        "text".to_owned()
    } else if is_type(&["a boolean"]) {
        "`true` or `false`".to_owned()
    } else if INTEGERS.contains(&text.as_str()) {
        "a whole number".to_owned()
    } else if is_type(&["f32", "f64"]) {
        "a number".to_owned()
    } else {
        text
    }
}

const INTEGERS: [&str; 12] =
    ["u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize"];

fn kind_of(found: Unexpected<'_>) -> &'static str {
    match found {
        Unexpected::Bool(_) => "true or false",
        Unexpected::Unsigned(_) | Unexpected::Signed(_) | Unexpected::Float(_) => "a number",
        Unexpected::Char(_) | Unexpected::Str(_) | Unexpected::Bytes(_) => "text",
        Unexpected::Unit | Unexpected::Option => "nothing",
        Unexpected::Seq => "a list",
        Unexpected::Map => "a mapping",
        _ => "something else",
    }
}

fn value_of(found: Unexpected<'_>) -> String {
    match found {
        Unexpected::Bool(value) => format!("`{value}`"),
        Unexpected::Unsigned(value) => format!("`{value}`"),
        Unexpected::Signed(value) => format!("`{value}`"),
        Unexpected::Float(value) => format!("`{value}`"),
        Unexpected::Char(value) => format!("`{value}`"),
        Unexpected::Str(value) => format!("`{value}`"),
        other => kind_of(other).to_owned(),
    }
}

/// A deserializer with error messages for people, which serde_json does not have.
#[derive(Clone, Copy)]
struct Node<'a>(&'a Value);

impl<'de> IntoDeserializer<'de, Refused> for Node<'de> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

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
            Value::Array(items) => visitor.visit_seq(SeqDeserializer::new(items.iter().map(Node))),
            Value::Object(members) => {
                let members = members.iter().map(|(name, value)| (name.as_str(), Node(value)));
                visitor.visit_map(MapDeserializer::new(members))
            }
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

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Refused> {
        // Serde would accept a list of the fields in their order, which is unusable for people.
        if self.0.is_array() {
            return Err(de::Error::invalid_type(Unexpected::Seq, &visitor));
        }
        self.deserialize_any(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Refused> {
        // A variant without content.
        let (name, content) = match self.0 {
            Value::String(name) => (name, &Value::Null),
            Value::Object(members)
                if let Some(only) = members.iter().next().filter(|_| members.len() == 1) =>
            {
                only
            }
            _ => return Err(de::Error::custom("expected text, or a mapping with one key")),
        };
        let variant = MapDeserializer::new(std::iter::once((name.as_str(), Node(content))));
        visitor.visit_enum(MapAccessDeserializer::new(variant))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq
        tuple tuple_struct map identifier ignored_any
    }
}
