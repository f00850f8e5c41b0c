//! The body of a request: what is said in it and the tools of it, which are most of
//! it, apart from what else it asks for.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap as _, Serializer};
use serde_json::{Map, Value};

use super::tree::Tree;

/// Fields of all APIs that hold what is said, or tools.
const SAID: [&str; 6] = [
    "input",
    "instructions",
    "messages",
    "system",
    "tool_choice",
    "tools",
];

/// A request's fields, in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct Body<'a> {
    /// All of them; those of [`SAID`] without their values.
    pub(super) fields: Map<String, Value>,
    pub(super) said: Said<'a>,
}

/// The values of those fields.
#[derive(Debug, Default)]
pub(super) struct Said<'a>([Option<Tree<'a>>; SAID.len()]);

impl<'a> Said<'a> {
    /// The value of one.
    pub(super) fn get(&self, name: &str) -> Option<&Tree<'a>> {
        self.0[place(name)?].as_ref()
    }

    /// The value of one.
    pub(super) fn get_mut(&mut self, name: &str) -> Option<&mut Tree<'a>> {
        self.0[place(name)?].as_mut()
    }
}

fn place(name: &str) -> Option<usize> {
    SAID.iter().position(|known| *known == name)
}

impl<'de: 'a, 'a> Deserialize<'de> for Body<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Body<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Body<'de>, A::Error> {
        let mut body = Body::default();
        while let Some(name) = entries.next_key::<String>()? {
            let value = match place(&name) {
                Some(place) => {
                    body.said.0[place] = Some(entries.next_value()?);
                    Value::Null
                }
                None => entries.next_value()?,
            };
            body.fields.insert(name, value);
        }
        Ok(body)
    }
}

impl Serialize for Body<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.fields.len()))?;
        for (name, value) in &self.fields {
            match self.said.get(name) {
                Some(said) => map.serialize_entry(name, said)?,
                None => map.serialize_entry(name, value)?,
            }
        }
        map.end()
    }
}
