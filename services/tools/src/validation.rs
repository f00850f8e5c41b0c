//! Checking arguments against a tool's schema, and saying what is wrong.

use jsonschema::{Draft, ValidationError, Validator};
use serde_json::Value;

use crate::call::FailureKind;
use crate::handler::HandlerError;
use crate::text;

/// Errors named in one message: enough to correct a call in one go.
const MAX_REPORTED_ERRORS: usize = 5;

/// Longest value or schema quoted inside a message.
const MAX_QUOTED_BYTES: usize = 200;

/// A compiled schema and the schema itself, which messages quote.
pub(crate) struct Arguments {
    validator: Validator,
    schema: Value,
}

impl Arguments {
    /// Compiles `schema`; the error is a sentence.
    pub(crate) fn compile(schema: &Value) -> Result<Self, String> {
        // Draft 7 is what tool schemas are written for, and its metaschema
        // compiles several times faster than the eight documents of 2020-12.
        let mut options = jsonschema::options();
        if schema.get("$schema").is_none() {
            options = options.with_draft(Draft::Draft7);
        }
        let validator = options
            .build(schema)
            .map_err(|error| format!("the tool's parameter schema is broken: {error}"))?;
        Ok(Self {
            validator,
            schema: schema.clone(),
        })
    }

    /// Checks `arguments`; the error names each path, value and what is allowed.
    pub(crate) fn check(&self, arguments: &Value) -> Result<(), HandlerError> {
        let mut errors = self.validator.iter_errors(arguments);
        let problems: Vec<String> = errors
            .by_ref()
            .take(MAX_REPORTED_ERRORS)
            .map(|error| self.describe(&error))
            .collect();
        if problems.is_empty() {
            return Ok(());
        }
        let more = match errors.count() {
            0 => String::new(),
            more => format!("; and {more} more"),
        };
        Err(HandlerError::new(
            FailureKind::INVALID_ARGUMENTS,
            format!(
                "the arguments do not match the schema: {}{more}",
                problems.join("; ")
            ),
        ))
    }

    fn describe(&self, error: &ValidationError<'_>) -> String {
        let path = match error.instance_path().as_str() {
            "" => "/",
            path => path,
        };
        let value = text::excerpt(&error.instance().to_string(), MAX_QUOTED_BYTES);
        let problem = error.masked_with("the value");
        match self.allowed(error) {
            Some(allowed) => format!("at {path}: {problem}, got {value} (allowed: {allowed})"),
            None => format!("at {path}: {problem}, got {value}"),
        }
    }

    /// The part of the schema that the value broke. `None` behind a `$ref`.
    fn allowed(&self, error: &ValidationError<'_>) -> Option<String> {
        let keyword_at = error.schema_path().as_str();
        let (parent, _) = keyword_at.rsplit_once('/')?;
        let part = self.schema.pointer(parent)?;
        let allowed = match part.get("properties").and_then(Value::as_object) {
            Some(properties) => properties
                .iter()
                .map(|(name, schema)| format!("{name} {}", constraint(schema)))
                .collect::<Vec<_>>()
                .join(", "),
            None => constraint(part),
        };
        Some(text::excerpt(&allowed, 2 * MAX_QUOTED_BYTES))
    }
}

/// A property's schema without its prose.
fn constraint(schema: &Value) -> String {
    let mut schema = schema.clone();
    if let Some(object) = schema.as_object_mut() {
        object.shift_remove("description");
    }
    schema.to_string()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn message(schema: Value, arguments: Value) -> String {
        let error = Arguments::compile(&schema)
            .unwrap()
            .check(&arguments)
            .unwrap_err();
        assert_eq!(error.kind, FailureKind::INVALID_ARGUMENTS);
        error.message
    }

    fn schema() -> Value {
        json!({
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "prose"},
                "mode": {"enum": ["fast", "slow"]},
                "limit": {"type": "integer", "minimum": 1}
            },
            "required": ["path"],
            "additionalProperties": false
        })
    }

    #[test]
    fn wrong_type_names_path_value_and_what_is_allowed() {
        let message = message(schema(), json!({"path": "a", "limit": "soon"}));
        assert!(message.contains("/limit"), "{message}");
        assert!(message.contains("\"soon\""), "{message}");
        assert!(message.contains(r#""type":"integer""#), "{message}");
    }

    #[test]
    fn enum_lists_its_options() {
        let message = message(schema(), json!({"path": "a", "mode": "warp"}));
        assert!(message.contains("/mode"), "{message}");
        assert!(message.contains(r#"["fast","slow"]"#), "{message}");
    }

    #[test]
    fn missing_and_unknown_properties_are_named_beside_the_known_ones() {
        let message = message(schema(), json!({"paht": "a"}));
        for needle in ["\"path\" is a required", "paht", "limit", "mode"] {
            assert!(message.contains(needle), "{needle} in {message}");
        }
        assert!(!message.contains("prose"), "{message}");
    }

    #[test]
    fn huge_value_is_quoted_in_part() {
        let message = message(schema(), json!({"path": ["x".repeat(9000)]}));
        assert!(message.len() < 1200, "{} bytes", message.len());
    }

    #[test]
    fn broken_schema_is_an_error_not_a_panic() {
        let error = Arguments::compile(&json!({"type": 7})).err().unwrap();
        assert!(error.contains("schema"), "{error}");
    }
}
