//! Whether a schema is one: each keyword has what belongs to it.

use std::collections::HashMap;

use fancy_regex::Regex;
use serde_json::Value;

use super::schema;

/// The patterns of a schema by their text.
pub(super) type Patterns = HashMap<String, Regex>;

/// What belongs to a keyword.
enum Form {
    Schema,
    Schemas,
    /// A schema, or a list of them.
    SchemaOrList,
    /// Schemas by name, or where names of properties stand for one, those.
    Named,
    Number,
    Count,
    Pattern,
    Types,
    Names,
    List,
    Flag,
    /// A number; in draft 4 whether that of another keyword is none itself.
    Limit,
    Reference,
}

const FORMS: [(&str, Form); 40] = [
    ("$ref", Form::Reference),
    ("$defs", Form::Named),
    ("additionalItems", Form::Schema),
    ("additionalProperties", Form::Schema),
    ("allOf", Form::Schemas),
    ("anyOf", Form::Schemas),
    ("contains", Form::Schema),
    ("definitions", Form::Named),
    ("dependencies", Form::Named),
    ("dependentRequired", Form::Named),
    ("dependentSchemas", Form::Named),
    ("else", Form::Schema),
    ("enum", Form::List),
    ("exclusiveMaximum", Form::Limit),
    ("exclusiveMinimum", Form::Limit),
    ("if", Form::Schema),
    ("items", Form::SchemaOrList),
    ("maxContains", Form::Count),
    ("maxItems", Form::Count),
    ("maxLength", Form::Count),
    ("maxProperties", Form::Count),
    ("maximum", Form::Number),
    ("minContains", Form::Count),
    ("minItems", Form::Count),
    ("minLength", Form::Count),
    ("minProperties", Form::Count),
    ("minimum", Form::Number),
    ("multipleOf", Form::Number),
    ("not", Form::Schema),
    ("oneOf", Form::Schemas),
    ("pattern", Form::Pattern),
    ("patternProperties", Form::Named),
    ("prefixItems", Form::Schemas),
    ("properties", Form::Named),
    ("propertyNames", Form::Schema),
    ("required", Form::Names),
    ("then", Form::Schema),
    ("type", Form::Types),
    ("unevaluatedProperties", Form::Schema),
    ("uniqueItems", Form::Flag),
];

const TYPES: [&str; 7] = [
    "array", "boolean", "integer", "null", "number", "object", "string",
];

/// The patterns in `root`, or what is wrong with it, as a sentence.
pub(super) fn patterns(root: &Value) -> Result<Patterns, String> {
    let mut patterns = Patterns::new();
    node(root, root, "", &mut patterns)?;
    Ok(patterns)
}

fn node(root: &Value, schema: &Value, at: &str, patterns: &mut Patterns) -> Result<(), String> {
    let keywords = match schema {
        Value::Bool(_) => return Ok(()),
        Value::Object(keywords) => keywords,
        other => return Err(format!("at {at}/: {other} is no schema")),
    };
    for (word, form) in &FORMS {
        if let Some(value) = keywords.get(*word) {
            let at = format!("{at}/{word}");
            let is_right = keyword(root, form, value, &at, patterns)?;
            if !is_right {
                return Err(format!("at {at}: {value} cannot be there"));
            }
        }
    }
    let named = keywords.get("patternProperties").and_then(Value::as_object);
    let mut named = named.into_iter().flatten();
    named.try_for_each(|(pattern, _)| add(pattern, at, patterns))
}

fn keyword(
    root: &Value,
    form: &Form,
    value: &Value,
    at: &str,
    patterns: &mut Patterns,
) -> Result<bool, String> {
    let strings = |value: &Value| {
        value
            .as_array()
            .is_some_and(|all| all.iter().all(Value::is_string))
    };
    let each = |list: &[Value], patterns: &mut Patterns| {
        let mut list = list.iter().zip(0..);
        list.try_for_each(|(one, index)| node(root, one, &format!("{at}/{index}"), patterns))
    };
    Ok(match (form, value) {
        (Form::Schemas, Value::Array(list)) if list.is_empty() => false,
        (Form::Schemas | Form::SchemaOrList, Value::Array(list)) => {
            each(list, patterns)?;
            true
        }
        (Form::Schema | Form::SchemaOrList, one) => {
            node(root, one, at, patterns)?;
            true
        }
        (Form::Named, Value::Object(named)) => {
            for (name, one) in named.iter().filter(|(_, one)| !strings(one)) {
                node(root, one, &format!("{at}/{name}"), patterns)?;
            }
            true
        }
        (Form::Pattern, Value::String(pattern)) => {
            add(pattern, at, patterns)?;
            true
        }
        (Form::Types, Value::Array(list)) => !list.is_empty() && list.iter().all(is_type),
        (Form::Types, one) => is_type(one),
        (Form::Reference, Value::String(to)) => {
            // An anchor, and what is elsewhere, is left to who offers the tool.
            let is_pointer = to == "#" || to.starts_with("#/");
            !is_pointer || schema::resolved(root, to).is_some()
        }
        (Form::Count, Value::Number(count)) => count
            .as_f64()
            .is_some_and(|it| it >= 0.0 && it.fract() == 0.0),
        (Form::Number | Form::Limit, Value::Number(_)) => true,
        (Form::Flag | Form::Limit, Value::Bool(_)) | (Form::List, Value::Array(_)) => true,
        (Form::Names, names) => strings(names),
        _ => false,
    })
}

fn add(pattern: &str, at: &str, patterns: &mut Patterns) -> Result<(), String> {
    let compiled = Regex::new(pattern).map_err(|error| format!("at {at}: {pattern:?}: {error}"))?;
    patterns.insert(pattern.to_owned(), compiled);
    Ok(())
}

fn is_type(value: &Value) -> bool {
    value.as_str().is_some_and(|name| TYPES.contains(&name))
}
