//! Values that must not be printed.

use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};

/// A credential. Its `Debug` says only that it is there.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a value.
    pub fn new(value: impl Into<String>) -> Self {
        Self(value.into())
    }

    /// The value, for the one place that sends it.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secret(…)")
    }
}

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Text)
    }
}

struct Text;

impl<'de> Visitor<'de> for Text {
    type Value = Secret;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a string")
    }

    fn visit_str<E>(self, text: &str) -> Result<Secret, E> {
        Ok(Secret::new(text))
    }

    /// A SecretRef with `source: "env"` has become a string by now.
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Secret, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Err(serde::de::Error::custom(
            "is a reference to a secret elsewhere; write ${VARIABLE}, {source: \"env\", …}, or use \
             a systemd credential",
        ))
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Secret {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Secret".into()
    }

    fn json_schema(_generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "A secret: itself, ${VARIABLE}, or OpenClaw's SecretRef.",
            "anyOf": [{"type": "string"}, {
                "type": "object",
                "properties": {
                    "source": {"type": "string", "enum": ["env", "file", "exec", "store"]},
                    "provider": {"type": "string"},
                    "id": {"type": "string"},
                },
                "required": ["source", "id"],
            }],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secret_is_a_text_that_is_not_printed() {
        let read = |text: &str| serde_json::from_str::<Secret>(text);
        let secret = read("\"sk-1\"").unwrap();
        assert_eq!(secret, Secret::new("sk-1"));
        assert_eq!(format!("{secret:?}"), "Secret(…)");
        let error = read("5").unwrap_err().to_string();
        assert!(error.contains("expected a string"), "{error}");
        let error = read(r#"{"source": "file", "id": "x"}"#)
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("is a reference to a secret elsewhere"),
            "{error}"
        );
    }
}
