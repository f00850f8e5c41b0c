//! Checking arguments against a tool's schema, and saying what is wrong.

use serde_json::Value;

use crate::call::FailureKind;
use crate::handler::HandlerError;
use crate::text;

mod form;
mod schema;
mod value;

use schema::{Problem, Schema};

/// Errors named in one message: enough to correct a call in one go.
const MAX_REPORTED_ERRORS: usize = 5;

/// Longest value or schema quoted inside a message.
const MAX_QUOTED_BYTES: usize = 200;

/// A schema that is one, and its patterns.
pub(crate) struct Arguments {
    schema: Value,
    patterns: form::Patterns,
}

impl Arguments {
    /// Compiles `schema`; the error is a sentence.
    pub(crate) fn compile(schema: &Value) -> Result<Self, String> {
        let patterns = form::patterns(schema)
            .map_err(|error| format!("the tool's parameter schema is broken: {error}"))?;
        Ok(Self {
            schema: schema.clone(),
            patterns,
        })
    }

    /// Checks `arguments`; the error names each path, value and what is allowed.
    pub(crate) fn check(&self, arguments: &Value) -> Result<(), HandlerError> {
        let mut problems = Vec::new();
        let mut more = 0;
        Schema::new(&self.schema, &self.patterns).check(arguments, &mut |problem| {
            if problems.len() < MAX_REPORTED_ERRORS {
                problems.push(described(&problem));
            } else {
                more += 1;
            }
        });
        if problems.is_empty() {
            return Ok(());
        }
        let more = match more {
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
}

fn described(problem: &Problem<'_>) -> String {
    let path = match &*problem.at {
        "" => "/",
        path => path,
    };
    let said = text::excerpt(&problem.text, 2 * MAX_QUOTED_BYTES);
    let value = text::excerpt(&problem.value.to_string(), MAX_QUOTED_BYTES);
    let allowed = allowed(problem.schema);
    format!("at {path}: {said}, got {value} (allowed: {allowed})")
}

/// What a schema allows, in short.
fn allowed(schema: &Value) -> String {
    let allowed = match schema.get("properties").and_then(Value::as_object) {
        Some(properties) => properties
            .iter()
            .map(|(name, schema)| format!("{name} {}", constraint(schema)))
            .collect::<Vec<_>>()
            .join(", "),
        None => constraint(schema),
    };
    text::excerpt(&allowed, 2 * MAX_QUOTED_BYTES)
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
mod tests;
