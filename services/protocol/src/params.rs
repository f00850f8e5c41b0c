//! Parameters of methods, with errors in the words of OpenClaw's validator.

use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, Error as _};
use serde_json::{Map, Value};

use crate::failure::Failure;

/// A text that is not empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filled(pub String);

impl<'de> Deserialize<'de> for Filled {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text.is_empty() {
            return Err(D::Error::custom("must NOT have fewer than 1 characters"));
        }
        Ok(Self(text))
    }
}

impl std::ops::Deref for Filled {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

/// A field that may be absent, `null` or a value, and means something else
/// each time. Needs `#[serde(default)]` on the field.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Change<T> {
    /// Absent: leave it.
    #[default]
    Keep,
    /// `null`: take it away.
    Clear,
    /// A value: set it.
    Set(T),
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Change<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Option::<T>::deserialize(deserializer)?;
        Ok(value.map_or(Self::Clear, Self::Set))
    }
}

/// The parameters of `method`. Absent parameters are an empty object.
pub fn decode<T: DeserializeOwned>(method: &str, params: Value) -> Result<T, Failure> {
    let params = match params {
        Value::Null => Value::Object(Map::new()),
        params => params,
    };
    if !params.is_object() {
        return Err(Failure::params(method, "must be object"));
    }
    serde_path_to_error::deserialize(params).map_err(|error| {
        let path = pointer(error.path());
        let problem = problem(&path, &error.into_inner().to_string());
        Failure::params(method, &problem)
    })
}

fn pointer(path: &serde_path_to_error::Path) -> String {
    use serde_path_to_error::Segment;
    path.iter()
        .map(|segment| match segment {
            Segment::Seq { index } => format!("/{index}"),
            Segment::Map { key } => format!("/{key}"),
            Segment::Enum { variant } => format!("/{variant}"),
            Segment::Unknown => String::new(),
        })
        .collect()
}

/// What serde says, as OpenClaw's validator would say it.
fn problem(path: &str, words: &str) -> String {
    let quoted = || words.split('`').nth(1).unwrap_or_default();
    let at = if path.is_empty() {
        String::new()
    } else {
        format!("at {path}: ")
    };
    if words.starts_with("missing field") {
        return format!("{at}must have required property '{}'", quoted());
    }
    if words.starts_with("unknown field") {
        let parent = path.strip_suffix(&format!("/{}", quoted())).unwrap_or(path);
        let place = if parent.is_empty() { "root" } else { parent };
        return format!("at {place}: unexpected property '{}'", quoted());
    }
    if words.starts_with("unknown variant") {
        return format!("{at}must be equal to one of the allowed values");
    }
    if let Some(expected) = words
        .strip_prefix("invalid type: ")
        .or_else(|| words.strip_prefix("invalid value: "))
        .and_then(|rest| rest.rsplit_once("expected ").map(|(_, expected)| expected))
    {
        return format!("{at}must be {}", type_name(expected));
    }
    format!("{at}{words}")
}

fn type_name(expected: &str) -> &str {
    match expected {
        "a string" => "string",
        "a boolean" => "boolean",
        "a sequence" => "array",
        "a map" => "object",
        text if text.starts_with("struct") => "object",
        "f64" | "f32" => "number",
        text if text.starts_with(['i', 'u']) => "integer",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    struct Outer {
        session_key: Filled,
        #[serde(default)]
        label: Change<String>,
        #[serde(rename = "inner")]
        _inner: Option<Inner>,
        #[serde(rename = "limit")]
        _limit: Option<u64>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Inner {
        #[serde(rename = "mode")]
        _mode: Mode,
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    enum Mode {
        Cli,
    }

    fn words(params: Value) -> String {
        decode::<Outer>("m", params).unwrap_err().message
    }

    #[test]
    fn errors_have_the_recorded_words() {
        let said = |problem: &str| format!("invalid m params: {problem}");
        assert_eq!(
            words(json!({})),
            said("must have required property 'sessionKey'")
        );
        assert_eq!(
            words(json!({"sessionKey": "a", "x": 1})),
            said("at root: unexpected property 'x'")
        );
        assert_eq!(
            words(json!({"sessionKey": "a", "inner": {"mode": "my-app"}})),
            said("at /inner/mode: must be equal to one of the allowed values")
        );
        assert_eq!(
            words(json!({"sessionKey": "a", "inner": {}})),
            said("at /inner: must have required property 'mode'")
        );
        assert_eq!(
            words(json!({"sessionKey": "a", "inner": {"mode": "cli", "y": 1}})),
            said("at /inner: unexpected property 'y'")
        );
        assert_eq!(
            words(json!({"sessionKey": 5})),
            said("at /sessionKey: must be string")
        );
        assert_eq!(
            words(json!({"sessionKey": ""})),
            said("at /sessionKey: must NOT have fewer than 1 characters")
        );
        assert_eq!(
            words(json!({"sessionKey": "a", "limit": -1})),
            said("at /limit: must be integer")
        );
        assert_eq!(words(json!([1])), said("must be object"));
    }

    #[test]
    fn absent_null_and_a_value_are_three_things() {
        let label = |params| {
            let outer = decode::<Outer>("m", params).unwrap();
            assert_eq!(&*outer.session_key, "a");
            outer.label
        };
        assert_eq!(label(json!({"sessionKey": "a"})), Change::Keep);
        assert_eq!(
            label(json!({"sessionKey": "a", "label": null})),
            Change::Clear
        );
        assert_eq!(
            label(json!({"sessionKey": "a", "label": "x"})),
            Change::Set("x".to_owned())
        );
    }
}
