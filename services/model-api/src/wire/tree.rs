//! JSON as it was read, borrowed from the text. A conversation is most of a
//! request, and all of it is read and written for each answer: short lists of
//! names cost a third of what maps of them do.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeMap as _, Serializer};
use serde_json::Number;

/// Fields that are looked through one by one; of more, a map says where they are.
const FEW: usize = 16;

/// Any JSON.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Tree<'a> {
    Null,
    Bool(bool),
    Number(Number),
    Text(Cow<'a, str>),
    List(Vec<Tree<'a>>),
    Object(Fields<'a>),
}

/// The fields of an object, each once, in the order in which they came.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Fields<'a>(Vec<(Cow<'a, str>, Tree<'a>)>);

impl<'a> Tree<'a> {
    /// What it says, if it is a text.
    pub(super) fn as_str(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The items of a list.
    pub(super) fn items_mut(&mut self) -> Option<&mut Vec<Tree<'a>>> {
        match self {
            Self::List(items) => Some(items),
            _ => None,
        }
    }

    /// A field of an object.
    pub(super) fn get(&self, name: &str) -> Option<&Tree<'a>> {
        match self {
            Self::Object(fields) => fields.get(name),
            _ => None,
        }
    }

    /// A field of an object.
    pub(super) fn get_mut(&mut self, name: &str) -> Option<&mut Tree<'a>> {
        match self {
            Self::Object(fields) => fields.get_mut(name),
            _ => None,
        }
    }

    /// An object of texts.
    pub(super) fn of_texts<const N: usize>(fields: [(&'static str, &'static str); N]) -> Self {
        let fields = fields.map(|(name, text)| (name.into(), Self::Text(text.into())));
        Self::Object(Fields(fields.into()))
    }
}

impl<'a> Fields<'a> {
    /// The value of one.
    pub(super) fn get(&self, name: &str) -> Option<&Tree<'a>> {
        let mut fields = self.iter();
        fields.find_map(|(key, value)| (key == name).then_some(value))
    }

    /// The value of one.
    pub(super) fn get_mut(&mut self, name: &str) -> Option<&mut Tree<'a>> {
        let mut fields = self.0.iter_mut();
        fields.find_map(|(key, value)| (key == name).then_some(value))
    }

    /// The values of all but these.
    pub(super) fn values_mut_but(&mut self, names: &[&str]) -> impl Iterator<Item = &mut Tree<'a>> {
        let fields = self.0.iter_mut();
        fields.filter_map(|(key, value)| (!names.contains(&&**key)).then_some(value))
    }

    /// The text of one; empty where there is none.
    pub(super) fn text(&self, name: &str) -> &str {
        self.get(name).and_then(Tree::as_str).unwrap_or_default()
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// All of them.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &Tree<'a>)> {
        self.0.iter().map(|(name, value)| (&**name, value))
    }
}

/// A name, borrowed where it is written without escapes.
struct Name<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Name<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Name<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a string")
            }

            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Name<'de>, E> {
                Ok(Name(text.into()))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Name<'de>, E> {
                Ok(Name(text.to_owned().into()))
            }
        }
        deserializer.deserialize_str(Reader)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Tree<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Tree<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any valid JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Tree<'de>, E> {
        Ok(Tree::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Tree<'de>, E> {
        Ok(Tree::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Tree<'de>, E> {
        Ok(Tree::Number(value.into()))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Tree<'de>, E> {
        Ok(Tree::Number(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Tree<'de>, E> {
        Ok(Number::from_f64(value).map_or(Tree::Null, Tree::Number))
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Tree<'de>, E> {
        Ok(Tree::Text(text.into()))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Tree<'de>, E> {
        Ok(Tree::Text(text.to_owned().into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Tree<'de>, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Tree::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Tree<'de>, A::Error> {
        let mut fields: Vec<(Cow<'de, str>, Tree<'de>)> = Vec::new();
        let mut places = HashMap::new();
        while let Some((Name(name), value)) = entries.next_entry()? {
            let place = if fields.len() < FEW {
                fields.iter().position(|(known, _)| *known == name)
            } else {
                if places.is_empty() {
                    let known = fields.iter().enumerate();
                    places = known.map(|(at, (name, _))| (name.clone(), at)).collect();
                }
                places.get(&name).copied()
            };
            // Of two of the same name the later one counts.
            if let Some(place) = place {
                fields[place].1 = value;
                continue;
            }
            if !places.is_empty() {
                places.insert(name.clone(), fields.len());
            }
            fields.push((name, value));
        }
        Ok(Tree::Object(Fields(fields)))
    }
}

impl Serialize for Tree<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Number(number) => number.serialize(serializer),
            Self::Text(text) => serializer.serialize_str(text),
            Self::List(items) => items.serialize(serializer),
            Self::Object(fields) => {
                let mut map = serializer.serialize_map(Some(fields.len()))?;
                for (name, value) in fields.iter() {
                    map.serialize_entry(name, value)?;
                }
                map.end()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    /// What a text is when it was read and written.
    fn written(text: &str) -> Option<String> {
        let tree: Tree<'_> = serde_json::from_str(text).ok()?;
        Some(serde_json::to_string(&tree).unwrap())
    }

    #[test]
    fn tree_is_written_as_any_json_is() {
        let many: Vec<String> = (0..60).map(|n| format!("\"k{}\": {n}", n % 40)).collect();
        let many = format!("{{{}}}", many.join(","));
        let deep = format!("{}1{}", "[".repeat(100), "]".repeat(100));
        let too_deep = format!("{}1{}", "[".repeat(200), "]".repeat(200));
        for text in [
            "null",
            " [true, false, null, {}] ",
            "[0, -0.0, 1.5e300, 1e999, -7, 18446744073709551615, 18446744073709551616, 0.1]",
            r#"{"a": "\u00e9\n\"\\ \ud83d\ude00", "\u0061": 2, "b": {"a": 1, "c": [], "a": "x"}}"#,
            r#"{"a": "\ud800"}"#,
            r#"{"a": 1,}"#,
            "{1: 2}",
            "\"\u{1}\"",
            "",
            &many,
            &deep,
            &too_deep,
        ] {
            let expected = serde_json::from_str::<Value>(text).ok();
            assert_eq!(written(text), expected.map(|it| it.to_string()), "{text}");
        }
    }

    #[test]
    fn texts_without_escapes_are_borrowed() {
        let tree: Tree<'_> = serde_json::from_str(r#"{"a": "b", "c": "\n"}"#).unwrap();
        assert!(matches!(
            tree.get("a"),
            Some(Tree::Text(Cow::Borrowed("b")))
        ));
        assert!(matches!(tree.get("c"), Some(Tree::Text(Cow::Owned(text))) if text == "\n"));
    }
}
