//! Defaults of keys of which it matters whether somebody set them.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A value, and whether somebody chose it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chosen<T> {
    value: T,
    is_chosen: bool,
}

impl<T> Chosen<T> {
    /// The default.
    pub(crate) const fn by_default(value: T) -> Self {
        Self {
            value,
            is_chosen: false,
        }
    }

    /// The value that holds.
    pub fn value(&self) -> &T {
        &self.value
    }

    /// The value, if it was chosen.
    pub fn chosen(&self) -> Option<&T> {
        self.is_chosen.then_some(&self.value)
    }

    /// Whether it was chosen.
    pub fn is_chosen(&self) -> bool {
        self.is_chosen
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Chosen<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = T::deserialize(deserializer)?;
        Ok(Self {
            value,
            is_chosen: true,
        })
    }
}

impl<T: Serialize> Serialize for Chosen<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value.serialize(serializer)
    }
}

#[cfg(test)]
impl<T: schemars::JsonSchema> schemars::JsonSchema for Chosen<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        T::schema_name()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        T::json_schema(generator)
    }
}
